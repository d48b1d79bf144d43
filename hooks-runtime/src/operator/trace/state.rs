//! One trace under way: what it has seen, and what of it waits to be taken.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::filter::{Filter, FilterCode, ShowBy};
use super::fire::{Ended, TracedFire, TracedPayload};
use super::limit::{TraceEnd, TraceLimit};
use super::list::TraceId;
use super::payload::Payload;
use crate::engine::containment::{contained, drop_contained};
use crate::observe::{ObservedFire, log};
use crate::operator::error::OperatorError;
use crate::operator::target::Pattern;
use crate::point::PointDescriptor;
use crate::sync::{Mutex, MutexGuard};

/// A trace, as its guard and the fires share it.
pub(crate) struct TraceState {
    id: TraceId,
    filter: Filter,
    /// What the filter asks of payloads; gone when the trace ends, whatever fires are
    /// still under way.
    code: Mutex<Option<Arc<FilterCode>>>,
    target: Option<Pattern>,
    limit: TraceLimit,
    ends: Option<Instant>,
    queue: Mutex<Queue>,
}

/// What it has seen.
#[derive(Default)]
struct Queue {
    fires: VecDeque<TracedFire>,
    counts: Counts,
    /// When the present time of a rate or a throttle began, and the fires in it.
    window: Option<(Instant, u32)>,
    /// Whether a fire has reached the limit, which then ends the trace.
    is_full: bool,
    end: Option<TraceEnd>,
    /// Of the one that waits for the next fire.
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) seen: u64,
    pub(super) dropped: u64,
    pub(super) passed_over: u64,
}

/// A trace that a fire is part of, with what it keeps of the payload.
pub(crate) struct FireTrace {
    trace: Arc<TraceState>,
    payload: Option<TracedPayload>,
}

impl TraceState {
    /// A trace that is not under way yet, and how long it lasts.
    pub(super) fn new(
        mut filter: Filter,
        limit: TraceLimit,
        begins: Instant,
    ) -> Result<(Self, Option<Duration>), OperatorError> {
        if let Some(problem) = limit.problem() {
            return Err(OperatorError::BadTrace { problem: problem.to_owned() });
        }
        let (target, ttl) = (filter.validate()?, filter.ttl);
        // A time that no clock reaches is none.
        let ends = ttl.and_then(|ttl| begins.checked_add(ttl));
        let code = Mutex::new(Some(Arc::new(mem::take(&mut filter.code))));
        let (id, queue) = (TraceId::default(), Mutex::default());
        Ok((Self { id, filter, code, target, limit, ends, queue }, ttl))
    }

    /// The same, with its number.
    pub(super) fn numbered(self, id: TraceId) -> Arc<Self> {
        Arc::new(Self { id, ..self })
    }

    pub(super) fn id(&self) -> TraceId {
        self.id
    }

