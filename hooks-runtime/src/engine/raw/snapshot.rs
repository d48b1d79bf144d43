//! A shared value that is read without a count and replaced as a whole.
//!
//! # Why this is sound
//!
//! The cell owns one count of the current value, and one of every value in
//! `retired`. A reader stores the pointer in its step, passes the reader's
//! fence and looks whether the pointer is still current. A writer replaces the
//! pointer, passes its own fence and then looks at all steps. So a reader that
//! found its pointer current had published it before the writer looked, and the
//! writer keeps that value in `retired`; any other reader finds the new pointer
//! and tries again. A value is let go of only when no step names it. The same
//! order of steps the other way round makes one of two let go of it: a reader
//! clears its step, passes its fence and looks whether there are retired values;
//! a writer retires one, passes its fence and looks at the steps.
#![allow(unsafe_code)]

use std::fmt;
use std::sync::{Arc, PoisonError};

use super::barrier::{self, ReaderFence};
use super::threads::{ActiveStep, Nested, Published, RawStep};
use crate::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The published value.
pub(crate) struct SnapshotCell<T> {
    current: AtomicPtr<T>,
    /// Replaced while a thread was reading them.
    retired: Mutex<Vec<Arc<T>>>,
    /// Whether there are any: the reader that leaves one last lets go of it.
    are_retired: AtomicBool,
}

/// The value, read under the protection of a step, which has no other.
pub(crate) struct Protected<'s, T: Send + Sync> {
    cell: &'s SnapshotCell<T>,
    step: ActiveStep,
}

/// The same without a drop, so that it is in registers: to be made a
/// [`Protected`] again. Where it is not, the value is kept for ever.
#[must_use = "the value is kept until it is guarded again"]
pub(crate) struct Unguarded<'s, T: Send + Sync> {
    cell: &'s SnapshotCell<T>,
    step: RawStep,
}

impl<T: Send + Sync> SnapshotCell<T> {
    pub(crate) fn new(value: T) -> Self {
        let current = Arc::into_raw(Arc::new(value)).cast_mut();
        Self {
            current: AtomicPtr::new(current),
            retired: Mutex::new(Vec::new()),
            are_retired: AtomicBool::new(false),
        }
    }

    /// Reads the value, which stays until the result is dropped.
    #[inline]
    pub(crate) fn read(&self, step: ActiveStep) -> Protected<'_, T> {
        self.publish_to(*step, step.reader());
        Protected { cell: self, step }
    }

    /// Reads the value in the quickest way there is, for a fire that is put on the
    /// chain of this thread, and how many are on it already; `None` where that cannot
    /// be.
    #[inline]
    pub(crate) fn read_quick(&self, fire: Nested) -> Option<(Unguarded<'_, T>, usize)> {
        let (step, depth) = RawStep::push_quick(fire)?;
        self.publish_to(step, barrier::QUICK);
        Some((Unguarded { cell: self, step }, depth))
    }

    /// Publishes that the step reads the value.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn publish_to(&self, step: RawStep, fence: ReaderFence) {
        let mut value = self.current.load(Ordering::Acquire);
        loop {
            step.publish_snapshot(value.cast(), fence);
            let current = self.current.load(Ordering::Acquire);
            if current == value {
                return;
            }
            value = current;
        }
    }

    /// The value with a count of its own.
    pub(crate) fn load_full(&self, step: ActiveStep) -> Arc<T> {
        let protected = self.read(step);
        let value: *const T = protected.step.snapshot().cast();
        // SAFETY: the pointer came from `Arc::into_raw`, and the cell, or its
        // `retired`, has a count of it while it is protected.
        unsafe {
            Arc::increment_strong_count(value);
            Arc::from_raw(value)
        }
    }

    /// Publishes what `change` makes of the current value. What no thread reads
    /// any more comes back, to be dropped outside of any lock.
    #[must_use = "drop the old values outside the lock"]
    pub(crate) fn update(&self, change: impl FnOnce(&T) -> T) -> Vec<Arc<T>> {
        let mut retired = self.retired();
        // SAFETY: the cell's own value, which only this function retires, under
        // the lock.
        let new = change(unsafe { &*self.current.load(Ordering::Acquire) });
        let new = Arc::into_raw(Arc::new(new)).cast_mut();
        let old = self.current.swap(new, Ordering::AcqRel);
        // SAFETY: the cell's own count of the value that it had.
        retired.push(unsafe { Arc::from_raw(old) });
        self.are_retired.store(true, Ordering::SeqCst);
        self.free_of(&mut retired)
    }

    /// Lets go of the replaced values that no thread reads any more, after the
    /// reads of that step.
    #[cold]
    #[inline(never)]
    fn reclaim_for(&self, step: RawStep) {
        // What is published as running is in a list that may be freed here.
        step.clear_running();
        let free = self.free_of(&mut self.retired());
        // After the lock: it may be the last that knows a handler.
        drop(free);
    }

    fn free_of(&self, retired: &mut Vec<Arc<T>>) -> Vec<Arc<T>> {
        let Some(published) = Published::now() else { return Vec::new() };
        let is_free = |value: &mut Arc<T>| !published.reads(Arc::as_ptr(value).cast());
        let free = retired.extract_if(.., is_free).collect();
        self.are_retired.store(!retired.is_empty(), Ordering::SeqCst);
        free
    }

    fn retired(&self) -> MutexGuard<'_, Vec<Arc<T>>> {
        self.retired.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'s, T: Send + Sync> Unguarded<'s, T> {
    #[inline]
    pub(crate) fn parts(&self) -> (&T, RawStep) {
        // SAFETY: as for `Protected`.
        (unsafe { &*self.step.snapshot().cast() }, self.step)
    }

    /// As dropping it guarded, where no handler is published as running.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn leave(self) {
        self.step.clear_snapshot(barrier::QUICK);
        if self.cell.are_retired.load(Ordering::Relaxed) {
            self.cell.reclaim_for(self.step);
        }
        self.step.pop();
    }

    #[inline]
    pub(crate) fn guard(self) -> Protected<'s, T> {
        Protected { cell: self.cell, step: self.step.guard() }
    }
}

impl<T: Send + Sync> Protected<'_, T> {
    #[inline]
    pub(crate) fn parts(&self) -> (&T, RawStep) {
        // SAFETY: see the module's text; the step names the value until this is
        // dropped.
        (unsafe { &*self.step.snapshot().cast() }, *self.step)
    }
}

impl<T: Send + Sync> Drop for Protected<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.step.clear_snapshot(self.step.reader());
        if self.cell.are_retired.load(Ordering::Relaxed) {
            self.cell.reclaim_for(*self.step);
        }
    }
}

impl<T> Drop for SnapshotCell<T> {
    fn drop(&mut self) {
        // SAFETY: the cell's own count. Readers borrow the cell, so there is
        // none any more.
        drop(unsafe { Arc::from_raw(self.current.load(Ordering::Acquire)) });
    }
}

impl<T> fmt::Debug for SnapshotCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotCell").finish_non_exhaustive()
    }
}
