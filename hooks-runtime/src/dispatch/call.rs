//! One call of one handler, from its start to its one end.

use std::cell::Cell;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::dispatch::fire::Fire;
use crate::entry::Entry;
use crate::error::{BoxError, FailureKind};
use crate::nesting;
use crate::panics::{contained, drop_contained, log_in_drop, message_of};
use crate::presence::Entrance;
use crate::report::HandlerStatus;
use crate::slot::{PanicPayload, Started, Suspended};
use crate::timer::{Sleep, Timer};

/// A handler that has started. Its end is told once: by whoever takes what
/// `finish` returns, or, when the fire is dropped, by dropping this.
pub(crate) struct Running<'s> {
    pub(crate) entry: &'s Entry,
    fire: &'s Fire<'s>,
    /// Read only where somebody wants to know: two clock reads cost more than
    /// a dispatch.
    since: Option<Instant>,
    /// How long it took, once that was looked at.
    took: Cell<Option<Duration>>,
    /// The number of the call, where somebody watches.
    call: u64,
    finished: bool,
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
        let timed = entry.timeout.is_some() || fire.watch.is_some();
        Some(Self {
            entry,
            fire,
            since: timed.then(Instant::now),
            took: Cell::new(None),
            call,
            finished: false,
        })
    }

    /// A call with a limit that nobody watches.
    pub(crate) fn limited(fire: &'s Fire<'s>, entry: &'s Entry, since: Instant) -> Self {
        Self { entry, fire, since: Some(since), took: Cell::new(None), call: 0, finished: false }
    }

    /// Polls code of the handler, known to the chain of nested fires and to
    /// whoever watches.
    pub(crate) fn poll<T>(&self, poll: impl FnOnce() -> T) -> T {
        let Some(watch) = self.fire.watch else { return polling(self.entry, poll) };
        watch.polling(self.call, self.entry, true);
        let polled = polling(self.entry, poll);
        watch.polling(self.call, self.entry, false);
        polled
    }

    fn elapsed(&self) -> Option<Duration> {
        self.since.map(|since| since.elapsed())
    }

    /// The outcome of a handler that returned: late is failed.
    pub(crate) fn returned<T>(&self, returned: Result<T, BoxError>) -> Result<T, FailureKind> {
        let Some(limit) = self.entry.timeout else { return returned.map_err(FailureKind::Error) };
        // Looked at once: the clock is the dearest part of such a call.
        self.took.set(self.elapsed());
        if self.took.get().is_some_and(|took| took > limit) {
            drop_contained("what a handler returned too late", returned);
            return Err(FailureKind::TimedOut(limit));
        }
        returned.map_err(FailureKind::Error)
    }

    /// The timer of a handler that has to wait, if it has a limit.
    pub(crate) fn arm(&self) -> Result<Option<Sleep>, FailureKind> {
        let Some(limit) = self.entry.timeout else { return Ok(None) };
        let left = limit.saturating_sub(self.elapsed().unwrap_or_default());
        let timer: &dyn Timer = &*self.fire.hooks.inner.settings.timer;
        match timer.sleep(left) {
            Some(sleep) => Ok(Some(sleep)),
            None => Err(FailureKind::NoTimer(limit)),
        }
    }

    /// The end of the call, to be told by the caller.
    pub(crate) fn finish(mut self) -> Ended<'s> {
        self.finished = true;
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
    nesting::polling(crowd.id());
    let polled = poll();
    nesting::polling(0);
    polled
}

/// A handler that waits, with its limit.
pub(crate) struct Waiting<'s, T> {
    /// Before `running`: the future is gone when the call counts as ended.
    future: Option<Suspended<'s, Result<T, BoxError>>>,
    timer: Option<Sleep>,
    running: Option<Running<'s>>,
    /// Whether it had its turn a moment ago, by this very task: then only its
    /// timer needs to know it.
    fresh: bool,
}

impl<'s, T> Waiting<'s, T> {
    fn new(
        running: Running<'s>,
        future: Suspended<'s, Result<T, BoxError>>,
    ) -> Result<Self, (Running<'s>, FailureKind)> {
        match running.arm() {
            Ok(timer) => {
                Ok(Self { future: Some(future), timer, running: Some(running), fresh: true })
            }
            Err(kind) => {
                // The future is dropped while its call still counts.
                if let Err(panic) = running.poll(|| future.end()) {
                    log_in_drop(panic);
                }
                Err((running, kind))
            }
        }
    }

