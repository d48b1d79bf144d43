//! One file a question, each with the contenders that answer it.

use crate::measure::clock::Effort;
use crate::measure::table::Table;

pub(crate) mod claiming;
pub(crate) mod flow;
pub(crate) mod gating;
pub(crate) mod growth;
pub(crate) mod idle;
pub(crate) mod ironclaw;
pub(crate) mod limited;
pub(crate) mod memory;
pub(crate) mod modifying;
pub(crate) mod oversized;
pub(crate) mod recorded;
pub(crate) mod removal;
pub(crate) mod suspended;
pub(crate) mod threads;
pub(crate) mod unloadable;
pub(crate) mod void;
pub(crate) mod woken;

/// How many handlers a point has.
pub(crate) const COUNTS: [usize; 5] = [0, 1, 8, 64, 1_024];

/// A question's name on the command line, and its answer.
pub(crate) type Question = (&'static str, fn(Effort) -> Vec<Table>);

/// All of them.
pub(crate) const QUESTIONS: [Question; 13] = [
    ("idle", idle::tables),
    ("void", void::tables),
    ("modifying", modifying::tables),
    ("claiming", claiming::tables),
    ("gating", gating::tables),
    ("flow", flow::tables),
    ("suspended", suspended::tables),
    ("woken", woken::tables),
    ("oversized", oversized::tables),
    ("ironclaw", ironclaw::tables),
    ("limited", limited::tables),
    ("unloadable", unloadable::tables),
    ("recorded", recorded::tables),
];

/// `8 handlers`.
pub(crate) fn handlers(count: usize) -> String {
    match count {
        0 => "no handler".to_owned(),
        1 => "1 handler".to_owned(),
        count => format!("{count} handlers"),
    }
}

/// What a fire of handlers that never fail returns.
pub(crate) const FINE: &str = "no handler fails";
