//! What a guard would have rejected, had it an effect.

use std::fmt;

use super::{Contribution, HandlerReport, HandlerStatus};
use crate::escape::escaped;
use crate::registry::entry::Owner;

/// A rejection of a guard that an operator has only warn.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
/// # hook_points! { pub gating Posting(String); }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Posting>().name("short").guard(|_: &String| Judgement::reject("too long")))?;
/// # let operator = hooks.operator();
/// let warn = operator.warn("posting:short").break_glass("counting what it would refuse");
/// warn.until(Duration::from_secs(600)).apply()?;
/// let (_, report) = hooks.fire_gating_reported::<Posting>("…".to_owned()).await;
/// let warning = report.warnings().next().unwrap();
/// assert_eq!((warning.handler(), warning.reason()), ("short", "too long"));
/// assert_eq!(warning.owner().as_ref(), "built-in");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warning<'r> {
    row: &'r HandlerReport,
    reason: &'r str,
}

impl<'r> Warning<'r> {
    pub(super) fn of(row: &'r HandlerReport) -> Option<Self> {
        match &row.status {
            HandlerStatus::Shadowed { decision: Contribution::Rejected(reason), warns: true } => {
                Some(Self { row, reason })
            }
            _ => None,
        }
    }

    /// The guard's name.
    pub fn handler(&self) -> &'r str {
        &self.row.handler
    }

    /// Who registered it.
    pub fn owner(&self) -> &'r Owner {
        &self.row.owner
    }

    /// Why it would have rejected.
    pub fn reason(&self) -> &'r str {
        self.reason
    }
}

impl fmt::Display for Warning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HandlerReport { handler, owner, .. } = self.row;
        let (handler, reason) = (escaped(handler), escaped(self.reason));
        write!(f, "`{handler}` ({owner}) would have rejected: {reason}")
    }
}
