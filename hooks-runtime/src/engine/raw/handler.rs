//! Handlers whose type is forgotten: one function to call them, one to drop
//! them.
//!
//! # Why this is sound
//!
//! An [`ErasedHandler`] is made from a value and the two functions of that very
//! type, and remembers the point that they are for. A [`HandlerRef`] copies the
//! pointer and the function; the entry beside it owns the handler in a
//! [`HandlerCell`]. The cell is emptied by the removal of the entry, while lists
//! with such a `HandlerRef` are still read: so the function is called only by
//! [`Invocation`](super::invoke::Invocation), which first publishes the entry as
//! running and then finds it open, and [`HandlerCell::release`] drops it only
//! where the entry was shut, and its removal counted at the point, before a
//! look at what all threads run. A call that
//! is pending is counted before it is no longer published, so the count is read
//! after that look.
//!
//! An entry of the last stages of a flow is closed in two steps: a run in which
//! its owner has begun still calls it while it is leaving, and looks whether it
//! is shut where another call looks whether it is closed.
//!
//! A handler may be shared with the entry of another registry, for a replay. What is
//! shared is behind an `Arc`, of which each cell has a count as it would have the
//! handler: a cell without its count is one that is empty. The last count to go drops
//! the handler, and notes that with the tracker of the entry that had it first.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

use super::barrier;
use super::call::{Call, CallStep};
use super::condition::{ConditionPointer, ErasedCondition};
use super::frame::Frame;
use super::threads::{Published, Step};
#[cfg(feature = "replay")]
use crate::plugin::tracker::CallTracker;
use crate::point::HookPoint;
use crate::registry::entry::Entry;
use crate::registry::shards::ShardedCount;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// A handler of `P`, whatever its form: starts one call of itself.
pub(crate) trait Invoke<P: HookPoint>: Send + Sync + 'static {
    fn start<'s>(&'s self, call: Call<'_, 's, P>) -> CallStep;
}

/// Calls a handler.
pub(super) type Start = unsafe fn(NonNull<()>, &mut Frame) -> CallStep;

/// What a call of a handler needs of it.
#[derive(Clone, Copy)]
struct HandlerPointer {
    start: Start,
    value: NonNull<()>,
}

/// A handler whose type is forgotten.
pub(crate) struct ErasedHandler {
    value: NonNull<()>,
    vtable: &'static HandlerVTable,
    condition: Option<ErasedCondition>,
    /// What owns the value and the condition in its place.
    #[cfg(feature = "replay")]
    shared: Option<Arc<SharedHandler>>,
}

/// A handler that several entries have.
#[cfg(feature = "replay")]
struct SharedHandler {
    handler: Option<ErasedHandler>,
    /// Where the entry that had it first is known as not dropped, until this is.
    tracker: Arc<CallTracker>,
    id: u64,
}

#[cfg(feature = "replay")]
impl Drop for SharedHandler {
    fn drop(&mut self) {
        let handler = self.handler.take();
        self.tracker.while_dropping(Some(self.id), || drop(handler));
        self.tracker.dropped(self.id);
    }
}

/// The functions of a handler whose type is forgotten, and the point that they
/// are for.
struct HandlerVTable {
    start: Start,
    drop: unsafe fn(NonNull<()>),
    point: TypeId,
}

// SAFETY: it stands for a box of a handler, which is `Send + Sync`.
unsafe impl Send for ErasedHandler {}
// SAFETY: as above.
unsafe impl Sync for ErasedHandler {}
// SAFETY: it stands for a shared reference to a handler, which is `Sync`.
unsafe impl Send for HandlerPointer {}
// SAFETY: as above.
unsafe impl Sync for HandlerPointer {}

