//! A hook point: a named place where a host lets others in.

mod descriptor;
mod policy;

use std::fmt;

pub use descriptor::{PointDescriptor, SourceLocation};
pub use policy::FailurePolicy;

use crate::models::Model;

/// A hook point, declared with [`hook_points!`](crate::hook_points).
///
/// The implementing type is a zero-sized marker. Nobody implements this by
/// hand: the macro writes the descriptor that the registry relies on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook point",
    label = "expected a point declared with `hook_points!`",
    note = "declare it in a `hook_points!` block, or name the point instead of its payload"
)]
pub trait HookPoint: Sized + Send + Sync + 'static {
    /// What a fire hands to the handlers.
    type Payload: Send + Sync + 'static;
    /// What the handlers' answers compose to.
    type Result: Send + Sync + 'static;
    /// How the handlers run and compose.
    type Model: Model;
    /// The name on the wire, in reports and in the catalogue.
    const NAME: &'static str;

    /// The declaration as data.
    #[doc(hidden)]
    fn descriptor() -> &'static PointDescriptor;
}

/// A model, as data: `ModelKind::Void` and so on, and `ModelKind::Stage`.
///
/// Not an enum, because its variants would share their names with the models
/// themselves, and the compiler names a type by its full path where its name
/// alone could mean two things: a wrong verb is to read "`Modifying` hook
/// point", not "`hooks_runtime::Modifying` hook point".
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModelKind(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Void,
    Modifying,
    Claiming,
    Gating,
    Flow,
    Stage,
}

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// All handlers, concurrently; nothing to compose.
    pub const Void: Self = Self(Kind::Void);
    /// One after another; per field the first value wins.
    pub const Modifying: Self = Self(Kind::Modifying);
    /// One after another until the first claim.
    pub const Claiming: Self = Self(Kind::Claiming);
    /// Rewriters, then guards; the first rejection stops.
    pub const Gating: Self = Self(Kind::Gating);
    /// Stages around an operation of the host.
    pub const Flow: Self = Self(Kind::Flow);
    /// One stage of a flow.
    pub const Stage: Self = Self(Kind::Stage);
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Void => "void",
            Kind::Modifying => "modifying",
            Kind::Claiming => "claiming",
            Kind::Gating => "gating",
            Kind::Flow => "flow",
            Kind::Stage => "stage",
        })
    }
}

impl fmt::Debug for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
