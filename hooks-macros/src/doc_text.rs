//! The text of doc comments.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The lines of a doc comment among the attributes.
pub(crate) fn lines(attrs: &[Attribute]) -> Vec<Expr> {
    let line = |attr: &Attribute| match &attr.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => Some(doc.value.clone()),
        _ => None,
    };
    attrs.iter().filter_map(line).collect()
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
