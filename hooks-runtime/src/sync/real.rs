//! Threads of the operating system.

pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock, RwLock, atomic};
pub(crate) use std::thread_local;

/// A static that threads share.
macro_rules! global {
    (static $name:ident: $type:ty = $value:expr;) => {
        static $name: $type = $value;
    };
}

pub(crate) use global;
