//! `#[derive(Merge)]`: the first-wins merge of a result.

mod expand;
mod fallback;
mod model;
mod parse;
mod valid;

pub(crate) use expand::implementation;
pub(crate) use model::{Merged, MergedField};
pub(crate) use valid::{check_count, is_option};

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;

/// Expands the derive.
pub(crate) fn merge(input: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let code =
        parse::parse(input, &mut errors).map(|draft| match valid::check(&draft, &mut errors) {
            Some(merged) => implementation(&merged),
            None => fallback::implementation(&draft),
        });
    let mistakes = errors.finish();
    quote!(#code #mistakes)
}
