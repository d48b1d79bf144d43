//! The one place that calls handlers.
//!
//! # Why this is sound
//!
//! * **The right point.** [`Invocation::new`] compares the point of the list
//!   with that of the fire; a list holds handlers of its point only.
//! * **The handler is there.** Each call first publishes the entry as running,
//!   passes the reader's fence, and then looks whether the entry was closed: one
//!   by one in [`enter`](Invocation::enter), or by the number of removals at the
//!   point in [`run`](Invocation::run), which is raised after entries are closed.
//!   A removal closes, raises, passes the writer's fence and then looks who is
//!   running what, and releases a handler only if none is. The entry stays
//!   published until the call has ended, its answer is composed and its error
//!   is printed and dropped, or until the call is counted as pending.
//! * **Nothing is dropped while another drop unwinds.** A call that panics has
//!   left its future in `built`; it is dropped here, after the unwinding.
#![allow(unsafe_code)]

use std::mem::{self, MaybeUninit};
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use super::barrier::ReaderFence;
use super::call::CallStep;
use super::frame::{Frame, Watch};
use super::handler::HandlerRef;
use super::storage::{Arena, NodeId};
use super::threads::{RawStep, Step, publish};
use crate::engine::call::CallRecord;
use crate::engine::containment::{PanicPayload, catch, contained, discard};
use crate::engine::fire::FireInfo;
use crate::engine::pending::FEW;
use crate::error::BoxError;
#[cfg(feature = "record")]
use crate::json::JsonPoint;
#[cfg(feature = "record")]
use crate::operator::trace::Payload;
#[cfg(feature = "record")]
use crate::record::RawAnswer;
use crate::registry::entry::Entry;
use crate::registry::list::{Cursor, HandlerList};
use crate::report::{Contribution, SkipReason};
use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The calls of one fire during one poll of it.
pub(crate) struct Invocation<'w> {
    frame: &'w mut Frame,
    list: &'w Arc<HandlerList>,
    step: RawStep,
    /// How many removals there were at the point.
    removals: &'w AtomicUsize,
    /// The number that was seen last.
    seen: usize,
    /// Whether no handler of the list was closed when that was the number.
    is_open: bool,
}

/// A handler that is published as running, and was open then.
pub(crate) struct Entered<'i, 'w>(&'i mut Invocation<'w>);

/// What came of asking the condition of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It is met, or there is none.
    Met,
    /// It is not met.
    Unmet,
    /// It panicked; what it carried is in the invocation.
    Panicked,
}

impl Entered<'_, '_> {
    /// Asks its condition.
    pub(crate) fn ask(&mut self) -> Asked {
        let Self(invocation) = self;
        let handler = invocation.list.get(invocation.frame.at);
        let frame = &mut *invocation.frame;
        // SAFETY: see the module's text; no call has begun.
        match catch(|| unsafe { handler.is_met(frame) }) {
            Ok(true) => Asked::Met,
            Ok(false) => Asked::Unmet,
            Err(panic) => {
                panicked(invocation.frame, panic);
                Asked::Panicked
            }
        }
    }

    /// Whether it was removed since it was entered, by its condition or beside it.
    pub(crate) fn is_gone(&self, also_leaving: bool) -> bool {
        let Self(invocation) = self;
        is_gone(&invocation.list.get(invocation.frame.at).entry, also_leaving)
    }

    /// The call has this time limit in place of its own.
    pub(crate) fn shorten(&mut self, limit: Duration) {
        let Self(invocation) = self;
        invocation.frame.aside().limit = Some(limit);
    }

    /// Starts a call of it.
    pub(crate) fn start(self, watch: Watch) -> CallStep {
        let Self(invocation) = self;
        invocation.frame.watch = watch;
        let handler = invocation.list.get(invocation.frame.at);
        let frame = &mut *invocation.frame;
        // SAFETY: see the module's text.
        let started = catch(|| unsafe { handler.start(frame) });
        started.unwrap_or_else(|panic| panicked(invocation.frame, panic))
    }
}

/// Whether a handler was removed; one that is leaving only where `also_leaving` does
/// not say otherwise.
fn is_gone(entry: &Entry, also_leaving: bool) -> bool {
    if also_leaving { entry.handler.is_shut() } else { entry.is_closed() }
}

/// The future of a call that is pending is kept or dropped before the next call.
const LEFT_BEHIND: &str = "the future of the last call is still there";
const OTHER_POINT: &str = "the handlers of another point";

