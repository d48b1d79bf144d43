//! What a guard would have rejected, had it an effect.

use std::fmt;

use super::{Contribution, HandlerReport, HandlerStatus};
use crate::escape::escaped;
use crate::registry::entry::Owner;

/// A rejection of a guard that an operator has only warn.
///
/// The example of [`warn`](crate::operator::Operator::warn) has one.
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
