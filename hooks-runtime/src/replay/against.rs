//! A replay, from its options to its report.

use std::collections::HashMap;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use super::changes::Changes;
use super::compare::differences;
use super::copies::Copies;
use super::error::ReplayError;
use super::history::History;
use super::points::Points;
use super::report::{FireReplay, FireVerdict, ReplayReport};
use super::script::{Replayed, Script};
use super::timeline::{Timeline, full};
use crate::catalogue::Catalogue;
use crate::json::{JsonError, JsonHooks};
use crate::plugin::scope::{Plugins, ScopedHooks};
use crate::record::{Captured, RecordedFire, RecordedScope};

/// A recording that is to be replayed.
///
/// The example of [`replay`](super::replay()) begins with one.
#[derive(Clone, Debug)]
#[must_use = "say what it is replayed against"]
pub struct Recorded {
    path: PathBuf,
    catalogues: Vec<Catalogue>,
}

/// A replay that is not begun: what is to be otherwise, and how it is to be done.
///
/// The example of [`replay`](super::replay()) runs one.
#[derive(Clone, Debug)]
#[must_use = "call `run` or `assert_same`"]
pub struct Replay {
    path: PathBuf,
    points: Points,
    hooks: ScopedHooks,
    recompose: bool,
    changes: Changes,
}

impl Recorded {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), catalogues: Vec::new() }
    }

    /// Points whose fires can be replayed: those that the catalogue has with JSON. Several
    /// add to each other.
    pub fn catalogue(mut self, catalogue: &Catalogue) -> Self {
        self.catalogues.push(catalogue.clone());
        self
    }

    /// Replays it against these handlers.
    ///
    /// Each fire has the scope that was recorded; the values that handlers read are those
    /// that these hooks carry.
    pub fn against(self, hooks: &ScopedHooks) -> Replay {
        let Self { path, catalogues } = self;
        let points = Points::new(catalogues, hooks);
        let (hooks, changes) = (hooks.clone(), Changes::default());
        Replay { path, points, hooks, recompose: false, changes }
    }
}

impl Replay {
    /// Calls no handler at all: what was recorded of each goes through today's order, scopes,
    /// settings and models. An answer counts whatever it was an answer to.
    ///
    /// [Recomposing](super#recomposing) has an example.
    pub fn recompose(mut self) -> Self {
        self.recompose = true;
        self
    }

    /// As if that plugin were not installed; or, of a target as an operator writes it, such as
    /// `before_command:safety/no_rm`, as if those handlers were not registered.
    pub fn without(mut self, plugin: impl Into<String>) -> Self {
        self.changes.without.push(plugin.into());
        self
    }

    /// As if those handlers failed closed: `plugin/handler`, or a target as an operator
    /// writes it.
    pub fn tighten(mut self, handler: impl Into<String>) -> Self {
        self.changes.tighten.push(handler.into());
        self
    }

    /// As if those handlers were not in shadow, and not disabled: `plugin/handler`, or a
    /// target as an operator writes it.
    pub fn shadow_lifted(mut self, handler: impl Into<String>) -> Self {
        self.changes.lift.push(handler.into());
        self
    }

    /// Calls those handlers, although they are not declared [`pure`](crate::handler::On::pure):
    /// what they do besides answering is done again. `plugin/handler`, or a target as an
    /// operator writes it.
    pub fn call(mut self, handler: impl Into<String>) -> Self {
        self.changes.call.push(handler.into());
        self
    }

    /// Replays the fires, one after another, in the order in which they began.
    pub async fn run(&self) -> Result<ReplayReport, ReplayError> {
        let history = Arc::new(History::read(&self.path)?);
        let script = Arc::new(Script::new(Arc::clone(&history), self.recompose));
        let entries = self.hooks.inner.store().entries();
        let changes = self.changes.checked(&entries)?;
        drop(entries);
        let mut copies = Copies::new(&self.hooks, &self.points, &script, changes);
        let mut fires: Vec<Option<FireReplay>> = vec![None; history.fires.len()];
        for (at, recorded) in history.fires.iter().enumerate() {
            // A stage is part of its run, and what a handler fired is part of its fire.
            if recorded.fire.flow_run.is_some() || fires[at].is_some() {
                continue;
            }
            let catalogue = playable(recorded).and_then(|()| self.points.of(&recorded.fire.point));
            let catalogue = match catalogue {
                Ok(catalogue) => catalogue,
                Err(reason) => {
                    fires[at] = Some(cannot(recorded, reason));
                    continue;
                }
            };
            let copy = copies.for_fire(at)?;
            let copy = ScopedHooks { values: self.hooks.values.clone(), ..(*copy).clone() };
            let copy = copy.scope(plugins(&recorded.fire.scope));
            script.begin(at);
            let refused = fire(&copy.json(catalogue), recorded, &script).await;
            let (replayed, stuck) = script.end();
            if let Some(refused) = refused {
                fires[at] = Some(cannot(recorded, refused));
            }
            for (at, replayed) in compared(&history, replayed, stuck.as_deref()) {
                fires[at] = Some(replayed);
            }
        }
        let fires = fires.into_iter().flatten().collect();
        Ok(ReplayReport { fires, unread: history.unread.clone() })
    }

