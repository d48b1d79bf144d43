//! `handlers![…]`: lists annotated functions.

mod expand;
mod parse;

use proc_macro2::TokenStream;

use crate::errors::Errors;

/// Expands a list behind a bracketed path to the runtime. Entries that are
/// wrong are left out.
pub(crate) fn handlers(input: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let (rt, entries) = parse::parse(input, &mut errors);
    expand::list(&rt, &entries, &errors.finish())
}
