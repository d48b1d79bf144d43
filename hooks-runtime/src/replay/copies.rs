//! The copies of the registry that a replay fires at.

use std::collections::{BTreeMap, HashSet};
use std::future::ready;
use std::sync::Arc;

use super::changes::Checked;
use super::collect::Collector;
use super::error::ReplayError;
use super::history::{History, name};
use super::points::Points;
use super::script::Script;
use super::timeline::full_name;
use crate::engine::raw::{ErasedHandler, HandlerCell};
use crate::error::FailureCause;
use crate::flow::StageKind;
use crate::json::JsonHandler;
use crate::plugin::scope::ScopedHooks;
use crate::registry::HookRegistry;
use crate::registry::copy::Stand;
use crate::registry::entry::Entry;
use crate::report::SkipReason;

/// What a handler of the fire's point is in one copy, otherwise than in others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forced {
    /// It was not registered when the fire was recorded.
    Absent,
    /// It was registered and not called, for a reason that is not in the handler.
    StandIn,
}

/// By point and handler.
type Difference = BTreeMap<(String, String), Forced>;

/// So many copies are kept: handlers that come and go, and breakers, make others.
const KEPT: usize = 16;

/// The copies of a registry. Most replays need one: others have handlers that come and go in
/// the recording.
pub(super) struct Copies<'r> {
    hooks: &'r ScopedHooks,
    points: &'r Points,
    script: Arc<Script>,
    changes: Checked,
    made: Vec<(Difference, HookRegistry)>,
}

impl<'r> Copies<'r> {
    pub(super) fn new(
        hooks: &'r ScopedHooks,
        points: &'r Points,
        script: &Arc<Script>,
        changes: Checked,
    ) -> Self {
        Self { hooks, points, script: Arc::clone(script), changes, made: Vec::new() }
    }

    /// The copy for a recorded fire.
    pub(super) fn for_fire(&mut self, at: usize) -> Result<HookRegistry, ReplayError> {
        let difference = difference(&self.script.history, at);
        if let Some((_, made)) = self.made.iter().find(|(known, _)| *known == difference) {
            return Ok(made.clone());
        }
        let copy = self.copy(&difference)?;
        if self.made.len() == KEPT {
            self.made.remove(0);
        }
        self.made.push((difference, copy.clone()));
        Ok(copy)
    }

    fn copy(&self, difference: &Difference) -> Result<HookRegistry, ReplayError> {
        let (script, points) = (Arc::clone(&self.script), self.points.clone());
        let collector = Arc::new(Collector { script, points });
        let stand = |entry: &Entry| self.stand(entry, difference);
        let copy = self.hooks.inner.copy(&collector, stand);
        self.changes.set(&copy)?;
        Ok(copy)
    }

    /// What a copy has in the place of a handler.
    fn stand(&self, entry: &Entry, difference: &Difference) -> Stand {
        let point = entry.point.name();
        let plugin = entry.plugin.as_ref().map(|plugin| plugin.id().as_str());
        let handler = full_name(plugin, &entry.name);
        let key = (point.to_owned(), handler);
        let forced = difference.get(&key);
        let handler = key.1;
        if self.changes.leaves_out(entry) || forced == Some(&Forced::Absent) {
            return Stand::Absent;
        }
        let may_be_called = entry.pure || self.changes.calls(entry);
        if !self.script.is_recompose() && may_be_called && forced.is_none() {
            // One that was called and left is absent from the fires after.
            let once = entry.once.is_some() && !self.script.history.has(point, &handler);
            return match HandlerCell::share(entry) {
                Some(handler) => Stand::As { handler, once },
                None => Stand::Absent,
            };
        }
        if let Some(handler) = self.stand_in(entry, &handler) {
            return Stand::As { handler, once: false };
        }
        self.script.unanswerable(point, handler);
        Stand::Absent
    }

    fn stand_in(&self, entry: &Entry, handler: &str) -> Option<ErasedHandler> {
        let json = self.points.info(entry.point)?.json?;
        let (script, handler) = (Arc::clone(&self.script), handler.to_owned());
        let model = entry.point.model();
        let answers =
            JsonHandler::stand_in(move |payload| match script.answer(&handler, model, &payload) {
                Some(answer) => Box::pin(ready(answer)),
                None => Box::pin(Arc::clone(&script).over()),
            });
        json.stand_in(entry.point.stage(), entry.location, answers)
    }
}

/// What of a recorded fire, and of those that are nested in it, asks for a copy of its own:
/// handlers that were not registered, or not called for a reason of that time.
fn difference(history: &History, at: usize) -> Difference {
    // What is nested in it is fired at the same copy. In a recording that was edited a fire may
    // be nested in itself.
    let (mut difference, mut here) = (Difference::new(), HashSet::new());
    let (mut seen, mut within) = (HashSet::new(), vec![at]);
    while let Some(at) = within.pop() {
        if seen.insert(at) {
            within.extend(history.children(at).iter().chain(history.stages(at)));
            add_fire(&mut difference, history, at);
            let recorded = &history.fires[at];
            here.extend(
                recorded.calls.iter().map(|call| (recorded.fire.point.clone(), name(call))),
            );
        }
    }
    // One that came between two fires at one point is there for both.
    difference.retain(|key, forced| *forced != Forced::Absent || !here.contains(key));
    difference
}

fn add_fire(difference: &mut Difference, history: &History, at: usize) {
    let recorded = &history.fires[at].fire;
    add(difference, history, at);
    if recorded.model != "flow" {
        return;
    }
    // Every run comes to these two: where they were not fired, they had no handlers.
    for stage in [StageKind::BeforeValidation, StageKind::Finally] {
        let point = format!("{}/{}", recorded.point, stage.name());
        if history.stage(at, &point).is_none() {
            let known = history.known_in_run(at, &point);
            difference
                .extend(known.map(|handler| ((point.clone(), handler.to_owned()), Forced::Absent)));
        }
    }
}

fn add(difference: &mut Difference, history: &History, at: usize) {
    let recorded = &history.fires[at];
    let key = |handler: &str| (recorded.fire.point.clone(), handler.to_owned());
    let absent = history.absent(at).map(|handler| (key(handler), Forced::Absent));
    let not_called = recorded.calls.iter().filter(|call| {
        let cause = call.failure.as_ref().map(|failure| failure.cause);
        matches!(cause, Some(FailureCause::BreakerOpen | FailureCause::RateLimited))
            || matches!(call.skipped, Some(SkipReason::Once | SkipReason::Unregistered))
    });
    let not_called = not_called.map(|call| (key(&name(call)), Forced::StandIn));
    difference.extend(absent.chain(not_called));
}
