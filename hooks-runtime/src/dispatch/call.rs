//! One call of one handler, from its start to its one end.

use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::dispatch::fire::Fire;
use crate::error::{BoxError, FailureKind};
use crate::nesting;
use crate::observe::report::HandlerStatus;
use crate::panics::{PanicPayload, contained, drop_contained, log_in_drop, message_of};
use crate::point::FailurePolicy;
use crate::presence::Entrance;
use crate::registry::entry::Entry;
use crate::slot::{Started, Suspended};
use crate::timer::{Sleep, Timer};

/// A handler that has started. Its end is told once: by whoever takes what
/// `finish` returns, or, when the fire is dropped, by dropping this.
pub(crate) struct Running<'s> {
    pub(crate) entry: &'s Entry,
    fire: &'s Fire<'s>,
    /// When its first turn began. Read only where somebody wants to know: two
    /// clock reads cost more than a dispatch.
    since: Cell<Option<Instant>>,
    /// How long it had taken at the end of its last turn.
    took: Cell<Option<Duration>>,
    /// The number of the call, where somebody watches.
    call: u64,
    /// There until the call has ended.
    inside: Option<Inside<'s>>,
}

/// The first turn of a call with a limit: when it began, and how long it took
/// where the handler is done.
#[derive(Clone, Copy)]
pub(crate) struct FirstTurn {
    pub(crate) since: Instant,
    pub(crate) took: Option<Duration>,
}

/// A call that was let in: it counts until this is dropped.
pub(crate) struct Inside<'s>(&'s Entry);

impl<'s> Inside<'s> {
    /// The call of a handler that [`enter`] let in.
    #[inline]
    pub(crate) fn of(entry: &'s Entry) -> Self {
        Self(entry)
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        leave(self.0);
    }
}

/// A call that has ended. It counts until this is dropped: what it came to is
/// the handler's, and is printed and dropped before.
pub(crate) struct Ended<'s> {
    pub(crate) entry: &'s Entry,
    pub(crate) call: u64,
    pub(crate) elapsed: Option<Duration>,
    /// The limit and the time taken, where the call ended by itself after its
    /// limit.
    pub(crate) overrun: Option<(Duration, Duration)>,
    _inside: Inside<'s>,
}

impl<'s> Running<'s> {
    /// `None` when the handler was unregistered meanwhile.
    pub(crate) fn begin(fire: &'s Fire<'s>, entry: &'s Entry) -> Option<Self> {
        if !enter(entry) {
            return None;
        }
        let call = fire.watch.map_or(0, |watch| watch.call_started(entry));
        let (since, took, inside) = (Cell::new(None), Cell::new(None), Some(Inside::of(entry)));
        Some(Self { entry, fire, since, took, call, inside })
    }

    /// A call with a limit that nobody watches, which had its first turn.
    pub(crate) fn limited(fire: &'s Fire<'s>, entry: &'s Entry, turn: FirstTurn) -> Self {
        let (since, took) = (Cell::new(Some(turn.since)), Cell::new(turn.took));
        Self { entry, fire, since, took, call: 0, inside: Some(Inside::of(entry)) }
    }

    /// Polls code of the handler, known to the chain of nested fires and to
    /// whoever watches. The clock is looked at right beside it: nobody is
    /// charged for the time of an observer.
    pub(crate) fn poll<T>(&self, poll: impl FnOnce() -> T) -> T {
        let Some(watch) = self.fire.watch else { return self.time(poll) };
        watch.polling(self.call, self.entry, true);
        let polled = self.time(poll);
        watch.polling(self.call, self.entry, false);
        polled
    }

    fn time<T>(&self, poll: impl FnOnce() -> T) -> T {
        let timed = self.entry.timeout.is_some() || self.fire.watch.is_some();
        if timed && self.since.get().is_none() {
            self.since.set(Some(Instant::now()));
        }
        let polled = polling(self.entry, poll);
        self.took.set(self.elapsed());
        polled
    }

