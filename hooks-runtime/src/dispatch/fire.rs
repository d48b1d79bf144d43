//! One fire: who may take part, and where its failures go.

use std::time::Duration;

use crate::dispatch::call::{Ended, polling};
use crate::dispatch::watch::Watch;
use crate::error::{FailureKind, FireError, HandlerFailure};
use crate::handler::target::Target;
use crate::list::{AnyList, HandlerList, Slot};
use crate::models::Model;
use crate::nesting::Nested;
use crate::observe::log;
use crate::observe::report::{Contribution, HandlerStatus, SkipReason};
use crate::panics::{drop_contained, shown};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind, PointDescriptor};
use crate::point_state::Listening;
use crate::registry::entry::Entry;
use crate::snapshot::Root;

/// One fire, as its handlers' calls share it.
pub(crate) struct Fire<'f> {
    pub(crate) hooks: &'f ScopedHooks,
    pub(crate) point: &'static PointDescriptor,
    pub(crate) terms: Option<&'f Terms<'f>>,
    pub(crate) watch: Option<&'f Watch<'f>>,
}

/// What a stage of a flow takes over from the flow's run.
pub(crate) struct Terms<'f> {
    /// What the run is for.
    pub(crate) targets: &'f [Target],
    /// All handlers as they were when the run began.
    pub(crate) handlers: &'f Root,
}

impl<'f> Fire<'f> {
    #[inline]
    pub(crate) fn of<P: HookPoint>(hooks: &'f ScopedHooks, watch: Option<&'f Watch<'f>>) -> Self {
        Self { hooks, point: P::descriptor(), terms: None, watch }
    }

    /// What `walk` makes of the handlers of `P`; `None` when there are none.
    #[inline]
    pub(crate) fn over_handlers<P: HookPoint, T>(
        &self,
        walk: impl FnOnce(&AnyList) -> T,
    ) -> Option<T> {
        match self.terms::<P>() {
            None => {
                let root = self.hooks.inner.published.read();
                Some(walk(root.list::<P>()?))
            }
            Some(terms) => Some(walk(terms.handlers.list::<P>()?)),
        }
    }

    /// How deep fires may be nested. The stages of a run that was let in run.
    #[inline]
    pub(crate) fn depth<P: HookPoint>(&self) -> usize {
        if self.terms::<P>().is_some() { usize::MAX } else { self.hooks.inner.settings.depth }
    }

    /// The fire as the chain of nested fires knows it.
    #[inline]
    pub(crate) fn nested<P: HookPoint>(&self) -> Nested {
        let fire = self.watch.map_or(0, Watch::id);
        Nested { point: P::NAME, registry: self.hooks.registry(), fire }
    }

    /// The terms, which only stages have: the compiler knows it too.
    #[inline]
    fn terms<P: HookPoint>(&self) -> Option<&'f Terms<'f>> {
        if matches!(P::Model::KIND, ModelKind::Stage) { self.terms } else { None }
    }

    /// Whether every handler of the list takes part.
    #[inline]
    pub(crate) fn admits_all<P: HookPoint>(&self, list: &HandlerList<P>) -> bool {
        self.hooks.bits.is_none() && !list.targeted()
    }

    /// Whether a handler takes part; if not, that is noted.
    #[inline]
    pub(crate) fn admits<P: HookPoint>(&self, slot: &Slot<P>) -> bool {
        if let Some(bits) = &self.hooks.bits
            && !bits.admits(slot.owner_bit)
        {
            self.filtered(&slot.entry, SkipReason::Scope);
            return false;
        }
        if let Some(target) = &slot.entry.target
            && !self.terms.is_some_and(|terms| terms.targets.contains(target))
        {
            self.filtered(&slot.entry, SkipReason::Target);
            return false;
        }
        true
    }

    /// A handler that does not take part. The walk over the list counts it
    /// among those that were called, so that is taken back.
    #[cold]
    pub(crate) fn filtered(&self, entry: &Entry, filter: SkipReason) {
        entry.counters.filtered();
        entry.counters.uncount_call();
        self.tell_of_filtered(entry, filter);
    }

