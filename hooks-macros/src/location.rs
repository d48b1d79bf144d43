//! Where generated code claims to be written.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Type};

/// A span that underlines the user's tokens and resolves names as the macro's
/// own code does. Lints see generated code; errors land on the user's words.
pub(crate) fn shown_at(user: Span) -> Span {
    Span::call_site().located_at(user)
}

/// The same, but only where the user's token begins: an editor takes a name of
/// an expansion that covers a name of the user for one more meaning of it.
pub(crate) fn start_of(user: Span) -> Span {
    // There is no compiler to ask where the macros are called as functions.
    let start = if proc_macro::is_available() { user.unwrap().start().into() } else { user };
    shown_at(start)
}

/// The one token of a type that best stands for it, because joining spans is
/// not possible on stable: the last name of a path, behind any reference.
pub(crate) fn of_type(ty: &Type) -> Span {
    match ty {
        Type::Reference(reference) => of_type(&reference.elem),
        Type::Path(path) => match path.path.segments.last() {
            Some(segment) => segment.ident.span(),
            None => path.span(),
        },
        other => other.span(),
    }
}

/// The runtime's record of the user's file, line and column. The three macros
/// carry the user's own span: with any other they would all name the line
/// where the outermost macro call begins.
pub(crate) fn source(rt: &TokenStream, user: Span) -> TokenStream {
    let place = quote_spanned!(user=> ::core::file!(), ::core::line!(), ::core::column!());
    quote!(#rt::__private::SourceLocation::new(#place))
}

/// The `#[cfg]`s among the attributes: whatever is generated for an item must
/// come and go with it.
pub(crate) fn cfgs(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()
}

/// The tokens without the groups around them.
pub(crate) fn flat(tokens: TokenStream) -> Vec<TokenTree> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Group(group) => flat(group.stream()),
            other => vec![other],
        })
        .collect()
}

/// A type or a path as a person writes it: printed tokens have a space around each.
pub(crate) fn spelled(written: &impl ToTokens) -> String {
    let mut text = written.to_token_stream().to_string();
    for tight in ["::", "<", ">", "&", "(", ")", "[", "]", "'"] {
        text = text.replace(&format!(" {tight}"), tight).replace(&format!("{tight} "), tight);
    }
    text.replace(" ,", ",").replace(" ;", ";")
}
