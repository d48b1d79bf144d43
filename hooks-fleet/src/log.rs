//! What this crate logs. A subscriber is the host's code: where it panics, nothing else ends.

use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) fn logged(log: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(log)) {
        // What it carries may break when it is dropped.
        std::mem::forget(panic);
    }
}