/// Lets what has an invocation work with another waker.
pub(crate) fn with_waker<'w, W, T>(
    owner: &mut W,
    invocation: fn(&mut W) -> &mut Invocation<'w>,
    waker: &Waker,
    work: impl FnOnce(&mut W) -> T,
) -> T {
    // It is there until it is replaced below; where `work` unwinds, the engine is
    // done with the invocation.
    let before =
        mem::replace(&mut invocation(owner).frame.waker, MaybeUninit::new(NonNull::from(waker)));
    let done = work(owner);
    invocation(owner).frame.waker = before;
    done
}

/// A call that was pending has ended, and all that comes of it is done.
#[inline]
pub(super) fn call_ended(entry: &Entry, step: &Step) {
    entry.call_resumed(step);
    if entry.is_closed() {
        publish(step.running(), ptr::null(), step.reader());
        entry.release_if_closed();
    }
}

/// Calls the handlers of a part of a chunk, as [`call_each`] does.
///
/// # Safety
/// The frame is one of a fire of the list's point, the handlers are a part of the
/// list, and none of it was closed when there had been so many removals.
#[inline(always)]
#[allow(clippy::inline_always)]
unsafe fn call_chunk(
    frame: &mut Frame,
    handlers: Range<*const HandlerRef>,
    (removals, seen): (&AtomicUsize, usize),
    step: RawStep,
) -> *const HandlerRef {
    // SAFETY (both): passed on to the caller.
    match step.reader() {
        ReaderFence::Compiler => unsafe {
            call_each::<false>(frame, handlers, step.running(), removals, seen)
        },
        ReaderFence::Processor => unsafe {
            call_each::<true>(frame, handlers, step.running(), removals, seen)
        },
    }
}

/// Calls handlers, as long as each is done at once and none was removed: null, or
/// where that ended. What came of that one is in the frame.
///
/// This loop holds only what every call needs, in registers. It is compiled for
/// each kind of fence, so that the kind is not looked at in it.
///
/// # Safety
/// As for [`call_chunk`]; `running` is the step of the fire.
#[inline(never)]
pub(super) unsafe fn call_each<const PROCESSOR: bool>(
    frame: &mut Frame,
    Range { start: mut at, end }: Range<*const HandlerRef>,
    running: &AtomicPtr<Entry>,
    removals: &AtomicUsize,
    seen: usize,
) -> *const HandlerRef {
    while at != end {
        // SAFETY: a handler of the list.
        let handler = unsafe { &*at };
        let fence = if PROCESSOR { ReaderFence::Processor } else { ReaderFence::Compiler };
        publish(running, handler.entry.as_ptr(), fence);
        if removals.load(Ordering::Acquire) != seen {
            frame.called = CallStep::Deferred;
            return at;
        }
        // SAFETY: see the module's text.
        match catch(|| unsafe { handler.start_plain(frame) }) {
            Ok(CallStep::Continue) => {}
            called => {
                let called = called.unwrap_or_else(|panic| panicked(frame, panic));
                if !keeps_going(frame, handler, called) {
                    return at;
                }
            }
        }
        // SAFETY: it is not at the end.
        at = unsafe { at.add(1) };
    }
    ptr::null()
}

/// Takes what came of a call that is not simply done. Whether the fire goes on
/// without it: it is kept where it is pending, the fire does not wait for each,
/// and few are.
#[inline(never)]
fn keeps_going(frame: &mut Frame, handler: &HandlerRef, called: CallStep) -> bool {
    frame.called = called;
    let keeps = called == CallStep::Pending
        && frame.composition.concurrent
        && frame.arena().live() + 1 < FEW;
    if keeps {
        keep(frame, handler, None);
    }
    keeps
}

/// Keeps the future of the call that was just started, with what is known of the
/// call, which counts as pending from now on.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(super) fn keep(
    frame: &mut Frame,
    handler: &HandlerRef,
    record: Option<Box<CallRecord>>,
) -> NodeId {
    let built = frame.built.take().expect("a pending call has a future");
    // Before it is no longer published as running.
    handler.entry.call_suspended(frame.step());
    frame.arena().keep(built, handler, record)
}

/// A call panicked: its future is dropped, after the unwinding.
#[cold]
#[inline(never)]
pub(super) fn panicked(frame: &mut Frame, panic: PanicPayload) -> CallStep {
    if let Some(built) = frame.built.take() {
        // SAFETY: it is there, and forgotten. A second panic adds nothing to the
        // first.
        discard(unsafe { built.drop() }.err());
    }
    frame.aside().panic = Some(panic);
    CallStep::Panicked
}

