//! A history of operations: invoked, and then ok, failed or unknown; and what is promised of it.

pub(crate) mod process;
pub(crate) mod versions;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};

/// What is fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Gate,
    Claim,
    Durable,
}

/// What came of it, as the one who fired knows. Unknown may have happened or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    Passed(String),
    /// It passed, without what only the one who fired knows.
    PassedWithout,
    Rejected,
    Claimed(u64),
    Stored,
    /// It failed, and nothing ran of the handler that failed.
    Failed,
    Unknown,
}

/// One operation, with the handlers that ran for it, in the order in which they did.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    pub(crate) came: Option<Came>,
    pub(crate) ran: Vec<&'static str>,
}

/// What must not be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A gate passed without a verdict that it requires.
    PassedUnjudged(u64),
    /// A gate passed what its guard forbids.
    PassedForbidden(u64),
    /// A guard ran before a rewriter.
    OutOfOrder(u64),
    /// A fire is said to have failed without its last handler running, and it ran.
    RanThough(u64),
    /// What another version does not know did not come back.
    LeftOut(u64),
    /// A claim is not the one that was made.
    WrongClaim(u64),
    /// What is not declared idempotent ran twice for one claim.
    ClaimedTwice(u64),
    /// What was stored was never handled.
    Lost(u64),
    /// A fire never ended.
    NoEnd(u64),
}

#[derive(Clone, Default)]
pub(crate) struct History(Arc<Mutex<Records>>);

#[derive(Default)]
struct Records {
    operations: BTreeMap<u64, Operation>,
    /// What ran when, as processes of this machine say.
    ran: Vec<(u64, u128, &'static str)>,
}

impl History {
    fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap()
    }

    pub(crate) fn invoked(&self, number: u64, kind: Kind) {
        let operation = Operation { number, kind, came: None, ran: Vec::new() };
        self.lock().operations.insert(number, operation);
    }

    pub(crate) fn ran(&self, number: u64, when: u128, handler: &'static str) {
        self.lock().ran.push((number, when, handler));
    }

    pub(crate) fn came(&self, number: u64, came: Came) {
        self.lock().operations.get_mut(&number).expect("it was invoked").came = Some(came);
    }

    pub(crate) fn operations(&self) -> Vec<Operation> {
        let records = self.lock();
        let (mut operations, mut ran) = (records.operations.clone(), records.ran.clone());
        ran.sort_by_key(|(_, when, _)| *when);
        for (number, _, handler) in ran {
            operations.get_mut(&number).expect("it was invoked").ran.push(handler);
        }
        operations.into_values().collect()
    }
}

/// Everything that must not be in that history.
pub(crate) fn check(operations: &[Operation]) -> Vec<Violation> {
    operations.iter().flat_map(violations).collect()
}

fn violations(operation: &Operation) -> Vec<Violation> {
    let Operation { number, kind, came, ran } = operation;
    let Some(came) = came else { return vec![Violation::NoEnd(*number)] };
    let count = |handler: &str| ran.iter().filter(|it| **it == handler).count();
    let mut found = Vec::new();
    let mut add = |is_wrong: bool, violation: fn(u64) -> Violation| {
        if is_wrong {
            found.push(violation(*number));
        }
    };
    match kind {
        Kind::Gate => {
            if let Came::Passed(line) = came {
                let judged = count("first") > 0 && count("second") > 0 && line.ends_with('+');
                add(!judged, Violation::PassedUnjudged);
                add(judged && number.is_multiple_of(3), Violation::PassedForbidden);
            }
            add(*came == Came::PassedWithout, Violation::LeftOut);
            // The first rewriter runs before the first guard; a call whose fate is unknown to
            // the one who fires ends its fire, so no guard runs after it.
            let place = |handler: &str| ran.iter().position(|it| *it == handler);
            if let Some(guard) = place("second") {
                add(place("first").is_none_or(|rewriter| rewriter > guard), Violation::OutOfOrder);
            }
            add(*came == Came::Failed && count("second") > 0, Violation::RanThough);
        }
        Kind::Claim => {
            if let Came::Claimed(by) = came {
                add(by != number, Violation::WrongClaim);
                add(count("claim") != 1, Violation::ClaimedTwice);
            }
        }
        Kind::Durable => add(*came == Came::Stored && count("keep") == 0, Violation::Lost),
    }
    found
}

/// How many of each kind came to what.
pub(crate) fn counts(operations: &[Operation]) -> String {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for operation in operations {
        let came = match &operation.came {
            None => "no end",
            Some(Came::Passed(_) | Came::PassedWithout) => "passed",
            Some(Came::Rejected) => "rejected",
            Some(Came::Claimed(_)) => "claimed",
            Some(Came::Stored) => "stored",
            Some(Came::Failed) => "failed",
            Some(Came::Unknown) => "unknown",
        };
        *counts.entry(format!("{:?} {came}", operation.kind).to_lowercase()).or_default() += 1;
    }
    counts.iter().fold(String::new(), |mut text, (word, count)| {
        let _ = write!(text, "{}{count} {word}", if text.is_empty() { "" } else { ", " });
        text
    })
}
