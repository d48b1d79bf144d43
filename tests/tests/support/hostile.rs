//! Code that runs where it is least expected: nested in itself, and at the end of a thread.

use std::cell::{Cell, RefCell};

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static DEEPEST: Cell<u32> = const { Cell::new(0) };
    static AT_EXIT: AtExit = const { AtExit(RefCell::new(None)) };
}

/// Runs `work` unless it is nested in itself dozens of times, which only happens
/// where nothing else ends that.
pub fn nested(work: impl FnOnce()) {
    let depth = DEPTH.get() + 1;
    DEPTH.set(depth);
    DEEPEST.set(DEEPEST.get().max(depth));
    if depth < 40 {
        work();
    }
    DEPTH.set(depth - 1);
}

/// How deep what is nested is now, on this thread.
pub fn depth() -> u32 {
    DEPTH.get()
}

/// How deep it was at the most, on this thread.
pub fn deepest() -> u32 {
    DEEPEST.get()
}

/// Runs what it holds when its thread ends.
struct AtExit(RefCell<Option<Box<dyn FnOnce()>>>);

impl Drop for AtExit {
    fn drop(&mut self) {
        if let Some(work) = self.0.borrow_mut().take() {
            work();
        }
    }
}

/// Runs `work` in a destructor of this thread.
pub fn at_exit(work: impl FnOnce() + 'static) {
    AT_EXIT.with(|exit| *exit.0.borrow_mut() = Some(Box::new(work)));
}
