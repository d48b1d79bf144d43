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

use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use super::barrier::ReaderFence;
use super::call::{CallStep, Frame, Watch};
use super::handler::HandlerRef;
use super::shell::Composition;
use super::storage::{Arena, NodeId};
use super::threads::{ActiveStep, publish};
use crate::engine::call::CallRecord;
use crate::engine::containment::{PanicPayload, catch, contained, discard};
use crate::engine::fire::FireInfo;
use crate::engine::pending::{FEW, PendingCall};
use crate::error::BoxError;
use crate::model::FieldSet;
use crate::observe::report::{Contribution, SkipReason};
use crate::registry::entry::Entry;
use crate::registry::list::{Cursor, HandlerList};
use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The input and the accumulator of one fire, with their types forgotten.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FireParts {
    pub(super) input: NonNull<()>,
    pub(super) accumulator: NonNull<()>,
    pub(super) composition: &'static Composition,
}

impl FireParts {
    /// What the fire came to so far, in one word.
    pub(crate) fn label(&self) -> &'static str {
        // A hand-written result may panic.
        // SAFETY: no call borrows the accumulator; the fire itself has the parts,
        // between two calls.
        contained(|| unsafe { (self.composition.label)(self.accumulator) }).unwrap_or("unknown")
    }
}

/// The calls of one fire during one poll of it.
pub(crate) struct Invocation<'w> {
    frame: Frame,
    list: &'w Arc<HandlerList>,
    step: &'w ActiveStep,
    /// How many removals there were at the point.
    removals: &'w AtomicUsize,
    /// The number that was seen last.
    seen: usize,
    /// Whether no handler of the list was closed when that was the number.
    is_open: bool,
    /// The handler that was called last.
    at: Cursor,
    fire: PhantomData<(&'w FireInfo<'w>, &'w mut Arena)>,
}

/// A handler that is published as running, and was open then.
pub(crate) struct Entered<'i, 'w>(&'i mut Invocation<'w>);

impl Entered<'_, '_> {
    /// Starts a call of it.
    pub(crate) fn start(self, watch: Watch) -> CallStep {
        let Self(invocation) = self;
        invocation.frame.watch = watch;
        let handler = invocation.list.get(invocation.at);
        let frame = &mut invocation.frame;
        // SAFETY: see the module's text.
        let started = catch(|| unsafe { handler.start(frame) });
        started.unwrap_or_else(|panic| panicked(&mut invocation.frame, panic))
    }
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
    let before = mem::replace(&mut invocation(owner).frame.waker, NonNull::from(waker));
    let done = work(owner);
    invocation(owner).frame.waker = before;
    done
}

/// Calls handlers, as long as each is done at once and none was removed. The
/// last one, and what came of it; `None` where all are done.
///
/// This loop holds only what every call needs, in registers. It is compiled for
/// each kind of fence, so that the kind is not looked at in it.
///
/// # Safety
/// The frame is one of a fire of the handlers' point, `running` is the step of
/// this fire, and all handlers were open when there had been so many removals.
#[inline(never)]
unsafe fn call_all<'h, const PROCESSOR: bool>(
    frame: &mut Frame,
    running: &AtomicPtr<Entry>,
    removals: &AtomicUsize,
    seen: usize,
    handlers: &'h [HandlerRef],
) -> (Option<&'h HandlerRef>, CallStep) {
    for handler in handlers {
        frame.entry = NonNull::from(&*handler.entry);
        publish::<PROCESSOR>(running, &raw const *handler.entry);
        if removals.load(Ordering::Acquire) != seen {
            return (Some(handler), CallStep::Deferred);
        }
        // SAFETY: see the module's text.
        match catch(|| unsafe { handler.start(frame) }) {
            Ok(CallStep::Continue) => {}
            Ok(called) => return (Some(handler), called),
            Err(panic) => return (Some(handler), panicked(frame, panic)),
        }
    }
    (None, CallStep::Continue)
}

