//! What happened in a fire of a copy.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::timeline::{Timeline, TimelineRow, in_stage};
use crate::error::FailureCause;
use crate::record::CallStatus;
use crate::report::SkipReason;

/// A fire of a copy.
#[derive(Default)]
pub(super) struct Played {
    pub(super) recorded: Option<usize>,
    pub(super) point: &'static str,
    /// The fire that it is nested in.
    pub(super) parent: Option<u64>,
    /// Whether it was handed over to the background, or is nested in one that was. Those are
    /// recorded, and replayed, by themselves.
    pub(super) is_apart: bool,
    /// The handler that was polled last.
    pub(super) polled: Option<String>,
    /// The handler that made it.
    pub(super) maker: Option<String>,
    /// What it was given, where it is nested in another.
    pub(super) payload: Option<Value>,
    /// Of a stage, the run of its flow and the name of its point.
    pub(super) stage_of: Option<(u64, &'static str)>,
    /// A handler of it, or of one that is nested in it, has no answer.
    pub(super) is_stuck: bool,
    pub(super) rows: Vec<PlayedRow>,
    /// The handlers that were called and asked for what is not there: what they did says
    /// nothing.
    pub(super) misled: HashSet<String>,
    /// What handlers answered.
    pub(super) answers: HashMap<String, Value>,
    /// The stand-ins that were asked, and what is to be said of them instead of what the copy
    /// says.
    pub(super) stood_in: HashMap<String, Option<Instead>>,
    pub(super) end: Option<(String, Option<String>)>,
}

/// A handler in a fire of a copy.
pub(super) struct PlayedRow {
    /// The number of the call; zero where it is not called.
    pub(super) call: u64,
    /// When it ended, among all that happened in the replay of a fire.
    pub(super) at: usize,
    pub(super) row: TimelineRow,
}

/// What is to be said of a stand-in.
pub(super) enum Instead {
    /// It was not called.
    Skipped(SkipReason),
    /// It was not there.
    Absent,
    /// It failed so.
    Failed(FailureCause),
}

/// What happened in a recorded fire when it was replayed; of a run of a flow with its stages.
pub(super) struct Replayed {
    pub(super) recorded: usize,
    /// Its number in the copy, and that of the fire that it is nested in.
    pub(super) fire: u64,
    pub(super) parent: Option<u64>,
    /// When its handlers ended, among all that happened in the replay.
    pub(super) ends: HashMap<String, usize>,
    pub(super) timeline: Timeline,
    /// Whether it came to its end.
    pub(super) ended: bool,
    /// The first handler without an answer, where it did not.
    pub(super) until: Option<String>,
    /// The handlers that were called, to their end.
    pub(super) called: HashSet<String>,
    /// The fires that are nested in it, in the order in which they began.
    pub(super) made: Vec<Made>,
}

/// A fire that a handler made.
#[derive(Debug)]
pub(super) struct Made {
    /// The handler.
    pub(super) maker: String,
    pub(super) point: String,
    /// What it was given, where that is known.
    pub(super) payload: Option<Value>,
    /// Whether it is one that was recorded.
    pub(super) is_known: bool,
}

impl Replayed {
    /// Takes the rows of a stage of this run.
    pub(super) fn take_stage(&mut self, stage: Self, point: &str) {
        let rows = stage.timeline.rows.into_iter().map(|row| row.in_stage(point));
        self.timeline.rows.extend(rows);
        self.made.extend(stage.made);
        self.called.extend(stage.called.iter().map(|handler| in_stage(handler, point)));
        let ends = stage.ends.into_iter();
        self.ends.extend(ends.map(|(handler, at)| (in_stage(&handler, point), at)));
        if self.until.is_none() {
            self.until = stage.until.map(|handler| in_stage(&handler, point));
        }
    }
}

impl Played {
    pub(super) fn into_replayed(self, fire: u64) -> Option<Replayed> {
        let Self { recorded, parent, stage_of, rows, stood_in, end, is_stuck, .. } = self;
        let (mut answers, misled) = (self.answers, self.misled);
        let end = end.filter(|_| !is_stuck);
        let is_cut = |row: &TimelineRow| {
            row.status == CallStatus::Cancelled || misled.contains(&row.handler)
        };
        let until = rows.iter().find(|it| is_cut(&it.row)).map(|it| it.row.handler.clone());
        let ends = rows.iter().map(|it| (it.row.handler.clone(), it.at)).collect();
        let mut called = HashSet::new();
        let rows = rows.into_iter().filter_map(|PlayedRow { mut row, .. }| {
            match stood_in.get(&row.handler) {
                Some(Some(Instead::Absent)) => return None,
                Some(Some(Instead::Skipped(reason))) => row.skip(*reason),
                Some(Some(Instead::Failed(cause))) => {
                    if let Some(failure) = &mut row.failure {
                        failure.cause = *cause;
                    }
                }
                // What it answers is what was recorded.
                Some(None) => {}
                None => {
                    row.answer = answers.remove(&row.handler);
                    if row.status != CallStatus::Filtered && !is_cut(&row) {
                        called.insert(row.handler.clone());
                    }
                }
            }
            // Its fire was dropped, as another stand-in has no answer.
            (!is_cut(&row)).then_some(row)
        });
        let (rows, ended): (Vec<_>, _) = (rows.collect(), end.is_some());
        let (outcome, error) = end.unwrap_or_else(|| ("unknown".to_owned(), None));
        let timeline = Timeline { rows, outcome, error };
        // A stage that its run did not come to when it was recorded is part of it all the same.
        let recorded = recorded.or(stage_of.map(|_| usize::MAX))?;
        let made = Vec::new();
        Some(Replayed { recorded, fire, parent, ends, timeline, ended, until, called, made })
    }
}
