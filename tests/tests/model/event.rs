//! What both registries are compared by.

use hooks_runtime::FailurePolicy;
use hooks_runtime::report::HandlerStatus;

/// One thing that happened, in the order in which it did.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A handler began, and this is what it was given.
    Start { tag: u32, saw: String },
    /// It came to its end.
    End(u32),
    /// Its future was dropped before that.
    Dropped(u32),
    /// The ends of those that waited in a void fire, in no order.
    Settled(Vec<String>),
    /// What a flow said to a handler that steered it.
    Steered { tag: u32, taken: bool },
    /// The payload of a lazy fire was made.
    Built,
    /// The operation was called.
    Operated { input: u32 },
    /// It was dropped before its end.
    OperationDropped,
    /// What a step of the case came to.
    Did { what: String, report: Vec<(String, Vec<Row>)> },
}

/// A handler in a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub handler: String,
    pub owner: String,
    pub status: HandlerStatus,
    /// Whether the report says how long it ran.
    pub timed: bool,
}

/// A handler as introspection lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub name: String,
    pub owner: String,
    pub priority: i32,
    pub guard: bool,
    pub policy: FailurePolicy,
    pub limit: Option<u32>,
    pub target: Option<String>,
    pub calls: u64,
    pub failures: u64,
    pub filtered: u64,
}

/// What the audit says, each list sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct Audited {
    pub never_fired: Vec<String>,
    pub never_called: Vec<String>,
    pub unknown_constraints: Vec<String>,
    pub dropped: Vec<String>,
}

/// Text without the places in the source that stand in for names.
pub fn placeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("tests/model/") {
        let start = rest[..at].rfind(['`', ' ']).map_or(0, |quote| quote + 1);
        let end = rest[at..].find(['`', ' ', ',', ')']).map_or(rest.len(), |quote| at + quote);
        out.push_str(&rest[..start]);
        out.push_str("<place>");
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
