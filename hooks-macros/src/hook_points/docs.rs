//! The text that documents a point: for `cargo doc` and for the descriptor.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprLit, Lit};

use super::model::{Model, Point, Shape};
use super::structs;
use crate::location;

/// The `#[doc]` attributes of the point's type: the user's lines, then what
/// the declaration says, with an example of use.
pub(crate) fn attributes(point: &Point) -> TokenStream {
    let written = &point.attrs.docs;
    let generated = summary(point);
    let gap = (!written.is_empty()).then(|| quote!(#[doc = ""]));
    quote! {
        #(#[doc = #written])*
        #gap
        #(#[doc = #generated])*
    }
}

/// The doc comment as one string expression. Lines keep their indentation,
/// which Markdown reads, but for the space that follows `///`.
pub(crate) fn text(docs: &[Expr]) -> TokenStream {
    let literals: Option<Vec<String>> = docs.iter().map(literal).collect();
    if let Some(pieces) = literals {
        let text = pieces
            .iter()
            .flat_map(|piece| piece.split('\n'))
            .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
            .collect::<Vec<_>>()
            .join("\n");
        let text = text.trim();
        return quote!(#text);
    }
    // A doc that a macro computes, such as `include_str!`, is joined by the compiler.
    let lines = docs.iter().map(|doc| quote!(#doc, "\n"));
    quote!(::core::concat!(#(#lines),*))
}

fn literal(doc: &Expr) -> Option<String> {
    match doc {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn summary(point: &Point) -> Vec<String> {
    let Point { ident, model, wire, payload, .. } = point;
    let payload_name = plain(payload, &structs::payload_name(ident));
    let result = point.result.as_ref().map_or_else(String::new, |result| {
        let name = plain(result, &structs::result_name(ident));
        format!(", result {}", linked(result, &name))
    });
    let line = format!(
        " *{}* hook point, wire name `{wire}`, payload {}{result}.",
        model.marker(),
        linked(payload, &payload_name),
    );
    let word = model.word();
    let example = match model {
        Model::Flow => {
            format!(" hooks.run_flow::<{ident}, _>(input, async |input| {{ /* … */ }}).await?;")
        }
        _ => {
            format!(
                " hooks.register_{word}::<{ident}>(async |payload: &{payload_name}| {{ /* … */ }})?;"
            )
        }
    };
    vec![line, String::new(), " ```ignore".to_owned(), example, " ```".to_owned()]
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
