//! Stands in for a handler whose signature is wrong, so that lists that name
//! it add no errors of their own.

use proc_macro2::TokenStream;
use quote::quote;

use super::expand;
use super::model::{Arguments, Draft};
use crate::runtime;

/// The type without a registration. Nothing for a method, because an impl
/// block cannot hold a type.
pub(crate) fn function(arguments: &Arguments, draft: &Draft) -> TokenStream {
    if draft.sig.receiver().is_some() {
        return TokenStream::new();
    }
    let rt = runtime::path(arguments.krate.as_ref().map(|(_, path)| path));
    expand::annotated(&rt, draft, &quote!(::core::unreachable!()), &draft.sig.ident)
}
