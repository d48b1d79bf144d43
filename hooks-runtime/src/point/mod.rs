//! A hook point: a named place at which a host calls handlers.

mod descriptor;
pub(crate) mod interest;
mod policy;
pub(crate) mod table;

use std::fmt;

pub use descriptor::{PointDescriptor, SourceLocation};
pub use policy::FailurePolicy;

use crate::model::{Merging, Model};

/// A hook point, declared with [`hook_points!`](crate::hook_points).
///
/// The implementing type is a zero-sized marker. Not to be implemented by hand:
/// the macro writes the descriptor that the registry relies on.
///
/// ```
/// # use hooks_runtime::{HookPoint, HookRegistry, hook_points};
/// # hook_points! { pub void Rang { bell: u32 } }
/// // What is generic over points.
/// fn about<P: HookPoint>(hooks: &HookRegistry) -> String {
///     format!("{}: {} handlers", P::NAME, hooks.handlers_at::<P>().len())
/// }
///
/// assert_eq!(about::<Rang>(&HookRegistry::new()), "rang: 0 handlers");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook point",
    label = "expected a point declared with `hook_points!`",
    note = "declare it in a `hook_points!` block, or name the point instead of its payload"
)]
pub trait HookPoint: Sized + Send + Sync + 'static {
    /// What a fire passes to the handlers.
    type Payload: Send + Sync + 'static;
    /// What the handlers' answers compose to; at a gating point the reason of a
    /// rejection.
    type Result: Send + Sync + 'static;
    /// How the handlers run and compose.
    type Model: Model;
    /// The name on the wire, in reports and in the catalogue.
    const NAME: &'static str;

    /// The declaration as data.
    #[doc(hidden)]
    fn descriptor() -> &'static PointDescriptor;

    /// How results are merged. Written by the declaration of a modifying point, which
    /// thereby is the one place that asks for the [`Merge`](trait@crate::Merge).
    #[doc(hidden)]
    const MERGING: Merging<Self::Result> = Merging::NONE;

    /// What reports show of a reason. Written by the declaration of a gating
    /// point, which thereby is the one place that asks for the `Display`.
    #[doc(hidden)]
    fn displayed(reason: &Self::Result) -> &dyn fmt::Display {
        let _ = reason;
        &""
    }
}

/// A model, as data: `ModelKind::Void` and so on, each in the file of its model.
///
/// Not an enum, because its variants would share their names with the models
/// themselves, and the compiler names a type by its full path where its name
/// alone could mean two things: a wrong verb is to read "`Modifying` hook
/// point", not "`hooks_runtime::model::Modifying` hook point".
///
/// ```
/// use hooks_runtime::point::ModelKind;
///
/// assert_eq!(ModelKind::Claiming.to_string(), "claiming"); // the word of the declaration
/// assert_eq!(format!("{:?}", ModelKind::Claiming), "Claiming");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModelKind {
    /// The name of the marker type.
    name: &'static str,
    /// The word that declares a point.
    word: &'static str,
    /// What a handler's failure means where the point does not say.
    policy: FailurePolicy,
}

impl ModelKind {
    pub(crate) const fn new(name: &'static str, word: &'static str, policy: FailurePolicy) -> Self {
        Self { name, word, policy }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}

impl fmt::Debug for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
