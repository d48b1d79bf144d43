//! Tracing on demand: the fires that an operator asks to see, up to a limit.
//!
//! A trace marks the points that it may match as observed, so that their fires are
//! recorded. Fires of other points, and all fires once it has ended, do not change by an
//! instruction.

mod filter;
mod fire;
mod limit;
mod list;
mod outcome;
mod payload;
mod recorded;
mod state;

#[cfg(feature = "json")]
mod capture;

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

#[cfg(feature = "json")]
pub use capture::Capture;
pub use filter::{AnyPoint, TraceFilter};
pub use fire::{TracedFire, TracedPayload};
pub use limit::{TraceEnd, TraceLimit};
pub(crate) use list::TraceList;
pub use list::{TraceId, TraceInfo};
pub(crate) use payload::Payload;
pub(crate) use recorded::FireTraces;
use state::TraceState;

use crate::operator::{Operator, OperatorError};
use crate::registry::Inner;
use crate::timer::{Deadline, now};

impl Operator {
    /// Traces the fires that the filter lets through, up to the limit. The trace ends
    /// with its limit, its time, or when it is dropped.
    ///
    /// ```
    /// # use hooks_runtime::{Gate, HookRegistry, Judgement, hook_points, on};
    /// # hook_points! { pub gating Paying { cents: u32 } }
    /// use hooks_runtime::operator::{TraceEnd, TraceFilter, TraceLimit};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Paying>().name("limit").plugin("bank").guard(|pay: &PayingPayload| {
    ///     if pay.cents < 100 { Judgement::Pass } else { Judgement::reject("too much") }
    /// }))?;
    /// let large = TraceFilter::at::<Paying>()
    ///     .when(|pay: &PayingPayload| pay.cents > 10)
    ///     .show(|pay: &PayingPayload| format!("{} cents", pay.cents))
    ///     .outcome("rejected");
    /// let mut trace = hooks.operator().trace(large, TraceLimit::count(2))?;
    /// for cents in [5, 50, 500, 700, 900] {
    ///     hooks.fire_gating::<Paying>(PayingPayload { cents }).await?.into_result().ok();
    /// }
    /// let fire = trace.next().await.unwrap();
    /// assert_eq!(
    ///     fire.to_string().rsplit_once(" (").unwrap().0,
    ///     "paying rejected by bank/limit: too much, given 500 cents",
    /// );
    /// assert_eq!(fire.report().handlers()[0].handler(), "limit");
    /// assert_eq!(trace.next().await.unwrap().payload().unwrap().text(), Some("700 cents"));
    /// assert!(trace.next().await.is_none());
    /// assert_eq!(trace.ended(), Some(TraceEnd::Limit));
    /// # Ok(()) }
    /// ```
    pub fn trace<P>(
        &self,
        filter: TraceFilter<P>,
        limit: TraceLimit,
    ) -> Result<Trace, OperatorError> {
        self.inner.end_overdue_traces();
        let begins = now(&*self.inner.config.timer);
        let (state, ttl) = TraceState::new(filter.erased(), limit, begins)?;
        let state = self.inner.begin_trace(state)?;
        // `None` where there is no timer: the next fire ends it then.
        let deadline = ttl.and_then(|ttl| Deadline::after(ttl, &*self.inner.config.timer));
        Ok(Trace { state, deadline, registry: Arc::downgrade(&self.inner) })
    }

    /// The traces that are under way.
    ///
    /// The example of [`TraceInfo`] lists one.
    pub fn traces(&self) -> Vec<TraceInfo> {
        self.inner.end_overdue_traces();
        self.inner.traces.infos()
    }
}

/// A trace under way: the fires that it has seen come from here. Dropping it ends it.
///
/// A trace does not keep its registry: when that is gone, the trace has ended.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub void Rang { bell: u32 } }
/// use hooks_runtime::operator::{Trace, TraceFilter, TraceLimit};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let all = TraceFilter::all().buffer(2);
/// let mut trace: Trace = hooks.operator().trace(all, TraceLimit::count(100))?;
/// for bell in 0..3 {
///     hooks.fire_void::<Rang>(&RangPayload { bell }).await?;
/// }
/// assert_eq!(trace.try_next().unwrap().point(), "rang");
/// assert_eq!((trace.seen(), trace.dropped(), trace.passed_over()), (3, 1, 0));
/// assert_eq!((trace.ended(), trace.id().to_string()), (None, "#1".to_owned()));
/// drop(trace);
/// assert!(hooks.operator().traces().is_empty());
/// # Ok(()) }
/// ```
#[must_use = "a trace ends when it is dropped"]
pub struct Trace {
    state: Arc<TraceState>,
    /// When it ends by time, for the one that waits.
    deadline: Option<Deadline>,
    registry: Weak<Inner>,
}

impl Trace {
    /// Its number.
    pub fn id(&self) -> TraceId {
        self.state.id()
    }

    /// The next fire that was traced; waits for one. `None` once the trace has ended and
    /// all that it has seen was taken.
    ///
    /// The example of [`Operator::trace`] takes fires.
    pub async fn next(&mut self) -> Option<TracedFire> {
        poll_fn(|task| self.poll_next(task)).await
    }

    /// As [`next`](Self::next), for code that polls by itself.
    ///
    /// ```
    /// # use std::task::{Context, Poll, Waker};
    /// # use hooks_runtime::HookRegistry;
    /// # use hooks_runtime::operator::{TraceFilter, TraceLimit};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(1))?;
    /// assert!(trace.poll_next(&mut Context::from_waker(Waker::noop())).is_pending());
    /// # Ok(()) }
    /// ```
    pub fn poll_next(&mut self, task: &mut Context<'_>) -> Poll<Option<TracedFire>> {
        let polled = self.state.poll_next(task.waker());
        if polled.is_ready() {
            return polled;
        }
        match self.deadline.as_mut().and_then(|deadline| deadline.poll(task)) {
            Some(Poll::Pending) => return Poll::Pending,
            Some(Poll::Ready(())) => self.end(&TraceEnd::Time),
            // There is none, or it panicked: the next fire ends the trace then.
            None => {}
        }
        self.deadline = None;
        self.state.poll_next(task.waker())
    }

    /// The next fire that was traced, if there is one now.
    ///
    /// The example of [`Trace`] takes one.
    pub fn try_next(&mut self) -> Option<TracedFire> {
        self.state.take()
    }

    /// How many fires the filter let through so far, also those that were dropped or
    /// passed over.
    pub fn seen(&self) -> u64 {
        self.state.counts().seen
    }

    /// How many fires were dropped, because the buffer was full.
    pub fn dropped(&self) -> u64 {
        self.state.counts().dropped
    }

    /// How many fires were passed over, because there were more than a
    /// [throttle](TraceLimit::throttle) lets through.
    pub fn passed_over(&self) -> u64 {
        self.state.counts().passed_over
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<TraceEnd> {
        self.state.ended()
    }

    fn end(&self, end: &TraceEnd) {
        match self.registry.upgrade() {
            Some(registry) => registry.end_trace(&self.state, end),
            None => self.state.end(end),
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.end(&TraceEnd::Dropped);
        self.state.forget();
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("state", &self.state).finish_non_exhaustive()
    }
}
