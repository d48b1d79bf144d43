//! Threads of the operating system.

pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock, atomic};
pub(crate) use std::thread_local;

use std::sync::Arc;

/// A pointer that is read without a lock and replaced as a whole.
pub(crate) type Swap<T> = arc_swap::ArcSwap<T>;

/// What was read, without a count of its own.
pub(crate) type Guard<T> = arc_swap::Guard<Arc<T>>;
