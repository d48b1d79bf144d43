//! A handler that is removed while it is called.

use std::any::TypeId;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use loom::future::block_on;
use loom::thread;

use crate::call::{Call, CallStep};
use crate::entry::{Entry, Phase};
use crate::frame::Frame;
use crate::handler_cell::{ErasedHandler, HandlerCell, Invoke};
use crate::list::{Cursor, HandlerList};
use crate::point::{FailurePolicy, HookPoint, POINT, PointDescriptor, SourceLocation};
use crate::registry::handler_counters::HandlerCounters;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::threads::ActiveStep;
use crate::tracker::{self, CallTracker};
use crate::{Memory, begin_fire, every_schedule, most_schedules};

/// What a call of the handler does.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    AtOnce,
    /// The call is pending, and ends in another poll.
    Later(Ending),
}

/// How a pending call ends.
#[derive(Clone, Copy)]
pub(crate) enum Ending {
    /// As `Walk::poll_plain` has it.
    Plain,
    /// As `Walk::poll_pending` has it for a call with a record, and `cancel`.
    Recorded,
}

struct Point;

impl HookPoint for Point {}

struct Handler {
    captured: Arc<Memory>,
    answer: Answer,
}

impl Invoke<Point> for Handler {
    fn start<'s>(&'s self, _: Call<'_, 's, Point>) -> CallStep {
        match self.answer {
            Answer::AtOnce => CallStep::Continue,
            Answer::Later(_) => CallStep::Pending,
        }
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        self.captured.free();
    }
}

/// A handler of a plugin.
pub(crate) fn entry(
    id: u64,
    point: &'static PointDescriptor,
    captured: &Arc<Memory>,
    answer: Answer,
    tracker: &Arc<CallTracker>,
) -> Arc<Entry> {
    let handler = Handler { captured: Arc::clone(captured), answer };
    tracker.made(id, None);
    Arc::new(Entry {
        id,
        seq: 0,
        point,
        name: "handler".into(),
        plugin: None,
        tracker: Arc::clone(tracker),
        priority: 0,
        turn: None,
        phase: Phase::Main,
        policy: FailurePolicy,
        timeout: None,
        before: Vec::new(),
        after: Vec::new(),
        allowed: None,
        target: None,
        once: None,
        pure: false,
        part_of: None,
        location: SourceLocation,
        counters: HandlerCounters,
        handler: HandlerCell::new(ErasedHandler::new::<Point, _>(handler)),
    })
}

/// One handler of one plugin at one point.
struct Model {
    captured: Arc<Memory>,
    answer: Answer,
    tracker: Arc<CallTracker>,
    entry: Arc<Entry>,
    list: HandlerList,
    removals: AtomicUsize,
}

impl Model {
    fn new(answer: Answer) -> Arc<Self> {
        let (captured, tracker) = (Memory::new(), Arc::new(CallTracker::new()));
        let entry = entry(0, &POINT, &captured, answer, &tracker);
        let list = HandlerList::new(&[Arc::clone(&entry)], TypeId::of::<Point>());
        let removals = AtomicUsize::new(0);
        Arc::new(Self { captured, answer, tracker, entry, list, removals })
    }

    fn removals(&self) -> usize {
        self.removals.load(Ordering::Acquire)
    }

    /// Calls the handler, which is published as running. Whether it is pending.
    fn start(&self) -> bool {
        // Not by the handler: a model that is broken must not touch freed
        // memory.
        self.captured.read();
        // SAFETY: what is checked; and the frame is one of the handler's point.
        #[allow(unsafe_code)]
        let step = unsafe { self.list.get(Cursor::default()).start(&mut Frame) };
        step == CallStep::Pending
    }

    /// A fire of the point, in as many polls as it takes.
    fn fire(&self) {
        if self.first_poll()
            && let Answer::Later(ending) = self.answer
        {
            self.last_poll(ending);
        }
    }

    /// As `Invocation::new` and `Walk` have it: with no handler closed as
    /// `Invocation::run`, otherwise as `Invocation::enter`. Whether the call is
    /// pending.
    fn first_poll(&self) -> bool {
        let step = begin_fire();
        let seen = self.removals();
        if !self.list.is_open(seen) {
            return self.enter(&step, seen);
        }
        step.publish_running(&raw const *self.entry);
        if self.removals() != seen {
            step.clear_running();
            let seen = self.removals();
            self.entry.release_if_closed();
            return self.enter(&step, seen);
        }
        let is_pending = self.start();
        self.after_first_poll(&step, is_pending, seen)
    }

    fn enter(&self, step: &ActiveStep, seen: usize) -> bool {
        step.publish_running(&raw const *self.entry);
        if self.entry.is_closed() {
            step.clear_running();
            // A removal may have found it published here and left it to this.
            self.entry.release_if_closed();
            return false;
        }
        let is_pending = self.start();
        self.after_first_poll(step, is_pending, seen)
    }

