//! The numbers of each handler, as data.

mod histogram;
mod row;

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::observe::{ObservedCall, Observer};
use crate::registry::entry::Owner;
use crate::registry::handler_counters::{FailureCounts, SkipCounts};
use crate::report::{ContributionCounts, HandlerStatus, SkipReason};
use crate::sync::RwLock;

pub use histogram::{Histogram, HistogramBucket};
use row::{Key, Row};

/// Counts and times the calls of each handler, to be asked for as data.
///
/// A clone is the same statistics: give one to the registry, and keep the other. It needs
/// no feature and no other crate; for a program's own recorder see `Metrics`.
///
/// A handler is known by its point, its owner and its name, and has a row from its first
/// call, or the first time it is skipped. One that is removed and registered again, or
/// replaced, goes on counting in the same row. There are rows of handlers only, about a
/// kilobyte each: a program whose handlers have ever new names gives their memory back
/// with [`reset`](Self::reset).
///
/// ```
/// # use hooks_runtime::{FailurePolicy, HookRegistry, hook_points, on};
/// use hooks_runtime::observe::Statistics;
/// use hooks_runtime::error::FailureCause;
/// use hooks_runtime::report::ContributionKind;
///
/// # hook_points! { pub claiming Route(u32) -> u32; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let statistics = Statistics::new();
/// let hooks = HookRegistry::builder().observer(statistics.clone()).build();
/// let billing = on::<Route>().name("desk").plugin("billing");
/// hooks.register(billing.handler(|n: &u32| match n {
///     0 => Err("no number"),
///     n => Ok((*n > 1).then_some(7)),
/// }))?;
/// for n in 0..4 {
///     let _ = hooks.fire_claiming::<Route>(&n).await?;
/// }
/// let desk = statistics.handler("route:billing/desk").unwrap();
/// assert_eq!((desk.calls, desk.latency.count()), (4, 4));
/// assert_eq!(desk.decisions.of(ContributionKind::Claimed), 2);
/// assert_eq!(desk.decisions.of(ContributionKind::Nothing), 1);
/// assert_eq!(desk.failed_open.of(FailureCause::Error), 1);
/// assert_eq!((desk.failed_closed.total(), desk.in_flight), (0, 0));
/// assert!(desk.latency.quantile(0.99) <= desk.latency.max());
///
/// statistics.reset();
/// assert!(statistics.handlers().is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct Statistics {
    shared: Arc<Shared>,
}

/// What the clones share.
#[derive(Default)]
struct Shared {
    hasher: RandomState,
    /// By the hash of their keys: a call borrows its key, so none is made to look for it.
    ///
    /// Read at each event, written at a handler's first and by `reset`. Neither holds it
    /// for longer than it takes to count, to add a row or to go through them, and no code
    /// of the program runs meanwhile. Readers only share the word of the lock, next to the
    /// counts that they share anyway; a copy of the map for each change would need a crate
    /// or unsafe code for what happens once a handler.
    rows: RwLock<HashMap<u64, Vec<Row>>>,
}

/// The numbers of one handler so far.
///
/// Read one by one while others count: those of a handler that nothing calls agree with
/// each other, and then `calls` are the decisions and the failures, those in shadow too, and
/// those that were `cancelled`.
///
/// The example of [`Statistics`] looks at one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HandlerStatistics {
    /// The wire name of its point.
    pub point: &'static str,
    /// Who registered it.
    pub owner: Owner,
    /// Its name.
    pub handler: Arc<str>,
    /// How many calls have started, and those that a breaker or a rate limit refused.
    pub calls: u64,
    /// How many calls have started and not ended.
    pub in_flight: u64,
    /// What it decided where it ran to its end, by kind. A failure is no decision.
    pub decisions: ContributionCounts,
    /// Its failures that the fire went on after, by cause.
    pub failed_open: FailureCounts,
    /// Its failures that are the fire's error, by cause. Void points run all handlers: of
    /// several that failed closed in one fire, its error is the first one's.
    pub failed_closed: FailureCounts,
    /// What it decided in shadow, to no effect, by kind.
    pub shadow: ContributionCounts,
    /// Its failures in shadow, by cause.
    pub shadow_failures: FailureCounts,
    /// How many calls ended because their fire was dropped.
    pub cancelled: u64,
    /// How often it was not called, by reason, also where the fire ended before it.
    pub skips: SkipCounts,
    /// How often it answered after its time limit.
    pub overruns: u64,
    /// How long its calls took, those that failed too. Not those that were cancelled: their
    /// time is that of the fire that was dropped; nor those that were not made, because of
    /// its breaker or its rate limit.
    pub latency: Histogram,
}

