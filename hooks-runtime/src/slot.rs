//! Room for a handler's future inside the fire that runs it.
//!
//! A fire lends [`Storage`] to each handler it starts. The handler's future
//! is built in it, polled once and, when it is ready, dropped on the spot:
//! nothing is boxed for a handler that finishes at once. A future that is
//! still pending stays where it is, as a [`Suspended`].
//!
//! # Why this is sound
//!
//! * **The memory is ours and large enough.** A [`Place`] is a unique
//!   `&'s mut Storage`. [`Storage::room_for`] returns the inline buffer only
//!   when size and alignment fit; otherwise it allocates with the future's
//!   own layout and the storage owns that allocation.
//! * **The future does not move once polled.** It is written before its first
//!   poll and only ever reached through the pointer to that spot. The storage
//!   cannot move while a `Suspended<'s, _>` borrows it for `'s`, and the heap
//!   block never moves.
//! * **The future is dropped before its memory is reused.** `Place::start`
//!   drops a ready or panicked future before it returns, and
//!   `Suspended` drops its future when it is dropped. Both types are private
//!   to this crate and no code in it leaks one.
//! * **[`Converted`] is pinned as a whole.** Its future is reached only from
//!   behind the pin, it is never moved, and whether the whole is `Unpin` is for
//!   its parts to say.
//! * **The borrow is honest.** `F: 's` is required, so whatever the future
//!   borrows lives at least as long as the storage is lent.
//! * **Threads.** `F: Send` is required, so a `Suspended` may move between
//!   threads with the fire that holds it. The storage itself is plain bytes.
//! * **[`Shelf`] never hands out a cell twice.** Each is made when it is handed
//!   out; a row that is full is only kept. Cells never move: the capacity of a
//!   row is settled when it is made.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, needs_drop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::panics::{self, PanicPayload, discard};

/// Bytes that a future may take before its storage goes to the heap.
pub(crate) const INLINE: usize = 256;

#[repr(C, align(16))]
struct Inline(MaybeUninit<[u8; INLINE]>);

/// Memory for one future at a time: inline when it is small, else one
/// allocation that later futures reuse when they fit.
pub(crate) struct Storage {
    inline: Inline,
    heap: Option<(NonNull<u8>, Layout)>,
}

// SAFETY: the storage is plain memory; what lives in it is `Send` and owned by
// a `Suspended`, which borrows the storage exclusively.
unsafe impl Send for Storage {}
// SAFETY: `&Storage` gives access to nothing.
unsafe impl Sync for Storage {}

impl Storage {
    pub(crate) fn new() -> Self {
        Self { inline: Inline(MaybeUninit::uninit()), heap: None }
    }

    /// Makes one where it is to stay, without a copy of its bytes.
    ///
    /// # Safety
    /// `place` is valid for writes.
    #[inline]
    pub(crate) unsafe fn make(place: *mut Self) {
        // SAFETY: passed on to the caller; the inline bytes need no value.
        unsafe { (&raw mut (*place).heap).write(None) };
    }

    /// A pointer to memory that fits `layout`.
    #[inline]
    fn room_for(&mut self, layout: Layout) -> NonNull<u8> {
        if layout.size() <= INLINE && layout.align() <= align_of::<Inline>() {
            return NonNull::from(&mut self.inline).cast();
        }
        self.heap_room_for(layout)
    }

    #[cold]
    fn heap_room_for(&mut self, layout: Layout) -> NonNull<u8> {
        if let Some((block, has)) = self.heap
            && has.size() >= layout.size()
            && has.align() >= layout.align()
        {
            return block;
        }
        self.release_heap();
        // A zero-sized future can come here for its alignment alone.
        let layout = Layout::from_size_align(layout.size().max(1), layout.align())
            .expect("the layout of a type, at least one byte long, is valid");
        // SAFETY: the size is not zero.
        let Some(block) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout);
        };
        self.heap = Some((block, layout));
        block
    }

    #[inline]
    fn release_heap(&mut self) {
        if self.heap.is_some() {
            self.free_heap();
        }
    }

    #[cold]
    fn free_heap(&mut self) {
        if let Some((block, layout)) = self.heap.take() {
            // SAFETY: allocated above with this very layout, and taken out.
            unsafe { dealloc(block.as_ptr(), layout) };
        }
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        self.release_heap();
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

/// An empty storage, lent for `'s`.
pub(crate) struct Place<'s> {
    storage: &'s mut Storage,
}

