//! A call whose panic is an answer: caught, and not printed.
//!
//! Before a panic can be caught, the panic hook of the process has printed it. That
//! hook is the program's. So it is not replaced but wrapped, once in a process and at the
//! first such call only: a panic that this thread raises while it makes such a call is
//! passed over, and every other goes on to the hook that was there before, on whichever
//! thread. A hook that the program sets later takes the place of the wrapper.

use std::cell::Cell;
use std::panic::{set_hook, take_hook};

use crate::engine::containment::contained;
use crate::sync::statics::OnceLock;
use crate::sync::thread_local;

thread_local! {
    /// Whether this thread makes such a call.
    static PROBING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work`, which runs no code of the user; `None` where it panics.
pub(crate) fn probe<T>(work: impl FnOnce() -> T) -> Option<T> {
    // Where a panic ends the process, its message is the only thing that says why.
    if cfg!(panic = "unwind") {
        wrap_hook();
    }
    let probe = || {
        let _probing = Probing::begin();
        work()
    };
    contained(probe).ok()
}

/// The mark of this thread, for as long as this is in scope: the hook is called before
/// the unwinding drops it.
struct Probing;

impl Probing {
    fn begin() -> Self {
        PROBING.set(true);
        Self
    }
}

impl Drop for Probing {
    fn drop(&mut self) {
        PROBING.set(false);
    }
}

fn wrap_hook() {
    static WRAPPED: OnceLock<()> = OnceLock::new();
    // The hook cannot be changed by a thread that panics: it would panic again. A later
    // call wraps it.
    if std::thread::panicking() {
        return;
    }
    // The standard library has no stable way to do both in one step. A panic of another
    // thread in between is printed by the default hook.
    WRAPPED.get_or_init(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            if !PROBING.get() {
                hook(panic);
            }
        }));
    });
}
