//! What a merge is made from.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Fields, Generics};

/// The runtime keeps the set of filled fields in one word.
pub(crate) const MAX_FIELDS: usize = 64;

/// The derive's input as it is written.
pub(crate) struct Draft {
    pub(crate) rt: TokenStream,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) kind: Kind,
}

/// What the derive stands on.
pub(crate) enum Kind {
    Struct(Fields),
    Enum,
    Union,
}

/// A struct that merges field by field.
pub(crate) struct Merged {
    pub(crate) rt: TokenStream,
    /// Attributes for the impl.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) fields: Vec<MergedField>,
}

/// One `Option` field.
pub(crate) struct MergedField {
    pub(crate) ident: Ident,
    /// Where a type that is no `Option` is reported.
    pub(crate) at: Span,
    /// Conditions under which the field exists.
    pub(crate) cfgs: Vec<Attribute>,
}
