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
//! where the entry was closed, and its removal counted at the point, before a
//! look at what all threads run. A call that
//! is pending is counted before it is no longer published, so the count is read
//! after that look. An entry without a tracker is never released: its handler
//! goes with the entry, which every list that is read keeps.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

use super::call::{Call, CallStep, Frame};
use super::threads::Published;
use crate::point::HookPoint;
use crate::registry::entry::Entry;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
    pointer: HandlerPointer,
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
        let pointer = HandlerPointer { start: start::<P, H>, value };
        Self { pointer, drop: drop::<H>, point: TypeId::of::<P>() }
    }
}

impl Drop for ErasedHandler {
    fn drop(&mut self) {
        // What it captured is contained in it. SAFETY: `new` boxed it, and this
        // runs once.
        unsafe { (self.drop)(self.pointer.value) };
    }
}

impl fmt::Debug for ErasedHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedHandler")
    }
}

/// Where an entry owns its handler, until its removal empties it.
#[derive(Debug)]
pub(crate) struct HandlerCell {
    pointer: HandlerPointer,
    point: TypeId,
    owned: Mutex<Option<ErasedHandler>>,
    /// No call starts any more, once it is seen.
    closed: AtomicBool,
    /// Its removal is counted at the point as well: no call starts any more.
    releasable: AtomicBool,
    /// How many calls are pending, where the entry has a tracker.
    pending: AtomicUsize,
    /// The handler was dropped.
    released: AtomicBool,
}

impl HandlerCell {
    pub(crate) fn new(handler: ErasedHandler) -> Self {
        Self {
            pointer: handler.pointer,
            point: handler.point,
            owned: Mutex::new(Some(handler)),
            closed: AtomicBool::new(false),
            releasable: AtomicBool::new(false),
            pending: AtomicUsize::new(0),
            released: AtomicBool::new(false),
        }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Lets no further call start. The number of removals at the point is raised
    /// afterwards.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
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

    #[inline]
    pub(crate) fn call_suspended(&self) {
        self.pending.fetch_add(1, Ordering::SeqCst);
    }

    #[inline]
    pub(crate) fn call_resumed(&self) {
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }

    /// Drops the handler, if it is still here.
    pub(crate) fn drop_handler(&mut self) {
        drop(self.owned.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Whether the handler was dropped.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    /// Drops the handler of an entry that is closed and has a tracker, unless it
    /// is running or pending somewhere. Whether this dropped it.
    pub(crate) fn release(entry: &Entry, published: &Published) -> bool {
        let cell = &entry.handler;
        // Published first: a call is counted as pending before it is no longer
        // published as running.
        let is_quiet = entry.tracker.is_some()
            && cell.is_closed()
            && !published.runs(entry)
            && cell.pending.load(Ordering::SeqCst) == 0;
        if !is_quiet {
            return false;
        }
        let owned = cell.owned.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_ours = owned.is_some();
        // After the lock: the handler is the user's.
        drop(owned);
        if is_ours {
            cell.released.store(true, Ordering::Release);
        }
        is_ours
    }
}

impl fmt::Debug for HandlerPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerPointer")
    }
}

/// One handler, as a walk needs it.
#[derive(Debug)]
pub(crate) struct HandlerRef {
    pointer: HandlerPointer,
    pub(crate) entry: Arc<Entry>,
    pub(crate) owner_bit: u32,
}

impl HandlerRef {
    /// # Panics
    /// Where the entry's handler is one of another point.
    pub(crate) fn new(entry: &Arc<Entry>, point: TypeId) -> Self {
        let (pointer, own) = (entry.handler.pointer, entry.handler.point);
        assert!(own == point, "a list holds handlers of one point");
        Self { pointer, entry: Arc::clone(entry), owner_bit: entry.owner_bit() }
    }

    /// Starts a call.
    ///
    /// # Safety
    /// The frame is one of a fire of the handler's point, and the handler is
    /// there until the call has ended.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(super) unsafe fn start(&self, frame: &mut Frame) -> CallStep {
        // SAFETY: passed on to the caller.
        unsafe { (self.pointer.start)(self.pointer.value, frame) }
    }
}
