//! What is known of one call beside its future: its number, its time and its
//! limit. Most calls have none of it.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::engine::containment::contained;
use crate::engine::fire::Fire;
use crate::error::FailureKind;
use crate::observe::notes;
use crate::operator::breaker::Permit;
use crate::registry::entry::Entry;
use crate::timer::{Sleep, Timer};

/// What is known of one call.
#[derive(Default)]
pub(crate) struct CallRecord {
    /// The number of the call, where it is recorded.
    pub(crate) number: u64,
    /// When its first poll began. Read only for calls with a limit and in
    /// recorded fires: two clock reads cost more than a call.
    since: Option<Instant>,
    /// How long it had taken at the end of its last poll.
    took: Option<Duration>,
    /// Armed once a call with a limit is pending.
    timer: Option<Sleep>,
    /// Whether the fire gave up waiting for it.
    given_up: bool,
    /// How long the fire waits for it.
    limit: Option<Duration>,
    /// Whether an operator has set something for the handler.
    is_ruled: bool,
    /// Its permit of the handler's breaker, until it has ended.
    permit: Option<Permit>,
}

impl CallRecord {
    /// A call that is about to start.
    pub(crate) fn begin(fire: &Fire<'_>, entry: &Entry) -> Self {
        let number = fire.recorder.map_or(0, |recorder| recorder.call_started(entry));
        let mut record = Self::default();
        record.number = number;
        record.limit = fire.time_limit(entry);
        record.is_ruled = fire.rules(entry).is_some();
        record
    }

    /// A call that began in the quickest way: one that has a limit at that time, any
    /// other without a record.
    pub(crate) fn begun(since: Option<Instant>, limit: impl FnOnce() -> Option<Duration>) -> Self {
        let mut record = Self::default();
        record.since = since;
        record.limit = since.and_then(|_| limit());
        record
    }

    /// Its permit of the handler's breaker.
    pub(crate) fn permitted(&mut self, permit: Option<Permit>) {
        self.permit = permit;
    }

    /// The permit, at the end of the call. Of a call that is dropped it is given back.
    pub(crate) fn take_permit(&mut self) -> Option<Permit> {
        self.permit.take()
    }

    /// Whether nothing is known of the call.
    pub(crate) fn is_plain(&self) -> bool {
        self.since.is_none() && self.number == 0 && !self.is_ruled
    }

    /// Runs code of the handler, recorded where that is wanted. [`ended`] says
    /// when it had its answer.
    ///
    /// [`ended`]: Self::ended
    pub(crate) fn poll<T>(
        &mut self,
        fire: &Fire<'_>,
        entry: &Entry,
        poll: impl FnOnce() -> T,
    ) -> T {
        self.took = None;
        let Some(recorder) = fire.recorder else {
            if self.limit.is_some() {
                self.since.get_or_insert_with(Instant::now);
            }
            return poll();
        };
        recorder.polling(self.number, entry, true);
        let since = *self.since.get_or_insert_with(Instant::now);
        let (polled, noted) = if recorder.keeps_notes() {
            notes::collect(fire.call_key(entry), poll)
        } else {
            (poll(), Vec::new())
        };
        // Right beside it: the time of an observer is not the handler's.
        self.took = Some(since.elapsed());
        if !noted.is_empty() {
            recorder.noted(self.number, noted);
        }
        recorder.polling(self.number, entry, false);
        polled
    }

    /// A poll has ended, with an answer that was there then: what came after, as
    /// composing it, is not the handler's time.
    pub(crate) fn ended(&mut self, answered: Option<Instant>) {
        if let Some(since) = self.since
            && (answered.is_some() || self.took.is_none())
        {
            let end = answered.unwrap_or_else(Instant::now);
            self.took = Some(end.saturating_duration_since(since));
        }
    }

    /// How long it took, where that was measured.
    pub(crate) fn elapsed(&self) -> Option<Duration> {
        self.took
    }

    /// The limit and the time taken, where the call ended by itself after its
    /// limit.
    pub(crate) fn overrun(&self) -> Option<(Duration, Duration)> {
        let limit = self.limit.filter(|_| !self.given_up);
        limit.zip(self.took).filter(|(limit, took)| took > limit)
    }

    /// The fire gives up waiting for the call: what comes of it is no overrun.
    pub(crate) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Arms the timer of a call with a limit that is pending.
    pub(crate) fn arm(&mut self, fire: &Fire<'_>) -> Result<(), FailureKind> {
        let Some(limit) = self.limit else { return Ok(()) };
        let elapsed = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let timer: &dyn Timer = &*fire.info.hooks.inner.config.timer;
        match contained(|| timer.sleep(limit.saturating_sub(elapsed))) {
            Ok(Some(sleep)) => {
                self.timer = Some(sleep);
                Ok(())
            }
            Ok(None) | Err(_) => Err(FailureKind::NoTimer(limit)),
        }
    }

    /// Looks at the limit of a call that is pending: its failure once the limit
    /// has passed.
    pub(crate) fn check_limit(&mut self, task: &mut Context<'_>) -> Poll<FailureKind> {
        let (Some(limit), Some(timer)) = (self.limit, &mut self.timer) else {
            return Poll::Pending;
        };
        // A timer may panic where its runtime has ended meanwhile.
        match contained(|| timer.as_mut().poll(task)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => Poll::Ready(FailureKind::TimedOut(limit)),
            Err(_) => Poll::Ready(FailureKind::NoTimer(limit)),
        }
    }

    /// A call whose future was just dropped with its fire.
    pub(crate) fn cancelled(mut self, fire: &Fire<'_>, entry: &Entry) {
        self.give_up();
        self.took = self.since.map(|since| since.elapsed());
        if let Some(recorder) = fire.recorder {
            let rules = fire.rules(entry);
            recorder.call_ended(entry, &self, crate::report::HandlerStatus::Cancelled, rules);
        }
    }

    fn drop_timer(&mut self) {
        if let Some(timer) = self.timer.take() {
            crate::engine::containment::drop_contained("a timer", timer);
        }
    }
}

impl Drop for CallRecord {
    #[inline]
    fn drop(&mut self) {
        if self.timer.is_some() {
            self.drop_timer();
        }
    }
}
