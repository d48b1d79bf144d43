//! Everything that threads share passes through here.
//!
//! No other file of the runtime names a lock, an atomic number, a snapshot
//! pointer or a thread-local of the standard library or of another crate. So
//! the very same code runs on real threads and, built with `--cfg schedules`,
//! on a model checker that decides which thread takes the next step. Normal
//! builds are what they would be without this module: it only re-exports.
//!
//! `Arc` and `Weak` are the standard library's in both, and named as such: the
//! checkers have no `Weak`, and a count of references decides nothing here but
//! when memory is freed.

#[cfg(not(schedules))]
mod real;
#[cfg(schedules)]
mod scheduled;

#[cfg(not(schedules))]
pub(crate) use real::{Mutex, MutexGuard, OnceLock, RwLock, atomic, global, thread_local};
#[cfg(schedules)]
pub(crate) use scheduled::{Mutex, MutexGuard, OnceLock, RwLock, atomic, global, thread_local};

/// Numbers and cells of statics. A model checker runs a model many times in one
/// process: what outlives a run is none of its steps.
pub(crate) mod statics {
    pub(crate) use std::sync::OnceLock;
    pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
}
