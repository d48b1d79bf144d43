//! What handlers note of their own calls, for the report.
//!
//! A handler notes while its code runs, so the call that runs on this thread is the one that
//! is meant. Only calls of fires with a report are kept here: any other costs nothing, and
//! what it notes is not kept.

use std::cell::RefCell;

use crate::sync::thread_local;

/// A note of a handler: its key and its value.
pub(crate) type Note = (&'static str, String);

thread_local! {
    /// The calls with a report whose code runs on this thread, the innermost last.
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

/// A call whose code runs.
struct Running {
    call: CallKey,
    notes: Vec<Note>,
}

/// Tells a call from all others that run on this thread: where its fire and its entry are.
pub(crate) type CallKey = (usize, usize);

/// Runs code of a call, and returns what the call noted meanwhile.
pub(crate) fn collect<T>(call: CallKey, run: impl FnOnce() -> T) -> (T, Vec<Note>) {
    // A thread that ends has no thread-locals left.
    let push = |running: &RefCell<Vec<_>>| {
        running.borrow_mut().push(Running { call, notes: Vec::new() });
    };
    if RUNNING.try_with(push).is_err() {
        return (run(), Vec::new());
    }
    let popping = Popping;
    let result = run();
    (result, popping.notes())
}

/// Adds a note of that call, in place of an earlier one with the key. Where the innermost
/// call that is kept is another one, this one has no report, and its value is not made.
pub(crate) fn add(call: CallKey, key: &'static str, value: impl Into<String>) {
    if !of_innermost(call, |_| ()) {
        return;
    }
    // Code of others, which may fire: nothing is borrowed meanwhile.
    let value = value.into();
    of_innermost(call, |notes| {
        notes.retain(|(noted, _)| *noted != key);
        notes.push((key, value));
    });
}

/// Whether the innermost call that is kept is that one; it is given its notes then.
fn of_innermost(call: CallKey, with: impl FnOnce(&mut Vec<Note>)) -> bool {
    let found = RUNNING.try_with(|running| {
        let mut running = running.borrow_mut();
        running.last_mut().filter(|innermost| innermost.call == call).map(|it| with(&mut it.notes))
    });
    matches!(found, Ok(Some(())))
}

/// Takes the innermost call off again, also where its code unwinds.
struct Popping;

impl Popping {
    fn notes(self) -> Vec<Note> {
        let popped = RUNNING.try_with(|running| running.borrow_mut().pop());
        std::mem::forget(self);
        popped.ok().flatten().map_or_else(Vec::new, |running| running.notes)
    }
}

impl Drop for Popping {
    fn drop(&mut self) {
        let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
    }
}
