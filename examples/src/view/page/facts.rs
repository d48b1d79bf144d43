//! What a row can be found by.

use hooks_runtime::registry::Owner;
use hooks_runtime::report::HandlerStatus;

use crate::agent::Event;
use crate::view::phrase::outcome;

/// The rows that the jumps go to: each has exactly one of these words.
pub(super) const REFUSAL: &str = "refusal";
pub(super) const HANDLER_FAILED: &str = "handler failed";
pub(super) const TOOL_FAILED: &str = "tool failed";
pub(super) const TURN_FAILED: &str = "turn failed";

/// What a row can be found by.
pub(super) struct Facts<'a> {
    /// The point that was fired; of a refusal, the one at which it was decided.
    pub(super) point: Option<&'static str>,
    /// The plugins with handlers there, also those that were not called.
    pub(super) plugins: Vec<&'a str>,
    /// What came of it, in words. No word is said of fires and of other rows, so that the
    /// count beside it is of one thing.
    pub(super) outcomes: Vec<&'static str>,
    /// Whether something was refused here, or failed.
    pub(super) trouble: bool,
}

impl<'a> Facts<'a> {
    /// Those of an event; `last` is the point that was fired last before it. What was
    /// said has no row.
    pub(super) fn of(event: &'a Event, last: Option<&'static str>) -> Option<Self> {
        Some(match event {
            Event::Fired(fired) => {
                let rows = fired.report.handlers();
                let failed =
                    rows.iter().any(|row| matches!(row.status(), HandlerStatus::Failed { .. }));
                let mut plugins = Vec::new();
                for row in rows {
                    if let Owner::Plugin(id) = row.owner()
                        && !plugins.contains(&id.as_str())
                    {
                        plugins.push(id.as_str());
                    }
                }
                let mut outcomes = vec![outcome(fired).word];
                outcomes.extend(failed.then_some(HANDLER_FAILED));
                // What a fire refuses, the host records in a row of its own.
                Self { point: Some(fired.report.point()), plugins, outcomes, trouble: failed }
            }
            Event::Ran { result, .. } if result.is_success() => Self::other("tool ran", false),
            Event::Ran { .. } => {
                Self { outcomes: vec!["tool ran", TOOL_FAILED], ..Self::other("", true) }
            }
            Event::Refused { by, .. } => {
                let plugins = by.split_once('/').map(|(plugin, _)| plugin).into_iter().collect();
                Self { point: last, plugins, ..Self::other(REFUSAL, true) }
            }
            Event::Note(_) => Self::other("note", false),
            Event::Failed(_) => Self::other(TURN_FAILED, true),
            Event::Said { .. } => return None,
        })
    }

    fn other(outcome: &'static str, trouble: bool) -> Self {
        Self { point: None, plugins: Vec::new(), outcomes: vec![outcome], trouble }
    }
}
