//! The words for what happened, the same in every view.

use std::fmt::{self, Write};
use std::time::Duration;

use hooks_points::ToolResult;
use hooks_runtime::report::{Contribution, HandlerReport, HandlerStatus, SkipReason, escaped};
use serde_json::Value;

use crate::agent::{Change, Fired, Outcome, full_name};

/// How much of a value is shown.
const SHOWN: usize = 56;

/// What came of a fire: a word for it, and the handlers that it is about.
#[derive(Debug)]
pub(super) struct Came {
    pub(super) word: &'static str,
    pub(super) effect: Effect,
    rest: String,
}

/// What a fire did to its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// There are no handlers.
    Quiet,
    /// None.
    None,
    /// Handlers changed it.
    Changed,
    /// A handler claimed or answered it.
    Taken,
    /// A handler refused it, or failed closed.
    Refused,
}

impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.word, self.rest)
    }
}

/// What came of a fire, in one line.
pub(super) fn outcome(fired: &Fired) -> Came {
    let came = |word, effect, rest| Came { word, effect, rest };
    if fired.is_quiet() {
        return came("no handlers", Effect::Quiet, String::new());
    }
    let ran = names(fired, ran);
    let unless_none = |word, link: &str| match ran.as_str() {
        "" => came("none called", Effect::None, String::new()),
        names => came(word, Effect::None, format!("{link} {names}")),
    };
    match &fired.outcome {
        Outcome::Called => unless_none("called", ""),
        Outcome::Amended(changes) if changes.is_empty() => unless_none("unchanged", ", asked"),
        // The lines after it say who, and what.
        Outcome::Amended(changes) if refuses(changes) => {
            came("refused", Effect::Refused, String::new())
        }
        Outcome::Amended(_) => came("changed", Effect::Changed, String::new()),
        Outcome::Claimed { by, .. } => came("claimed", Effect::Taken, format!(" by {by}")),
        Outcome::Unclaimed => unless_none("unclaimed", ", asked"),
        Outcome::Passed { rewritten_by } if rewritten_by.is_empty() => unless_none("passed", " by"),
        Outcome::Passed { rewritten_by } => {
            came("rewritten", Effect::Changed, format!(" by {}", rewritten_by.join(", ")))
        }
        Outcome::Rejected { by } => came("rejected", Effect::Refused, format!(" by {by}")),
        Outcome::Completed => unless_none("ran", " with"),
        Outcome::Answered { by } => came("answered", Effect::Taken, format!(" by {by}, not run")),
        Outcome::Failed(error) => came("stopped", Effect::Refused, format!(": {error}")),
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
        if let HandlerStatus::Failed { message, policy, .. } = row.status() {
            // The message says how: that it panicked, or did not finish in time.
            let text = format!("{} failed, {policy}: {}", full_name(row), escaped(message));
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
