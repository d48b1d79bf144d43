//! The text that documents a point: for `cargo doc` and for the descriptor.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Expr, ExprLit, Lit, LitStr};

use super::model::{Model, Point, Shape};
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
    let mut lines = vec![line, String::new(), " ```text".to_owned()];
    lines.extend(example(point, &payload_name).map(|line| format!(" {line}")));
    lines.push(" ```".to_owned());
    lines
}

/// How to register and how to fire. It is no doc test, because the macro cannot
/// know by which path, if by any, a test would reach the point.
fn example(point: &Point, payload: &str) -> [String; 2] {
    let Point { ident, .. } = point;
    let register = |verb: &str, returned: &str| {
        format!("hooks.register_{verb}::<{ident}>(async |payload: &{payload}| {returned})?;")
    };
    match point.model {
        Model::Void => [
            register("void", "{ /* … */ }"),
            format!("hooks.fire_void::<{ident}>(&payload).await?;"),
        ],
        Model::Modifying => [
            register(
                "modifying",
                &match point.result {
                    Some(Shape::Fields(_)) => format!("{}::default()", structs::result_name(ident)),
                    _ => "None".to_owned(),
                },
            ),
            format!("let amended = hooks.fire_modifying::<{ident}>(&payload).await?;"),
        ],
        Model::Claiming => [
            register("claiming", "None"),
            format!("let claim = hooks.fire_claiming::<{ident}>(&payload).await?;"),
        ],
        Model::Gating => [
            register("gating", "Verdict::Pass"),
            format!("let gate = hooks.fire_gating::<{ident}>(payload).await?;"),
        ],
        Model::Flow => [
            format!(
                "hooks.register_stage::<BeforeExecute<{ident}>>(\
                 async |flow: &mut FlowContext<{ident}>| {{ /* … */ }})?;"
            ),
            format!("let output = hooks.run_flow::<{ident}, _>(input, operation).await?;"),
        ],
    }
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
