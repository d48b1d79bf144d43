//! `hook_points!`: declares hook points.

mod attrs;
mod catalogue;
mod derives;
mod docs;
mod expand;
mod fallback;
mod model;
mod models;
mod parse;
mod structs;
mod valid;

use proc_macro2::TokenStream;

use crate::errors::Errors;

/// Expands a block of declarations behind a bracketed path to the runtime.
pub(crate) fn hook_points(input: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let draft = parse::parse(input, &mut errors);
    let block = valid::check(draft, &mut errors);
    let code = expand::block(&block);
    let mistakes = errors.finish();
    quote::quote!(#code #mistakes)
}
