//! `#[hook_handler]`: makes a free function a handler.

mod expand;
mod fallback;
mod model;
mod parameters;
mod parse;
mod valid;

pub(crate) use expand::{Shared, dictated, lints, registration};
pub(crate) use model::{Arguments, Draft, Handler};
pub(crate) use parse::{arguments, function, plugin};
pub(crate) use valid::{check_generics, check_method, check_qualifiers, check_receiver};

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;

/// Expands the attribute. The item comes out as it went in, whatever else
/// happens: a body that is half typed must stay in the editor's view.
pub(crate) fn hook_handler(arguments: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let arguments = parse::arguments(arguments, &mut errors);
    let draft = function(item.clone(), "hook_handler", &mut errors);
    let code =
        draft.as_ref().map(|draft| match valid::check_function(&arguments, draft, &mut errors) {
            Some(handler) => expand::function(&arguments, draft, &handler),
            None => fallback::function(&arguments, draft),
        });
    let dictated = draft.map(|draft| dictated(draft.sig.ident.span()));
    let mistakes = errors.finish();
    quote!(#dictated #item #code #mistakes)
}
