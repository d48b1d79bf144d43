//! What comes of a command in each dialect: worked out by the code that reads answers.

use serde::Serialize;

use crate::config::{Entry, Handler};
use crate::dialect::Dialect;
use crate::facts::EventKind;
use crate::rules::EventRule;
use crate::runner::{Cause, Exit, Failure, Ran};
use crate::verdict::{Effect, Mode, settle};
use crate::{Answer, Opinion};

/// What comes of a command in one dialect, as its product has it: `denies`, `goes on`, or
/// at a stop `has the agent go on`.
///
/// The example of [`Check`](super::Check) finds a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Consequences {
    /// The dialect.
    pub dialect: &'static str,
    /// The name that it has for the event.
    pub event: &'static str,
    /// After exit code 2 with a reason on stderr.
    pub exit_2: &'static str,
    /// After exit code 2 without a word.
    pub exit_2_silent: &'static str,
    /// After exit code 1.
    pub exit_1: &'static str,
    /// After exit code 3 with text on stdout.
    pub exit_3: &'static str,
    /// Where it does not end in time.
    pub timeout: &'static str,
    /// Where stdout begins like JSON and is none.
    pub bad_output: &'static str,
}

/// A way to end, as it is written in differences.
pub(super) type Ending = (&'static str, fn(&Consequences) -> &'static str);

pub(super) const ENDINGS: [Ending; 6] = [
    ("exit code 2 with a reason", |it| it.exit_2),
    ("exit code 2 without a word", |it| it.exit_2_silent),
    ("exit code 1", |it| it.exit_1),
    ("exit code 3 with text on stdout", |it| it.exit_3),
    ("no answer in time", |it| it.timeout),
    ("JSON that is broken", |it| it.bad_output),
];

/// What comes of an entry in all dialects that have such an event.
pub(super) fn of(entry: &Entry) -> Vec<Consequences> {
    let (Some(rule), Some(handler)) = (entry.rule, &entry.handler) else { return Vec::new() };
    if !rule.kind.is_gate() || rule.kind == EventKind::Gate {
        return Vec::new();
    }
    let all = Dialect::ALL.into_iter().filter_map(|dialect| {
        let own = dialect == entry.dialect;
        let event = if own { Some(rule) } else { dialect.rules().counterpart(rule) };
        // A key that makes it fail closed is its own dialect's.
        let handler = Handler { fails_closed: own && handler.fails_closed, ..handler.clone() };
        Some(consequences(dialect, event?, &handler))
    });
    all.collect()
}

fn consequences(dialect: Dialect, event: &'static EventRule, handler: &Handler) -> Consequences {
    let rules = dialect.rules();
    let word = |opinion: Opinion| {
        let effect = settle(Mode::Faithful, rules, event, handler, opinion);
        match (effect, event.kind.is_stop()) {
            (Ok(Effect::Reject(_)), true) => "has the agent go on",
            (Ok(Effect::Reject(_)), false) => "denies",
            _ => "goes on",
        }
    };
    let ended = |code, stdout: &str, stderr: &str| {
        let ran = Ran { exit: Exit::Code(code), stdout: stdout.into(), stderr: stderr.into() };
        let Answer { opinion, .. } = (rules.faithful)(event, &ran);
        word(opinion)
    };
    Consequences {
        dialect: dialect.as_str(),
        event: event.name,
        exit_2: ended(2, "", "no"),
        exit_2_silent: ended(2, "", ""),
        exit_1: ended(1, "", ""),
        exit_3: ended(3, "no", ""),
        timeout: word(Opinion::Failed(Failure::new(Cause::Timeout(rules.timeout)))),
        bad_output: ended(0, "{ no", ""),
    }
}