    fn elapsed(&self) -> Option<Duration> {
        self.since.get().map(|since| since.elapsed())
    }

    /// The timer of a handler that has to wait, if it has a limit.
    pub(crate) fn arm(&self) -> Result<Option<Sleep>, FailureKind> {
        let Some(limit) = self.entry.timeout else { return Ok(None) };
        let left = limit.saturating_sub(self.elapsed().unwrap_or_default());
        let timer: &dyn Timer = &*self.fire.hooks.inner.settings.timer;
        match contained(|| timer.sleep(left)) {
            Ok(Some(sleep)) => Ok(Some(sleep)),
            Ok(None) | Err(_) => Err(FailureKind::NoTimer(limit)),
        }
    }

    /// The end of the call, to be reported by the caller. One that ended by
    /// itself may have done so after its limit.
    pub(crate) fn finish(mut self, by_itself: bool) -> Ended<'s> {
        // One that panicked in its first turn was not looked at yet.
        let elapsed = self.took.get().or_else(|| self.elapsed());
        let inside = self.inside.take().expect("a call ends once");
        self.ended(elapsed, by_itself, inside)
    }

    fn ended(&self, elapsed: Option<Duration>, by_itself: bool, inside: Inside<'s>) -> Ended<'s> {
        let limit = self.entry.timeout.filter(|_| by_itself);
        let overrun = limit.zip(elapsed).filter(|(limit, elapsed)| elapsed > limit);
        Ended { entry: self.entry, call: self.call, elapsed, overrun, _inside: inside }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(inside) = self.inside.take() {
            let ended = self.ended(self.elapsed(), false, inside);
            if let Some(watch) = self.fire.watch {
                watch.call_ended(&ended, HandlerStatus::Cancelled);
            }
        }
    }
}

/// Lets a call begin, unless the handler was unregistered meanwhile.
#[inline]
pub(crate) fn enter(entry: &Entry) -> bool {
    let Some(crowd) = &entry.crowd else {
        // Nobody waits for it to end, so nobody counts.
        return !entry.presence.is_closed();
    };
    match entry.presence.enter() {
        Entrance::Open => true,
        Entrance::Closed => false,
        Entrance::ClosedAndIdle => {
            crowd.wake();
            false
        }
    }
}

/// Notes the end of a call that was let in.
#[inline]
pub(crate) fn leave(entry: &Entry) {
    if let Some(crowd) = &entry.crowd
        && entry.presence.exit()
    {
        crowd.wake();
    }
}

/// Polls code of a handler, known to the chain of nested fires.
#[inline]
pub(crate) fn polling<T>(entry: &Entry, poll: impl FnOnce() -> T) -> T {
    let Some(crowd) = &entry.crowd else { return poll() };
    let _turn = nesting::Turn::of(crowd.id());
    poll()
}

/// A handler that waits, with its limit.
pub(crate) struct Waiting<'s, T> {
    /// Gone when the call counts as ended.
    future: Suspended<'s, Result<T, BoxError>>,
    timer: Option<Sleep>,
    running: Option<Running<'s>>,
    /// Whether it had its turn a moment ago, by this very task: then only its
    /// timer needs to know it.
    fresh: bool,
}

impl<'s, T> Waiting<'s, T> {
    fn new(
        running: Running<'s>,
        mut future: Suspended<'s, Result<T, BoxError>>,
    ) -> Result<Self, (Running<'s>, FailureKind)> {
        match running.arm() {
            Ok(timer) => Ok(Self { future, timer, running: Some(running), fresh: true }),
            Err(kind) => {
                // The future is dropped while its call still counts.
                running.poll(|| future.end_logged());
                Err((running, kind))
            }
        }
    }

