//! Results that several handlers fill together.

use std::fmt;

use crate::engine::containment::drop_contained;

/// A result that several handlers fill together.
///
/// Derive it for a named result type; `hook_points!` writes it for results
/// declared in place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be merged, so it cannot be the result of a modifying point",
    label = "not a merged result",
    note = "put `#[derive(Default, Merge)]` on it; each of its fields is an `Option`"
)]
pub trait Merge: Default + Send + Sync + 'static {
    /// The names of the fields, in order.
    const FIELDS: &'static [&'static str];

    /// Fills the fields that are still empty from `later`; says which.
    ///
    /// A panic in here is taken for one of a value that came too late and was
    /// dropped: it goes to the log, and the handler has not failed. What is derived
    /// drops each such value on its own.
    fn merge(&mut self, later: Self) -> FieldSet;

    /// The fields that are set.
    fn filled(&self) -> FieldSet;

    /// Drops what the fields hold, each on its own: they may come from several
    /// handlers, and of two panics in one drop the second ends the process.
    #[doc(hidden)]
    fn drop_fields(&mut self) {}
}

/// A field of a merged result.
#[diagnostic::on_unimplemented(
    message = "each field of a merged result is an `Option` of the standard library",
    label = "this is `{Self}`",
    note = "where another type is called `Option`, write `std::option::Option<…>`"
)]
pub trait MergedField {
    /// Whether a handler has set it.
    fn is_filled(&self) -> bool;
    /// Drops what it holds; a panic in that goes to the log.
    fn drop_value(&mut self);
}

impl<T> MergedField for Option<T> {
    #[inline]
    fn is_filled(&self) -> bool {
        self.is_some()
    }

    #[inline]
    fn drop_value(&mut self) {
        if let Some(value) = self.take() {
            drop_contained("a field of a result", value);
        }
    }
}

/// A function, so that a field of another type is reported where it is written.
#[inline]
pub fn is_filled<F: MergedField>(field: &F) -> bool {
    field.is_filled()
}

/// Drops what a field holds; a panic in that goes to the log.
#[inline]
pub fn drop_field<F: MergedField>(field: &mut F) {
    field.drop_value();
}

/// A result whose fields are dropped each on its own.
#[cfg(feature = "json")]
pub(crate) struct DroppedByField<R: Merge>(pub(crate) R);

#[cfg(feature = "json")]
impl<R: Merge> Drop for DroppedByField<R> {
    fn drop(&mut self) {
        self.0.drop_fields();
    }
}

#[cfg(feature = "json")]
impl<R: Merge + serde::Serialize> serde::Serialize for DroppedByField<R> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

/// Some of the fields of a [`Merge`] type, by index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FieldSet(u64);

impl FieldSet {
    /// None of them.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Adds the field of that index, below 64.
    pub const fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    /// Whether the field of that index is in it.
    pub const fn contains(self, index: usize) -> bool {
        index < 64 && self.0 >> index & 1 == 1
    }

    /// Whether no field is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are not in `other`.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The names of the fields in it.
    pub fn names<R: Merge>(self) -> Vec<&'static str> {
        self.names_of(R::FIELDS)
    }

    /// The names of the fields in it, of these.
    pub(crate) fn names_of(self, fields: &[&'static str]) -> Vec<&'static str> {
        let named = fields.iter().enumerate();
        named.filter(|(index, _)| self.contains(*index)).map(|(_, name)| *name).collect()
    }
}

impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries((0..64).filter(|&index| self.contains(index))).finish()
    }
}
