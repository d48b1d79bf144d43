//! What happened, in order, for people to look at.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hooks_points::ToolResult;
use hooks_runtime::flow::FlowReport;
use hooks_runtime::point::ModelKind;
use hooks_runtime::registry::Owner;
use hooks_runtime::report::{Contribution, FireReport, HandlerReport, HandlerStatus};
use serde::Serialize;
use serde_json::{Map, Value};

/// What came of one message, one goal or one background job.
#[derive(Clone, Debug)]
pub struct Record {
    /// What it was: a message on a platform, a goal, a job.
    pub title: String,
    /// The personality of the turn.
    pub personality: String,
    /// What happened, in order.
    pub entries: Vec<Entry>,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Entry {
    /// How many subagents deep.
    pub depth: usize,
    /// What happened.
    pub event: Event,
}

/// What can happen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The person or the agent said something.
    Said {
        /// Who.
        by: Speaker,
        /// What.
        text: String,
    },
    /// A point was fired.
    Fired(Fired),
    /// A tool ran.
    Ran {
        /// The tool.
        tool: String,
        /// The arguments that it was given in the end.
        args: Value,
        /// What it came back with.
        result: ToolResult,
    },
    /// A plugin said no, and the host obeyed.
    Refused {
        /// What was refused.
        what: String,
        /// Why.
        reason: String,
        /// By whom: `plugin/handler`.
        by: String,
    },
    /// The host did something worth a line.
    Note(String),
    /// The turn ended early.
    Failed(String),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    User,
    /// The agent.
    Agent,
}

/// A point was fired, and this came of it.
#[derive(Clone, Debug)]
pub struct Fired {
    /// What it was fired for, in a few words.
    pub about: String,
    /// Handler by handler.
    pub report: Report,
    /// What they composed to.
    pub outcome: Outcome,
    /// How long the whole fire took.
    pub took: Duration,
}

/// What the handlers of a fire did, or those of a run of a flow.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Report {
    /// Of a fire.
    Fire(FireReport),
    /// Of a run of a flow.
    Flow(FlowReport),
}

/// What the handlers of a fire composed to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// They were called; there is nothing to compose.
    Called,
    /// They set these fields, or none.
    Amended(Vec<Change>),
    /// One claimed, with this value.
    Claimed {
        /// Who: `plugin/handler`.
        by: String,
        /// What the claim says.
        value: Value,
    },
    /// No handler claimed.
    Unclaimed,
    /// All handlers let it pass.
    Passed {
        /// Those who put another payload in place: `plugin/handler`.
        rewritten_by: Vec<String>,
    },
    /// One rejected it.
    Rejected {
        /// Who: `plugin/handler`.
        by: String,
    },
    /// The operation of the flow ran.
    Completed,
    /// One answered in place of the operation.
    Answered {
        /// Who: `plugin/handler`.
        by: String,
    },
    /// A handler that fails closed failed.
    Failed(String),
}

/// One field of a merged result.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The field.
    pub field: &'static str,
    /// Who set it: `plugin/handler`.
    pub by: String,
    /// To what.
    pub value: Value,
}

impl Fired {
    /// Whether there were no handlers.
    pub fn is_quiet(&self) -> bool {
        self.report.handlers().is_empty()
    }

    /// The handler that decided: the one that claimed, rejected or set the field
    /// `error`.
    fn decider(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Claimed { by, .. } | Outcome::Rejected { by } => Some(by.clone()),
            Outcome::Amended(changes) => {
                changes.iter().find(|change| change.field == "error").map(|c| c.by.clone())
            }
            _ => None,
        }
    }
}

impl Report {
    /// The wire name of the point or flow.
    pub fn point(&self) -> &'static str {
        match self {
            Self::Fire(report) => report.point(),
            Self::Flow(report) => report.flow(),
        }
    }

    /// Its model.
    pub fn model(&self) -> ModelKind {
        match self {
            Self::Fire(report) => report.model(),
            Self::Flow(_) => ModelKind::Flow,
        }
    }

    /// The handlers, in order; of a flow, stage by stage.
    pub fn handlers(&self) -> Vec<&HandlerReport> {
        match self {
            Self::Fire(report) => report.handlers().iter().collect(),
            Self::Flow(report) => report.stages().iter().flat_map(FireReport::handlers).collect(),
        }
    }

    /// The handler of that name.
    pub fn handler(&self, name: &str) -> Option<&HandlerReport> {
        self.handlers().into_iter().find(|row| row.handler() == name)
    }

    /// Those who contributed what is wanted: `plugin/handler`.
    fn contributors(&self, wanted: impl Fn(&Contribution) -> bool) -> Vec<String> {
        let rows = self.handlers().into_iter();
        let rows = rows.filter(|row| matches!(row.status(), HandlerStatus::Ran(it) if wanted(it)));
        rows.map(full_name).collect()
    }
}

impl Outcome {
    /// The claim, with the handler that made it.
    pub(crate) fn claimed(report: &Report, value: Value) -> Self {
        let by = report.contributors(|it| matches!(it, Contribution::Claimed)).concat();
        Self::Claimed { by, value }
    }

    /// Passed, with those who rewrote the payload on its way.
    pub(crate) fn passed(report: &Report) -> Self {
        let rewritten_by = report.contributors(|it| matches!(it, Contribution::Replaced));
        Self::Passed { rewritten_by }
    }

    /// The rejection, with the handler that made it.
    pub(crate) fn rejected(report: &Report) -> Self {
        let by = report.contributors(|it| matches!(it, Contribution::Rejected(_))).concat();
        Self::Rejected { by }
    }

    /// What a run of a flow that has an output came to.
    pub(crate) fn run(report: &Report) -> Self {
        match report.contributors(|it| matches!(it, Contribution::Answered)) {
            answered if answered.is_empty() => Self::Completed,
            answered => Self::Answered { by: answered.join(", ") },
        }
    }

    /// Pairs the fields of a merged result with those who set them.
    pub(crate) fn amended(report: &Report, fields: &Map<String, Value>) -> Self {
        let mut changes = Vec::new();
        for row in report.handlers() {
            let HandlerStatus::Ran(Contribution::Fields(set)) = row.status() else { continue };
            for field in set {
                let value = fields.get(&camel_case(field)).cloned().unwrap_or_default();
                changes.push(Change { field, by: full_name(row), value });
            }
        }
        Self::Amended(changes)
    }
}

/// A handler as people write it: `plugin/handler`, or `handler` if built-in.
pub(crate) fn full_name(row: &HandlerReport) -> String {
    match row.owner() {
        Owner::Plugin(id) => format!("{id}/{}", row.handler()),
        Owner::BuiltIn => row.handler().to_owned(),
    }
}

/// A field as the points spell it on the wire.
fn camel_case(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

/// Collects what happens. Clones are the same collection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<Entry>>>);

impl Trace {
    pub(crate) fn push(&self, entry: Entry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// Who decided in the fire that was recorded last.
    pub(crate) fn last_decider(&self) -> Option<String> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Fired(fired) => Some(fired.decider()),
            _ => None,
        })?
    }

    pub(crate) fn extend(&self, entries: Vec<Entry>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(entries);
    }

    pub(crate) fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