    /// Gives the handler a turn, then looks at its limit.
    fn turn(&mut self, task: &mut Context<'_>) -> Poll<(Running<'s>, Result<T, FailureKind>)> {
        let fresh = std::mem::take(&mut self.fresh);
        let running = self.running.as_ref().expect("a call has no turn after its end");
        let future = self.future.as_mut().expect("a call has no turn after its end");
        let polled = if fresh { Poll::Pending } else { running.poll(|| future.poll(task)) };
        let outcome = match polled {
            Poll::Ready(Ok(returned)) => running.returned(returned),
            Poll::Ready(Err(panic)) => Err(FailureKind::Panicked(message_of(panic))),
            Poll::Pending => {
                let (Some(allowed), Some(timer)) = (running.entry.timeout, &mut self.timer) else {
                    return Poll::Pending;
                };
                // A timer may panic where its runtime has ended meanwhile.
                match contained(|| timer.as_mut().poll(task)) {
                    Ok(Poll::Pending) => return Poll::Pending,
                    Ok(Poll::Ready(())) => Err(FailureKind::TimedOut(allowed)),
                    Err(_) => Err(FailureKind::NoTimer(allowed)),
                }
            }
        };
        let dropped = self.future.take().map_or(Ok(()), |future| running.poll(|| future.end()));
        let outcome = with_drop(outcome, dropped);
        let running = self.running.take().expect("it was there above");
        Poll::Ready((running, outcome))
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

/// A handler that waits.
pub(crate) enum Call<'s, T> {
    /// It has no limit, and nobody watches it.
    Plain(Plain<'s, T>),
    Careful(Box<Waiting<'s, T>>),
    Over,
}

impl<'s, T> Call<'s, T> {
    #[inline]
    pub(crate) fn plain(entry: &'s Entry, future: Suspended<'s, Result<T, BoxError>>) -> Self {
        Self::Plain(Plain { entry, future: Some(future) })
    }

    /// Lets a handler wait that has started; the failure of one that cannot.
    #[inline]
    pub(crate) fn new(
        done: Done<'s>,
        future: Suspended<'s, Result<T, BoxError>>,
    ) -> Result<Self, (Done<'s>, FailureKind)> {
        match done {
            Done::Plain(entry) => Ok(Self::plain(entry, future)),
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

    /// Gives it a turn; whether it has ended is asked once.
    #[inline]
    pub(crate) fn turn(
        &mut self,
        task: &mut Context<'_>,
    ) -> Poll<(Done<'s>, Result<T, FailureKind>)> {
        let (done, outcome) = match self {
            Self::Plain(call) => {
                let Poll::Ready(outcome) = call.turn(task) else { return Poll::Pending };
                (Done::Plain(call.entry), outcome)
            }
            Self::Careful(call) => {
                let turn = call.turn(task);
                let Poll::Ready((running, outcome)) = turn else { return Poll::Pending };
                (Done::Careful(running), outcome)
            }
            // A waker may outlive its call and mark it once more.
            Self::Over => return Poll::Pending,
        };
        *self = Self::Over;
        Poll::Ready((done, outcome))
    }
}

/// A handler that waits without a limit, and whom nobody watches.
pub(crate) struct Plain<'s, T> {
    entry: &'s Entry,
    /// There until the end of the call.
    future: Option<Suspended<'s, Result<T, BoxError>>>,
}

impl<T> Plain<'_, T> {
    /// Gives the handler a turn. When it is done, the caller notes the end of
    /// the call.
    #[inline]
    fn turn(&mut self, task: &mut Context<'_>) -> Poll<Result<T, FailureKind>> {
        let future = self.future.as_mut().expect("a call has no turn after its end");
        let Poll::Ready(returned) = polling(self.entry, || future.poll(task)) else {
            return Poll::Pending;
        };
        let outcome = match returned {
            Ok(returned) => returned.map_err(FailureKind::Error),
            Err(panic) => Err(FailureKind::Panicked(message_of(panic))),
        };
        let future = self.future.take().expect("it was there above");
        let dropped = polling(self.entry, || future.end());
        Poll::Ready(with_drop(outcome, dropped))
    }
}

impl<T> Drop for Plain<'_, T> {
    fn drop(&mut self) {
        if let Some(future) = self.future.take() {
            // Gone before the call counts as ended.
            drop(future);
            leave(self.entry);
        }
    }
}

/// The outcome of a call whose future may have panicked while it was dropped.
#[inline]
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
