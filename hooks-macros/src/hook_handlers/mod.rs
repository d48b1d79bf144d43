//! `#[hook_handlers]`: makes an impl block a plugin.

mod expand;
mod fallback;
mod model;
mod parse;
mod valid;

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;

/// Expands the attribute. The block comes out as it went in but for the marks
/// on its methods, whatever else happens.
pub(crate) fn hook_handlers(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let draft = parse::parse(arguments, item, &mut errors);
    let code = match valid::check(&draft, &mut errors) {
        Some(plugin) => expand::plugin(&plugin),
        None => fallback::plugin(&draft),
    };
    let item = draft.item;
    let mistakes = errors.finish();
    quote!(#item #code #mistakes)
}