    /// Tells of a handler that is not called.
    #[cold]
    pub(crate) fn tell_of_filtered(&self, entry: &Entry, filter: SkipReason) {
        if let Some(watch) = self.watch {
            watch.filtered(entry, filter);
        }
    }

    #[inline]
    pub(crate) fn ran(&self, ended: &Ended<'_>, contribution: impl FnOnce() -> Contribution) {
        if let Some((limit, elapsed)) = ended.overrun {
            self.overran(ended.entry, ended.call, limit, elapsed);
        }
        if let Some(watch) = self.watch {
            watch.call_ended(ended, HandlerStatus::Ran(contribution()));
        }
    }

    /// A handler that answered after its limit: counted, logged and observed.
    #[cold]
    pub(crate) fn overran(&self, entry: &Entry, call: u64, limit: Duration, elapsed: Duration) {
        entry.counters.overran();
        if self.watch.is_none_or(Watch::logs_failures) {
            log::overrun(self.point, entry, limit, elapsed);
        }
        if let Some(watch) = self.watch {
            watch.overran(call, entry, limit, elapsed);
        }
    }

    /// Reports a failure: counted, logged, observed, in the report. No failure
    /// is silent. It comes back where it is the fire's error.
    #[cold]
    pub(crate) fn failed(&self, ended: &Ended<'_>, kind: FailureKind) -> Option<HandlerFailure> {
        let entry = ended.entry;
        // Code of the handler's owner, as is the drop below: it runs before the
        // call is over.
        let message = polling(entry, || shown(&kind.raw()));
        if let Some((limit, elapsed)) = ended.overrun {
            self.overran(entry, ended.call, limit, elapsed);
        }
        entry.counters.failed();
        if self.watch.is_none_or(Watch::logs_failures) {
            log::failure(self.point, entry, &kind, &message, ended.elapsed);
        }
        if let Some(watch) = self.watch {
            let status =
                HandlerStatus::Failed { kind: kind.as_str(), message, policy: entry.policy };
            watch.call_ended(ended, status);
        }
        if entry.policy == FailurePolicy::Open {
            // The handler's own error may panic even in its drop.
            polling(entry, || drop_contained("a handler's error", kind));
            return None;
        }
        let (name, owner) = (entry.name.clone(), entry.owner());
        Some(HandlerFailure::new(
            self.point.name(),
            name,
            owner,
            entry.location,
            kind,
            ended.elapsed,
        ))
    }
}

impl ScopedHooks {
    /// Whether a fire of `P` has nothing to do, as most fires of most points.
    #[inline]
    pub(crate) fn is_quiet<P: HookPoint>(&self) -> bool {
        // A point that no registry has met yet looks at a place that no point
        // has, where nothing is ever set.
        self.inner.table.is_quiet(P::descriptor().index_so_far())
    }

    /// Whether a fire of `P` has handlers to call, and nothing else to do.
    #[inline]
    pub(crate) fn is_heard<P: HookPoint>(&self) -> bool {
        self.inner.table.get(P::descriptor().index_so_far()).is_heard()
    }

    /// What a fire of `P` has to do.
    #[inline]
    pub(crate) fn listening<P: HookPoint>(&self) -> Result<Listening, FireError> {
        let state = self.inner.table.get(P::descriptor().index_so_far());
        match state.listening() {
            Some(listening) => Ok(listening),
            None => self.first_fire(P::descriptor()),
        }
    }

    /// Whether a fire of `P` has anybody to give a payload to.
    #[inline]
    pub(crate) fn needs_payload<P: HookPoint>(&self) -> Result<bool, FireError> {
        if self.is_quiet::<P>() {
            return Ok(false);
        }
        Ok(match self.listening::<P>()? {
            Listening::Nobody => false,
            Listening::Somebody => true,
            Listening::Watched => self.has_handlers::<P>(),
        })
    }

    /// The first fire of a point, whose wire name must be its own; or one that
    /// is watched.
    #[cold]
    #[inline(never)]
    fn first_fire(&self, point: &'static PointDescriptor) -> Result<Listening, FireError> {
        self.inner.table.get(point.index()).fire(|| {
            let declared = self.inner.store().declare(point);
            declared.map_err(|clash| FireError::NameClash(Box::new(clash)))
        })
    }
}
