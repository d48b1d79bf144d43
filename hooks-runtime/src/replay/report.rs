//! What a replay came to.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::compare::{Difference, DifferenceKind};
use super::timeline::Timeline;

/// What a replay came to: every fire of the recording, in the order in which they began.
///
/// It prints as a list of what differs. The example of [`replay`](super::replay()) asks it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The fires. The stages of a flow are part of their run.
    pub fires: Vec<FireReplay>,
    /// What of the recording could not be read, with its places.
    pub unread: Vec<String>,
}

/// One fire of the recording, and its replay.
///
/// The example of [`replay`](super::replay()) looks at one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FireReplay {
    /// The run of the program that recorded it.
    pub run: String,
    /// Its number there.
    pub fire: u64,
    /// When it began: nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The wire name of its point.
    pub point: String,
    /// The model of its point.
    pub model: String,
    /// What it was given, where that was recorded.
    pub payload: Option<Value>,
    /// What came of the replay.
    pub verdict: FireVerdict,
    /// The differences, the first one first. Each handler has one at most.
    pub differences: Vec<Difference>,
    /// As it was recorded.
    pub recorded: Timeline,
    /// As it was replayed, as far as it was.
    pub replayed: Option<Timeline>,
}

/// What came of the replay of a fire.
///
/// The example of [`replay`](super::replay()) has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FireVerdict {
    /// Every handler that matters did the same, and so the fire came to the same.
    Same,
    /// Something is different.
    Changed {
        /// The handler of the first difference, here or in a fire that is nested in this one:
        /// what comes after it may follow from it.
        by: Option<String>,
        /// Why the replay could not go on behind that, where it could not.
        unknown: Option<String>,
    },
    /// It cannot be told.
    Cannot {
        /// Why not.
        reason: String,
    },
}

impl FireVerdict {
    /// One word, as it is serialised.
    ///
    /// ```
    /// use hooks_runtime::replay::FireVerdict;
    ///
    /// assert_eq!(FireVerdict::Same.as_str(), "same");
    /// ```
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed { .. } => "changed",
            Self::Cannot { .. } => "cannot",
        }
    }
}

impl ReplayReport {
    /// The fires that came to the same.
    ///
    /// The example of [`replay`](super::replay()) counts them.
    pub fn same(&self) -> impl Iterator<Item = &FireReplay> {
        self.fires.iter().filter(|fire| fire.verdict == FireVerdict::Same)
    }

    /// The fires in which something is different.
    ///
    /// The example of [`replay`](super::replay()) asks for them.
    pub fn changed(&self) -> impl Iterator<Item = &FireReplay> {
        self.fires.iter().filter(|fire| matches!(fire.verdict, FireVerdict::Changed { .. }))
    }

    /// The fires of which it cannot be told.
    ///
    /// The example of [`replay`](super::replay()) counts them.
    pub fn cannot(&self) -> impl Iterator<Item = &FireReplay> {
        self.fires.iter().filter(|fire| matches!(fire.verdict, FireVerdict::Cannot { .. }))
    }

    /// How many differences there are of each kind.
    ///
    /// The example of [`replay`](super::replay()) counts them.
    pub fn counts(&self) -> BTreeMap<DifferenceKind, usize> {
        let mut counts = BTreeMap::new();
        for difference in self.fires.iter().flat_map(|fire| &fire.differences) {
            *counts.entry(difference.kind).or_default() += 1;
        }
        counts
    }
}

impl FireReplay {
    /// The handler of the first difference, here or in a fire that is nested in this one.
    ///
    /// The example of [`replay`](super::replay()) asks for it.
    pub fn by(&self) -> Option<&str> {
        match &self.verdict {
            FireVerdict::Changed { by, .. } => by.as_deref(),
            _ => None,
        }
    }
}
