//! Writes the list.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Path;
use syn::spanned::Spanned as _;

use crate::location;

/// An array of registrations, with the mistakes in a block before it.
pub(crate) fn list(rt: &TokenStream, entries: &[Path], mistakes: &TokenStream) -> TokenStream {
    let registrations = entries.iter().map(|path| registration(rt, path));
    let array = if entries.is_empty() {
        quote!({
            let none: [#rt::Registration; 0] = [];
            none
        })
    } else {
        quote!([#(#registrations),*])
    };
    if mistakes.is_empty() { array } else { quote!({ #mistakes #array }) }
}

/// The import brings the function and the type beside it, in one mention: a
/// name that does not exist is one error. What it does not bring comes from
/// the fallback, because an import by name wins over one by `*`.
///
/// Only the name of that import stands on the user's: any other name there
/// would be one more place to which an editor leads.
fn registration(rt: &TokenStream, path: &Path) -> TokenStream {
    let last = path.segments.last().map(|segment| &segment.ident);
    // The name of a type has no function that could be seen.
    let names_a_type = last.is_some_and(|last| last.to_string().starts_with(char::is_uppercase));
    let seen = if names_a_type {
        quote!(true)
    } else {
        quote! {
            match #rt::__private::Sight::Seen {
                __without_annotation => true,
                _ => false,
            }
        }
    };
    let at = location::shown_at(last.map_or_else(|| path.span(), Ident::span));
    let imported = Ident::new("__without_annotation", at);
    quote! {
        {
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use #rt::__private::fallback::*;
            #[allow(unused_imports, clippy::all, clippy::pedantic)]
            use #path as #imported;
            #[allow(unreachable_patterns, unused_variables, clippy::all, clippy::pedantic)]
            const __SEEN: ::core::primitive::bool = #seen;
            #rt::__private::Listed::<__SEEN>.registration::<#imported>()
        }
    }
}
