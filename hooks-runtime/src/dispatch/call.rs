//! One call of one handler, from its start to its one end.

use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::dispatch::fire::Fire;
use crate::entry::Entry;
use crate::error::{BoxError, FailureKind};
use crate::nesting;
use crate::panics::{PanicPayload, contained, drop_contained, log_in_drop, message_of};
use crate::presence::Entrance;
use crate::report::HandlerStatus;
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
    finished: bool,
}

/// The first turn of a call with a limit: when it began, and how long it took
/// where the handler is done.
#[derive(Clone, Copy)]
pub(crate) struct FirstTurn {
    pub(crate) since: Instant,
    pub(crate) took: Option<Duration>,
}

/// A call that has ended.
pub(crate) struct Ended<'s> {
    pub(crate) entry: &'s Entry,
    pub(crate) call: u64,
    pub(crate) elapsed: Option<Duration>,
}

impl<'s> Running<'s> {
    /// `None` when the handler was unregistered meanwhile.
    pub(crate) fn begin(fire: &'s Fire<'s>, entry: &'s Entry) -> Option<Self> {
        if !enter(entry) {
            return None;
        }
        let call = fire.watch.map_or(0, |watch| watch.call_started(entry));
        let (since, took) = (Cell::new(None), Cell::new(None));
        Some(Self { entry, fire, since, took, call, finished: false })
    }

    /// A call with a limit that nobody watches, which had its first turn.
    pub(crate) fn limited(fire: &'s Fire<'s>, entry: &'s Entry, turn: FirstTurn) -> Self {
        let (since, took) = (Cell::new(Some(turn.since)), Cell::new(turn.took));
        Self { entry, fire, since, took, call: 0, finished: false }
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

    /// The outcome of a handler that returned: late is failed.
    pub(crate) fn returned<T>(&self, returned: Result<T, BoxError>) -> Result<T, FailureKind> {
        let Some(limit) = self.entry.timeout else { return returned.map_err(FailureKind::Error) };
        if self.took.get().is_some_and(|took| took > limit) {
            // It may be the handler's own code that is run here.
            polling(self.entry, || drop_contained("what a handler returned too late", returned));
            return Err(FailureKind::TimedOut(limit));
        }
        returned.map_err(FailureKind::Error)
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

    /// The end of the call, to be told by the caller.
    pub(crate) fn finish(mut self) -> Ended<'s> {
        self.finished = true;
        // One that panicked in its first turn was not looked at yet.
        let elapsed = self.took.get().or_else(|| self.elapsed());
        Ended { entry: self.entry, call: self.call, elapsed }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        leave(self.entry);
        if !self.finished
            && let Some(watch) = self.fire.watch
        {
            let ended = Ended { entry: self.entry, call: self.call, elapsed: self.elapsed() };
            watch.call_ended(&ended, HandlerStatus::Cancelled);
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

    /// Gives the handler a turn, then looks at its limit.
    fn turn(&mut self, task: &mut Context<'_>) -> Poll<(Running<'s>, Result<T, FailureKind>)> {
        let fresh = std::mem::take(&mut self.fresh);
        let Some(running) = &self.running else { return Poll::Pending };
        let future = &mut self.future;
        let polled = if fresh {
            Poll::Pending
        } else {
            running.poll(|| future.poll(task, |returned, dropped| (returned, dropped)))
        };
        let outcome = match polled {
            Poll::Ready(Ok((returned, dropped))) => {
                let outcome = running.returned(returned);
                polling(running.entry, || with_drop(outcome, dropped))
            }
            Poll::Ready(Err(panic)) => Err(FailureKind::Panicked(message_of(panic))),
            Poll::Pending => {
                let (Some(allowed), Some(timer)) = (running.entry.timeout, &mut self.timer) else {
                    return Poll::Pending;
                };
                // A timer may panic where its runtime has ended meanwhile.
                let kind = match contained(|| timer.as_mut().poll(task)) {
                    Ok(Poll::Pending) => return Poll::Pending,
                    Ok(Poll::Ready(())) => FailureKind::TimedOut(allowed),
                    Err(_) => FailureKind::NoTimer(allowed),
                };
                running.poll(|| future.end_logged());
                Err(kind)
            }
        };
        let running = self.running.take().expect("it was there above");
        Poll::Ready((running, outcome))
    }
}

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
    /// The end of the call, to be told by the caller.
    #[inline]
    pub(crate) fn finish(self) -> Ended<'s> {
        match self {
            Self::Plain(entry) => {
                leave(entry);
                Ended { entry, call: 0, elapsed: None }
            }
            Self::Careful(running) => running.finish(),
        }
    }

    /// What came of the handler's first poll, if that was also its last.
    pub(crate) fn first<T>(
        &self,
        started: Started<'s, Result<T, BoxError>>,
    ) -> Result<Result<T, FailureKind>, Suspended<'s, Result<T, BoxError>>> {
        match (started, self) {
            (Started::Ready(returned), Self::Careful(running)) => Ok(running.returned(returned)),
            (Started::Ready(returned), Self::Plain(_)) => Ok(returned.map_err(FailureKind::Error)),
            (Started::Panicked(panic), _) => Ok(Err(FailureKind::Panicked(message_of(panic)))),
            (Started::Suspended(future), _) => Err(future),
        }
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
        take: impl FnOnce(Done<'s>, Result<T, FailureKind>),
    ) -> Poll<()> {
        match self {
            Self::Plain(call) => {
                let mut outcome = None;
                call.turn(task, &mut outcome).map(|()| {
                    take(Done::Plain(call.entry), outcome.expect("it is done"));
                })
            }
            Self::Careful(call) => {
                call.turn(task).map(|(running, outcome)| take(Done::Careful(running), outcome))
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
                    *outcome = Some(with_drop(returned.map_err(FailureKind::Error), dropped));
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
    outcome: Result<T, FailureKind>,
    dropped: Result<(), PanicPayload>,
) -> Result<T, FailureKind> {
    let Err(panic) = dropped else { return outcome };
    match outcome {
        Ok(output) => {
            drop_contained("what a handler returned", output);
            Err(FailureKind::Panicked(message_of(panic)))
        }
        failed => {
            log_in_drop(panic);
            failed
        }
    }
}