impl<'w> Invocation<'w> {
    /// The calls of a fire in a poll that saw so many removals when it began.
    ///
    /// # Panics
    /// Where the list is one of another point.
    #[inline]
    pub(crate) fn new(
        frame: &'w mut Frame,
        fire: &FireInfo<'_>,
        list: &'w Arc<HandlerList>,
        (removals, seen): (&'w AtomicUsize, usize),
        step: RawStep,
        waker: &'w Waker,
    ) -> Self {
        assert!(list.point() == fire.point_type, "{OTHER_POINT}");
        let is_open = list.is_open(seen);
        frame.begin_poll(waker, step.step());
        Self { frame, list, step, removals, seen, is_open }
    }

    /// Calls handlers from `at` on, without a further look at them, as long as
    /// each is done at once and none was removed. What came of the handler where
    /// that ended, which [`at`](Self::at) says; `Continue` at the end of the list.
    pub(crate) fn run(&mut self, at: Cursor) -> CallStep {
        if !self.is_open {
            self.frame.at = at;
            return CallStep::Deferred;
        }
        assert!(self.frame.built.is_none(), "{LEFT_BEHIND}");
        let (removals, mut place) = ((self.removals, self.seen), at.place());
        for (index, chunk) in self.list.chunks().iter().enumerate().skip(at.chunk()) {
            let handlers = chunk.handlers[place..].as_ptr_range();
            // SAFETY: the list is one of the fire's point, and was open when `seen`
            // was the number of removals.
            let ended = unsafe { call_chunk(self.frame, handlers, removals, self.step) };
            if !ended.is_null() {
                self.frame.at = Cursor::new(index, chunk.place_of(ended));
                if self.frame.called == CallStep::Deferred {
                    self.leave();
                }
                return self.frame.called;
            }
            chunk.count_whole_walk(self.shard());
            place = 0;
        }
        self.leave();
        self.frame.at = Cursor::new(self.list.chunks().len(), 0);
        CallStep::Continue
    }

    /// The handler that was called last, or the end of the list.
    #[inline]
    pub(crate) fn at(&self) -> Cursor {
        self.frame.at
    }

    /// What came of it.
    pub(crate) fn called(&self) -> CallStep {
        self.frame.called
    }

    /// Publishes the handler at `at` as running, and runs `around`, which may
    /// start a call of it; `None` where it was removed, and then it is not
    /// published. One that is leaving is entered only where `also_leaving` says so.
    pub(crate) fn enter<T>(
        &mut self,
        at: Cursor,
        also_leaving: bool,
        around: impl FnOnce(Entered<'_, 'w>) -> T,
    ) -> Option<T> {
        assert!(self.frame.built.is_none(), "{LEFT_BEHIND}");
        self.frame.at = at;
        let handler = self.list.get(at);
        self.step.publish_running(handler.entry.as_ptr());
        if is_gone(&handler.entry, also_leaving) {
            self.leave();
            return None;
        }
        Some(around(Entered(self)))
    }

    /// Publishes a handler with a pending call as running.
    pub(crate) fn enter_pending(&self, entry: &Entry) {
        self.step.publish_running(entry);
    }

    /// The handler of a pending call.
    #[inline]
    pub(crate) fn handler(&mut self, node: NodeId) -> &'w HandlerRef {
        let list = self.list;
        self.arena().handler(node, list)
    }

    /// Polls the pending calls from that one on of which nothing is known, as long
    /// as what comes of each is plain: the one that is not, and what came of it.
    pub(crate) fn resume_plain(&mut self, from: Option<NodeId>) -> Option<(NodeId, CallStep)> {
        let mut next = from;
        while let Some(node) = next {
            if self.arena().record(node).is_some() {
                return Some((node, CallStep::Deferred));
            }
            match self.resume(node, Watch::default()) {
                CallStep::Pending => {}
                CallStep::Continue => self.call_ended(node),
                called => return Some((node, called)),
            }
            next = self.arena().next(node);
        }
        None
    }

    /// Counts a call that was pending as ended.
    #[inline]
    pub(crate) fn call_resumed(&self, entry: &Entry) {
        entry.call_resumed(self.frame.step());
    }

    /// A call that was pending has ended, and all that comes of it is done.
    #[inline]
    pub(crate) fn call_ended(&mut self, node: NodeId) {
        call_ended(&self.handler(node).entry, self.frame.step());
    }

    /// Polls a pending call once more.
    #[inline]
    pub(crate) fn resume(&mut self, node: NodeId, watch: Watch) -> CallStep {
        assert!(self.frame.built.is_none(), "{LEFT_BEHIND}");
        let Some(built) = self.arena().future(node) else { return CallStep::Pending };
        self.step.publish_running(self.handler(node).entry.as_ptr());
        self.frame.watch = watch;
        let frame = &mut *self.frame;
        // SAFETY: the future is in its place, made by a call of this very fire,
        // and is counted as pending, so its handler is there.
        let step = catch(|| unsafe { (built.vtable.poll)(built, frame) })
            .unwrap_or_else(|panic| panicked(self.frame, panic));
        if step != CallStep::Pending {
            self.arena().ended(node);
        }
        step
    }