    fn after_first_poll(&self, step: &ActiveStep, is_pending: bool, seen: usize) -> bool {
        if is_pending {
            self.entry.call_suspended(step.step());
        }
        self.leave(step, seen);
        is_pending
    }

    /// As `Walk::after_call` has it.
    fn leave(&self, step: &ActiveStep, seen: usize) {
        step.clear_running();
        if self.removals() != seen {
            self.entry.release_if_closed();
        }
    }

    /// The poll in which a pending call ends.
    fn last_poll(&self, ending: Ending) {
        let step = begin_fire();
        let seen = self.removals();
        step.publish_running(&raw const *self.entry);
        self.captured.read();
        self.entry.call_resumed(step.step());
        match ending {
            Ending::Plain => {
                if self.entry.is_closed() {
                    step.clear_running();
                    self.entry.release_if_closed();
                }
                // As `Walk::walk_from` has it, before the next handler: this one
                // may still be published, and is left before a look at what
                // runs.
                let mut seen = seen;
                if self.removals() != seen {
                    step.clear_running();
                    seen = self.removals();
                    self.entry.release_if_closed();
                }
                self.leave(&step, seen);
            }
            Ending::Recorded => {
                step.clear_running();
                self.entry.release_if_closed();
            }
        }
    }

    /// As `Inner::close_entries` has it, after `Inner::publish`.
    fn remove(&self) {
        self.tracker.removed(std::slice::from_ref(&self.entry));
        self.entry.leave();
        self.removals.fetch_add(1, Ordering::SeqCst);
        self.entry.handler.allow_release();
        tracker::release(std::slice::from_ref(&self.entry));
    }

    /// As the wait of a `Removal` has it.
    fn drained(&self) {
        let wait = self.tracker.wait();
        block_on(poll_fn(|task| {
            wait.register(task.waker());
            match self.tracker.first_left(&[0], 0) {
                None => Poll::Ready(()),
                Some(_) => Poll::Pending,
            }
        }));
    }
}

/// So many fires against one removal. The list is kept all the time, as by a
/// fire that has another call pending: the handler does not go with it.
fn removed(fires: usize, answer: Answer, waits: bool) {
    let model = Model::new(answer);
    let fires: Vec<_> = (0..fires)
        .map(|_| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.fire())
        })
        .collect();
    model.remove();
    if waits {
        model.drained();
        assert!(model.captured.is_freed(), "released, but not dropped");
        // What has waited may unload the code of the plugin.
        model.captured.write();
    }
    fires.into_iter().for_each(|fire| fire.join().unwrap());
    assert!(model.captured.is_freed(), "the handler was not released");
    assert!(model.entry.handler.is_released());
}

#[test]
fn l19_a_removed_handler_is_released_when_no_call_runs() {
    every_schedule("a removal against a call that ends at once", || {
        removed(1, Answer::AtOnce, false);
    });
}

#[test]
fn l19_a_removed_handler_is_released_when_no_call_is_pending() {
    most_schedules(3, "a removal against a call that is pending and ends", || {
        removed(1, Answer::Later(Ending::Plain), false);
    });
    most_schedules(3, "a removal against a recorded call that is pending and ends", || {
        removed(1, Answer::Later(Ending::Recorded), false);
    });
}

#[test]
fn l19_a_wait_for_a_removal_ends_with_the_last_call() {
    most_schedules(3, "a wait for a call that ends at once", || {
        removed(1, Answer::AtOnce, true);
    });
    most_schedules(3, "a wait for a call that is pending and ends", || {
        removed(1, Answer::Later(Ending::Recorded), true);
    });
}

#[test]
fn l19_no_call_releases_a_handler_that_another_call_runs() {
    most_schedules(3, "a removal against two calls that end at once", || {
        removed(2, Answer::AtOnce, false);
    });
    most_schedules(2, "a removal against two calls that are pending and end", || {
        removed(2, Answer::Later(Ending::Plain), false);
    });
    most_schedules(2, "a wait for two calls that end at once", || {
        removed(2, Answer::AtOnce, true);
    });
}

#[test]
fn l19_two_removals_release_a_handler_once() {
    most_schedules(2, "two removals against a call", || {
        let model = Model::new(Answer::AtOnce);
        let firing = Arc::clone(&model);
        let fire = thread::spawn(move || firing.fire());
        let removing = Arc::clone(&model);
        let other = thread::spawn(move || removing.remove());
        model.remove();
        fire.join().unwrap();
        other.join().unwrap();
        assert!(model.captured.is_freed(), "the handler was not released");
    });
}