    /// Gives the handler a turn, then looks at its limit. A limit ends the wait
    /// for an answer, never an answer: when it has passed, the handler has one
    /// more turn.
    fn turn(&mut self, task: &mut Context<'_>, stands: Stands<T>) -> Poll<Outcome<'s, T>> {
        let fresh = std::mem::take(&mut self.fresh);
        let mut outcome = if fresh { None } else { self.poll(task, stands) };
        if outcome.is_none() {
            let Some(running) = &self.running else { return Poll::Pending };
            let (Some(allowed), Some(timer)) = (running.entry.timeout, &mut self.timer) else {
                return Poll::Pending;
            };
            // A timer may panic where its runtime has ended meanwhile.
            let kind = match contained(|| timer.as_mut().poll(task)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(())) => FailureKind::TimedOut(allowed),
                Err(_) => FailureKind::NoTimer(allowed),
            };
            outcome = self.poll(task, stands);
            if outcome.is_none()
                && let Some(running) = &self.running
            {
                running.poll(|| self.future.end_logged());
                outcome = Some(Err(kind));
            }
        }
        let (Some(running), Some(outcome)) = (self.running.take(), outcome) else {
            return Poll::Pending;
        };
        Poll::Ready((running, outcome))
    }

    /// Polls the handler; what came of it, if it is done.
    fn poll(
        &mut self,
        task: &mut Context<'_>,
        stands: Stands<T>,
    ) -> Option<Result<T, FailureKind>> {
        let (running, future) = (self.running.as_ref()?, &mut self.future);
        match running.poll(|| future.poll(task, |returned, dropped| (returned, dropped))) {
            Poll::Pending => None,
            Poll::Ready(Ok((returned, dropped))) => {
                let entry = running.entry;
                let outcome = returned.map_err(FailureKind::Error);
                Some(polling(entry, || with_drop(entry, outcome, dropped, stands)))
            }
            Poll::Ready(Err(panic)) => Some(Err(FailureKind::Panicked(message_of(panic)))),
        }
    }
}

/// What came of a call.
type Outcome<'s, T> = (Running<'s>, Result<T, FailureKind>);

/// Whether an answer counts although its future panicked while it was dropped.
pub(crate) type Stands<T> = fn(&T, FailurePolicy) -> bool;

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        drop_contained("a timer", self.timer.take());
        if let Some(running) = &self.running {
            running.poll(|| self.future.end_logged());
        }
    }
}

/// A call that comes to its end, as far as anything is known of it.
pub(crate) enum Done<'s> {
    /// It has no limit, and nobody watches it.
    Plain(&'s Entry),
    Careful(Running<'s>),
}

impl<'s> Done<'s> {
    /// The end of the call with that outcome, to be reported by the caller.
    #[inline]
    pub(crate) fn finish<T>(self, outcome: &Result<T, FailureKind>) -> Ended<'s> {
        match self {
            Self::Plain(entry) => {
                let inside = Inside::of(entry);
                Ended { entry, call: 0, elapsed: None, overrun: None, _inside: inside }
            }
            Self::Careful(running) => {
                let waited =
                    matches!(outcome, Err(FailureKind::TimedOut(_) | FailureKind::NoTimer(_)),);
                running.finish(!waited)
            }
        }
    }
}

/// What came of a handler's first poll, if that was also its last.
pub(crate) fn first<T>(
    started: Started<'_, Result<T, BoxError>>,
) -> Result<Result<T, FailureKind>, Suspended<'_, Result<T, BoxError>>> {
    match started {
        Started::Ready(returned) => Ok(returned.map_err(FailureKind::Error)),
        Started::Panicked(panic) => Ok(Err(FailureKind::Panicked(message_of(panic)))),
        Started::Suspended(future) => Err(future),
    }
}