    /// For tests: panics with the first differences where any fire came to something else,
    /// and where none could be replayed.
    ///
    /// Fires that cannot be replayed are no differences: [`run`](Self::run) tells which.
    ///
    /// # Panics
    /// As said, and where the recording cannot be read.
    pub async fn assert_same(&self) {
        let path = self.path.display();
        let report = match self.run().await {
            Ok(report) => report,
            Err(error) => panic!("`{path}` was not replayed: {error}"),
        };
        if report.changed().next().is_some() {
            panic!("the replay of `{path}` is not the same\n{report}");
        }
        if report.same().next().is_none() {
            let reason = report.cannot().next().map(ToString::to_string);
            let reason = reason.unwrap_or_else(|| "it has no fires".to_owned());
            panic!("no fire of `{path}` could be replayed: {reason}");
        }
    }
}

/// Why a fire cannot be replayed, whatever its handlers are.
fn playable(recorded: &RecordedFire) -> Result<(), String> {
    if recorded.fire.model == "flow" {
        return Err("runs of flows are not replayed: what their stages do to the run is not \
                    recorded"
            .to_owned());
    }
    if recorded.fire.outcome == "dropped" {
        return Err("it was dropped before its end".to_owned());
    }
    match &recorded.fire.payload {
        Captured::Full { .. } => Ok(()),
        Captured::Redacted { .. } => Err("its payload is redacted".to_owned()),
        Captured::Hash { .. } => Err("of its payload only the digest is recorded".to_owned()),
        Captured::Missing { why } => Err(format!("its payload is {why}")),
    }
}

fn plugins(scope: &RecordedScope) -> Plugins {
    match scope {
        RecordedScope::All => Plugins::All,
        RecordedScope::Only { plugins } => Plugins::only(plugins),
        RecordedScope::Except { plugins } => Plugins::except(plugins),
    }
}

/// Fires with the recorded payload, until the end or until a stand-in has no answer. Why
/// nothing was fired, where that is so.
async fn fire(hooks: &JsonHooks<'_>, recorded: &RecordedFire, script: &Script) -> Option<String> {
    let payload = full(&recorded.fire.payload)?.to_string();
    let hooks = hooks.clone().max_bytes(usize::MAX);
    let mut fire = pin!(hooks.fire(&recorded.fire.point, payload));
    let ended = poll_fn(|cx| match fire.as_mut().poll(cx) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        // No stand-in has more to say later: to drop the fire ends it.
        Poll::Pending if script.is_stuck() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    });
    match ended.await {
        Some(Err(
            error @ (JsonError::UnknownPoint { .. }
            | JsonError::NoJson { .. }
            | JsonError::WrongModel { .. }
            | JsonError::Mismatch(_)),
        )) => Some(error.to_string()),
        _ => None,
    }
}

fn cannot(recorded: &RecordedFire, reason: String) -> FireReplay {
    let verdict = FireVerdict::Cannot { reason };
    replay_of(recorded, verdict)
}

fn replay_of(recorded: &RecordedFire, verdict: FireVerdict) -> FireReplay {
    FireReplay {
        run: recorded.run.clone(),
        fire: recorded.fire.fire,
        at_ns: recorded.at_ns,
        point: recorded.fire.point.clone(),
        model: recorded.fire.model.clone(),
        payload: full(&recorded.fire.payload).cloned(),
        verdict,
        differences: Vec::new(),
        recorded: Timeline::recorded(recorded),
        replayed: None,
    }
}

/// The fire that was replayed and those that are nested in it, compared with what was recorded
/// of them. The first difference of a nested fire may be why its maker does something else.
fn compared(
    history: &History,
    replayed: Vec<Replayed>,
    stuck: Option<&str>,
) -> Vec<(usize, FireReplay)> {
    let mut first: HashMap<u64, (usize, Option<String>)> = HashMap::new();
    let mut fires = Vec::with_capacity(replayed.len());
    // A fire begins before those that are nested in it.
    for replayed in replayed.into_iter().rev() {
        let Replayed { recorded: at, fire, parent, ends, .. } = &replayed;
        let (at, fire, parent, ends) = (*at, *fire, *parent, ends.clone());
        let mut compared = compared_one(&history.fires[at], replayed, stuck);
        let own = compared.differences.first().map(|difference| {
            let ended = difference.handler.as_ref().and_then(|handler| ends.get(handler));
            (ended.copied().unwrap_or(0), difference.handler.clone())
        });
        let cause = [own, first.remove(&fire)].into_iter().flatten().min();
        if let (FireVerdict::Changed { by, .. }, Some((_, cause))) = (&mut compared.verdict, &cause)
        {
            by.clone_from(cause);
        }
        if let (Some(parent), Some(cause)) = (parent, cause) {
            let known = first.entry(parent).or_insert_with(|| cause.clone());
            *known = cause.min(known.clone());
        }
        fires.push((at, compared));
    }
    fires
}

fn compared_one(recorded: &RecordedFire, replayed: Replayed, stuck: Option<&str>) -> FireReplay {
    let Replayed { timeline, ended, until, .. } = replayed;
    let differences =
        differences(&Timeline::recorded(recorded), &timeline, ended, until.as_deref());
    let unknown = stuck.filter(|_| !ended).map(str::to_owned);
    let verdict = match (differences.first(), unknown) {
        (Some(first), unknown) => FireVerdict::Changed { by: first.handler.clone(), unknown },
        (None, Some(reason)) => FireVerdict::Cannot { reason },
        (None, None) => FireVerdict::Same,
    };
    FireReplay { differences, replayed: Some(timeline), ..replay_of(recorded, verdict) }
}
