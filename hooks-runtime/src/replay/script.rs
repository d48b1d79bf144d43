//! What stand-ins answer, and what happens in the copies: the state of a replay.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError};

use serde_json::{Value, json};

use super::history::History;
use super::timeline::{Timeline, TimelineRow, full};
use crate::error::{BoxError, FailureCause};
use crate::observe::FireEnd;
use crate::point::ModelKind;
use crate::record::{CallLine, CallStatus, Decision};
use crate::report::SkipReason;
use crate::sync::{Mutex, MutexGuard};

/// What a replay comes to, shared by the stand-ins and the observer of its copies.
pub(super) struct Script {
    pub(super) history: Arc<History>,
    /// Whether recorded answers count whatever they were answers to.
    recompose: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The recorded fire that the next fire of a copy is the replay of.
    next: Option<usize>,
    /// The fires of the copy that have begun, by their numbers.
    fires: HashMap<u64, Played>,
    /// In the order in which they began.
    order: Vec<u64>,
    /// The recorded fires that are nested in what is replayed, and found again.
    found: HashSet<usize>,
    /// The fire whose handler runs.
    current: Option<u64>,
    /// How much has happened.
    clock: usize,
    /// Why it cannot go on.
    stuck: Option<String>,
    /// Points with handlers for which nothing can stand in.
    unanswerable: HashMap<&'static str, String>,
}

/// A fire of a copy.
#[derive(Default)]
struct Played {
    recorded: Option<usize>,
    /// The fire that it is nested in.
    parent: Option<u64>,
    /// A handler of it, or of one that is nested in it, has no answer.
    is_stuck: bool,
    rows: Vec<PlayedRow>,
    /// What handlers answered.
    answers: HashMap<String, Value>,
    /// The stand-ins that were asked, and what is to be said of them instead of what the copy
    /// says.
    stood_in: HashMap<String, Option<Instead>>,
    end: Option<(String, Option<String>)>,
}

/// A handler in a fire of a copy.
struct PlayedRow {
    /// The number of the call; zero where it is not called.
    call: u64,
    /// When it ended, among all that happened in the replay of a fire.
    at: usize,
    row: TimelineRow,
}

/// What is to be said of a stand-in.
enum Instead {
    /// It was not called.
    Skipped(SkipReason),
    /// It was not there.
    Absent,
    /// It failed so.
    Failed(FailureCause),
}

/// What a stand-in does.
enum Answer {
    With(Value),
    Fails(FailureCause, String),
    /// What changes nothing, and what is said of it.
    Neutral(Instead),
}

/// What happened in a recorded fire when it was replayed.
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
}

impl Script {
    pub(super) fn new(history: Arc<History>, recompose: bool) -> Self {
        Self { history, recompose, state: Mutex::default() }
    }

