//! How the verbs of all models fire.

use crate::engine::containment::drop_contained;
use crate::engine::fire::FireInfo;
use crate::engine::raw::FireFuture;
use crate::error::FireError;
use crate::model::compose::Accumulator;
use crate::model::{FiresAs, Model};
use crate::observe::recorder::Recorder;
use crate::observe::report::FireReport;
use crate::plugin::scope::ScopedHooks;
use crate::point::interest::Interest;
use crate::point::{HookPoint, PointDescriptor};

/// What a fire of `P` as a `V` comes to.
type Outcome<V, P> = <<V as Model>::Accumulator<P> as Accumulator>::Outcome;

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
    ) -> Result<Outcome<V, P>, FireError>
    where
        V: Model<Accumulator<P>: Accumulator>,
        P: HookPoint<Model: FiresAs<V, P>>,
    {
        let mut payload = Some(payload);
        let outcome = self.fire::<V, P>(<P::Model as FiresAs<V, P>>::given(&mut payload)).await;
        // It is the host's, and may panic even in its drop.
        drop_contained("a payload", payload);
        outcome
    }

    pub(crate) async fn fire_reported<'f, V, P>(
        &'f self,
        given: V::Given<'f, P>,
    ) -> (Result<Outcome<V, P>, FireError>, FireReport)
    where
        V: Model<Accumulator<P>: Accumulator>,
        P: HookPoint<Model: FiresAs<V, P>>,
    {
        if let Err(error) = self.interest(P::descriptor()) {
            return (Err(error), FireReport::without_handlers(P::descriptor()));
        }
        let recorder = Recorder::reporting(FireInfo::of::<P>(self));
        let outcome = self.fire::<V, P>(given).recorded(Some(&recorder), None).await;
        (outcome, recorder.into_report())
    }

    /// Whether a fire of `P` has nothing to do, as most fires of most points.
    #[inline]
    pub(crate) fn is_quiet<P: HookPoint>(&self) -> bool {
        // A point that no registry has met yet looks at a place that no point
        // has, where nothing is ever set.
        self.inner.table.is_quiet(P::descriptor().index_so_far())
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
        self.inner.table.get(point.index()).fire(|| {
            let declared = self.inner.store().declare(point);
            declared.map_err(|clash| FireError::NameClash(Box::new(clash)))
        })
    }
}
