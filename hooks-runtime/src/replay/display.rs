//! What a replay came to, as text.

use std::collections::BTreeMap;
use std::fmt;

use super::compare::Difference;
use super::report::{FireReplay, FireVerdict, ReplayReport};
use crate::escape::{escaped, excerpt};

/// So many fires are written out.
const MOST: usize = 20;

/// The counts, what could not be replayed or read and why, and the fires that differ.
impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (same, changed, cannot) =
            (self.same().count(), self.changed().count(), self.cannot().count());
        let all = self.fires.len();
        write!(f, "{all} fires: {same} same, {changed} changed, {cannot} could not be replayed")?;
        for (kind, count) in self.counts() {
            write!(f, "\n  {kind:<9} {count}")?;
        }
        for (reason, count) in reasons(self).into_iter().take(MOST) {
            write!(f, "\n  {count} could not be replayed: {}", escaped(reason))?;
        }
        for unread in &self.unread {
            write!(f, "\n  not read: {}", escaped(unread))?;
        }
        for fire in self.changed().take(MOST) {
            write!(f, "\n\n{fire}")?;
        }
        if changed > MOST {
            write!(f, "\n\nand {} more", changed - MOST)?;
        }
        Ok(())
    }
}

/// Why fires could not be replayed, with how many there are for each reason.
fn reasons(report: &ReplayReport) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for fire in report.cannot() {
        if let FireVerdict::Cannot { reason } = &fire.verdict {
            *reasons.entry(reason.as_str()).or_default() += 1;
        }
    }
    reasons
}

/// Which fire it is, and its differences.
impl fmt::Display for FireReplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fire, point, payload, verdict, differences, .. } = self;
        write!(f, "fire {fire} of `{}`", escaped(point))?;
        if let Some(payload) = payload {
            write!(f, " with {}", excerpt(&payload.to_string()))?;
        }
        for difference in differences {
            write!(f, "\n  {difference}")?;
        }
        match verdict {
            FireVerdict::Cannot { reason } => {
                write!(f, "\n  cannot be replayed: {}", escaped(reason))
            }
            FireVerdict::Changed { unknown: Some(reason), .. } => {
                write!(f, "\n  and then it is not known: {}", escaped(reason))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, handler, recorded, replayed, .. } = self;
        write!(f, "{kind:<9} ")?;
        if let Some(handler) = handler {
            write!(f, "{}: ", escaped(handler))?;
        }
        let (then, now) = (recorded.as_deref(), replayed.as_deref());
        write!(f, "{} -> {}", then.unwrap_or("not there"), now.unwrap_or("not there"))
    }
}
