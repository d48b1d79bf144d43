//! What a plugin's block is, as written and as checked.

use proc_macro2::TokenStream;
use syn::{Attribute, Expr, Generics, ItemImpl, Path, Type};

use crate::hook_handler::{Arguments, Draft, Handler};

/// What stands between the parentheses of `#[hook_handlers(…)]`.
#[derive(Default)]
pub(crate) struct BlockArguments {
    pub(crate) plugin: Option<Expr>,
    pub(crate) krate: Option<Path>,
}

/// A block as it is written.
pub(crate) struct DraftBlock {
    pub(crate) arguments: BlockArguments,
    /// The block without the marks, to be emitted again.
    pub(crate) item: TokenStream,
    /// The block without its contents; `None` if it is no impl block, which
    /// is reported already.
    pub(crate) header: Option<ItemImpl>,
    pub(crate) methods: Vec<Method>,
}

/// A marked method.
pub(crate) struct Method {
    pub(crate) arguments: Arguments,
    pub(crate) draft: Draft,
}

/// A plugin ready to expand.
pub(crate) struct Plugin<'a> {
    pub(crate) rt: TokenStream,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) id: Option<&'a Expr>,
    /// Only a block that is wrong has any.
    pub(crate) generics: &'a Generics,
    pub(crate) ty: &'a Type,
    pub(crate) handlers: Vec<Registered<'a>>,
}

/// A handler of the plugin.
pub(crate) struct Registered<'a> {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) arguments: &'a Arguments,
    pub(crate) handler: Handler,
}
