//! What a handler is, as written and as checked.

use proc_macro2::{Ident, Span};
use syn::{Attribute, Expr, LitStr, Path, Signature, Type, Visibility};

use crate::duration::Nanos;
use crate::policy::Policy;

/// What stands between the parentheses of `#[hook_handler(…)]`.
#[derive(Default)]
pub(crate) struct Arguments {
    /// `None` if it is missing or unreadable, which is reported already.
    pub(crate) point: Option<Path>,
    pub(crate) plugin: Option<(Span, Expr)>,
    pub(crate) krate: Option<(Span, Path)>,
    pub(crate) name: Option<LitStr>,
    pub(crate) priority: Option<i32>,
    pub(crate) timeout: Option<Nanos>,
    pub(crate) on_failure: Option<Policy>,
    pub(crate) before: Vec<LitStr>,
    pub(crate) after: Vec<LitStr>,
    pub(crate) target: Option<Target>,
    pub(crate) when: Option<Expr>,
    pub(crate) once: bool,
    pub(crate) pure: bool,
    /// Where the flag is written.
    pub(crate) guard: Option<Span>,
    pub(crate) replace: bool,
}

/// What a handler is bound to, if it does not take part in every run.
pub(crate) enum Target {
    Type(Box<Type>),
    Named(LitStr),
}

/// A function or method as it is written. Its body is never looked at.
pub(crate) struct Draft {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
}

/// How a handler takes its input.
#[derive(Clone, Copy)]
pub(crate) enum Taking {
    /// `&T`
    Shared,
    /// `&mut T`
    Exclusive,
    /// `&impl Trait`, which the payload itself decides.
    Open,
}

/// A handler ready to expand.
pub(crate) struct Handler {
    pub(crate) point: Path,
    pub(crate) ident: Ident,
    /// The name it registers under.
    pub(crate) name: String,
    pub(crate) is_async: bool,
    /// How it takes its input.
    pub(crate) input: Taking,
    /// Where a point that has no guards is reported, if this is a guard.
    pub(crate) guard_at: Option<Span>,
    /// Where a type that is not the context is reported, if it takes one.
    pub(crate) context_at: Option<Span>,
    /// Where a wrong payload is reported.
    pub(crate) payload_at: Span,
    /// Where a wrong result is reported.
    pub(crate) result_at: Span,
}
