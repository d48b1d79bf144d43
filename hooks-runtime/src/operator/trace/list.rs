//! The traces of a registry that are under way.

use std::fmt;
use std::sync::{Arc, PoisonError};

use super::limit::{TraceEnd, TraceLimit};
use super::state::TraceState;
use crate::observe::log;
use crate::operator::apply::no_match;
use crate::operator::error::OperatorError;
use crate::operator::target::glob;
use crate::point::PointDescriptor;
use crate::registry::Inner;
use crate::registry::store::Store;
use crate::suggest::nearest;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::timer::now;

/// Identifies a trace in its registry; never used again.
///
/// The example of [`Trace`](super::Trace) prints one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct TraceId(u64);

impl TraceId {
    /// Its number.
    ///
    /// The example of [`TraceInfo`] has one.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A trace that is under way, as of the call that returned this.
///
/// ```
/// # use hooks_runtime::HookRegistry;
/// use hooks_runtime::operator::{TraceFilter, TraceInfo, TraceLimit};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let operator = hooks.operator();
/// let trace = operator.trace(TraceFilter::all().outcome("failed"), TraceLimit::count(10))?;
/// let info: &TraceInfo = &operator.traces()[0];
/// assert_eq!((info.id, &*info.filter, info.limit), (trace.id(), "* failed", TraceLimit::count(10)));
/// assert_eq!((info.id.number(), info.seen, info.dropped, info.passed_over), (1, 0, 0, 0));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceInfo {
    /// Its number.
    pub id: TraceId,
    /// Which fires it is for, in a few words.
    pub filter: String,
    /// How many it may see.
    pub limit: TraceLimit,
    /// How many it has seen.
    pub seen: u64,
    /// How many of those were dropped, because its buffer was full.
    pub dropped: u64,
    /// How many of those were passed over, because there were too many.
    pub passed_over: u64,
}

/// How many traces there are at most: a fire asks each that may match it.
const MOST: usize = 64;

/// The traces of a registry that are under way.
#[derive(Debug, Default)]
pub(crate) struct TraceList {
    /// Whether there are any: most fires that are recorded ask no more.
    any: AtomicBool,
    traces: Mutex<Traces>,
}

#[derive(Debug, Default)]
struct Traces {
    /// Copied when it changes: fires look at it without the lock.
    active: Arc<[Arc<TraceState>]>,
    newest: u64,
}

impl TraceList {
    fn active(&self) -> Arc<[Arc<TraceState>]> {
        if !self.any.load(Ordering::Acquire) {
            return Arc::default();
        }
        Arc::clone(&self.traces.lock().unwrap_or_else(PoisonError::into_inner).active)
    }

    /// Whether fires of that point are to be recorded for one of them.
    pub(crate) fn concern(&self, point: &PointDescriptor) -> bool {
        self.active().iter().any(|trace| trace.concerns(point))
    }

    /// Those that fires of that point may match.
    pub(crate) fn of_point(&self, point: &PointDescriptor) -> Vec<Arc<TraceState>> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        self.active().iter().filter(|trace| trace.may_match(point)).cloned().collect()
    }

    pub(super) fn infos(&self) -> Vec<TraceInfo> {
        let infos = self.active();
        let infos = infos.iter().map(|trace| {
            let counts = trace.counts();
            TraceInfo {
                id: trace.id(),
                filter: trace.filter().to_string(),
                limit: trace.limit(),
                seen: counts.seen,
                dropped: counts.dropped,
                passed_over: counts.passed_over,
            }
        });
        infos.collect()
    }

    fn add(&self, state: TraceState) -> Arc<TraceState> {
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        traces.newest += 1;
        let state = state.numbered(TraceId(traces.newest));
        traces.active = traces.active.iter().chain([&state]).cloned().collect();
        self.any.store(true, Ordering::Release);
        state
    }

    /// What is displaced owns no filter alone: the caller has the trace.
    fn remove(&self, state: &Arc<TraceState>) {
        let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
        let others = traces.active.iter().filter(|other| !Arc::ptr_eq(other, state));
        let others: Arc<[_]> = others.cloned().collect();
        traces.active = others;
        self.any.store(!traces.active.is_empty(), Ordering::Release);
    }
}

impl Drop for TraceList {
    fn drop(&mut self) {
        for trace in self.active().iter() {
            trace.end(&TraceEnd::RegistryDropped);
        }
    }
}

impl Inner {
    pub(super) fn begin_trace(&self, state: TraceState) -> Result<Arc<TraceState>, OperatorError> {
        let begun = {
            let store = self.store();
            if !state.filter().may_match_none {
                if let Some(point) = state.filter().point_name()
                    && !store.used_points().any(|used| glob(point, used.name()))
                {
                    let known = store.used_points().map(PointDescriptor::name);
                    let nearest = nearest(point, known, str::len).map(str::to_owned);
                    return Err(OperatorError::NoPoint { point: point.to_owned(), nearest });
                }
                if let Some(target) = state.target()
                    && store.matching(target).is_empty()
                {
                    return Err(no_match(target, store));
                }
            }
            // The lock is held, so the number does not change under it. A filter that is
            // refused is dropped outside of it: that is code of the one who traces.
            if self.traces.active().len() >= MOST {
                return Err(OperatorError::TooManyTraces { most: MOST });
            }
            let begun = self.traces.add(state);
            self.mark_observed(&store);
            begun
        };
        log::trace_began(begun.id(), &begun.filter().to_string(), begun.limit());
        Ok(begun)
    }

    /// Ends a trace: fires that begin from now on are not recorded for it.
    pub(crate) fn end_trace(&self, state: &Arc<TraceState>, end: &TraceEnd) {
        {
            let store = self.store();
            self.traces.remove(state);
            self.mark_observed(&store);
        }
        state.end(end);
    }

    /// Ends the traces whose time has passed while nothing that they see was fired.
    pub(super) fn end_overdue_traces(&self) {
        let clock = || now(&*self.config.timer);
        for trace in self.traces.active().iter().filter(|trace| trace.is_over(clock)) {
            self.end_trace(trace, &TraceEnd::Time);
        }
    }

    /// Marks the points whose fires are to be recorded. Under the lock, so that a point
    /// that is fired for the first time is not missed.
    pub(crate) fn mark_observed(&self, store: &Store) {
        let is_always = !self.config.observers.is_empty();
        for point in store.used_points() {
            let is_observed = is_always || self.is_observed(point);
            self.table.get(point.index()).set_observed(is_observed);
        }
    }

    /// Whether a trace or a recording asks for the fires of that point.
    pub(crate) fn is_observed(&self, point: &PointDescriptor) -> bool {
        #[cfg(feature = "record")]
        if self.recording.concerns(point) {
            return true;
        }
        self.traces.concern(point)
    }
}
