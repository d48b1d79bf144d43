//! A snapshot that is read while a writer replaces it.

use std::sync::Arc;

use loom::thread;

use crate::snapshot::SnapshotCell;
use crate::{Memory, begin_fire, every_schedule, fire, most_schedules};

/// A value that is read while it is published.
struct Value(Arc<Memory>);

impl Drop for Value {
    fn drop(&mut self) {
        self.0.free();
    }
}

/// Reads with a guard, or in the quickest way, as the handlers of most fires are.
fn read(cell: &SnapshotCell<Value>, quick: bool) {
    if !quick {
        cell.read(begin_fire()).parts().0.0.read();
        return;
    }
    // The thread has fired before.
    drop(begin_fire());
    let reading = cell.read_quick(fire()).expect("the checkers' fence is the quick one");
    reading.0.parts().0.0.read();
    reading.0.leave();
}

/// So many threads read so many times each, while the value is replaced so many
/// times. All but the last value are freed when all have ended, whichever thread had to.
fn replaced(readers: usize, reads: usize, updates: usize, quick: bool) {
    let values: Vec<_> = (0..=updates).map(|_| Memory::new()).collect();
    let cell = Arc::new(SnapshotCell::new(Value(Arc::clone(&values[0]))));
    let readers: Vec<_> = (0..readers)
        .map(|_| {
            let cell = Arc::clone(&cell);
            thread::spawn(move || (0..reads).for_each(|_| read(&cell, quick)))
        })
        .collect();
    for new in &values[1..] {
        let unread = cell.update(|old| {
            old.0.read();
            Value(Arc::clone(new))
        });
        drop(unread);
    }
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    let freed: Vec<_> = values.iter().map(|value| value.is_freed()).collect();
    let (last, replaced) = freed.split_last().unwrap();
    assert!(replaced.iter().all(|freed| *freed), "a value was forgotten: {freed:?}");
    assert!(!last, "the current value was freed");
    drop(cell);
    assert!(values.iter().all(|value| value.is_freed()));
}

#[test]
fn l24_a_snapshot_is_kept_while_it_is_read_and_freed_after() {
    every_schedule("one reader against a writer that replaces the snapshot", || {
        replaced(1, 1, 1, false);
    });
    every_schedule("one reader in the quickest way against a writer", || {
        replaced(1, 1, 1, true);
    });
    every_schedule("a reader that reads twice in one step, against a writer", || {
        replaced(1, 2, 1, false);
    });
    most_schedules(2, "two readers against a writer", || replaced(2, 1, 1, true));
    most_schedules(3, "one reader against a writer that replaces the snapshot twice", || {
        replaced(1, 1, 2, true);
    });
}

#[test]
fn l24_two_writers_lose_no_snapshot() {
    most_schedules(2, "one reader against two writers", || {
        let values = [(); 3].map(|()| Memory::new());
        let cell = Arc::new(SnapshotCell::new(Value(Arc::clone(&values[0]))));
        let reading = Arc::clone(&cell);
        let reader = thread::spawn(move || read(&reading, true));
        let (writing, new) = (Arc::clone(&cell), Arc::clone(&values[1]));
        let writer = thread::spawn(move || drop(writing.update(|_| Value(new))));
        drop(cell.update(|_| Value(Arc::clone(&values[2]))));
        reader.join().unwrap();
        writer.join().unwrap();
        let kept = values.iter().filter(|value| !value.is_freed()).count();
        assert_eq!(kept, 1, "only the current value is left");
        drop(cell);
    });
}
