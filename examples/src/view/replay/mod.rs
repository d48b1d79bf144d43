//! What a replay came to: a table for a terminal, and a page with the two timelines of
//! each fire that differs side by side.

mod page;
mod pairs;
mod table;

use std::collections::BTreeMap;

use hooks_runtime::replay::{FireVerdict, ReplayReport};

pub use page::replay_page;
pub use table::replay_table;

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
