//! Fills in for what a broken declaration left out, so that the point's types
//! exist and uses of them add no errors of their own.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::Type;

use super::model::Shape;
use super::models::Model;
use crate::suggest;

/// The model that was most likely meant: the nearest word, else the one that
/// the shape of the declaration fits.
pub(crate) fn model(word: Option<&str>, has_result: bool) -> &'static Model {
    word.and_then(|word| suggest::closest(word, &Model::words()))
        .and_then(Model::from_word)
        .unwrap_or_else(|| Model::fitting(has_result))
}

/// An empty payload: its name is what other code most likely mentions.
pub(crate) fn payload() -> Shape {
    Shape::Fields(Vec::new())
}

/// An empty result.
pub(crate) fn result() -> Shape {
    Shape::Fields(Vec::new())
}

/// What an arrow stands for behind which nothing can be read.
pub(crate) fn unreadable(model: &Model) -> Option<Shape> {
    (model.has_result() && !model.has_reason()).then(result)
}

/// The type with `'static` for every other lifetime, and where the first of
/// those stands; `None` if it borrows nothing.
///
/// The lifetimes of functions are their own, so a type that names any is left
/// alone where they may stand.
pub(crate) fn owned(ty: &Type) -> Option<(Span, Type)> {
    let mut at = None;
    let tokens = lasting(ty.to_token_stream(), &mut at);
    at.zip(syn::parse2(tokens).ok())
}

fn lasting(tokens: TokenStream, at: &mut Option<Span>) -> TokenStream {
    if tokens.clone().into_iter().any(|token| is_word(&token, "for")) {
        return tokens;
    }
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(and) if and.as_char() == '&' => {
                let borrowed = !is_lifetime(tokens.peek());
                out.extend([TokenTree::from(and.clone())]);
                if borrowed {
                    at.get_or_insert(and.span());
                    out.extend(quote!('static));
                }
            }
            TokenTree::Punct(tick) if tick.as_char() == '\'' => {
                out.extend(lifetime(&mut tokens, tick.span(), at));
            }
            TokenTree::Group(group) if group.delimiter() != Delimiter::Parenthesis => {
                let inner = lasting(group.stream(), at);
                let mut inner = Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                out.extend([TokenTree::from(inner)]);
            }
            other => out.extend([other]),
        }
    }
    out
}

fn lifetime(
    tokens: &mut Peekable<impl Iterator<Item = TokenTree>>,
    tick: Span,
    at: &mut Option<Span>,
) -> TokenStream {
    let name: Option<Ident> = match tokens.next() {
        Some(TokenTree::Ident(name)) => Some(name),
        _ => None,
    };
    if name.is_none_or(|name| name != "static") {
        at.get_or_insert(tick);
    }
    quote!('static)
}

fn is_lifetime(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(tick)) if tick.as_char() == '\'')
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}
