//! Results that several handlers fill together.

use std::fmt;

use crate::engine::containment::drop_contained;

/// A result that several handlers fill together.
///
/// Derive it for a named result type; `hook_points!` writes it for results
/// declared in place.
///
/// ```
/// use hooks_runtime::{Merge, hook_points};
///
/// #[derive(Debug, Default, PartialEq, Merge)]
/// pub struct Limits { seconds: Option<u64>, megabytes: Option<u64> }
///
/// hook_points! {
///     /// Before a job is run: how much may it take?
///     pub modifying Limiting { job: String } -> Limits;
/// }
///
/// let mut limits = Limits { seconds: Some(5), megabytes: None };
/// let set = limits.merge(Limits { seconds: Some(60), megabytes: Some(100) });
/// assert_eq!(limits, Limits { seconds: Some(5), megabytes: Some(100) });
/// assert_eq!(set.names::<Limits>(), ["megabytes"]);
/// assert_eq!(limits.filled().names::<Limits>(), Limits::FIELDS);
/// ```
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

/// How results of the type `R` are merged: [`Merge`], as a value of the point.
#[doc(hidden)]
#[derive(Debug)]
pub struct Merging<R> {
    pub(crate) fields: &'static [&'static str],
    pub(crate) default: fn() -> R,
    pub(crate) merge: fn(&mut R, R) -> FieldSet,
    pub(crate) filled: fn(&R) -> FieldSet,
    pub(crate) drop_fields: fn(&mut R),
}

impl<R> Merging<R> {
    /// That of points whose results are not merged: never called.
    pub(crate) const NONE: Self = Self {
        fields: &[],
        default: || unreachable!("only results of modifying points are merged"),
        merge: |_, _| FieldSet::new(),
        filled: |_| FieldSet::new(),
        drop_fields: |_| {},
    };
}

/// How a type says that it is merged.
#[doc(hidden)]
pub const fn merging<R: Merge>() -> Merging<R> {
    Merging {
        fields: R::FIELDS,
        default: R::default,
        merge: R::merge,
        filled: R::filled,
        drop_fields: R::drop_fields,
    }
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
///
/// ```
/// use hooks_runtime::model::FieldSet;
///
/// let mut set = FieldSet::new();
/// assert!(set.is_empty());
/// set.insert(2);
/// assert!(set.contains(2) && !set.contains(0));
/// ```
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
    ///
    /// ```
    /// # use hooks_runtime::{Merge, hook_points};
    /// # hook_points! { pub modifying Styling { page: u32 } -> { font: String, size: u32 } }
    /// let mut style = StylingResult::default();
    /// let set = style.merge(StylingResult { font: None, size: Some(12) });
    /// assert_eq!(set.names::<StylingResult>(), ["size"]);
    /// ```
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
