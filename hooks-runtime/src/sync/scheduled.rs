//! Threads of a model checker: each operation is a step that it can put
//! another thread's steps before.

pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic};
pub(crate) use shuttle::thread_local;

use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use atomic::{AtomicBool, Ordering};

/// The twin of the pointer that is read without a lock: one step to read, one
/// to replace, as the real one has it.
#[derive(Debug, Default)]
pub(crate) struct Swap<T>(Mutex<Arc<T>>);

/// What was read.
pub(crate) struct Guard<T>(Arc<T>);

impl<T> Swap<T> {
    pub(crate) fn load(&self) -> Guard<T> {
        Guard(self.load_full())
    }

    pub(crate) fn load_full(&self) -> Arc<T> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn swap(&self, new: Arc<T>) -> Arc<T> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), new)
    }
}

impl<T> Deref for Guard<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.0
    }
}

/// The real cell, with a step before each use. What fills it takes no step, so
/// nobody ever waits inside.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    cell: std::sync::OnceLock<T>,
    step: AtomicBool,
}

impl<T> OnceLock<T> {
    pub(crate) const fn new() -> Self {
        Self { cell: std::sync::OnceLock::new(), step: AtomicBool::new(false) }
    }

    pub(crate) fn get_or_init(&self, fill: impl FnOnce() -> T) -> &T {
        self.step.load(Ordering::SeqCst);
        self.cell.get_or_init(fill)
    }

    pub(crate) fn into_inner(self) -> Option<T> {
        self.cell.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}