impl ErasedHandler {
    pub(crate) fn new<P: HookPoint, H: Invoke<P>>(handler: H) -> Self {
        /// # Safety
        /// There is an `H` at `value`, and the frame is one of a fire of `P`.
        unsafe fn start<P: HookPoint, H: Invoke<P>>(
            value: NonNull<()>,
            frame: &mut Frame,
        ) -> CallStep {
            // SAFETY: passed on to the caller.
            unsafe { value.cast::<H>().as_ref().start(Call::new(frame)) }
        }

        /// # Safety
        /// There is a boxed `H` at `value`, which is not used afterwards.
        unsafe fn drop<H>(value: NonNull<()>) {
            // SAFETY: passed on to the caller.
            std::mem::drop(unsafe { Box::from_raw(value.cast::<H>().as_ptr()) });
        }

        let value = NonNull::from(Box::leak(Box::new(handler))).cast();
        let vtable = const {
            &HandlerVTable { start: start::<P, H>, drop: drop::<H>, point: TypeId::of::<P>() }
        };
        Self {
            value,
            vtable,
            condition: None,
            #[cfg(feature = "replay")]
            shared: None,
        }
    }

    /// Another one that calls the same value.
    #[cfg(feature = "replay")]
    fn of_shared(shared: &Arc<SharedHandler>) -> Option<Self> {
        let ErasedHandler { value, vtable, .. } = shared.handler.as_ref()?;
        let shared = Some(Arc::clone(shared));
        Some(Self { value: *value, vtable, condition: None, shared })
    }

    /// Its condition, or that of the one that it shares.
    fn condition(&self) -> Option<&ErasedCondition> {
        #[cfg(feature = "replay")]
        if let Some(shared) = &self.shared {
            return shared.handler.as_ref()?.condition.as_ref();
        }
        self.condition.as_ref()
    }

    /// Whether this is one of several that have the value.
    #[cfg_attr(not(feature = "replay"), expect(clippy::unused_self, reason = "a replay has it"))]
    fn is_shared(&self) -> bool {
        #[cfg(feature = "replay")]
        return self.shared.is_some();
        #[cfg(not(feature = "replay"))]
        false
    }

    /// This handler, called only where the condition is met.
    ///
    /// # Panics
    /// Where the condition is one of another point.
    pub(crate) fn when(mut self, condition: Option<ErasedCondition>) -> Self {
        let own = condition.as_ref().is_none_or(|condition| condition.point() == self.point());
        assert!(own, "a condition of another point");
        self.condition = condition;
        self
    }

    /// The type of its point.
    pub(crate) fn point(&self) -> TypeId {
        self.vtable.point
    }
}

impl Drop for ErasedHandler {
    fn drop(&mut self) {
        if self.is_shared() {
            return;
        }
        // What it captured is contained in it. SAFETY: `new` boxed it, and this
        // runs once: the value that others share is owned by one that is not shared.
        unsafe { (self.vtable.drop)(self.value) };
    }
}

impl fmt::Debug for ErasedHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedHandler")
    }
}

/// Every call starts.
const OPEN: u8 = 0;
/// Only runs of its flow in which its owner has begun call it.
const LEAVING: u8 = 1;
/// No call starts any more, once this is seen.
const SHUT: u8 = 2;

/// Where an entry owns its handler, until its removal empties it.
#[derive(Debug)]
pub(crate) struct HandlerCell {
    pointer: HandlerPointer,
    condition: Option<ConditionPointer>,
    point: TypeId,
    owned: Mutex<Option<ErasedHandler>>,
    /// Which calls start: one of the three below.
    access: AtomicU8,
    /// Its removal is counted at the point as well: no call starts any more.
    releasable: AtomicBool,
    /// How many calls are pending.
    pending: ShardedCount,
    /// The handler was dropped.
    released: AtomicBool,
}

impl HandlerCell {
    pub(crate) fn new(handler: ErasedHandler) -> Self {
        Self {
            pointer: HandlerPointer { start: handler.vtable.start, value: handler.value },
            condition: handler.condition().map(ErasedCondition::pointer),
            point: handler.point(),
            owned: Mutex::new(Some(handler)),
            access: AtomicU8::new(OPEN),
            releasable: AtomicBool::new(false),
            pending: ShardedCount::new(),
            released: AtomicBool::new(false),
        }
    }

    /// Whether it has a condition.
    pub(crate) fn is_conditional(&self) -> bool {
        self.condition.is_some()
    }

