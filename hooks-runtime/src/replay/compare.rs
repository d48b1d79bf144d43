//! The differences between a fire as it was recorded and as it was replayed.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Serialize;

use super::timeline::{Timeline, TimelineRow};
use crate::escape::{escaped, excerpt};
use crate::record::{CallStatus, Decision};

/// What is different about one handler in one fire, or about what the fire came to.
///
/// The example of [`replay`](super::replay()) has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// Which kind of difference.
    pub kind: DifferenceKind,
    /// `plugin/handler`, or the name alone; of another outcome the handler of the first
    /// difference, where there is one.
    pub handler: Option<String>,
    /// As it was recorded; `None` where the handler was not there.
    pub recorded: Option<String>,
    /// As it was replayed; `None` where the handler is not there.
    pub replayed: Option<String>,
    /// Whether it follows from another: the handler was not called, or is called now, because
    /// of what an earlier one did.
    pub follows: bool,
}

/// What is different.
///
/// ```
/// use hooks_runtime::replay::DifferenceKind;
///
/// assert_eq!(DifferenceKind::Decision.as_str(), "decision");
/// assert!(DifferenceKind::ALL.iter().all(|kind| kind.is_of_handler()));
/// assert!(!DifferenceKind::Outcome.is_of_handler());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DifferenceKind {
    /// A handler that had an effect is not there.
    Removed,
    /// A handler that was not there has an effect, or fails.
    Added,
    /// It was called, and is not.
    Skipped,
    /// It was not called, and is.
    Called,
    /// It decides something else.
    Decision,
    /// It decides the same, with another value.
    Answer,
    /// It decides the same, and that has an effect where it had none, or none where it had.
    Effect,
    /// It fails and did not, or the other way round, or in another way.
    Failure,
    /// It has its effect at another place in the order.
    Order,
    /// It makes a fire that it did not make, makes one no longer, or with another payload.
    Fired,
    /// The fire comes to something else.
    Outcome,
}

impl DifferenceKind {
    /// All kinds that are about a handler.
    pub const ALL: [Self; 10] = [
        Self::Removed,
        Self::Added,
        Self::Skipped,
        Self::Called,
        Self::Decision,
        Self::Answer,
        Self::Effect,
        Self::Failure,
        Self::Order,
        Self::Fired,
    ];

    /// Whether it is about one handler, and not about what the fire comes to.
    ///
    /// The example of [`DifferenceKind`] asks for it.
    pub fn is_of_handler(self) -> bool {
        self != Self::Outcome
    }

    /// One word, as it is serialised.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Added => "added",
            Self::Skipped => "skipped",
            Self::Called => "called",
            Self::Decision => "decision",
            Self::Answer => "answer",
            Self::Effect => "effect",
            Self::Failure => "failure",
            Self::Order => "order",
            Self::Fired => "fired",
            Self::Outcome => "outcome",
        }
    }
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The differences, the first one first: in the order in which the handlers are walked, what
/// the fire came to last. Of a fire that was not replayed to its end, only what happened until
/// then is compared: `until` is the handler that has no answer, and `there` are the handlers
/// that are there today, some of which it did not come to.
pub(super) fn differences(
    recorded: &Timeline,
    replayed: &Timeline,
    ended: bool,
    until: Option<&str>,
    there: &HashSet<String>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut rest = recorded.rows.iter();
    let (known, known_now) = (Places::of(recorded), Places::of(replayed));
    let is_gone = |row: &&TimelineRow| {
        let is_behind = !ended && there.contains(&row.handler);
        known_now.of_handler(&row.handler).is_none() && !is_behind
    };
    let is_in_rest = |rest: &[TimelineRow], handler: &str| {
        let begin = recorded.rows.len() - rest.len();
        known.of_handler(handler).is_some_and(|place| place >= begin)
    };
    let mut moved = out_of_place(recorded, replayed, [&known, &known_now]);
    for now in &replayed.rows {
        let then = known.of_handler(&now.handler).map(|place| &recorded.rows[place]);
        let Some(then) = then else {
            if !now.is_neutral() {
                found.push(difference(DifferenceKind::Added, None, Some(now)));
            }
            continue;
        };
        // What is no longer there stands where it was.
        if is_in_rest(rest.as_slice(), &now.handler) {
            let before = rest.by_ref().take_while(|row| row.handler != now.handler);
            found.extend(before.filter(is_gone).filter_map(removed));
        }
        match kind(then, now) {
            Some(kind) => found.push(difference(kind, Some(then), Some(now))),
            None if moved.as_deref() == Some(&now.handler) => {
                found.push(difference(DifferenceKind::Order, Some(then), Some(now)));
                moved = None;
            }
            None => {}
        }
    }
    if ended || until.is_some_and(|until| is_in_rest(rest.as_slice(), until)) {
        let certain = rest.take_while(|row| until != Some(&row.handler));
        found.extend(certain.filter(is_gone).filter_map(removed));
    }
    if ended && recorded.outcome != replayed.outcome {
        let handler = found.first().and_then(|first| first.handler.clone());
        let shown = |timeline: &Timeline| Some(escaped(&timeline.outcome).to_string());
        let (recorded, replayed) = (shown(recorded), shown(replayed));
        let (kind, follows) = (DifferenceKind::Outcome, handler.is_some());
        found.push(Difference { kind, handler, recorded, replayed, follows });
    }
    found
}

