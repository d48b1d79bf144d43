//! What a plugin's block is, as written and as checked.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, Generics, ItemImpl, Path, Type};

use crate::hook_handler::{Arguments, Draft, Handler};

/// What stands between the parentheses of `#[hook_handlers(…)]`.
#[derive(Default)]
pub(crate) struct BlockArguments {
    pub(crate) plugin: Option<Expr>,
    /// Whether the block says `plugin`, also where the id is wrong.
    pub(crate) names_a_plugin: bool,
    pub(crate) version: Option<Expr>,
    pub(crate) description: Option<Expr>,
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
    pub(crate) steps: Vec<DraftStep>,
    /// Whether anything is marked as a handler, also where the mark is wrong.
    pub(crate) has_handler_mark: bool,
}

/// Which step of a plugin's life a method is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepKind {
    Start,
    Stop,
}

impl StepKind {
    /// The word of the mark, and of the function in the expansion.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
        }
    }
}

/// A method that is marked as a step.
pub(crate) struct DraftStep {
    pub(crate) kind: StepKind,
    /// Where the mark is.
    pub(crate) at: Span,
    pub(crate) draft: Draft,
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
    pub(crate) version: Option<&'a Expr>,
    pub(crate) description: Option<TokenStream>,
    /// Only a block that is wrong has any.
    pub(crate) generics: &'a Generics,
    pub(crate) ty: &'a Type,
    pub(crate) handlers: Vec<Registered<'a>>,
    pub(crate) steps: Vec<Step>,
}

/// A step of the plugin's life.
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) ident: Ident,
    pub(crate) is_async: bool,
    /// Where a wrong result is reported.
    pub(crate) result_at: Span,
}

/// A handler of the plugin.
pub(crate) struct Registered<'a> {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) arguments: &'a Arguments,
    pub(crate) handler: Handler,
}
