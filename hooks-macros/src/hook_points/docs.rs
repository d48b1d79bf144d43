//! The text that documents a point: for `cargo doc` and for the descriptor.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::LitStr;

use super::model::{Point, Shape};
use super::structs;
use crate::location;

/// The `#[doc]` attributes of the point's type: the user's lines, then what
/// the declaration says, with an example of use.
pub(crate) fn attributes(point: &Point) -> TokenStream {
    let written = &point.attrs.docs;
    let generated = summary(point);
    let at = point.ident.span();
    let gap = (!written.is_empty()).then(|| quote_spanned!(at=> #[doc = ""]));
    let generated = generated.into_iter().map(|line| LitStr::new(&line, at));
    quote_spanned! {at=>
        #(#[doc = #written])*
        #gap
        #(#[doc = #generated])*
    }
}

fn summary(point: &Point) -> Vec<String> {
    let Point { ident, model, wire, payload, .. } = point;
    let payload_name = plain(payload, &structs::payload_name(ident));
    let result = point.result.as_ref().map_or_else(String::new, |result| {
        let name = plain(result, &structs::result_name(ident));
        let word = if model.has_reason() { "reason" } else { "result" };
        format!(", {word} {}", linked(result, &name))
    });
    let line = format!(
        " *{}* hook point, wire name `{wire}`, payload {}{result}.",
        model.marker,
        linked(payload, &payload_name),
    );
    let mut lines = vec![line, String::new(), " ```text".to_owned()];
    // It is no doc test, because the macro cannot know by which path, if by any, a
    // test would reach the point.
    lines.extend((model.example)(point, &payload_name).map(|line| format!(" {line}")));
    lines.push(" ```".to_owned());
    lines
}

fn plain(shape: &Shape, declared: &proc_macro2::Ident) -> String {
    match shape {
        Shape::Fields(_) => declared.to_string(),
        Shape::Type(ty) => location::spelled(ty),
    }
}

/// Only types declared here are linked: of the others it is unknown whether
/// rustdoc can find them.
fn linked(shape: &Shape, name: &str) -> String {
    match shape {
        Shape::Fields(_) => format!("[`{name}`]"),
        Shape::Type(_) => format!("`{name}`"),
    }
}
