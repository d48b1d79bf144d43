//! The words for what happened, the same in every view.

use std::fmt::Write;
use std::time::Duration;

use hooks_points::ToolResult;
use hooks_runtime::{Contribution, HandlerReport, HandlerStatus, SkipReason};
use serde_json::Value;

use crate::agent::{Change, Fired, Outcome, full_name};

/// How much of a value is shown.
const SHOWN: usize = 56;

/// What came of a fire, in one line.
pub(super) fn outcome(fired: &Fired) -> String {
    if fired.report.handlers().is_empty() {
        return "no handlers".to_owned();
    }
    match &fired.outcome {
        Outcome::Called => match names(fired, ran) {
            names if names.is_empty() => "no handler was called".to_owned(),
            names => format!("called {names}"),
        },
        Outcome::Amended(changes) if changes.is_empty() => match names(fired, ran) {
            names if names.is_empty() => "no handler was called".to_owned(),
            names => format!("unchanged by {names}"),
        },
        Outcome::Amended(changes) if refuses(changes) => "refused".to_owned(),
        Outcome::Amended(_) => "changed".to_owned(),
        Outcome::Claimed { by, .. } => format!("claimed by {by}"),
        Outcome::Unclaimed => match names(fired, ran) {
            names if names.is_empty() => "no handler was called".to_owned(),
            names => format!("unclaimed by {names}"),
        },
        Outcome::Passed { rewritten_by } if rewritten_by.is_empty() => match names(fired, ran) {
            names if names.is_empty() => "no handler was called".to_owned(),
            names => format!("passed by {names}"),
        },
        Outcome::Passed { rewritten_by } => format!("rewritten by {}", rewritten_by.join(", ")),
        Outcome::Rejected { by } => format!("rejected by {by}"),
        Outcome::Completed => match names(fired, ran) {
            names if names.is_empty() => "no handler was called".to_owned(),
            names => format!("ran with {names}"),
        },
        Outcome::Answered { by } => format!("answered by {by}, not run"),
        Outcome::Failed(error) => format!("stopped: {error}"),
    }
}

/// A line under a fire.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) kind: RemarkKind,
    pub(super) text: String,
}

/// What a remark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemarkKind {
    /// Who changed what.
    Change,
    /// Who failed.
    Failure,
    /// Who was left out, and why.
    LeftOut,
}

impl RemarkKind {
    /// The mark that stands before it.
    pub(super) const fn mark(self) -> char {
        match self {
            Self::Change => '+',
            Self::Failure => '!',
            Self::LeftOut => '-',
        }
    }
}

/// What else there is to say about a fire.
pub(super) fn remarks(fired: &Fired) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Outcome::Amended(changes) = &fired.outcome {
        // The host records the reason of a refusal in an event of its own.
        for Change { field, by, value } in changes.iter().filter(|c| c.field != "error") {
            let text = format!("{by} set {field} = {}", shown(value));
            remarks.push(Remark { kind: RemarkKind::Change, text });
        }
    }
    for row in fired.report.handlers() {
        if let HandlerStatus::Failed { .. } = row.status() {
            let text = format!("{} failed: {}", full_name(row), row.status());
            remarks.push(Remark { kind: RemarkKind::Failure, text });
        }
    }
    let mut left_out = |why: &str, names: String| {
        if !names.is_empty() {
            let text = format!("{why}: {names}");
            remarks.push(Remark { kind: RemarkKind::LeftOut, text });
        }
    };
    let [scope, condition] = [SkipReason::Scope, SkipReason::Condition];
    left_out("not in scope", names(fired, |row| filter(row) == Some(scope)));
    left_out("condition not met", names(fired, |row| filter(row) == Some(condition)));
    let other = |reason| reason != scope && reason != condition;
    left_out("not reached", names(fired, |row| filter(row).is_some_and(other)));
    remarks
}

/// What became of a handler, as one word for a style.
pub(super) fn class(row: &HandlerReport) -> &'static str {
    match row.status() {
        HandlerStatus::Ran(Contribution::Fields(fields)) if fields.contains(&"error") => "refused",
        HandlerStatus::Ran(Contribution::Fields(fields)) if !fields.is_empty() => "changed",
        HandlerStatus::Ran(Contribution::Replaced) => "changed",
        HandlerStatus::Ran(Contribution::Rejected(_) | Contribution::Aborted(_)) => "refused",
        HandlerStatus::Ran(Contribution::Claimed | Contribution::Answered) => "claimed",
        HandlerStatus::Ran(_) => "ran",
        HandlerStatus::Filtered(_) => "left-out",
        _ => "failed",
    }
}

/// A tool that ran, in one line.
pub(super) fn tool_run(tool: &str, args: &Value, result: &ToolResult) -> String {
    let mut line = format!("{tool} {args} -> ");
    let _ = match result {
        ToolResult::Success { value, .. } => {
            write!(line, "{}", cut(&value.trim_end().replace('\n', ", ")))
        }
        ToolResult::Failure { error, .. } => write!(line, "failed: {error}"),
    };
    line
}

/// A time, short enough for a column.
pub(super) fn time(took: Duration) -> String {
    format!("{took:.1?}")
}

/// Whether a handler refused.
pub(super) fn refuses(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.field == "error")
}

fn ran(row: &HandlerReport) -> bool {
    matches!(row.status(), HandlerStatus::Ran(_))
}

fn filter(row: &HandlerReport) -> Option<SkipReason> {
    match row.status() {
        HandlerStatus::Filtered(filter) => Some(*filter),
        _ => None,
    }
}

fn names(fired: &Fired, wanted: impl Fn(&HandlerReport) -> bool) -> String {
    let rows = fired.report.handlers().into_iter().filter(|row| wanted(row));
    rows.map(full_name).collect::<Vec<_>>().join(", ")
}

fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
