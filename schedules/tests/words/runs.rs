//! A plugin that is removed while a run of a flow is under way: where it has begun
//! in the run, the run comes to its handler of the last stage, which is released
//! afterwards.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use loom::future::block_on;
use loom::thread;

use crate::entry::Entry;
use crate::participants::{Participants, Standing};
use crate::point::{FIRST_STAGE, LAST_STAGE};
use crate::removal::{Answer, entry};
use crate::tracker::{self, CallTracker};
use crate::{Memory, begin_fire, most_schedules};

/// A handler and what it captured.
struct Stage {
    captured: Arc<Memory>,
    entry: Arc<Entry>,
    was_called: AtomicBool,
}

/// A plugin with a handler at a first and at a last stage.
struct Model {
    tracker: Arc<CallTracker>,
    first: Stage,
    last: Stage,
    /// What the plugin put into the state of the run.
    state: Arc<Memory>,
}

impl Stage {
    /// As `Walk::call_one` has it. Whether the handler was called.
    fn call(&self, run: &Participants) -> bool {
        let step = begin_fire();
        let standing = run.join(&self.entry);
        step.publish_running(&raw const *self.entry);
        let cell = &self.entry.handler;
        let also_leaving = standing == Standing::Begun && self.entry.point.ends_run();
        let is_gone = if also_leaving { cell.is_shut() } else { cell.is_closed() };
        if !is_gone {
            self.captured.read();
            self.was_called.store(true, Relaxed);
        }
        step.clear_running();
        if is_gone && standing == Standing::New {
            run.stand_back(&self.entry);
        }
        self.entry.release_if_closed();
        !is_gone
    }
}

impl Model {
    fn new() -> Arc<Self> {
        let tracker = Arc::new(CallTracker::new());
        let stage = |id, point| {
            let captured = Memory::new();
            let entry = entry(id, point, &captured, Answer::AtOnce, &tracker);
            Stage { captured, entry, was_called: AtomicBool::new(false) }
        };
        let (first, last) = (stage(0, &FIRST_STAGE), stage(1, &LAST_STAGE));
        Arc::new(Self { first, last, state: Memory::new(), tracker })
    }

    /// A run: as `flow/run.rs` has it.
    fn run(&self) {
        let participants = Participants::new("flow");
        let has_begun = self.first.call(&participants);
        let has_ended = self.last.call(&participants);
        assert!(has_ended || !has_begun, "it has begun, and was not given its end");
        // Before the run ends for its participants, which it does here.
        if has_begun {
            self.state.free();
        }
    }

    /// As `Inner::removal` has it.
    fn remove(&self) {
        let entries = [Arc::clone(&self.first.entry), Arc::clone(&self.last.entry)];
        self.tracker.removed(&entries);
        entries.iter().rev().for_each(|entry| entry.leave());
        entries.iter().for_each(|entry| entry.handler.allow_release());
        tracker::release(&entries);
    }

    /// As the wait for a `Removal` has it.
    fn drained(&self) {
        let wait = self.tracker.wait();
        block_on(poll_fn(|task| {
            wait.register(task.waker());
            let is_gone =
                self.tracker.first_left(&[0, 1], 0).is_none() && !self.tracker.has_runs(None);
            if is_gone { Poll::Ready(()) } else { Poll::Pending }
        }));
    }

    /// What is there to unload, by one who has waited.
    fn unload(&self) {
        for stage in [&self.first, &self.last] {
            assert!(stage.captured.is_freed(), "a wait ended before the handler was dropped");
            stage.captured.write();
        }
        let has_begun = self.first.was_called.load(Relaxed);
        assert_eq!(self.state.is_freed(), has_begun, "a wait ended before the run");
        self.state.write();
    }
}

fn removed(runs: usize, waits: bool) {
    let model = Model::new();
    let running: Vec<_> = (0..runs)
        .map(|_| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.run())
        })
        .collect();
    model.remove();
    if waits {
        model.drained();
        model.unload();
    }
    running.into_iter().for_each(|run| run.join().unwrap());
    assert!(model.first.captured.is_freed(), "nobody released the first");
    assert!(model.last.captured.is_freed(), "nobody released the last");
    assert!(!model.tracker.has_runs(None));
}

#[test]
fn l19_a_run_in_which_a_plugin_has_begun_comes_to_its_end() {
    most_schedules(3, "a removal against a run of a flow", || removed(1, false));
}

#[test]
fn l19_a_wait_for_a_removal_ends_after_the_run() {
    most_schedules(3, "a wait for a run of a flow", || removed(1, true));
}