/// How far a handler got in its first poll.
pub(crate) enum Started<'s, T> {
    /// It is done and gone; the storage is free again.
    Ready(T),
    /// It panicked (while being made, polled or dropped) and is gone.
    Panicked(PanicPayload),
    /// It waits in its place.
    Suspended(Suspended<'s, T>),
}

impl<'s> Place<'s> {
    #[inline]
    pub(crate) fn new(storage: &'s mut Storage) -> Self {
        Self { storage }
    }

    /// Makes a future in this place and polls it once. When it is ready it is
    /// dropped, and `take` gets its output. A panic in any of that comes back,
    /// but for one in the drop of a future whose output `stands` all the same.
    #[inline]
    pub(crate) fn start<F, T>(
        self,
        make: impl FnOnce() -> F,
        stands: impl FnOnce(&F::Output) -> bool,
        take: impl FnOnce(F::Output) -> T,
        task: &mut Context<'_>,
    ) -> Result<T, Started<'s, F::Output>>
    where
        F: Future + Send + 's,
    {
        let spot: NonNull<F> = self.storage.room_for(Layout::new::<F>()).cast();
        let mut built = false;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = make();
            // SAFETY: `spot` fits an `F`, is ours alone and empty.
            unsafe { spot.write(future) };
            built = true;
            // SAFETY: the future was just written, is not moved from here on
            // and is dropped in place before the memory is used again.
            let Poll::Ready(output) = unsafe { Pin::new_unchecked(&mut *spot.as_ptr()) }.poll(task)
            else {
                return None;
            };
            built = false;
            // SAFETY: built above, and nobody else drops it.
            match unsafe { try_drop(spot) } {
                Ok(()) => Some(take(output)),
                Err(panic) if stands(&output) => {
                    panics::log_in_drop(panic);
                    Some(take(output))
                }
                Err(panic) => {
                    // Not while it unwinds: its drop may panic as well.
                    panics::drop_contained("what a handler returned", output);
                    resume_unwind(panic)
                }
            }
        }));
        match polled {
            Ok(Some(taken)) => Ok(taken),
            Ok(None) => {
                let future: NonNull<dyn Future<Output = F::Output> + Send + 's> = spot;
                Err(Started::Suspended(Suspended { future: Some(future), place: PhantomData }))
            }
            Err(panic) => {
                if built {
                    // SAFETY: built, and not dropped yet. A second panic adds
                    // nothing to the first.
                    discard(unsafe { try_drop(spot) }.err());
                }
                Err(Started::Panicked(panic))
            }
        }
    }
}

/// A future whose output is converted. As thin as can be: an async block around
/// another future has a state of its own to look at in every poll.
pub(crate) struct Converted<F, C> {
    future: F,
    convert: C,
}

impl<F, C> Converted<F, C> {
    #[inline]
    pub(crate) fn new(future: F, convert: C) -> Self {
        Self { future, convert }
    }
}

impl<F: Future, T, C: Fn(F::Output) -> T> Future for Converted<F, C> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        // SAFETY: nothing is moved out of it, and the future in it is pinned
        // with it; there is no other way to that future, and no `Drop`.
        let Self { future, convert } = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        unsafe { Pin::new_unchecked(future) }.poll(task).map(convert)
    }
}

/// Drops the future at `spot`, catching a panic.
///
/// # Safety
/// There is a valid future at `spot`, which nobody uses afterwards.
#[inline]
unsafe fn try_drop<F: ?Sized>(spot: NonNull<F>) -> Result<(), PanicPayload> {
    if needs_drop::<F>() {
        // SAFETY: passed on to the caller.
        catch_unwind(AssertUnwindSafe(|| unsafe { spot.drop_in_place() }))
    } else {
        Ok(())
    }
}

