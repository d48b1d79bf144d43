//! The quickest way through a fire: all handlers of a point are few, none was
//! removed, the scope admits each of them, and nothing looks at the fire.
//!
//! Nothing in it unwinds: what a handler does is caught in `invoke.rs`, or here where
//! one has a limit or was pending. So it needs no guards, and its state is in
//! registers. What it cannot do it leaves to the walk, at the handler where it
//! stopped.
//!
//! # Why this is sound
//!
//! As for `invoke.rs`: the list is one of the fire's point and no handler of it was
//! closed when the number of removals was read, which is compared again before each
//! call. A pending call is counted, so its handler is there when it is polled again.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::ptr;
use std::task::Waker;
use std::time::Instant;

use super::barrier::{self, ReaderFence};
use super::call::CallStep;
use super::frame::{Frame, Watch};
use super::handler::{HandlerRef, Special};
use super::invoke::{call_each, call_ended, keep, panicked};
use super::storage::NodeId;
use super::threads::{RawStep, publish};
use crate::engine::containment::catch;
use crate::registry::entry::Entry;
use crate::registry::list::{Chunk, Cursor, HandlerList};
use crate::report::SkipReason;
use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

const QUICK_PROCESSOR: bool = matches!(barrier::QUICK, ReaderFence::Processor);

/// What came of a poll in the quickest way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quickly {
    /// All handlers were called, and all calls have ended. Nothing is kept, in a
    /// first poll.
    Done,
    /// The same, in a first poll that needed memory for its futures.
    DoneInMemory,
    /// The fire waits for calls that are kept; nothing more is known of any of
    /// them.
    Waits,
    /// A pending call has ended in another way than simply, which
    /// [`Invocation::called`](super::Invocation::called) says.
    Ended(NodeId),
    /// More than this way can do comes after the last call, which
    /// [`Invocation::at`](super::Invocation::at) and `called` are about.
    Left,
    /// Nothing was called: this way cannot be taken.
    Not,
}

/// Calls all handlers of a plain list, in the first poll of a fire that was read
/// in the quickest way.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn call_all(
    frame: &mut Frame,
    point: &TypeId,
    list: &HandlerList,
    (removals, seen): (&AtomicUsize, usize),
    step: RawStep,
    waker: &Waker,
) -> Quickly {
    let Some(chunk) = plain_chunk(point, list, seen) else { return Quickly::Not };
    frame.begin_poll(waker, step.step());
    let (handlers, running) = (chunk.handlers.as_ptr_range(), step.running());
    // SAFETY: the list is one of the fire's point, and was open.
    let ended = unsafe { call_each::<QUICK_PROCESSOR>(frame, handlers, running, removals, seen) };
    if !ended.is_null() {
        return stopped_at(frame, chunk, ended, (removals, seen));
    }
    called_all(frame, chunk, (removals, seen))
}

/// The handlers that can be called in the quickest way, where all can.
#[inline(always)]
#[allow(clippy::inline_always)]
fn plain_chunk<'l>(point: &TypeId, list: &'l HandlerList, seen: usize) -> Option<&'l Chunk> {
    list.only_chunk().filter(|_| list.point() == point && list.is_open(seen))
}

/// All handlers were called in the quickest way.
#[inline(always)]
#[allow(clippy::inline_always)]
fn called_all(
    frame: &mut Frame,
    chunk: &Chunk,
    (removals, seen): (&AtomicUsize, usize),
) -> Quickly {
    let step = frame.step();
    chunk.count_whole_walk(step.shard());
    match leave_quick(frame, step.running(), (removals, seen), Quickly::Done) {
        Quickly::Done if frame.arena().is_used() => done_or_waits(frame),
        came_to => came_to,
    }
}

/// What a first poll came to that made use of the arena.
#[inline(never)]
fn done_or_waits(frame: &mut Frame) -> Quickly {
    if frame.arena().live() == 0 { Quickly::DoneInMemory } else { Quickly::Waits }
}

/// Ends a poll in the quickest way, unless there are handlers to release that were
/// removed meanwhile.
#[inline(always)]
#[allow(clippy::inline_always)]
fn leave_quick(
    frame: &mut Frame,
    running: &AtomicPtr<Entry>,
    (removals, seen): (&AtomicUsize, usize),
    came_to: Quickly,
) -> Quickly {
    publish(running, ptr::null(), barrier::QUICK);
    if removals.load(Ordering::Acquire) == seen {
        return came_to;
    }
    frame.called = CallStep::Continue;
    Quickly::Left
}

/// A walk in the quickest way was stopped by that handler.
#[inline(never)]
fn stopped_at(
    frame: &mut Frame,
    chunk: &Chunk,
    handler: *const HandlerRef,
    (removals, seen): (&AtomicUsize, usize),
) -> Quickly {
    if frame.called == CallStep::Special {
        return stopped_at_special(frame, chunk, handler, (removals, seen));
    }
    let place = chunk.place_of(handler);
    frame.at = Cursor::new(0, place);
    if frame.called != CallStep::Pending || frame.composition.concurrent {
        return Quickly::Left;
    }
    keep(frame, &chunk.handlers[place], None);
    let step = frame.step();
    chunk.count_walk(place, step.shard());
    leave_quick(frame, step.running(), (removals, seen), Quickly::Waits)
}