impl Difference {
    /// A handler makes another fire than it made, in the words of each.
    pub(super) fn fired(handler: &str, recorded: Option<String>, replayed: Option<String>) -> Self {
        let (kind, handler) = (DifferenceKind::Fired, Some(handler.to_owned()));
        Self { kind, handler, recorded, replayed, follows: false }
    }
}

fn removed(row: &TimelineRow) -> Option<Difference> {
    (!row.is_neutral()).then(|| difference(DifferenceKind::Removed, Some(row), None))
}

fn difference(
    kind: DifferenceKind,
    recorded: Option<&TimelineRow>,
    replayed: Option<&TimelineRow>,
) -> Difference {
    let handler = recorded.or(replayed).map(|row| row.handler.clone());
    let follows = [recorded, replayed].iter().flatten().any(|row| row.is_consequence());
    let shown = |row: &TimelineRow| match &row.answer {
        Some(answer) if kind == DifferenceKind::Answer => {
            format!("{row}, as {}", excerpt(&answer.to_string()))
        }
        _ => row.to_string(),
    };
    let (recorded, replayed) = (recorded.map(shown), replayed.map(shown));
    Difference { kind, handler, recorded, replayed, follows }
}

/// How two rows of one handler differ.
fn kind(then: &TimelineRow, now: &TimelineRow) -> Option<DifferenceKind> {
    let is_called = |row: &TimelineRow| row.status != CallStatus::Filtered;
    match (is_called(then), is_called(now)) {
        (true, false) => return Some(DifferenceKind::Skipped),
        (false, true) => return Some(DifferenceKind::Called),
        (false, false) => {
            return (then.skipped != now.skipped).then_some(DifferenceKind::Skipped);
        }
        (true, true) => {}
    }
    let cause = |row: &TimelineRow| row.failure.as_ref().map(|failure| failure.cause);
    if cause(then) != cause(now) || then.failed_closed() != now.failed_closed() {
        return Some(DifferenceKind::Failure);
    }
    if cause(then).is_some() {
        return None;
    }
    if !is_same(then.decision.as_ref(), now.decision.as_ref()) {
        return Some(DifferenceKind::Decision);
    }
    if !is_same(then.contributed(), now.contributed()) {
        return Some(DifferenceKind::Effect);
    }
    match (&then.answer, &now.answer) {
        (Some(one), Some(other)) if one != other => Some(DifferenceKind::Answer),
        _ => None,
    }
}

/// Whether two decisions are the same, as far as they were recorded.
fn is_same(then: Option<&Decision>, now: Option<&Decision>) -> bool {
    match (then, now) {
        (Some(Decision::Rejected { reason: then }), Some(Decision::Rejected { reason: now })) => {
            // A text that is too long was cut when it was recorded. All of it is in the answer,
            // which is compared where it was captured, and is not known where it was not.
            then == now || then.strip_suffix('…').is_some_and(|kept| now.starts_with(kept))
        }
        _ => then == now,
    }
}

/// The first handler with an effect that has another place among those that have one.
fn out_of_place(
    recorded: &Timeline,
    replayed: &Timeline,
    [known, known_now]: [&Places<'_>; 2],
) -> Option<String> {
    let in_both = |row: &&TimelineRow| {
        let then = known.of_handler(&row.handler).map(|place| &recorded.rows[place]);
        let now = known_now.of_handler(&row.handler).map(|place| &replayed.rows[place]);
        [then, now].iter().all(|row| row.is_some_and(|row| !row.is_neutral()))
    };
    let then = recorded.rows.iter().filter(in_both);
    let now = replayed.rows.iter().filter(in_both);
    let moved = then.zip(now).find(|(then, now)| then.handler != now.handler);
    moved.map(|(_, now)| now.handler.clone())
}

/// Where each handler is in a timeline, which may be long.
struct Places<'t>(HashMap<&'t str, usize>);

impl<'t> Places<'t> {
    fn of(timeline: &'t Timeline) -> Self {
        // Of two of one name, which only an edited recording has, the first one counts.
        let rows = timeline.rows.iter().enumerate().rev();
        Self(rows.map(|(at, row)| (&*row.handler, at)).collect())
    }

    fn of_handler(&self, handler: &str) -> Option<usize> {
        self.0.get(handler).copied()
    }
}
