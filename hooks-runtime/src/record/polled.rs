//! Which recorded call runs on this thread: fires that it makes name it.

use std::cell::RefCell;

use crate::sync::thread_local;

thread_local! {
    /// The fires and calls whose code runs, the innermost last.
    static POLLED: RefCell<Vec<(u64, u64)>> = const { RefCell::new(Vec::new()) };
}

/// The code of a call of that fire is about to run, or has just run.
pub(crate) fn polling(fire: u64, call: u64, about_to: bool) {
    // A thread that ends has no thread-locals left.
    let _ = POLLED.try_with(|polled| {
        let mut polled = polled.borrow_mut();
        if about_to {
            polled.push((fire, call));
        } else {
            polled.pop_if(|innermost| *innermost == (fire, call));
        }
    });
}

/// The call of that fire whose code runs.
pub(super) fn call_of(fire: u64) -> Option<u64> {
    let innermost = POLLED.try_with(|polled| polled.borrow().last().copied());
    innermost.ok().flatten().filter(|(of, _)| *of == fire).map(|(_, call)| call)
}
