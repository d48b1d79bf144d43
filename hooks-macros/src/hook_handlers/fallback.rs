//! Stands in for a plugin whose block is wrong, so that installing it adds no
//! errors of its own.

use proc_macro2::TokenStream;

use super::expand;
use super::model::{DraftBlock, Plugin};
use crate::{location, runtime};

/// A plugin without handlers.
pub(crate) fn plugin(draft: &DraftBlock) -> TokenStream {
    let Some(header) = &draft.header else {
        return TokenStream::new();
    };
    expand::plugin(&Plugin {
        rt: runtime::path(draft.arguments.krate.as_ref()),
        cfgs: location::cfgs(&header.attrs),
        id: None,
        generics: &header.generics,
        ty: &header.self_ty,
        handlers: Vec::new(),
    })
}
