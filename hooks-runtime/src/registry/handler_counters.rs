//! What happened to a handler so far.

use crate::error::FailureCause;
use crate::report::{Contribution, ContributionCounts, ContributionKind, SkipReason};
use crate::sync::OnceLock;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The counts of one handler. Relaxed: counts, not signals.
#[derive(Debug, Default)]
pub(crate) struct HandlerCounters {
    calls: AtomicU64,
    /// By cause.
    failures: [AtomicU64; FailureCause::ALL.len()],
    overruns: AtomicU64,
    /// By reason. A fire that ends before a handler does not count at it.
    skips: [AtomicU64; SkipReason::COUNTED.len()],
    /// Made with the first decision in shadow: most handlers have none.
    shadow: OnceLock<Box<ShadowCounters>>,
}

/// What a handler did in shadow.
#[derive(Debug, Default)]
struct ShadowCounters {
    decisions: [AtomicU64; ContributionKind::ALL.len()],
    failures: AtomicU64,
}

impl HandlerCounters {
    pub(crate) fn add_calls(&self, count: u64) {
        self.calls.fetch_add(count, Ordering::Relaxed);
    }

    /// Counts a handler that was not called. The walk over its list counts it among
    /// those that were, so that is taken back.
    pub(crate) fn skipped(&self, reason: SkipReason) {
        if let Some(place) = SkipReason::COUNTED.iter().position(|counted| *counted == reason) {
            self.skips[place].fetch_add(1, Ordering::Relaxed);
        }
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts what a handler in shadow decided.
    pub(crate) fn decided_in_shadow(&self, decision: &Contribution) {
        let kind = decision.kind();
        if let Some(place) = ContributionKind::ALL.iter().position(|counted| *counted == kind) {
            self.shadow.get_or_init(Box::default).decisions[place].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a failure of a handler in shadow, which is counted among all failures too.
    pub(crate) fn failed_in_shadow(&self) {
        self.shadow.get_or_init(Box::default).failures.fetch_add(1, Ordering::Relaxed);
    }

    /// What it decided in shadow, and how often it failed there.
    pub(crate) fn shadow(&self) -> (ContributionCounts, u64) {
        let counts = self.shadow.get();
        let decisions = counts.map(|counts| ContributionCounts::new(load_all(&counts.decisions)));
        let failures = counts.map_or(0, |counts| counts.failures.load(Ordering::Relaxed));
        (decisions.unwrap_or_default(), failures)
    }

    /// A call that the walk counts was not made.
    pub(crate) fn not_called(&self) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self, cause: FailureCause) {
        if let Some(place) = FailureCause::ALL.iter().position(|counted| *counted == cause) {
            self.failures[place].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn overran(&self) {
        self.overruns.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn failures(&self) -> FailureCounts {
        FailureCounts(load_all(&self.failures))
    }

    pub(crate) fn overruns(&self) -> u64 {
        self.overruns.load(Ordering::Relaxed)
    }

    pub(crate) fn skips(&self) -> SkipCounts {
        let mut counts = [0; SkipReason::ALL.len()];
        counts[..self.skips.len()].copy_from_slice(&load_all(&self.skips));
        SkipCounts { reasons: &SkipReason::COUNTED, counts }
    }
}

/// The counts, one by one.
pub(crate) fn load_all<const N: usize>(counts: &[AtomicU64; N]) -> [u64; N] {
    std::array::from_fn(|place| counts[place].load(Ordering::Relaxed))
}

/// How often a handler failed, by cause.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::error::FailureCause;
/// # hook_points! { pub void Ticked { second: u64 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Ticked>().handler(|_: &TickedPayload| Err("no clock")))?;
/// for second in 0..3 {
///     hooks.fire_void::<Ticked>(&TickedPayload { second }).await?;
/// }
/// let failures = hooks.handlers()[0].failures_by;
/// assert_eq!((failures.of(FailureCause::Error), failures.total()), (3, 3));
/// assert_eq!(failures.iter().filter(|(_, count)| *count > 0).count(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureCounts([u64; FailureCause::ALL.len()]);

impl FailureCounts {
    pub(crate) fn new(counts: [u64; FailureCause::ALL.len()]) -> Self {
        Self(counts)
    }

    /// How often for that cause.
    pub fn of(&self, cause: FailureCause) -> u64 {
        self.iter().find(|(counted, _)| *counted == cause).map_or(0, |(_, count)| count)
    }

    /// How often for any cause.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every cause, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (FailureCause, u64)> {
        FailureCause::ALL.into_iter().zip(self.0)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for FailureCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// How often a handler was not called, by reason.
///
/// A registry counts only the reasons that are a handler's own: a fire that ends before a
/// handler, as after a claim, does not count at it. The observer
/// [`Statistics`](crate::observe::Statistics) counts all.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::report::SkipReason;
/// # hook_points! { pub void Ticked { second: u64 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let first = on::<Ticked>().when(|tick: &TickedPayload| tick.second == 0);
/// hooks.register(first.handler(|_: &TickedPayload| ()))?;
/// for second in 0..3 {
///     hooks.fire_void::<Ticked>(&TickedPayload { second }).await?;
/// }
/// let skips = hooks.handlers()[0].skips;
/// assert_eq!((skips.of(SkipReason::Condition), skips.total()), (2, 2));
/// assert_eq!(skips.iter().filter(|(_, count)| *count > 0).count(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkipCounts {
    /// What is counted, each at the same place as its count.
    reasons: &'static [SkipReason],
    counts: [u64; SkipReason::ALL.len()],
}

impl SkipCounts {
    /// The counts of all reasons.
    pub(crate) fn of_all(counts: [u64; SkipReason::ALL.len()]) -> Self {
        Self { reasons: &SkipReason::ALL, counts }
    }

    /// How often for that reason.
    pub fn of(&self, reason: SkipReason) -> u64 {
        self.iter().find(|(counted, _)| *counted == reason).map_or(0, |(_, count)| count)
    }

    /// How often for any reason.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Every reason that is counted, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (SkipReason, u64)> {
        self.reasons.iter().copied().zip(self.counts)
    }
}

/// The reasons that are a handler's own, none of them counted yet.
impl Default for SkipCounts {
    fn default() -> Self {
        Self { reasons: &SkipReason::COUNTED, counts: [0; SkipReason::ALL.len()] }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for SkipCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
