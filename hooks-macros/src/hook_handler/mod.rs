//! `#[hook_handler]`: makes a free function a handler.

mod expand;
mod fallback;
mod model;
mod parse;
mod valid;

pub(crate) use expand::{Shared, lints, registration};
pub(crate) use model::{Arguments, Draft, Handler};
pub(crate) use parse::{arguments, function, plugin};
pub(crate) use valid::check_method;

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;

/// Expands the attribute. The item comes out as it went in, whatever else
/// happens: a body that is half typed must stay in the editor's view.
pub(crate) fn hook_handler(arguments: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let arguments = parse::arguments(arguments, &mut errors);
    let code = function(item.clone(), &mut errors).map(|draft| {
        match valid::check_function(&arguments, &draft, &mut errors) {
            Some(handler) => expand::function(&arguments, &draft, &handler),
            None => fallback::function(&arguments, &draft),
        }
    });
    let mistakes = errors.finish();
    quote!(#item #code #mistakes)
}