    pub(super) fn is_recompose(&self) -> bool {
        self.recompose
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that nothing can stand in for a handler of that point.
    pub(super) fn unanswerable(&self, point: &'static str, handler: String) {
        self.state().unanswerable.entry(point).or_insert(handler);
    }

    /// The next fire is the replay of this one.
    pub(super) fn begin(&self, recorded: usize) {
        let mut state = self.state();
        let unanswerable = std::mem::take(&mut state.unanswerable);
        *state = State { next: Some(recorded), unanswerable, ..State::default() };
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.state().stuck.is_some()
    }

    /// What happened, the fire itself first, and why it could not go on.
    pub(super) fn end(&self) -> (Vec<Replayed>, Option<String>) {
        let mut state = self.state();
        let order = std::mem::take(&mut state.order);
        let replayed = order.iter().filter_map(|id| state.fires.remove(id)?.into_replayed(*id));
        (replayed.collect(), state.stuck.take())
    }

    /// The number of the recorded fire that a fire of a copy is the replay of: what samples
    /// are taken by.
    pub(super) fn number(&self, fire: u64) -> u64 {
        let recorded = self.state().fires.get(&fire).and_then(|played| played.recorded);
        recorded.map_or(fire, |at| self.history.fires[at].fire.fire)
    }

    /// A fire begins in a copy.
    pub(super) fn fire_started(&self, fire: u64, parent: Option<u64>, point: &'static str) {
        let mut state = self.state();
        let recorded = match state.next.take() {
            Some(next) => Some(next),
            None => {
                let parent = parent.and_then(|parent| state.fires.get(&parent)?.recorded);
                let nested = parent.and_then(|parent| {
                    let mut nested = self.history.nested(parent, point);
                    nested.find(|at| !state.found.contains(at))
                });
                state.found.extend(nested);
                nested
            }
        };
        state.order.push(fire);
        state.fires.insert(fire, Played { recorded, parent, ..Played::default() });
        if let Some(handler) = state.unanswerable.get(point) {
            let reason = format!(
                "nothing can stand in for `{handler}`: `{point}` is not in the catalogue with JSON"
            );
            state.stuck_in(fire, reason);
        }
    }

    pub(super) fn fire_ended(&self, fire: u64, end: &FireEnd<'_>) {
        if let Some(played) = self.state().fires.get_mut(&fire) {
            let error = match end {
                FireEnd::Failed(error) => Some(error.to_string()),
                FireEnd::FlowFailed(error) => Some((*error).to_owned()),
                FireEnd::Completed(_) | FireEnd::Dropped => None,
            };
            if !matches!(end, FireEnd::Dropped) {
                played.end = Some((end.as_str().to_owned(), error));
            }
        }
    }

    /// A call begins: its row has its place from here on.
    pub(super) fn call_started(&self, fire: u64, call: u64, row: TimelineRow) {
        if let Some(played) = self.state().fires.get_mut(&fire) {
            played.rows.push(PlayedRow { call, at: 0, row });
        }
    }

    /// A call has ended, or does not take place.
    pub(super) fn call_ended(&self, fire: u64, call: u64, row: TimelineRow) {
        let mut state = self.state();
        state.clock += 1;
        let at = state.clock;
        let Some(played) = state.fires.get_mut(&fire) else { return };
        let ended = PlayedRow { call, at, row };
        match played.rows.iter_mut().find(|it| it.call == call && call != 0) {
            Some(known) => *known = ended,
            None => played.rows.push(ended),
        }
    }

    /// A handler has answered, before its call ends.
    pub(super) fn answered(&self, fire: u64, handler: String, answer: Value) {
        if let Some(played) = self.state().fires.get_mut(&fire) {
            played.answers.insert(handler, answer);
        }
    }

    /// The code of a handler is about to run, in that fire.
    pub(super) fn polling(&self, fire: u64) {
        self.state().current = Some(fire);
    }

    /// What a stand-in answers to a payload; `None` where that is not known.
    pub(super) fn answer(
        &self,
        handler: &str,
        model: ModelKind,
        payload: &Value,
    ) -> Option<Result<Value, BoxError>> {
        let mut state = self.state();
        let current = state.current?;
        let recorded = state.fires.get(&current).and_then(|played| played.recorded);
        let answer = match recorded {
            Some(at) => self.recorded_answer(at, handler, model, payload),
            None => Err("the fire that it is nested in did not make this one".to_owned()),
        };
        let (answer, instead) = match answer {
            Ok(Answer::With(answer)) => (Ok(answer), None),
            Ok(Answer::Fails(cause, message)) => {
                (Err(BoxError::from(message)), Some(Instead::Failed(cause)))
            }
            Ok(Answer::Neutral(instead)) => (Ok(neutral(model)), Some(instead)),
            Err(reason) => {
                state.stuck_in(current, format!("`{handler}` is not called, and {reason}"));
                return None;
            }
        };
        if let Some(played) = state.fires.get_mut(&current) {
            played.stood_in.insert(handler.to_owned(), instead);
        }
        Some(answer)
    }

    /// What was recorded of a handler, as an answer; or why there is none.
    fn recorded_answer(
        &self,
        at: usize,
        handler: &str,
        model: ModelKind,
        payload: &Value,
    ) -> Result<Answer, String> {
        let Some(call) = self.history.call(at, handler) else {
            return if self.history.knows(at, handler) {
                Ok(Answer::Neutral(Instead::Absent))
            } else {
                Err("it is not in the recording".to_owned())
            };
        };
        if let Some(failure) = &call.failure {
            return Ok(Answer::Fails(failure.cause, failure.message.clone()));
        }
        let answered = match (call.status, call.skipped) {
            (CallStatus::Ran | CallStatus::Shadowed, _) => Ok(call),
            (_, Some(reason)) => Err(reason),
            _ => return Err("the fire was dropped before it answered".to_owned()),
        };
        if !self.recompose && matches!(answered, Ok(_) | Err(SkipReason::Condition)) {
            self.check_payload(at, call, payload)?;
        }
        match answered {
            Ok(call) => value(call, model).map(Answer::With),
            Err(
                reason @ (SkipReason::Condition
                | SkipReason::Once
                | SkipReason::Target
                | SkipReason::Unregistered),
            ) => Ok(Answer::Neutral(Instead::Skipped(reason))),
            Err(reason) => Err(format!("it was not called then ({})", reason.as_str())),
        }
    }

    /// Whether a handler is asked about what it was asked about when it was recorded.
    fn check_payload(&self, at: usize, call: &CallLine, payload: &Value) -> Result<(), String> {
        let recorded = &self.history.fires[at];
        let mut asked = full(&recorded.fire.payload);
        for before in recorded.calls.iter().take_while(|before| before.place < call.place) {
            if before.effect == Some(Decision::Replaced) {
                asked = before.answer.as_ref().and_then(full).and_then(|it| it.get("payload"));
            }
        }
        match asked {
            Some(asked) if asked != payload => {
                Err("what was recorded of it is an answer to another payload".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl State {
    /// A handler in that fire has no answer: nor have those around it an end.
    fn stuck_in(&mut self, fire: u64, reason: String) {
        let mut around = Some(fire);
        while let Some(played) = around.and_then(|fire| self.fires.get_mut(&fire)) {
            played.is_stuck = true;
            around = played.parent;
        }
        self.stuck.get_or_insert(reason);
    }
}

impl Played {
    fn into_replayed(self, fire: u64) -> Option<Replayed> {
        let Self { recorded, parent, rows, mut answers, stood_in, end, is_stuck } = self;
        let end = end.filter(|_| !is_stuck);
        let is_cut = |row: &TimelineRow| row.status == CallStatus::Cancelled;
        let until = rows.iter().find(|it| is_cut(&it.row)).map(|it| it.row.handler.clone());
        let ends = rows.iter().map(|it| (it.row.handler.clone(), it.at)).collect();
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
                None => row.answer = answers.remove(&row.handler),
            }
            // Its fire was dropped, as another stand-in has no answer.
            (!is_cut(&row)).then_some(row)
        });
        let (rows, ended) = (rows.collect(), end.is_some());
        let (outcome, error) = end.unwrap_or_else(|| ("unknown".to_owned(), None));
        let timeline = Timeline { rows, outcome, error };
        Some(Replayed { recorded: recorded?, fire, parent, ends, timeline, ended, until })
    }
}

/// The answer of a call that ended well, where it was recorded or needs no value.
fn value(call: &CallLine, model: ModelKind) -> Result<Value, String> {
    if let Some(value) = call.answer.as_ref().and_then(full) {
        return Ok(value.clone());
    }
    match (model, &call.decision) {
        (ModelKind::Void, _) => Ok(Value::Null),
        (ModelKind::Claiming, Some(Decision::Nothing))
        | (ModelKind::Gating, Some(Decision::Passed)) => Ok(neutral(model)),
        _ => Err(match call.answer.as_ref().and_then(|answer| answer.missing()) {
            Some(why) => format!("its answer is not in the recording ({why})"),
            None => "its answer is not in the recording as it was".to_owned(),
        }),
    }
}

/// The answer that changes nothing.
fn neutral(model: ModelKind) -> Value {
    match model {
        ModelKind::Claiming => json!({"handled": false}),
        ModelKind::Gating => json!({"verdict": "pass"}),
        _ => Value::Null,
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("recompose", &self.recompose).finish_non_exhaustive()
    }
}