/// A future that waits in its place, until it is done or ended. Dropping this
/// ends it.
pub(crate) struct Suspended<'s, T> {
    future: Option<NonNull<dyn Future<Output = T> + Send + 's>>,
    place: PhantomData<&'s mut Storage>,
}

// SAFETY: it owns a future that is `Send`, and exclusively borrows plain memory.
unsafe impl<T> Send for Suspended<'_, T> {}
// SAFETY: `&Suspended` gives access to nothing.
unsafe impl<T> Sync for Suspended<'_, T> {}

impl<T> Suspended<'_, T> {
    /// Polls the future once more. When it is ready it is dropped, and `take`
    /// gets its output and what came of the drop. A panic in the rest of that
    /// comes back, and the future is gone as well.
    #[inline]
    pub(crate) fn poll<U>(
        &mut self,
        task: &mut Context<'_>,
        take: impl FnOnce(T, Result<(), PanicPayload>) -> U,
    ) -> Poll<Result<U, PanicPayload>> {
        let Some(future) = self.future else { return Poll::Pending };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the future is in its place and stays there until drop.
            let polled = unsafe { Pin::new_unchecked(&mut *future.as_ptr()) }.poll(task);
            polled.map(|output| take(output, self.end()))
        }));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panic) => {
                self.end_logged();
                Poll::Ready(Err(panic))
            }
        }
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.future.is_none()
    }

    /// Drops the future, if it is there, and says whether that panicked.
    #[inline]
    pub(crate) fn end(&mut self) -> Result<(), PanicPayload> {
        match self.future.take() {
            // SAFETY: the future is in its place, and this was its last use.
            Some(future) => unsafe { try_drop(future) },
            None => Ok(()),
        }
    }

    /// As [`end`](Self::end), where nobody takes a panic.
    #[cold]
    pub(crate) fn end_logged(&mut self) {
        if let Err(panic) = self.end() {
            panics::log_in_drop(panic);
        }
    }
}

impl<T> Drop for Suspended<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_over() {
            self.end_logged();
        }
    }
}

/// Storages that stay where they are, made one by one in rows.
///
/// Vectors, not boxes: moving a box would claim its cells for itself.
pub(crate) struct Shelf {
    row: Vec<UnsafeCell<Storage>>,
    /// The rows before.
    full: Vec<Vec<UnsafeCell<Storage>>>,
    /// How many more there can be, beside the row.
    left: usize,
}

/// The first row of a shelf; each one after has twice the length.
const FIRST_ROW: usize = 8;

// SAFETY: `&Shelf` gives access to nothing.
unsafe impl Sync for Shelf {}

impl Shelf {
    /// For so many, or a few more than that.
    pub(crate) fn new(most: usize) -> Self {
        Self { row: Vec::new(), full: Vec::new(), left: most }
    }

    /// The next storage.
    ///
    /// # Safety
    /// What is returned is no longer used when the shelf is dropped.
    #[inline]
    pub(crate) unsafe fn storage<'s>(&mut self) -> &'s mut Storage {
        if self.row.len() == self.row.capacity() {
            self.start_row();
        }
        let made = self.row.len();
        let cell = self.row.spare_capacity_mut()[0].as_mut_ptr();
        // SAFETY: the place is there to be written, and a cell has the layout
        // of what is in it.
        unsafe { Storage::make(cell.cast()) };
        // SAFETY: there is room for one more, which was just made.
        unsafe { self.row.set_len(made + 1) };
        // SAFETY: every cell is handed out once, so no other reference to it
        // exists; the cells stay where they are until the shelf is dropped,
        // when the caller no longer uses them.
        unsafe { &mut *UnsafeCell::raw_get(cell) }
    }

    #[cold]
    #[inline(never)]
    fn start_row(&mut self) {
        let length = (self.row.len() * 2).min(self.left).max(FIRST_ROW);
        self.left = self.left.saturating_sub(length);
        let full = std::mem::replace(&mut self.row, Vec::with_capacity(length));
        if !full.is_empty() {
            self.full.push(full);
        }
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(schedules)))]
mod tests;
