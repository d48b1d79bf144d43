//! A replay, from its options to its report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::changes::Changes;
use super::copies::Copies;
use super::error::ReplayError;
use super::history::History;
use super::judge::{cannot, compared};
use super::play::{play, playable, plugins};
use super::points::Points;
use super::report::{FireReplay, ReplayReport};
use super::script::Script;
use crate::catalogue::Catalogue;
use crate::escape::escaped_display;
use crate::plugin::scope::ScopedHooks;

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
/// The example of [`replay`](super::replay()) runs one. Changes add to each other:
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// use hooks_runtime::replay::replay;
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// Before a message leaves.
/// #     pub gating Sending { text: String }
/// # }
///
/// # let hooks = HookRegistry::new();
/// let against_today = replay("day.jsonl").catalogue(&points()).against(&hooks);
/// let what_if = against_today
///     .without("adverts") // a plugin that is to leave
///     .tighten("safety/short") // a handler that is to fail closed
///     .call("sending:audit/count"); // not pure, and called all the same
/// # drop(what_if);
/// ```
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
    /// settings and models. An answer counts whatever it was an answer to. What
    /// [`call`](Self::call) names is not called either.
    ///
    /// [Recomposing](super#recomposing) has an example.
    pub fn recompose(mut self) -> Self {
        self.recompose = true;
        self
    }

    /// As if that plugin were not installed; or, of a target as an operator writes it, such as
    /// `before_command:safety/no_rm`, as if those handlers were not registered.
    ///
    /// The example of [`Replay`] has it.
    pub fn without(mut self, plugin: impl Into<String>) -> Self {
        self.changes.without.push(plugin.into());
        self
    }

    /// As if those handlers failed closed: `plugin/handler`, or a target as an operator
    /// writes it.
    ///
    /// The example of [`Replay`] has it.
    pub fn tighten(mut self, handler: impl Into<String>) -> Self {
        self.changes.tighten.push(handler.into());
        self
    }

    /// As if those handlers were not in shadow, and not disabled: `plugin/handler`, or a
    /// target as an operator writes it.
    ///
    /// The example of [`replay`](super::replay()) lifts one.
    pub fn shadow_lifted(mut self, handler: impl Into<String>) -> Self {
        self.changes.lift.push(handler.into());
        self
    }

    /// Calls those handlers, although they are not declared [`pure`](crate::handler::On::pure):
    /// what they do besides answering is done again. `plugin/handler`, or a target as an
    /// operator writes it.
    ///
    /// The example of [`Replay`] has it.
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
                    fires[at] = Some(cannot(&history, at, reason));
                    continue;
                }
            };
            let copy = copies.for_fire(at)?;
            let copy = ScopedHooks { values: self.hooks.values.clone(), ..(*copy).clone() };
            let copy = copy.scope(plugins(&recorded.fire.scope));
            script.begin(at);
            let refused = {
                // Also where the replay itself is dropped.
                let _ends = EndsWaits(&script);
                play(&copy.json(catalogue), recorded, &script).await
            };
            #[cfg(feature = "tokio")]
            while copy.settled().running() > 0 && copy.settled().await.is_ok() {}
            let (replayed, stuck) = script.end();
            if let Some(refused) = refused {
                fires[at] = Some(cannot(&history, at, refused));
            }
            for (at, replayed) in compared(&history, replayed, stuck.as_deref()) {
                fires[at] = Some(replayed);
            }
        }
        for at in 0..fires.len() {
            let run = history.run(at).filter(|run| *run != at);
            if fires[at].is_none() && run.is_none_or(|run| fires[run].is_none()) {
                let reason = "the run of the flow that it is part of is not in the recording";
                fires[at] = Some(cannot(&history, at, reason.to_owned()));
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
    /// The example of [`replay`](super::replay()) asks for it.
    ///
    /// # Panics
    /// As said, and where the recording cannot be read.
    pub async fn assert_same(&self) {
        let path = escaped_display(&self.path.display());
        let report = match self.run().await {
            Ok(report) => report,
            Err(error) => panic!("`{path}` was not replayed: {error}"),
        };
        let is_same = report.changed().next().is_none();
        assert!(is_same, "the replay of `{path}` is not the same\n{report}");
        if report.same().next().is_none() {
            let reason = report.cannot().next().map(ToString::to_string);
            let reason = reason.unwrap_or_else(|| "it has no fires".to_owned());
            panic!("no fire of `{path}` could be replayed: {reason}");
        }
    }
}

/// Ends what waits for an answer that is not known.
struct EndsWaits<'s>(&'s Script);

impl Drop for EndsWaits<'_> {
    fn drop(&mut self) {
        self.0.end_waits();
    }
}
