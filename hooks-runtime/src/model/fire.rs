//! How the verbs of all models fire.

use crate::engine::containment::drop_contained;
use crate::engine::fire::FireInfo;
use crate::engine::raw::FireFuture;
use crate::error::FireError;
use crate::model::compose::{Accumulator, FireResult};
use crate::model::{FiresAs, Model};
use crate::observe::FireEnd;
use crate::observe::recorder::Recorder;
use crate::plugin::scope::ScopedHooks;
use crate::point::interest::Interest;
use crate::point::{HookPoint, PointDescriptor};
use crate::report::FireReport;

impl ScopedHooks {
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn fire<'f, V, P>(
        &'f self,
        given: V::Given<'f, P>,
    ) -> FireFuture<'f, P, V::Accumulator<P>>
    where
        V: Model,
        P: HookPoint<Model: FiresAs<V, P>>,
    {
        <P::Model as FiresAs<V, P>>::begin(self, given)
    }

    /// Fires with a payload that was made for it.
    #[inline]
    pub(crate) async fn fire_made<V, P>(
        &self,
        payload: P::Payload,
    ) -> Result<FireResult<V, P>, FireError>
    where
        V: Model<Accumulator<P>: Accumulator>,
        P: HookPoint<Model: FiresAs<V, P>>,
    {
        let mut payload = MadePayload(Some(payload));
        self.fire::<V, P>(<P::Model as FiresAs<V, P>>::given(&mut payload.0)).await
    }

    /// The same, with a report where one is asked for.
    #[cfg(feature = "json")]
    pub(crate) async fn fire_made_reported<V, P>(
        &self,
        payload: P::Payload,
        reported: bool,
    ) -> (Result<FireResult<V, P>, FireError>, Option<FireReport>)
    where
        V: Model<Accumulator<P>: Accumulator>,
        P: HookPoint<Model: FiresAs<V, P>>,
    {
        let mut payload = MadePayload(Some(payload));
        let given = <P::Model as FiresAs<V, P>>::given(&mut payload.0);
        if reported {
            let (outcome, report) = self.fire_reported::<V, P>(given).await;
            (outcome, Some(report))
        } else {
            (self.fire::<V, P>(given).await, None)
        }
    }

    pub(crate) async fn fire_reported<'f, V, P>(
        &'f self,
        given: V::Given<'f, P>,
    ) -> (Result<FireResult<V, P>, FireError>, FireReport)
    where
        V: Model<Accumulator<P>: Accumulator>,
        P: HookPoint<Model: FiresAs<V, P>>,
    {
        if let Err(error) = self.interest(P::descriptor()) {
            return (Err(error), FireReport::without_handlers(P::descriptor()));
        }
        let recorder = Recorder::reporting(FireInfo::of::<P>(self));
        let outcome = self.fire::<V, P>(given).recorded(Some(&recorder), None).await;
        if let Err(error) = &outcome {
            // Most have ended by now, but not one that could not begin.
            recorder.fire_ended(&FireEnd::Failed(error));
        }
        (outcome, recorder.into_report())
    }

    /// Whether a fire of `P` has nothing to do, as most fires of most points.
    #[inline]
    pub(crate) fn is_quiet<P: HookPoint>(&self) -> bool {
        // A point that no registry has met yet looks at a place that no point
        // has, where nothing is ever set.
        let index = P::descriptor().index_so_far();
        match self.inner.table.among_first(index) {
            Some(state) => state.is_quiet(),
            None => self.later_is_quiet(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn later_is_quiet(&self, index: usize) -> bool {
        self.inner.table.get(index).is_quiet()
    }

    /// What a fire of a point has to do.
    #[inline]
    pub(crate) fn interest(&self, point: &'static PointDescriptor) -> Result<Interest, FireError> {
        match self.inner.table.get(point.index_so_far()).interest() {
            Some(interest) => Ok(interest),
            None => self.first_interest(point),
        }
    }

    /// Whether a fire of `P` has handlers to give a payload to.
    #[inline]
    pub(crate) fn needs_payload<P: HookPoint>(&self) -> Result<bool, FireError> {
        if self.is_quiet::<P>() {
            return Ok(false);
        }
        Ok(match self.interest(P::descriptor())? {
            Interest::Quiet => false,
            Interest::Handlers => true,
            Interest::Observed => self.has_handlers::<P>(),
        })
    }

    /// The first fire of a point, whose wire name must be its own; or one that
    /// is observed.
    #[cold]
    #[inline(never)]
    fn first_interest(&self, point: &'static PointDescriptor) -> Result<Interest, FireError> {
        let inner = &self.inner;
        inner.table.get(point.index()).fire(|| {
            let mut store = inner.store();
            store.declare(point).map_err(|clash| FireError::NameClash(Box::new(clash)))?;
            // Under the lock: a trace or a recording that begins marks the points that are used by then.
            if inner.is_observed(point) {
                inner.table.get(point.index()).set_observed(true);
            }
            Ok(())
        })
    }
}

/// A payload that was made for a fire. It is the host's, and may panic even in its
/// drop, at the end of the fire or where that is dropped.
struct MadePayload<T>(Option<T>);

impl<T> Drop for MadePayload<T> {
    fn drop(&mut self) {
        drop_contained("a payload", self.0.take());
    }
}