/// A call panicked: its future is dropped, after the unwinding.
#[cold]
#[inline(never)]
fn panicked(frame: &mut Frame, panic: PanicPayload) -> CallStep {
    if let Some(built) = frame.built.take() {
        // SAFETY: it is there, and forgotten. A second panic adds nothing to the
        // first.
        discard(unsafe { built.drop() }.err());
    }
    frame.aside().panic = Some(panic);
    CallStep::Panicked
}

impl<'w> Invocation<'w> {
    /// # Panics
    /// Where the list is one of another point.
    #[inline]
    pub(crate) fn new<'f>(
        parts: FireParts,
        fire: &'w FireInfo<'f>,
        list: &'w Arc<HandlerList>,
        removals: &'w AtomicUsize,
        step: &'w ActiveStep,
        arena: &'w mut Arena,
        waker: &'w Waker,
    ) -> Self {
        assert!(list.point() == (fire.point_type)(), "{OTHER_POINT}");
        let seen = removals.load(Ordering::Acquire);
        Self {
            // In place: a frame is too large to be moved for nothing.
            frame: Frame {
                input: parts.input,
                accumulator: parts.accumulator,
                composition: parts.composition,
                fire: NonNull::from(fire).cast(),
                entry: NonNull::dangling(),
                arena: NonNull::from(arena),
                watch: Watch::default(),
                merging: false,
                skip: SkipReason::Scope,
                answered: None,
                fields: FieldSet::new(),
                built: None,
                aside: None,
                waker: NonNull::from(waker),
            },
            list,
            step,
            removals,
            seen,
            is_open: list.is_open(seen),
            at: Cursor::default(),
            fire: PhantomData,
        }
    }

    /// Calls handlers from `at` on, without a further look at them, as long as
    /// each is done at once and none was removed. What came of the handler where
    /// that ended, which [`at`](Self::at) says; `Continue` at the end of the list.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn run(&mut self, at: Cursor) -> CallStep {
        if !self.is_open {
            self.at = at;
            return CallStep::Deferred;
        }
        assert!(self.frame.built.is_none(), "{LEFT_BEHIND}");
        let (list, mut index, mut from) = (self.list, at.chunk(), at.place());
        while let Some(chunk) = list.chunks().get(index) {
            let handlers = &chunk.handlers[from..];
            let call = match self.step.reader() {
                ReaderFence::Compiler => call_all::<false>,
                ReaderFence::Processor => call_all::<true>,
            };
            let (frame, running) = (&mut self.frame, self.step.running());
            // SAFETY: the frame is one of a fire of the list's point, and the list
            // was open when `seen` was the number of removals.
            let (ended_at, called) =
                unsafe { call(frame, running, self.removals, self.seen, handlers) };
            let Some(ended_at) = ended_at else {
                chunk.count_whole_walk(self.step.block.shard);
                (index, from) = (index + 1, 0);
                continue;
            };
            let place = chunk.place_of(ended_at);
            self.at = Cursor::new(index, place);
            if called == CallStep::Pending && self.keeps_going() {
                from = place + 1;
                continue;
            }
            if called == CallStep::Deferred {
                self.leave();
            }
            return called;
        }
        self.leave();
        self.at = Cursor::new(index, 0);
        CallStep::Continue
    }

    /// Whether calls of the fire are pending.
    #[inline]
    pub(crate) fn has_pending(&mut self) -> bool {
        self.arena().live() > 0
    }

    /// Keeps the call that was just started, where the fire goes on without it
    /// and few are pending.
    fn keeps_going(&mut self) -> bool {
        let keeps = self.is_concurrent() && self.arena().live() + 1 < FEW;
        if keeps {
            self.keep(None);
        }
        keeps
    }

    /// Drops this, which seldom has anything to drop.
    #[inline]
    pub(crate) fn finish(self) {
        if self.frame.aside.is_none() {
            mem::forget(self);
        }
    }

    /// The handler that was called last, or the end of the list.
    #[inline]
    pub(crate) fn at(&self) -> Cursor {
        self.at
    }

    /// Publishes the handler at `at` as running, and runs `around`, which may
    /// start a call of it; `None` where it was removed, and then it is not
    /// published.
    pub(crate) fn enter<T>(
        &mut self,
        at: Cursor,
        around: impl FnOnce(Entered<'_, 'w>) -> T,
    ) -> Option<T> {
        assert!(self.frame.built.is_none(), "{LEFT_BEHIND}");
        self.at = at;
        let handler = self.list.get(at);
        self.frame.entry = NonNull::from(&*handler.entry);
        self.step.publish_running(&raw const *handler.entry);
        if handler.entry.is_closed() {
            self.leave();
            return None;
        }
        Some(around(Entered(self)))
    }

    /// Polls a pending call once more.
    pub(crate) fn resume(&mut self, node: NodeId, watch: Watch) -> CallStep {
        assert!(self.frame.built.is_none(), "{LEFT_BEHIND}");
        // SAFETY: the arena of this fire, borrowed for as long as this is; a
        // call that is polled does not use it.
        let arena = unsafe { self.frame.arena.as_mut() };
        let Some((at, built)) = arena.pending(node) else { return CallStep::Pending };
        let handler = self.list.get(at);
        self.frame.entry = NonNull::from(&*handler.entry);
        self.step.publish_running(&raw const *handler.entry);
        self.at = at;
        self.frame.watch = watch;
        let frame = &mut self.frame;
        // SAFETY: the future is in its place, made by a call of this very fire,
        // and is counted as pending, so its handler is there.
        let step = catch(|| unsafe { (built.vtable.poll)(built, frame) })
            .unwrap_or_else(|panic| panicked(&mut self.frame, panic));
        if step != CallStep::Pending {
            self.arena().ended(node);
        }
        step
    }

    /// The waker that calls are polled with.
    pub(crate) fn waker(&self) -> &Waker {
        // SAFETY: the fire's own, or one that `with_waker` has.
        unsafe { self.frame.waker.as_ref() }
    }

    /// No handler is run until the next one is.
    pub(crate) fn leave(&self) {
        self.step.clear_running();
    }

    /// Keeps the future of the call that was just started, with what is known of
    /// the call, which counts as pending from now on.
    #[inline]
    pub(crate) fn keep(&mut self, record: Option<Box<CallRecord>>) -> NodeId {
        let built = self.frame.built.take().expect("a pending call has a future");
        let at = self.at;
        // Before it is no longer published as running.
        self.list.get(at).entry.call_suspended();
        self.arena().keep(built, PendingCall { at, record })
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
        // SAFETY: borrowed for as long as this is, and between two calls.
        unsafe { self.frame.arena.as_mut() }
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
        self.step.block.shard
    }

    /// The error of the call that failed.
    pub(crate) fn take_error(&mut self) -> BoxError {
        self.frame.aside().error.take().expect("a call that failed has an error")
    }

    /// What the panic of the last call carried.
    pub(crate) fn take_panic(&mut self) -> PanicPayload {
        self.frame.aside().panic.take().expect("a call that panicked has a payload")
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

    /// Why the handlers after the last call are not called.
    pub(crate) fn skip_reason(&self) -> SkipReason {
        self.frame.skip
    }

    /// Whether the panic of the last call was one of a value that its answer
    /// displaced, or that came too late. What it set is then its contribution.
    pub(crate) fn was_merging(&mut self) -> bool {
        let was_merging = mem::take(&mut self.frame.merging);
        if was_merging && self.frame.watch.contribution {
            let (filled, merged) = (self.frame.composition.filled, self.frame.accumulator);
            // SAFETY: the call is over, so the accumulator is not borrowed. It may
            // be written by hand, and panic.
            let now = contained(|| unsafe { filled(merged) }).unwrap_or_default();
            let set = now.without(self.frame.fields);
            let set = Contribution::Fields(set.names_of(self.frame.composition.fields));
            self.frame.aside().contribution = Some(set);
        }
        was_merging
    }
}