    pub(super) fn limit(&self) -> TraceLimit {
        self.limit
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(super) fn target(&self) -> Option<&Pattern> {
        self.target.as_ref()
    }

    /// Whether it may let fires of that point through.
    pub(super) fn may_match(&self, point: &PointDescriptor) -> bool {
        self.filter.may_match(point, self.target.as_ref())
    }

    /// Whether fires of that point are to be recorded for it.
    pub(super) fn concerns(&self, point: &PointDescriptor) -> bool {
        self.may_match(point) || self.filter.may_match_stage(point, self.target.as_ref())
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn code(&self) -> MutexGuard<'_, Option<Arc<FilterCode>>> {
        self.code.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn counts(&self) -> Counts {
        self.queue().counts
    }

    pub(super) fn ended(&self) -> Option<TraceEnd> {
        self.queue().end.clone()
    }

    pub(super) fn take(&self) -> Option<TracedFire> {
        self.queue().fires.pop_front()
    }

    pub(super) fn poll_next(&self, waker: &Waker) -> Poll<Option<TracedFire>> {
        // Cloned and dropped outside the lock: both are the executor's code.
        let mut new = Some(waker.clone());
        let polled = {
            let mut queue = self.queue();
            match queue.fires.pop_front() {
                Some(fire) => Poll::Ready(Some(fire)),
                None if queue.end.is_some() => Poll::Ready(None),
                None => {
                    mem::swap(&mut queue.waker, &mut new);
                    Poll::Pending
                }
            }
        };
        drop_contained("a waker", new);
        polled
    }

    /// Ends it, and wakes the one that waits. Only the first end counts.
    pub(super) fn end(&self, end: &TraceEnd) {
        let waker = {
            let mut queue = self.queue();
            if queue.end.is_some() {
                return;
            }
            queue.end = Some(end.clone());
            queue.waker.take()
        };
        log::trace_ended(self.id, end);
        // Dropped outside the lock, or by the fire that is asking it.
        let code = self.code().take();
        drop(code);
        wake(waker);
    }

    /// Forgets the fires that wait to be taken, and the one that waits.
    pub(super) fn forget(&self) {
        let Queue { fires, waker, .. } = {
            let mut queue = self.queue();
            let (counts, end) = (queue.counts, queue.end.clone());
            mem::replace(&mut *queue, Queue { counts, end, ..Queue::default() })
        };
        drop(fires);
        drop_contained("a waker", waker);
    }

    /// Whether its time has passed. Those without one do not ask for the clock.
    pub(crate) fn is_over(&self, now: impl FnOnce() -> Instant) -> bool {
        self.ends.is_some_and(|ends| now() >= ends)
    }

    /// A fire begins that it may match: whether it does, so far. An error is the message
    /// of a panic in the filter's code.
    pub(crate) fn begin(
        self: &Arc<Self>,
        point: &'static PointDescriptor,
        payload: &mut Payload<'_>,
    ) -> Result<Option<FireTrace>, String> {
        let code = self.code().clone();
        // It has ended meanwhile.
        let Some(code) = code else { return Ok(None) };
        for is_met in &code.when {
            if !contained(|| (is_met.get())(payload))? {
                return Ok(None);
            }
        }
        let text = match &code.show {
            None => None,
            Some(ShowBy::Type(show)) => contained(|| (show.get())(payload))?,
            #[cfg(feature = "json")]
            Some(ShowBy::Capture(capture)) => contained(|| capture.text(point, payload))?,
        };
        #[cfg(not(feature = "json"))]
        let _ = point;
        let payload = text.map(|text| TracedPayload::new(text, self.filter.payload_bytes));
        Ok(Some(FireTrace { trace: Arc::clone(self), payload }))
    }

    /// Counts a fire that the filter lets through, and keeps it where it may: at once, so
    /// that what is counted is there, or is dropped. How the trace ends with it, if it does.
    fn keep(&self, now: Instant, fire: impl FnOnce() -> TracedFire) -> Option<TraceEnd> {
        let (waker, end) = {
            let mut queue = self.queue();
            if queue.is_full || queue.end.is_some() {
                return None;
            }
            if self.is_over(|| now) {
                return Some(TraceEnd::Time);
            }
            queue.counts.seen += 1;
            let (fits, end) = match self.limit {
                TraceLimit::Count(fires) => {
                    (true, (queue.counts.seen >= fires).then_some(TraceEnd::Limit))
                }
                TraceLimit::Rate { fires, per } => {
                    let fits = queue.fits(fires, per, now);
                    (fits, (!fits).then_some(TraceEnd::Rate))
                }
                TraceLimit::Throttle { fires, per } => (queue.fits(fires, per, now), None),
            };
            queue.is_full = end.is_some();
            let waker = if !fits {
                queue.counts.passed_over += 1;
                None
            } else if queue.fires.len() >= self.filter.buffer {
                queue.counts.dropped += 1;
                None
            } else {
                queue.fires.push_back(fire());
                queue.waker.take()
            };
            (waker, end)
        };
        wake(waker);
        end
    }
}

impl Queue {
    /// Counts a fire in the present window. Whether there are no more than so many.
    fn fits(&mut self, fires: u32, per: Duration, now: Instant) -> bool {
        let (began, count) = match self.window {
            Some((began, count)) if now.saturating_duration_since(began) < per => (began, count),
            _ => (now, 0),
        };
        self.window = Some((began, count.saturating_add(1)));
        count < fires
    }
}

impl FireTrace {
    /// Whether the filter lets its fire through, which came to that.
    pub(crate) fn lets_through(&self, ended: &Ended) -> bool {
        let TraceState { filter, target, .. } = &*self.trace;
        filter.lets_through(ended.outcome, &ended.report, target.as_ref())
    }

    /// Its fire has ended, and is let through. How the trace ends with it, if it does.
    pub(crate) fn end(
        self,
        fire: &ObservedFire,
        ended: &Ended,
        now: Instant,
    ) -> Option<(Arc<TraceState>, TraceEnd)> {
        let Self { trace, payload } = self;
        let end = trace.keep(now, || TracedFire::new(fire.clone(), ended, payload));
        end.map(|end| (trace, end))
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker
        && let Err(message) = contained(|| waker.wake())
    {
        log::waker_panicked(&message);
    }
}

impl fmt::Debug for TraceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, filter) = (self.id, self.filter.to_string());
        f.debug_struct("TraceState")
            .field("id", &id)
            .field("filter", &filter)
            .finish_non_exhaustive()
    }
}