/// A handler that waits. Once it has ended it waits for ever: a waker may
/// outlive its call, and give it one more turn.
pub(crate) enum Call<'s, T> {
    /// It has no limit, and nobody watches it.
    Plain(Plain<'s, T>),
    Careful(Box<Waiting<'s, T>>),
}

impl<'s, T> Call<'s, T> {
    /// Lets a handler wait that has started; the failure of one that cannot.
    #[inline]
    pub(crate) fn new(
        done: Done<'s>,
        future: Suspended<'s, Result<T, BoxError>>,
    ) -> Result<Self, (Done<'s>, FailureKind)> {
        match done {
            Done::Plain(entry) => Ok(Self::Plain(Plain::new(entry, future))),
            Done::Careful(running) => match Waiting::new(running, future) {
                Ok(waiting) => Ok(Self::Careful(Box::new(waiting))),
                Err((running, kind)) => Err((Done::Careful(running), kind)),
            },
        }
    }

    /// From now on it waits by another waker, which it has to be shown.
    pub(crate) fn by_own_waker(&mut self) {
        if let Self::Careful(waiting) = self {
            waiting.fresh = false;
        }
    }

    /// Gives it a turn. When it is done, `take` gets its end and its outcome.
    // Inlined, and without a way of the outcome over memory: then the compiler
    // sees how little is to be done for a plain handler that just returned.
    #[inline]
    pub(crate) fn turn(
        &mut self,
        task: &mut Context<'_>,
        stands: Stands<T>,
        take: impl FnOnce(Done<'s>, Result<T, FailureKind>),
    ) -> Poll<()> {
        match self {
            Self::Plain(call) => {
                let mut outcome = None;
                call.turn(task, stands, &mut outcome).map(|()| {
                    take(Done::Plain(call.entry), outcome.expect("it is done"));
                })
            }
            Self::Careful(call) => {
                let turn = call.turn(task, stands);
                turn.map(|(running, outcome)| take(Done::Careful(running), outcome))
            }
        }
    }
}

/// A handler that waits without a limit, and whom nobody watches.
pub(crate) struct Plain<'s, T> {
    entry: &'s Entry,
    future: Suspended<'s, Result<T, BoxError>>,
}

impl<'s, T> Plain<'s, T> {
    #[inline]
    pub(crate) fn new(entry: &'s Entry, future: Suspended<'s, Result<T, BoxError>>) -> Self {
        Self { entry, future }
    }

    /// Gives the handler a turn, and says what came of it when it is done. The
    /// caller notes the end of the call.
    #[inline]
    fn turn(
        &mut self,
        task: &mut Context<'_>,
        stands: Stands<T>,
        outcome: &mut Option<Result<T, FailureKind>>,
    ) -> Poll<()> {
        let Self { entry, future } = self;
        let polled = polling(entry, || {
            // Each outcome is written where it is made: a detour over the stack
            // costs more than the rest of a turn.
            future.poll(task, |returned, dropped| match (returned, dropped) {
                (Ok(output), Ok(())) => *outcome = Some(Ok(output)),
                (Err(error), Ok(())) => *outcome = Some(Err(FailureKind::Error(error))),
                (returned, dropped) => {
                    let returned = returned.map_err(FailureKind::Error);
                    *outcome = Some(with_drop(entry, returned, dropped, stands));
                }
            })
        });
        polled.map(|polled| {
            if let Err(panic) = polled {
                *outcome = Some(Err(FailureKind::Panicked(message_of(panic))));
            }
        })
    }
}

impl<T> Drop for Plain<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.future.is_over() {
            self.abandon();
        }
    }
}

impl<T> Plain<'_, T> {
    #[cold]
    fn abandon(&mut self) {
        // Gone before the call counts as ended.
        polling(self.entry, || self.future.end_logged());
        leave(self.entry);
    }
}

/// The outcome of a call whose future may have panicked while it was dropped.
fn with_drop<T>(
    entry: &Entry,
    outcome: Result<T, FailureKind>,
    dropped: Result<(), PanicPayload>,
    stands: Stands<T>,
) -> Result<T, FailureKind> {
    let Err(panic) = dropped else { return outcome };
    match outcome {
        Ok(output) if !stands(&output, entry.policy) => {
            drop_contained("what a handler returned", output);
            Err(FailureKind::Panicked(message_of(panic)))
        }
        outcome => {
            log_in_drop(panic);
            outcome
        }
    }
}
