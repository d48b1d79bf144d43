//! What happened to a handler so far.

use crate::report::SkipReason;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The counts of one handler. Relaxed: counts, not signals.
#[derive(Debug, Default)]
pub(crate) struct HandlerCounters {
    calls: AtomicU64,
    failures: AtomicU64,
    overruns: AtomicU64,
    /// By reason. A fire that ends before a handler does not count at it.
    skips: [AtomicU64; SkipReason::COUNTED.len()],
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

    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn overran(&self) {
        self.overruns.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    pub(crate) fn overruns(&self) -> u64 {
        self.overruns.load(Ordering::Relaxed)
    }

    pub(crate) fn skips(&self) -> SkipCounts {
        SkipCounts(std::array::from_fn(|place| self.skips[place].load(Ordering::Relaxed)))
    }
}

/// How often a handler was not called, by reason.
///
/// Only the reasons that are a handler's own are counted: a fire that ends before a
/// handler, as after a claim, does not count at it.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkipCounts([u64; SkipReason::COUNTED.len()]);

impl SkipCounts {
    /// How often for that reason.
    pub fn of(&self, reason: SkipReason) -> u64 {
        self.iter().find(|(counted, _)| *counted == reason).map_or(0, |(_, count)| count)
    }

    /// How often for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every reason that is counted, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (SkipReason, u64)> {
        SkipReason::COUNTED.into_iter().zip(self.0)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for SkipCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