    /// The waker that calls are polled with.
    pub(crate) fn waker(&self) -> &Waker {
        self.frame.waker()
    }

    /// No handler is run until the next one is.
    pub(crate) fn leave(&self) {
        self.step.clear_running();
    }

    /// Keeps the future of the call that was just started, with what is known of
    /// the call, which counts as pending from now on.
    #[inline]
    pub(crate) fn keep(&mut self, record: Option<Box<CallRecord>>) -> NodeId {
        keep(self.frame, self.list.get(self.frame.at), record)
    }

    /// Drops the future of the call that was just started.
    pub(crate) fn drop_built(&mut self) {
        if let Some(built) = self.frame.built.take() {
            // SAFETY: it is there, and forgotten.
            if let Err(panic) = unsafe { built.drop() } {
                crate::engine::containment::log_in_drop(panic);
            }
        }
    }

    /// Forgets the pending calls, if all have ended.
    pub(crate) fn clear(&mut self) {
        self.arena().clear();
    }

    /// The futures of this fire.
    pub(crate) fn arena(&mut self) -> &mut Arena {
        self.frame.arena()
    }

    /// Whether every handler of the list was open when the removals were last
    /// looked at: only then does [`run`](Self::run) call any.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether a handler of the point was removed since then.
    #[inline]
    pub(crate) fn sees_removals(&self) -> bool {
        self.seen != self.removals.load(Ordering::Acquire)
    }

    /// Notes the removals so far. Handlers are looked at one by one from now on.
    pub(crate) fn note_removals(&mut self) {
        self.seen = self.removals.load(Ordering::Acquire);
        self.is_open = false;
    }

    /// Whether the fire goes on without a call that is pending.
    #[inline]
    pub(crate) fn is_concurrent(&self) -> bool {
        self.frame.composition.concurrent
    }

    /// The shard of the counters that this thread writes to.
    pub(crate) fn shard(&self) -> usize {
        self.step.shard()
    }

    /// The error of the call that failed.
    pub(crate) fn take_error(&mut self) -> BoxError {
        self.frame.aside().error.take().expect("a call that failed has an error")
    }

    /// What the panic of the last call carried.
    pub(crate) fn take_panic(&mut self) -> PanicPayload {
        self.frame.aside().panic.take().expect("a call that panicked has a payload")
    }

    /// When the last call began, where it has a limit and was called in the quickest
    /// way.
    pub(crate) fn take_since(&mut self) -> Option<Instant> {
        self.frame.since.take()
    }

    /// When the last call had its answer, where that was wanted.
    pub(crate) fn take_answered(&mut self) -> Option<Instant> {
        self.frame.answered.take()
    }

    /// What the last call contributed.
    #[inline]
    pub(crate) fn take_contribution(&mut self) -> Contribution {
        let contribution = self.frame.aside.as_mut().and_then(|aside| aside.contribution.take());
        contribution.unwrap_or(Contribution::Nothing)
    }

    /// From now on what handlers answer is kept as JSON.
    #[cfg(feature = "record")]
    pub(crate) fn capture_answers(&mut self, json: JsonPoint) {
        self.frame.aside().json = Some(json);
    }

    /// What the last call answered, where that was kept.
    #[cfg(feature = "record")]
    pub(crate) fn take_answer(&mut self) -> Option<RawAnswer> {
        self.frame.aside.as_mut().and_then(|aside| aside.answer.take())
    }

    /// What the next handler is given, for a recording.
    #[cfg(feature = "record")]
    pub(crate) fn payload(&mut self) -> Payload<'_> {
        Payload::Fire(self.frame)
    }

    /// Why the handlers after the last call are not called.
    pub(crate) fn skip_reason(&self) -> SkipReason {
        self.frame.skip
    }

    /// Whether the panic of the last call was one of a value that its answer
    /// displaced, or that came too late. What it set is then its contribution.
    pub(crate) fn was_merging(&mut self) -> bool {
        let was_merging = mem::take(&mut self.frame.merging);
        if was_merging && self.frame.watch.contribution() {
            let (filled, merged) = (self.frame.composition.filled, self.frame.accumulator);
            // SAFETY: the call is over, so the accumulator is not borrowed. It may
            // be written by hand, and panic.
            let now = contained(|| unsafe { filled(merged) }).unwrap_or_default();
            // SAFETY: written where the merge began.
            let set = now.without(unsafe { self.frame.fields.assume_init() });
            let set = Contribution::Fields(set.names_of(self.frame.composition.fields));
            self.frame.aside().contribution = Some(set);
        }
        was_merging
    }
}
