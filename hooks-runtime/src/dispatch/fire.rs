//! One fire: who may take part, and where its failures go.

use std::time::Duration;

use crate::entry::Entry;
use crate::error::{FailureKind, FireError, HandlerFailure};
use crate::list::{HandlerList, Slot};
use crate::nesting;
use crate::panics::{drop_contained, shown};
use crate::point::{HookPoint, PointDescriptor};
use crate::policy::FailurePolicy;
use crate::report::{Contribution, Filter, FireReport, HandlerStatus, Recorder};
use crate::scope::ScopedHooks;
use crate::snapshot::Held;
use crate::target::Target;

/// One fire, as its handlers' calls share it.
pub(crate) struct Fire<'f> {
    pub(crate) hooks: &'f ScopedHooks,
    pub(crate) point: &'static PointDescriptor,
    pub(crate) targets: &'f [Target],
    pub(crate) recorder: Option<&'f Recorder>,
}

impl<'f> Fire<'f> {
    #[inline]
    pub(crate) fn of<P: HookPoint>(hooks: &'f ScopedHooks, recorder: Option<&'f Recorder>) -> Self {
        Self { hooks, point: P::descriptor(), targets: &[], recorder }
    }

    /// A fire of `P`, unless it is nested too deep.
    #[inline]
    pub(crate) fn nested<P: HookPoint>(
        hooks: &'f ScopedHooks,
        recorder: Option<&'f Recorder>,
    ) -> Result<Self, FireError> {
        nesting::check(P::NAME, hooks.inner.settings.depth)?;
        Ok(Self::of::<P>(hooks, recorder))
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
            self.filtered(&slot.entry, Filter::Scope);
            return false;
        }
        if let Some(target) = &slot.entry.target
            && !self.targets.contains(target)
        {
            self.filtered(&slot.entry, Filter::Target);
            return false;
        }
        true
    }

    #[cold]
    pub(crate) fn filtered(&self, entry: &Entry, filter: Filter) {
        entry.counters.filtered();
        self.skipped(entry, filter);
    }

    /// A handler that an earlier one left nothing to do.
    #[cold]
    pub(crate) fn skipped(&self, entry: &Entry, filter: Filter) {
        if let Some(recorder) = self.recorder {
            recorder.note(entry, HandlerStatus::Filtered(filter), None);
        }
    }

    #[inline]
    pub(crate) fn ran(
        &self,
        entry: &Entry,
        elapsed: Option<Duration>,
        contribution: impl FnOnce() -> Contribution,
    ) {
        if let Some(recorder) = self.recorder {
            recorder.note(entry, HandlerStatus::Ran(contribution()), elapsed);
        }
    }

    /// Reports a failure: counted, logged, in the report. No failure is
    /// silent. It comes back where it is the fire's error.
    #[cold]
    pub(crate) fn failed(
        &self,
        entry: &Entry,
        kind: FailureKind,
        elapsed: Option<Duration>,
    ) -> Option<HandlerFailure> {
        let message = shown(&kind);
        entry.counters.failed();
        tracing::warn!(
            point = self.point.name(),
            handler = &*entry.name,
            owner = %entry.owner(),
            kind = kind.word(),
            policy = %entry.policy,
            elapsed = ?elapsed,
            "a hook handler failed: {message}",
        );
        if let Some(recorder) = self.recorder {
            let status = HandlerStatus::Failed { kind: kind.word(), message, policy: entry.policy };
            recorder.note(entry, status, elapsed);
        }
        if entry.policy == FailurePolicy::Open {
            // The handler's own error may panic even in its drop.
            drop_contained("a handler's error", kind);
            return None;
        }
        let (name, owner) = (entry.name.clone(), entry.owner());
        Some(HandlerFailure::new(self.point.name(), name, owner, entry.location, kind, elapsed))
    }
}

impl ScopedHooks {
    /// Whether a fire of `P` has nothing to do: all that a fire does when nobody
    /// is there.
    #[inline]
    pub(crate) fn is_quiet<P: HookPoint>(&self) -> bool {
        self.inner.table.get(P::descriptor().index()).is_quiet()
    }

    /// Marks `P` as fired and says whether anybody listens.
    pub(crate) fn listens<P: HookPoint>(&self) -> Result<bool, FireError> {
        let state = self.inner.table.get(P::descriptor().index());
        state.fire(|| self.declare(P::descriptor()))
    }

    /// Before the first fire of a point: its wire name must be its own.
    #[cold]
    fn declare(&self, point: &'static PointDescriptor) -> Result<(), FireError> {
        let declared = self.inner.store().declare(point);
        declared.map_err(|clash| FireError::NameClash(Box::new(clash)))
    }

    /// The handlers of `P`, held for one fire.
    #[inline]
    pub(crate) fn hold<P: HookPoint>(&self) -> Option<Held<P>> {
        self.inner.published.hold()
    }
}

/// The report of a fire that nobody listened to, or of one over `held`.
pub(crate) fn report<P: HookPoint>(recorder: Recorder, held: Option<&Held<P>>) -> FireReport {
    let ids = held.into_iter().flat_map(Held::ids);
    recorder.finish(P::descriptor(), ids)
}
