//! Stands in for a plugin whose block is wrong, so that installing it adds no
//! errors of its own.

use proc_macro2::TokenStream;

use super::model::{DraftBlock, Plugin};
use super::{expand, valid};
use crate::{location, runtime};

/// A plugin without handlers.
pub(crate) fn plugin(draft: &DraftBlock) -> TokenStream {
    let Some(header) = &draft.header else {
        return TokenStream::new();
    };
    // An impl for a type that borrows is an error of its own.
    if valid::elided(&header.self_ty).is_some() {
        return TokenStream::new();
    }
    expand::plugin(&Plugin {
        rt: runtime::path(draft.arguments.krate.as_ref()),
        cfgs: location::cfgs(&header.attrs),
        id: None,
        version: None,
        description: None,
        generics: &header.generics,
        ty: &header.self_ty,
        handlers: Vec::new(),
        steps: Vec::new(),
    })
}
