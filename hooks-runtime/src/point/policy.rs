//! What a handler's failure means for the fire.

use std::fmt;

/// What a handler's failure means for the fire.
///
/// A point declares its policy; a handler may only tighten it.
///
/// ```
/// # use hooks_runtime::{FailurePolicy, HookRegistry, hook_points, on};
/// hook_points! {
///     /// A reading came in. One that is lost is no harm.
///     pub void Measured { volts: u32 }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let alarm = on::<Measured>().name("alarm").on_failure(FailurePolicy::Closed);
/// hooks.register(alarm.handler(|_: &MeasuredPayload| Err("the siren is off")))?;
/// let fired = hooks.fire_void::<Measured>(&MeasuredPayload { volts: 9 }).await;
/// assert!(fired.is_err()); // this handler is stricter than its point
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum FailurePolicy {
    /// The failure is reported and the fire goes on as if the handler had not
    /// been there.
    Open,
    /// The fire ends with the failure as its error. Void points run all
    /// handlers first; the sequential models stop at once.
    Closed,
}

impl fmt::Display for FailurePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "fail-open",
            Self::Closed => "fail-closed",
        })
    }
}
