//! The counts of one handler.

use std::sync::Arc;
use std::time::Duration;

use super::HandlerStatistics;
use super::histogram::AtomicHistogram;
use crate::error::FailureCause;
use crate::observe::ObservedCall;
use crate::point::FailurePolicy;
use crate::registry::entry::Owner;
use crate::registry::handler_counters::{FailureCounts, SkipCounts, load_all};
use crate::report::{ContributionCounts, ContributionKind, HandlerStatus, SkipReason};
use crate::sync::atomic::{AtomicU64, Ordering};

/// What a row is found by.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key<'k> {
    point: &'static str,
    /// The id of the plugin, or `built-in`, which no plugin can be called.
    owner: &'k str,
    handler: &'k str,
}

impl<'k> Key<'k> {
    pub(super) fn of(call: &ObservedCall<'k>) -> Self {
        let entry = call.entry();
        let owner = entry.plugin.as_ref().map_or(Owner::BUILT_IN, |plugin| plugin.id().as_str());
        Self { point: entry.point.name(), owner, handler: &entry.name }
    }
}

/// One handler and its counts.
pub(super) struct Row {
    point: &'static str,
    owner: Owner,
    handler: Arc<str>,
    counts: Counts,
}

/// Relaxed, all of them: counts, not signals.
struct Counts {
    calls: AtomicU64,
    in_flight: AtomicU64,
    decisions: [AtomicU64; ContributionKind::ALL.len()],
    failed_open: [AtomicU64; FailureCause::ALL.len()],
    failed_closed: [AtomicU64; FailureCause::ALL.len()],
    shadow: [AtomicU64; ContributionKind::ALL.len()],
    shadow_failures: [AtomicU64; FailureCause::ALL.len()],
    cancelled: AtomicU64,
    skips: [AtomicU64; SkipReason::ALL.len()],
    overruns: AtomicU64,
    latency: AtomicHistogram,
}

impl Counts {
    /// The counts of a handler of which so many calls are in flight.
    fn new(in_flight: u64) -> Self {
        Self {
            calls: AtomicU64::new(in_flight),
            in_flight: AtomicU64::new(in_flight),
            decisions: Default::default(),
            failed_open: Default::default(),
            failed_closed: Default::default(),
            shadow: Default::default(),
            shadow_failures: Default::default(),
            cancelled: AtomicU64::default(),
            skips: Default::default(),
            overruns: AtomicU64::default(),
            latency: AtomicHistogram::new(),
        }
    }
}

impl Row {
    pub(super) fn new(call: &ObservedCall<'_>) -> Self {
        let entry = call.entry();
        Self {
            point: entry.point.name(),
            owner: entry.owner(),
            handler: Arc::clone(&entry.name),
            counts: Counts::new(0),
        }
    }

    pub(super) fn key(&self) -> Key<'_> {
        Key { point: self.point, owner: self.owner.as_ref(), handler: &self.handler }
    }

    /// Whether `point:plugin/handler`, or `point:handler` for one of the host, means it.
    pub(super) fn is_called(&self, target: &str) -> bool {
        let of_point = target.strip_prefix(self.point).and_then(|rest| rest.strip_prefix(':'));
        let of_owner = match self.owner.plugin() {
            None => of_point,
            Some(plugin) => of_point
                .and_then(|rest| rest.strip_prefix(plugin.as_str()))
                .and_then(|rest| rest.strip_prefix('/')),
        };
        of_owner == Some(&*self.handler)
    }

    /// Begins anew with the calls that are in flight. Whether there are any.
    pub(super) fn restart(&mut self) -> bool {
        let in_flight = load(&self.counts.in_flight);
        self.counts = Counts::new(in_flight);
        in_flight > 0
    }

    pub(super) fn started(&self) {
        add(&self.counts.calls);
        add(&self.counts.in_flight);
    }

    pub(super) fn ended(&self, status: &HandlerStatus, took: Duration) {
        let counts = &self.counts;
        let mut was_made = true;
        let mut failed = |by_cause, kind| {
            if let Some(cause) = FailureCause::named(kind) {
                add_at(by_cause, &FailureCause::ALL, &cause);
                was_made = !cause.is_uncalled();
            }
        };
        match status {
            HandlerStatus::Ran(contribution) => {
                add_at(&counts.decisions, &ContributionKind::ALL, &contribution.kind());
            }
            HandlerStatus::Shadowed { decision, .. } => {
                add_at(&counts.shadow, &ContributionKind::ALL, &decision.kind());
            }
            HandlerStatus::Failed { kind, policy: FailurePolicy::Open, .. } => {
                failed(&counts.failed_open, kind);
            }
            HandlerStatus::Failed { kind, policy: FailurePolicy::Closed, .. } => {
                failed(&counts.failed_closed, kind);
            }
            HandlerStatus::ShadowFailed { kind, .. } => failed(&counts.shadow_failures, kind),
            HandlerStatus::Cancelled => {
                add(&counts.cancelled);
                was_made = false;
            }
            // A handler that is not called has no end.
            HandlerStatus::Filtered(_) => return,
        }
        if was_made {
            counts.latency.record(took);
        }
        counts.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn overran(&self) {
        add(&self.counts.overruns);
    }

    pub(super) fn skipped(&self, reason: SkipReason) {
        add_at(&self.counts.skips, &SkipReason::ALL, &reason);
    }

    pub(super) fn load(&self) -> HandlerStatistics {
        let counts = &self.counts;
        HandlerStatistics {
            point: self.point,
            owner: self.owner.clone(),
            handler: Arc::clone(&self.handler),
            calls: load(&counts.calls),
            in_flight: load(&counts.in_flight),
            decisions: ContributionCounts::new(load_all(&counts.decisions)),
            failed_open: FailureCounts::new(load_all(&counts.failed_open)),
            failed_closed: FailureCounts::new(load_all(&counts.failed_closed)),
            shadow: ContributionCounts::new(load_all(&counts.shadow)),
            shadow_failures: FailureCounts::new(load_all(&counts.shadow_failures)),
            cancelled: load(&counts.cancelled),
            skips: SkipCounts::of_all(load_all(&counts.skips)),
            overruns: load(&counts.overruns),
            latency: counts.latency.load(),
        }
    }
}

fn load(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

fn add(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

/// Adds to the count at the place that `key` has in `keys`.
fn add_at<K: PartialEq, const N: usize>(counts: &[AtomicU64; N], keys: &[K; N], key: &K) {
    if let Some(place) = keys.iter().position(|counted| counted == key) {
        add(&counts[place]);
    }
}
