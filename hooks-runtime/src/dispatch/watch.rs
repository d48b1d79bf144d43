//! What those who watch a fire are told, and what its report says.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::dispatch::call::Ended;
use crate::error::FireError;
use crate::flow::{FlowStep, NotRun};
use crate::nesting::{self, Nested};
use crate::observe::report::{FireReport, HandlerReport, HandlerStatus, SkipReason};
use crate::observe::{FireEnd, ObservedCall, ObservedFire, ObservedStep, Observer, tell};
use crate::panics::contained;
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, PointDescriptor};
use crate::registry::entry::Entry;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, OnceLock, statics};

/// A fire that somebody watches. Its end is told once: by `fire_ended`, or,
/// when the fire is dropped, by dropping this.
pub(crate) struct Watch<'f> {
    fire: ObservedFire,
    point: &'static PointDescriptor,
    registry: usize,
    observers: &'f [Arc<dyn Observer>],
    since: Instant,
    ended: AtomicBool,
    report: Option<Rows>,
}

/// The rows of a report to be.
#[derive(Default)]
struct Rows {
    rows: Mutex<Vec<(u64, HandlerReport)>>,
    /// The handlers' ids in the order of the list: concurrent handlers end in
    /// any order, but are reported in the one in which they started.
    order: OnceLock<Vec<u64>>,
}

/// Fires and calls are numbered together, so that no two have one number.
static NEXT_ID: statics::AtomicU64 = statics::AtomicU64::new(1);

fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl<'f> Watch<'f> {
    /// A fire that observers are told of.
    pub(crate) fn observing<P: HookPoint>(hooks: &'f ScopedHooks) -> Self {
        Self::new(hooks, P::descriptor(), None, None)
    }

    /// A fire that makes a report.
    pub(crate) fn reporting<P: HookPoint>(hooks: &'f ScopedHooks) -> Self {
        Self::new(hooks, P::descriptor(), Some(Rows::default()), None)
    }

    /// A stage of this run, with a report if that is wanted.
    pub(crate) fn stage<S: HookPoint>(&self, hooks: &'f ScopedHooks, reported: bool) -> Self {
        let report = reported.then(Rows::default);
        Self::new(hooks, S::descriptor(), report, Some(self.fire.id()))
    }

    fn new(
        hooks: &'f ScopedHooks,
        point: &'static PointDescriptor,
        report: Option<Rows>,
        run: Option<u64>,
    ) -> Self {
        let (registry, settings) = (hooks.registry(), &hooks.inner.settings);
        let endless = nesting::is_endless(registry, settings.depth);
        let observers = if endless { &[][..] } else { &settings.observers };
        let fire = ObservedFire::new(next_id(), point, nesting::depth(registry), run);
        let (since, ended) = (Instant::now(), AtomicBool::new(false));
        let watch = Self { fire, point, registry, observers, since, ended, report };
        watch.tell(|observer| observer.fire_started(&watch.fire));
        watch
    }

    /// The number of the fire.
    #[inline]
    pub(crate) fn id(&self) -> u64 {
        self.fire.id()
    }

    pub(crate) fn tell(&self, what: impl Fn(&dyn Observer)) {
        if !self.observers.is_empty() {
            let (point, registry) = (self.point.name(), self.registry);
            let fire = Nested { point, registry, fire: self.id() };
            nesting::observing(fire, || tell(self.observers, what));
        }
    }

    /// The fire, as observers see it.
    pub(crate) fn fire(&self) -> &ObservedFire {
        &self.fire
    }

    /// A step of this run begins; its number.
    pub(crate) fn step_started(&self, step: FlowStep) -> u64 {
        let id = next_id();
        self.tell(|observer| observer.step_started(&ObservedStep::new(id, &self.fire, step)));
        id
    }

    /// A step of this run is not run.
    pub(crate) fn step_not_run(&self, step: FlowStep, reason: NotRun) {
        let step = ObservedStep::new(0, &self.fire, step);
        self.tell(|observer| observer.step_not_run(&step, reason));
    }

    /// Whether failures go to the log as well.
    pub(crate) fn logs_failures(&self) -> bool {
        // One that panics when asked has not said that it takes care of them.
        let logs = |observer: &Arc<dyn Observer>| contained(|| observer.logs_failures());
        self.observers.iter().all(|observer| logs(observer).unwrap_or(true))
    }

    /// The handlers that this fire walks, in order.
    pub(crate) fn walks(&self, ids: impl Iterator<Item = u64>) {
        if let Some(report) = &self.report {
            report.order.get_or_init(|| ids.collect());
        }
    }

    /// A call begins; its number.
    pub(crate) fn call_started(&self, entry: &Entry) -> u64 {
        let id = next_id();
        self.tell(|observer| observer.handler_started(&self.call(id, entry)));
        id
    }

    /// A call ended.
    pub(crate) fn call_ended(&self, ended: &Ended<'_>, status: HandlerStatus) {
        let call = self.call(ended.call, ended.entry);
        let elapsed = ended.elapsed.unwrap_or_default();
        self.tell(|observer| observer.handler_ended(&call, &status, elapsed));
        let overrun = ended.overrun.map(|(limit, _)| limit);
        self.note(HandlerReport::new(ended.entry, status, ended.elapsed, overrun), ended.entry);
    }

    /// A call ended after its limit.
    pub(crate) fn overran(&self, id: u64, entry: &Entry, limit: Duration, elapsed: Duration) {
        let call = self.call(id, entry);
        self.tell(|observer| observer.handler_overran(&call, limit, elapsed));
    }

    /// The code of a call is about to run, or has just run.
    pub(crate) fn polling(&self, id: u64, entry: &Entry, about_to: bool) {
        let call = self.call(id, entry);
        self.tell(
            |observer| {
                if about_to { observer.poll_started(&call) } else { observer.poll_ended(&call) }
            },
        );
    }

    pub(crate) fn filtered(&self, entry: &Entry, filter: SkipReason) {
        self.tell(|observer| observer.handler_filtered(&self.call(0, entry), filter));
        self.note(HandlerReport::new(entry, HandlerStatus::Filtered(filter), None, None), entry);
    }

    fn note(&self, row: HandlerReport, entry: &Entry) {
        if let Some(Rows { rows, .. }) = &self.report {
            rows.lock().unwrap_or_else(PoisonError::into_inner).push((entry.id, row));
        }
    }

    fn call<'c>(&'c self, id: u64, entry: &'c Entry) -> ObservedCall<'c> {
        ObservedCall::new(id, &self.fire, entry)
    }

    pub(crate) fn fire_ended_with(
        &self,
        result: &Result<(), FireError>,
        outcome: impl FnOnce() -> &'static str,
    ) {
        self.fire_ended(&match result {
            Ok(()) => FireEnd::Completed(outcome()),
            Err(error) => FireEnd::Failed(error),
        });
    }

    /// The fire has ended. Only the first end counts.
    pub(crate) fn fire_ended(&self, end: &FireEnd<'_>) {
        if !self.ended.swap(true, Ordering::Relaxed) {
            let elapsed = self.since.elapsed();
            self.tell(|observer| observer.fire_ended(&self.fire, end, elapsed));
        }
    }

    /// The report, once the fire has ended.
    pub(crate) fn into_report(mut self) -> FireReport {
        let Rows { rows, order } = self.report.take().unwrap_or_default();
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        let order = order.into_inner().unwrap_or_default();
        let places: std::collections::HashMap<_, _> =
            order.into_iter().enumerate().map(|(place, id)| (id, place)).collect();
        rows.sort_by_key(|(id, _)| places.get(id).copied().unwrap_or(usize::MAX));
        FireReport::new(self.point, rows.into_iter().map(|(_, row)| row).collect())
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.fire_ended(&FireEnd::Dropped);
    }
}