    /// Whether no further call starts but those of runs that come to their end.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.access.load(Ordering::Acquire) != OPEN
    }

    /// Whether no further call starts at all.
    #[inline]
    pub(crate) fn is_shut(&self) -> bool {
        self.access.load(Ordering::Acquire) == SHUT
    }

    /// Lets no further call start. The number of removals at the point is raised
    /// afterwards.
    pub(crate) fn shut(&self) {
        self.access.store(SHUT, Ordering::SeqCst);
    }

    /// Lets no further call start but those of runs in which its owner has begun.
    /// The number of removals at the point is raised afterwards.
    pub(crate) fn leave(&self) {
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        let _shut = self.access.compare_exchange(OPEN, LEAVING, success, failure);
    }

    /// The number of removals at the point was raised: from now on the handler is
    /// released by whichever finds it quiet, the removal or a call that leaves it.
    /// Before, a fire that has not seen the number may be about to call it.
    pub(crate) fn allow_release(&self) {
        self.releasable.store(true, Ordering::SeqCst);
    }

    /// Whether it may be released. To be asked before the look at what all threads
    /// run: a call that was about to start then is seen by that look.
    pub(crate) fn is_releasable(&self) -> bool {
        self.releasable.load(Ordering::Acquire)
    }

    /// Counts a call as pending, while that step still has it published as running.
    #[inline]
    pub(crate) fn call_suspended(&self, step: &Step) {
        self.pending.increment(step.shard());
    }

    /// Counts a pending call as ended. Whether that was the last one, and the
    /// handler was closed meanwhile, is to be asked afterwards: the fence makes the
    /// removal see this count, or this thread see the removal.
    #[inline]
    pub(crate) fn call_resumed(&self, step: &Step) {
        self.pending.decrement(step.shard());
        barrier::light(step.reader());
    }

    /// How many calls are pending: for people, as threads count meanwhile.
    pub(crate) fn pending_calls(&self) -> u64 {
        self.pending.estimate()
    }

    /// Whether the handler was dropped: its destructor has returned.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    /// Whether a call of it runs or is pending, where `published` is what all
    /// threads have published.
    pub(crate) fn is_in_use(entry: &Entry, published: &Published) -> bool {
        // Published first: a call is counted as pending before it is no longer
        // published as running. No call starts any more, so those that are pending
        // are all counted here, and the sum is no less than their number.
        published.runs(entry) || !entry.handler.pending.is_zero()
    }

    /// Drops the handler of an entry that is shut, unless it is running or pending
    /// somewhere. Whether this dropped it.
    pub(crate) fn release(entry: &Entry, published: &Published) -> bool {
        let is_quiet = entry.handler.is_shut() && !Self::is_in_use(entry, published);
        is_quiet && entry.handler.drop_handler()
    }

    /// The handler of an entry, for an entry of another registry; `None` where it was
    /// removed. From now on it is dropped when both have let go of it, and a wait for
    /// its removal waits for both.
    #[cfg(feature = "replay")]
    pub(crate) fn share(entry: &Entry) -> Option<ErasedHandler> {
        let mut owned = entry.handler.owned.lock().unwrap_or_else(PoisonError::into_inner);
        let handler = owned.take()?;
        let shared = match &handler.shared {
            Some(shared) => Arc::clone(shared),
            None => Arc::new(SharedHandler {
                handler: Some(handler),
                tracker: Arc::clone(&entry.tracker),
                id: entry.id,
            }),
        };
        *owned = ErasedHandler::of_shared(&shared);
        ErasedHandler::of_shared(&shared)
    }

    /// Drops the handler, if it is still here, of an entry that nothing calls any
    /// more. Whether this dropped it: one that is shared is noted by the last that
    /// has it.
    pub(crate) fn drop_handler(&self) -> bool {
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_ours = owned.as_ref().is_some_and(|owned| !owned.is_shared());
        // After the lock: the handler is the user's.
        drop(owned);
        if is_ours {
            self.released.store(true, Ordering::Release);
        }
        is_ours
    }
}

impl fmt::Debug for HandlerPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerPointer")
    }
}