/// The same for a handler that is not simply called. With a limit or a condition and
/// nothing else, it is called here, and the walk goes on behind it.
#[inline(never)]
fn stopped_at_special(
    frame: &mut Frame,
    chunk: &Chunk,
    mut handler: *const HandlerRef,
    (removals, seen): (&AtomicUsize, usize),
) -> Quickly {
    let (running, end) = (frame.step().running(), chunk.handlers.as_ptr_range().end);
    loop {
        // SAFETY: a handler of the chunk.
        let special = unsafe { &*handler };
        // SAFETY (both): it is published as running, it was open, and the frame is one
        // of a fire of its point.
        let is_done = match special.special() {
            Special::Limit => unsafe { call_limited(frame, special) },
            Special::Condition => unsafe { call_conditional(frame, special) },
            Special::Other => false,
        };
        if !is_done {
            frame.at = Cursor::new(0, chunk.place_of(handler));
            return Quickly::Left;
        }
        // SAFETY (both): it is not at the end; and as for `call_all`.
        let rest = unsafe { handler.add(1) }..end;
        handler = unsafe { call_each::<QUICK_PROCESSOR>(frame, rest, running, removals, seen) };
        if handler.is_null() {
            return called_all(frame, chunk, (removals, seen));
        }
        if frame.called != CallStep::Special {
            return stopped_at(frame, chunk, handler, (removals, seen));
        }
    }
}

/// Calls a handler that has a condition, where that is met: whether it was skipped,
/// or done at once. Otherwise what came of it is in the frame.
///
/// # Safety
/// As for [`call_limited`].
unsafe fn call_conditional(frame: &mut Frame, handler: &HandlerRef) -> bool {
    // SAFETY (both): passed on to the caller.
    let called = catch(|| {
        if !unsafe { handler.is_met(frame) } {
            return None;
        }
        // A condition takes its time, and may remove what it is asked about.
        if handler.entry.is_closed() {
            return Some(CallStep::Deferred);
        }
        Some(unsafe { handler.start(frame) })
    });
    match called {
        Ok(Some(CallStep::Continue)) => return true,
        Ok(None) => {
            handler.entry.counters.skipped(SkipReason::Condition);
            return true;
        }
        Ok(Some(called)) => frame.called = called,
        Err(panic) => frame.called = panicked(frame, panic),
    }
    false
}

/// Calls a handler that has a limit: whether it was done at once, and in time.
/// Otherwise what came of it is in the frame, and when it began.
///
/// # Safety
/// The handler is published as running, and the frame is one of a fire of its
/// point.
unsafe fn call_limited(frame: &mut Frame, handler: &HandlerRef) -> bool {
    frame.watch = Watch::new(true, false);
    let since = Instant::now();
    // SAFETY: passed on to the caller.
    let called = catch(|| unsafe { handler.start(frame) });
    frame.watch = Watch::default();
    if matches!(called, Ok(CallStep::Continue)) {
        let answered = frame.answered.take().unwrap_or_else(Instant::now);
        let took = answered.saturating_duration_since(since);
        if handler.entry.timeout.is_none_or(|limit| took <= limit) {
            return true;
        }
        frame.answered = Some(answered);
    }
    frame.called = called.unwrap_or_else(|panic| panicked(frame, panic));
    frame.since = Some(since);
    false
}

/// Polls the pending calls of a fire that waits after a poll in the quickest way,
/// and goes on from there.
#[inline]
pub(crate) fn resume_all(
    frame: &mut Frame,
    point: &TypeId,
    list: &HandlerList,
    (removals, seen): (&AtomicUsize, usize),
    step: RawStep,
    waker: &Waker,
) -> Quickly {
    let Some(chunk) = plain_chunk(point, list, seen) else { return Quickly::Not };
    frame.begin_poll(waker, step.step());
    let (running, mut next) = (step.running(), frame.arena().first());
    while let Some(node) = next {
        if let Some(built) = frame.arena().future(node) {
            let entry = frame.arena().handler(node, list).entry.as_ptr();
            publish(running, entry, barrier::QUICK);
            // SAFETY: the future is in its place, made by a call of this very fire,
            // and is counted as pending, so its handler is there.
            let called = catch(|| unsafe { (built.vtable.poll)(built, frame) });
            if !matches!(called, Ok(CallStep::Pending)) {
                let called = called.unwrap_or_else(|panic| panicked(frame, panic));
                frame.arena().ended(node);
                if called != CallStep::Continue {
                    frame.called = called;
                    return Quickly::Ended(node);
                }
                // SAFETY: an entry of the list.
                call_ended(unsafe { &*entry }, step.step());
            }
        }
        next = frame.arena().next(node);
    }
    if frame.arena().live() > 0 {
        return leave_quick(frame, running, (removals, seen), Quickly::Waits);
    }
    frame.arena().clear_plain();
    if frame.composition.concurrent {
        return leave_quick(frame, running, (removals, seen), Quickly::Done);
    }
    let place = frame.at.place();
    chunk.uncount_walk(place, step.shard());
    let handlers = chunk.handlers[place + 1..].as_ptr_range();
    // SAFETY: the list is one of the fire's point, and was open.
    let ended = unsafe { call_each::<QUICK_PROCESSOR>(frame, handlers, running, removals, seen) };
    if !ended.is_null() {
        return stopped_at(frame, chunk, ended, (removals, seen));
    }
    called_all(frame, chunk, (removals, seen))
}
