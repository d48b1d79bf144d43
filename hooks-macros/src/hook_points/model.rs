//! What a block of hook points is, as written and as checked.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, LitStr, Meta, Type, Visibility};

use super::models::Model;
use crate::duration::Nanos;
use crate::policy::Policy;

/// A block as it is written.
pub(crate) struct DraftBlock {
    /// The path to the runtime.
    pub(crate) rt: TokenStream,
    pub(crate) options: BlockOptions,
    pub(crate) points: Vec<DraftPoint>,
}

/// What `#![hook(…)]` says for the whole block.
#[derive(Default)]
pub(crate) struct BlockOptions {
    pub(crate) json: Option<LitStr>,
    pub(crate) schema: Schema,
    /// Where `schema` is written.
    pub(crate) schema_at: Option<Span>,
    pub(crate) catalogue: Option<CatalogueFn>,
    pub(crate) timeout: Option<Nanos>,
    pub(crate) on_failure: Option<Policy>,
}

/// Whether the types declared in place get a JSON Schema.
#[derive(Clone, Default)]
pub(crate) enum Schema {
    #[default]
    Never,
    Always,
    /// Where the condition of a `cfg_attr` holds.
    When(TokenStream),
    /// Where the condition holds, it cannot be had.
    MissingWhen(TokenStream),
}

/// The function that `catalogue = pub fn points` asks for.
pub(crate) struct CatalogueFn {
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
}

/// A point as it is written; what is `None` was missing or unreadable.
pub(crate) struct DraftPoint {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) word: Option<Ident>,
    pub(crate) ident: Ident,
    pub(crate) payload: Option<Shape>,
    pub(crate) result: Arrow,
}

/// What stands behind the payload.
pub(crate) enum Arrow {
    /// No arrow.
    Absent,
    /// An arrow, and behind it something unreadable that is reported already.
    Unreadable,
    /// An arrow and a shape.
    Given(Span, Shape),
}

/// A payload or a result.
pub(crate) enum Shape {
    /// Fields of a struct to declare in place.
    Fields(Vec<Field>),
    /// A type that exists.
    Type(Box<Type>),
}

/// A field of a struct declared in place.
pub(crate) struct Field {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
}

/// A block ready to expand.
pub(crate) struct Block {
    pub(crate) rt: TokenStream,
    pub(crate) json: Option<LitStr>,
    pub(crate) schema: Schema,
    pub(crate) catalogue: Option<CatalogueFn>,
    pub(crate) points: Vec<Point>,
}

/// A point ready to expand.
pub(crate) struct Point {
    pub(crate) attrs: PointAttrs,
    pub(crate) vis: Visibility,
    pub(crate) model: &'static Model,
    pub(crate) ident: Ident,
    /// The name on the wire.
    pub(crate) wire: String,
    pub(crate) timeout: Option<Nanos>,
    pub(crate) on_failure: Option<Policy>,
    pub(crate) payload: Shape,
    pub(crate) result: Option<Shape>,
}

/// A point's attributes, sorted by where they go.
#[derive(Default)]
pub(crate) struct PointAttrs {
    /// The lines of the doc comment.
    pub(crate) docs: Vec<Expr>,
    /// For every generated item: conditions and lint permissions.
    pub(crate) everywhere: Vec<Attribute>,
    /// For the point's type only.
    pub(crate) own: Vec<Attribute>,
    /// From `#[payload(…)]`.
    pub(crate) payload: Vec<Meta>,
    /// From `#[result(…)]`.
    pub(crate) result: Vec<Meta>,
    /// From `#[hook(…)]`.
    pub(crate) name: Option<LitStr>,
    pub(crate) timeout: Option<Nanos>,
    pub(crate) on_failure: Option<(Span, Policy)>,
    /// Where `#[payload]` and `#[result]` are written.
    pub(crate) payload_at: Option<Span>,
    pub(crate) result_at: Option<Span>,
}

impl PointAttrs {
    /// Whether the point may be compiled out.
    pub(crate) fn is_conditional(&self) -> bool {
        self.everywhere
            .iter()
            .any(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
    }
}
