//! Threads of a model checker: each operation is a step that it can put
//! another thread's steps before.

pub(crate) use shuttle::sync::{Mutex, MutexGuard, RwLock, atomic};
pub(crate) use shuttle::thread_local;

use atomic::{AtomicBool, Ordering};

/// A static that threads share, made anew for each schedule.
macro_rules! global {
    (static $name:ident: $type:ty = $value:expr;) => {
        shuttle::lazy_static::lazy_static! {
            static ref $name: $type = $value;
        }
    };
}

pub(crate) use global;

/// The real cell, with a step before each use. What fills one that threads
/// share takes no step, so no thread ever waits inside.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    cell: std::sync::OnceLock<T>,
    step: AtomicBool,
}

impl<T> OnceLock<T> {
    pub(crate) const fn new() -> Self {
        Self { cell: std::sync::OnceLock::new(), step: AtomicBool::new(false) }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.step.load(Ordering::SeqCst);
        self.cell.get()
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
