//! How much happened.

use std::collections::BTreeSet;

use hooks_runtime::report::HandlerStatus;

use crate::agent::{Event, Outcome, Record};

/// How much happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) points: usize,
    pub(super) fires: usize,
    pub(super) calls: usize,
    pub(super) changes: usize,
    pub(super) claims: usize,
    pub(super) answers: usize,
}

impl Tally {
    pub(super) fn of(records: &[Record]) -> Self {
        let mut tally = Self::default();
        let mut points = BTreeSet::new();
        for entry in records.iter().flat_map(|record| &record.entries) {
            let Event::Fired(fired) = &entry.event else { continue };
            points.insert(fired.report.point());
            tally.fires += 1;
            match &fired.outcome {
                Outcome::Amended(changes) => tally.changes += changes.len(),
                Outcome::Passed { rewritten_by } => tally.changes += rewritten_by.len(),
                Outcome::Claimed { .. } => tally.claims += 1,
                Outcome::Answered { .. } => tally.answers += 1,
                _ => {}
            }
            for row in fired.report.handlers() {
                if let HandlerStatus::Ran(_) | HandlerStatus::Failed { .. } = row.status() {
                    tally.calls += 1;
                }
            }
        }
        tally.points = points.len();
        tally
    }
}
