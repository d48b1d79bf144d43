//! The state of a replay: what happens in its copies, and what its stand-ins are asked.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};

use serde_json::Value;

use super::answer::{Answer, neutral};
use super::history::History;
use super::played::{Instead, Made, Played, PlayedRow, Replayed};
use super::timeline::{TimelineRow, in_stage};
use crate::engine::containment::contained;
use crate::error::BoxError;
use crate::observe::{FireEnd, log};
use crate::point::ModelKind;
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
    /// How many of the recorded fires in one are found again, or passed over, at a point.
    found: HashMap<(usize, &'static str), usize>,
    /// The fire whose handler runs, on each thread: what is handed over runs beside it.
    current: HashMap<ThreadId, u64>,
    /// How much has happened.
    clock: usize,
    /// Why it cannot go on.
    stuck: Option<String>,
    /// Whether the fire has ended: answers that are not known are failures then.
    is_over: bool,
    /// Who waits for that.
    waiting: Vec<Waker>,
    /// Points with handlers for which nothing can stand in.
    unanswerable: HashMap<&'static str, String>,
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

    /// The fire has ended, or is dropped: what of it still waits for an answer that is not known
    /// fails from now on, or what a handler handed over to the background would never end.
    pub(super) fn end_waits(&self) {
        let waiting = {
            let mut state = self.state();
            state.is_over = true;
            std::mem::take(&mut state.waiting)
        };
        for waker in waiting {
            if let Err(message) = contained(|| waker.wake()) {
                log::waker_panicked(&message);
            }
        }
    }

    /// What a stand-in does that has no answer: it waits until the fire is dropped or over.
    pub(super) async fn over(self: Arc<Self>) -> Result<Value, BoxError> {
        poll_fn(|task| self.poll_over(task.waker())).await;
        Err("the replay cannot go on".into())
    }

    fn poll_over(&self, waker: &Waker) -> Poll<()> {
        // Cloned outside the lock: it is the executor's code.
        let new = waker.clone();
        let mut state = self.state();
        if state.is_over {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|known| known.will_wake(&new)) {
            state.waiting.push(new);
        }
        Poll::Pending
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.state().stuck.is_some()
    }

    /// What happened, the fire itself first, and why it could not go on.
    pub(super) fn end(&self) -> (Vec<Replayed>, Option<String>) {
        let mut state = self.state();
        let order = std::mem::take(&mut state.order);
        let (mut replayed, mut runs): (Vec<Replayed>, HashMap<u64, u64>) = Default::default();
        let mut places: HashMap<u64, usize> = HashMap::new();
        for id in order {
            let Some(played) = state.fires.remove(&id) else { continue };
            let (stage_of, point) = (played.stage_of, played.point);
            if let (None, Some(parent), Some(maker)) = (stage_of, played.parent, &played.maker) {
                let around = *runs.get(&parent).unwrap_or(&parent);
                if let Some(around) = places.get(&around).map(|place| &mut replayed[*place]) {
                    let (payload, is_known) = (played.payload.clone(), played.recorded.is_some());
                    let (maker, point) = (maker.clone(), point.to_owned());
                    around.made.push(Made { maker, point, payload, is_known });
                }
            }
            let Some(mut fire) = played.into_replayed(id) else { continue };
            // What a handler of a stage fires is nested in its run.
            fire.parent = fire.parent.map(|parent| *runs.get(&parent).unwrap_or(&parent));
            match stage_of {
                None => {
                    places.insert(id, replayed.len());
                    replayed.push(fire);
                }
                Some((run, point)) => {
                    runs.insert(id, run);
                    if let Some(run) = places.get(&run).map(|place| &mut replayed[*place]) {
                        run.take_stage(fire, point);
                    }
                }
            }
        }
        (replayed, state.stuck.take())
    }

    /// Code of the host, which nothing stands in for, is to be run: the fire cannot go on.
    pub(super) fn stop(&self, reason: &str) {
        let mut state = self.state();
        if let Some(root) = state.order.first().copied() {
            state.stuck_in(root, reason.to_owned());
        }
    }

    /// The number of the recorded fire that a fire of a copy is the replay of: what samples
    /// are taken by.
    pub(super) fn number(&self, fire: u64) -> u64 {
        let recorded = self.state().fires.get(&fire).and_then(|played| played.recorded);
        recorded.map_or(fire, |at| self.history.fires[at].fire.fire)
    }

    /// A fire begins in a copy.
    pub(super) fn fire_started(
        &self,
        fire: u64,
        (parent, run): (Option<u64>, Option<u64>),
        point: &'static str,
    ) {
        let mut state = self.state();
        let recorded = match (state.next.take(), run) {
            (Some(next), _) => Some(next),
            (None, Some(run)) => {
                let run = state.fires.get(&run).and_then(|run| run.recorded);
                run.and_then(|run| self.history.stage(run, point))
            }
            (None, None) => {
                let parent = parent.and_then(|parent| state.fires.get(&parent)?.recorded);
                parent.and_then(|parent| {
                    let found = state.found.entry((parent, point)).or_default();
                    let (nested, behind) = self.history.nested(parent, point, *found)?;
                    *found = behind;
                    Some(nested)
                })
            }
        };
        state.order.push(fire);
        let stage_of = run.map(|run| (run, point));
        let maker = parent.and_then(|parent| {
            let Played { polled, stage_of, point, .. } = state.fires.get(&parent)?;
            let polled = polled.as_ref()?;
            Some(if stage_of.is_some() { in_stage(polled, point) } else { polled.clone() })
        });
        let around = run.or(parent).and_then(|around| state.fires.get(&around));
        let is_apart = around.map_or(recorded.is_none(), |around| around.is_apart);
        let played =
            Played { recorded, point, parent, is_apart, maker, stage_of, ..Played::default() };
        state.fires.insert(fire, played);
        if let Some(handler) = state.unanswerable.get(point).filter(|_| !is_apart) {
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
        // What has begun last ends first, mostly.
        match played.rows.iter_mut().rev().find(|it| it.call == call && call != 0) {
            Some(known) => *known = ended,
            None => played.rows.push(ended),
        }
    }

    /// A nested fire begins with that payload.
    pub(super) fn begun(&self, fire: u64, payload: Value) {
        if let Some(played) = self.state().fires.get_mut(&fire) {
            played.payload = Some(payload);
        }
    }

    /// A handler has answered, before its call ends.
    pub(super) fn answered(&self, fire: u64, handler: String, mut answer: Value) {
        let mut state = self.state();
        if let Some(did) = answer.as_object_mut()
            && did.remove("asked_for_lost").is_some()
        {
            let reason = format!(
                "`{handler}` asks for the state of the run, which a handler had changed that is \
                 not called: that is not recorded"
            );
            state.stuck_in(fire, reason);
            if let Some(played) = state.fires.get_mut(&fire) {
                played.misled.insert(handler);
            }
            return;
        }
        if let Some(played) = state.fires.get_mut(&fire) {
            played.answers.insert(handler, answer);
        }
    }

    /// The code of a handler is about to run, in that fire.
    pub(super) fn polling(&self, fire: u64, handler: String) {
        let mut state = self.state();
        state.current.insert(thread::current().id(), fire);
        if let Some(played) = state.fires.get_mut(&fire) {
            played.polled = Some(handler);
        }
    }

    /// What a stand-in answers to a payload; `None` where that is not known.
    pub(super) fn answer(
        &self,
        handler: &str,
        model: ModelKind,
        payload: &Value,
    ) -> Option<Result<Value, BoxError>> {
        let mut state = self.state();
        let current = *state.current.get(&thread::current().id())?;
        let &Played { recorded, is_apart, .. } = state.fires.get(&current)?;
        if is_apart {
            // Its outcome is not compared, and a void handler has no answer.
            return (model == ModelKind::Void).then(|| Ok(neutral(model)));
        }
        let answer = match recorded {
            Some(at) => {
                let asked = (payload, self.recompose);
                self.history.recorded_answer(at, handler, model, asked)
            }
            None => Err("this fire was not made when it was recorded".to_owned()),
        };
        let (answer, instead) = match answer {
            Ok(Answer::With(answer)) => (Ok(answer), None),
            Ok(Answer::Fails(cause, message)) => {
                (Err(BoxError::from(message)), Some(Instead::Failed(cause)))
            }
            Ok(Answer::FailsWith(cause, did)) => (Ok(did), Some(Instead::Failed(cause))),
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

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("recompose", &self.recompose).finish_non_exhaustive()
    }
}