/// An `Arc<Entry>` whose pointer is to the entry itself: what a walk publishes.
pub(crate) struct EntryRef(NonNull<Entry>);

// SAFETY: it stands for an `Arc` of what is `Send + Sync`.
unsafe impl Send for EntryRef {}
// SAFETY: as above.
unsafe impl Sync for EntryRef {}

impl EntryRef {
    fn new(entry: &Arc<Entry>) -> Self {
        // SAFETY: not null.
        Self(unsafe { NonNull::new_unchecked(Arc::into_raw(Arc::clone(entry)).cast_mut()) })
    }

    pub(crate) fn to_arc(&self) -> Arc<Entry> {
        // SAFETY: `new` leaked a count of it.
        unsafe {
            Arc::increment_strong_count(self.0.as_ptr());
            Arc::from_raw(self.0.as_ptr())
        }
    }

    #[inline]
    pub(super) fn as_ptr(&self) -> *const Entry {
        self.0.as_ptr()
    }
}

impl Deref for EntryRef {
    type Target = Entry;

    #[inline]
    fn deref(&self) -> &Entry {
        // SAFETY: this has a count of it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for EntryRef {
    fn drop(&mut self) {
        // SAFETY: the count that `new` leaked.
        drop(unsafe { Arc::from_raw(self.0.as_ptr()) });
    }
}

impl fmt::Debug for EntryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// One handler, as a walk needs it.
#[derive(Debug)]
pub(crate) struct HandlerRef {
    /// Of a handler that is not simply called, one that says so: the loop over the
    /// others has nothing to look at.
    pointer: HandlerPointer,
    pub(crate) entry: EntryRef,
    pub(crate) owner_bit: u32,
    special: Special,
}

/// What there is to a handler that is not simply called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    /// A limit, and nothing else.
    Limit,
    /// A condition, and nothing else.
    Condition,
    /// More, or nothing at all.
    Other,
}

/// In place of a handler that is not simply called.
///
/// # Safety
/// None is needed: it looks at nothing.
unsafe fn is_special(_: NonNull<()>, _: &mut Frame) -> CallStep {
    CallStep::Special
}

impl HandlerRef {
    /// # Panics
    /// Where the entry's handler is one of another point.
    pub(crate) fn new(entry: &Arc<Entry>, point: TypeId) -> Self {
        let (mut pointer, own) = (entry.handler.pointer, entry.handler.point);
        assert!(own == point, "a list holds handlers of one point");
        if entry.is_special() {
            pointer.start = is_special;
        }
        Self {
            pointer,
            entry: EntryRef::new(entry),
            owner_bit: entry.owner_bit(),
            special: match (entry.is_limited(), entry.is_only_conditional()) {
                (true, _) => Special::Limit,
                (_, true) => Special::Condition,
                _ => Special::Other,
            },
        }
    }

    /// Starts a call, unless there is more to ask before.
    ///
    /// # Safety
    /// The frame is one of a fire of the handler's point, and the handler is
    /// there until the call has ended.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(super) unsafe fn start_plain(&self, frame: &mut Frame) -> CallStep {
        // SAFETY: passed on to the caller.
        unsafe { (self.pointer.start)(self.pointer.value, frame) }
    }

    /// Starts a call.
    ///
    /// # Safety
    /// As for [`start_plain`](Self::start_plain).
    #[inline]
    pub(super) unsafe fn start(&self, frame: &mut Frame) -> CallStep {
        let pointer = &self.entry.handler.pointer;
        // SAFETY: passed on to the caller.
        unsafe { (pointer.start)(pointer.value, frame) }
    }

    /// Whether its condition is met, where it has one.
    ///
    /// # Safety
    /// As for [`start_plain`](Self::start_plain), between two calls.
    #[inline]
    pub(super) unsafe fn is_met(&self, frame: &mut Frame) -> bool {
        // SAFETY: passed on to the caller; the condition is dropped with the handler.
        self.entry.handler.condition.is_none_or(|condition| unsafe { condition.is_met(frame) })
    }

    /// What there is to it, where it is not simply called.
    #[inline]
    pub(super) fn special(&self) -> Special {
        self.special
    }
}
