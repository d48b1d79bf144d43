//! The path to the runtime, the root of every path in an expansion.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;
use syn::parse::ParseStream;

use crate::keys;

/// The path that an attribute names, or the name the crate has by default.
pub(crate) fn path(given: Option<&Path>) -> TokenStream {
    given.map_or_else(|| quote!(::hooks_runtime), ToTokens::to_token_stream)
}

/// Takes the path in brackets off the front of a macro's input.
pub(crate) fn split(input: TokenStream) -> (TokenStream, TokenStream) {
    let mut tokens = input.into_iter().peekable();
    match tokens.next_if(is_bracketed) {
        Some(TokenTree::Group(group)) => (group.stream(), tokens.collect()),
        _ => (path(None), tokens.collect()),
    }
}

fn is_bracketed(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
}

/// The same path with one span: the compiler underlines a path from the span of
/// its first part to that of its last.
pub(crate) fn shown_at(rt: &TokenStream, user: Span) -> TokenStream {
    let moved = |mut token: TokenTree| {
        token.set_span(token.span().located_at(user));
        token
    };
    rt.clone().into_iter().map(moved).collect()
}

/// Reads the value of `crate = ::path`.
pub(crate) fn parse(input: ParseStream) -> syn::Result<Path> {
    keys::equals(input, "crate = ::hooks_runtime")?;
    input
        .call(Path::parse_mod_style)
        .map_err(|error| syn::Error::new(error.span(), "write a path: `crate = ::hooks_runtime`"))
}