impl HandlerStatistics {
    /// How often it failed, under either policy.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # use hooks_runtime::observe::Statistics;
    /// # hook_points! { pub void Rang { bell: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let statistics = Statistics::new();
    /// # let hooks = HookRegistry::builder().observer(statistics.clone()).build();
    /// hooks.register(on::<Rang>().name("open").handler(|_: &RangPayload| Err("stuck")))?;
    /// hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await?;
    /// assert_eq!(statistics.handlers()[0].failures(), 1);
    /// # Ok(()) }
    /// ```
    pub fn failures(&self) -> u64 {
        self.failed_open.total() + self.failed_closed.total()
    }
}

impl Statistics {
    /// Statistics of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The numbers of every handler, by point, then owner (built-in first), then name.
    pub fn handlers(&self) -> Vec<HandlerStatistics> {
        let rows = self.shared.rows.read().unwrap_or_else(PoisonError::into_inner);
        let mut handlers: Vec<_> = rows.values().flatten().map(Row::load).collect();
        drop(rows);
        let key =
            |row: &HandlerStatistics| (row.point, row.owner.clone(), Arc::clone(&row.handler));
        handlers.sort_by_cached_key(key);
        handlers
    }

    /// The numbers of one handler: `"point:plugin/handler"`, or `"point:handler"` for one
    /// of the host. `None` where it was neither called nor skipped.
    pub fn handler(&self, target: &str) -> Option<HandlerStatistics> {
        let rows = self.shared.rows.read().unwrap_or_else(PoisonError::into_inner);
        rows.values().flatten().find(|row| row.is_called(target)).map(Row::load)
    }

    /// Begins anew: forgets every row, but of handlers with calls in flight. Those calls
    /// are the first that their row counts then.
    pub fn reset(&self) {
        let mut rows = self.shared.rows.write().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|_, rows| {
            rows.retain_mut(Row::restart);
            !rows.is_empty()
        });
    }

    /// Counts something of the handler of a call.
    fn count(&self, call: &ObservedCall<'_>, count: impl Fn(&Row)) {
        let key = Key::of(call);
        let hash = self.shared.hasher.hash_one(&key);
        {
            let rows = self.shared.rows.read().unwrap_or_else(PoisonError::into_inner);
            let row = rows.get(&hash).and_then(|rows| rows.iter().find(|row| row.key() == key));
            // While it is read: a reset never loses a count.
            if let Some(row) = row {
                return count(row);
            }
        }
        let mut rows = self.shared.rows.write().unwrap_or_else(PoisonError::into_inner);
        let rows = rows.entry(hash).or_default();
        // Another thread may have added it meanwhile.
        let place = rows.iter().position(|row| row.key() == key).unwrap_or_else(|| {
            rows.push(Row::new(call));
            rows.len() - 1
        });
        count(&rows[place]);
    }
}

impl Observer for Statistics {
    fn handler_started(&self, call: &ObservedCall<'_>) {
        self.count(call, Row::started);
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, took: Duration) {
        self.count(call, |row| row.ended(status, took));
    }

    fn handler_overran(&self, call: &ObservedCall<'_>, _: Duration, _: Duration) {
        self.count(call, Row::overran);
    }

    fn handler_filtered(&self, call: &ObservedCall<'_>, reason: SkipReason) {
        self.count(call, |row| row.skipped(reason));
    }
}

impl fmt::Debug for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statistics").finish_non_exhaustive()
    }
}
