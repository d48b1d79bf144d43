//! Why a replay was not begun.

use thiserror::Error;

use crate::operator::OperatorError;
use crate::readable::readable_debug;
use crate::record::ReadError;

/// Why a replay was not begun. What is wrong with single fires is in its report.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// use hooks_runtime::replay::{ReplayError, replay};
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// A lamp was switched.
/// #     pub void Switched { on: bool }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let hooks = HookRegistry::new();
/// let error = replay("no such file.jsonl").catalogue(&points()).against(&hooks).run().await.unwrap_err();
/// assert!(matches!(error, ReplayError::Read(_)));
/// # }
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The recording cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A change names no handler, or cannot be made.
    #[error(transparent)]
    Change(#[from] OperatorError),
}

readable_debug! { enum ReplayError { Read(error), Change(error) } }
