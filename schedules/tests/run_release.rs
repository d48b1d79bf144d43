//! A plugin that leaves while its calls and its runs of a flow are suspended, move
//! to another thread, end or are dropped there: what it has there is dropped once,
//! never while a call uses it, and always before the wait ends.
#![cfg(schedules)]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use hooks_runtime::{
    AfterExecute, BeforeExecute, Finally, FlowContext, HookRegistry, Registration, hook_points, on,
};
use hooks_schedules::{delay, explore};
use shuttle::future::{block_on, yield_now};
use shuttle::thread;

hook_points! {
    void Notified(u32);
    flow Run(u32) -> u32;
}

/// Watches what a plugin has from the outside. Looking is no step of a schedule.
#[derive(Clone, Debug, Default)]
struct Watch {
    handlers: Arc<AtomicU32>,
    opened: Arc<AtomicU32>,
    closed: Arc<AtomicU32>,
    states: Arc<AtomicU32>,
    /// Noted, not asserted: a panic in a handler would be contained.
    used_after: Arc<AtomicBool>,
}

/// What a handler captured, or put into a run.
#[derive(Debug)]
struct Value {
    dropped: Arc<AtomicU32>,
    /// Whether this very value was dropped.
    is_gone: Arc<AtomicBool>,
    used_after: Arc<AtomicBool>,
}

impl Watch {
    fn value(&self, dropped: &Arc<AtomicU32>) -> (Value, Arc<AtomicBool>) {
        let (dropped, used_after) = (Arc::clone(dropped), Arc::clone(&self.used_after));
        let is_gone = Arc::new(AtomicBool::new(false));
        (Value { dropped, is_gone: Arc::clone(&is_gone), used_after }, is_gone)
    }

    /// A call uses a value.
    fn uses(&self, is_gone: &AtomicBool) {
        self.used_after.fetch_or(is_gone.load(Relaxed), Relaxed);
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // A second drop would be one of freed memory; it is found as a use.
        self.used_after.fetch_or(self.is_gone.swap(true, Relaxed), Relaxed);
        self.dropped.fetch_add(1, Relaxed);
    }
}

/// What a handler of the plugin captured: the value, and a way to see from the
/// outside whether it is there.
type State = (Value, Arc<AtomicBool>, Watch);

fn notified(watch: &Watch) -> Vec<Registration> {
    let handler = async |(_, is_gone, watch): &State, _: &u32| {
        let (is_gone, watch) = (Arc::clone(is_gone), watch.clone());
        watch.uses(&is_gone);
        yield_now().await;
        watch.uses(&is_gone);
    };
    vec![on::<Notified>().plugin("audit").handler_with(state(watch), handler)]
}

fn state(watch: &Watch) -> State {
    let (value, is_gone) = watch.value(&watch.handlers);
    (value, is_gone, watch.clone())
}

/// Opens in each run, and never closes.
fn opens(watch: &Watch) -> Vec<Registration> {
    let opens = |(_, is_gone, watch): &State, flow: &mut FlowContext<Run>| {
        watch.uses(is_gone);
        flow.state_mut().insert(watch.value(&watch.states).0);
        watch.opened.fetch_add(1, Relaxed);
    };
    vec![on::<BeforeExecute<Run>>().plugin("audit").handler_with(state(watch), opens)]
}

/// Opens in each run, and closes at its end; nothing in between once it has left.
fn opens_and_closes(watch: &Watch) -> Vec<Registration> {
    let between = |(_, is_gone, watch): &State, _: &mut FlowContext<Run>| watch.uses(is_gone);
    let closes = async |(_, is_gone, watch): &State, _: &mut FlowContext<Run>| {
        let (is_gone, watch) = (Arc::clone(is_gone), watch.clone());
        watch.uses(&is_gone);
        yield_now().await;
        watch.uses(&is_gone);
        watch.closed.fetch_add(1, Relaxed);
    };
    let mut handlers = opens(watch);
    handlers.extend([
        on::<AfterExecute<Run>>().plugin("audit").handler_with(state(watch), between),
        on::<Finally<Run>>().plugin("audit").handler_with(state(watch), closes),
    ]);
    handlers
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

fn fire(hooks: &HookRegistry) -> Task {
    let hooks = hooks.clone();
    Box::pin(async move { hooks.fire_void::<Notified>(&1).await.unwrap() })
}

fn run(hooks: &HookRegistry) -> Task {
    let hooks = hooks.clone();
    Box::pin(async move {
        let operation = async |n| {
            yield_now().await;
            Ok::<_, String>(n)
        };
        hooks.run_flow::<Run, _>(1, operation).await.unwrap();
    })
}

/// Polls a task so many times on this thread, and goes on with it on another: to
/// its end, or drops it there.
fn moves(mut task: Task, polls: usize, ends: bool) {
    for _ in 0..polls {
        delay();
        if task.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(()) {
            return;
        }
    }
    let there = thread::spawn(move || {
        delay();
        if ends { block_on(task) } else { drop(task) }
    });
    there.join().unwrap();
}

/// Removes the plugin beside a task.
fn removed(
    plugin: fn(&Watch) -> Vec<Registration>,
    task: fn(&HookRegistry) -> Task,
    polls: usize,
    ends: bool,
) {
    let (hooks, watch) = (HookRegistry::new(), Watch::default());
    let handlers = plugin(&watch);
    let count = u32::try_from(handlers.len()).unwrap();
    let closes = ends && count == 3;
    hooks.register(handlers).unwrap();
    let task = task(&hooks);
    let moving = thread::spawn(move || moves(task, polls, ends));
    delay();
    let removal = hooks.unregister_plugin("audit");
    block_on(async { removal.await.into_result() }).unwrap();
    let counts = [&watch.handlers, &watch.states, &watch.opened, &watch.closed];
    let [dropped, states, opened, closed] = counts.map(|count| count.load(Relaxed));
    assert_eq!(dropped, count, "a wait ended before a handler was dropped");
    assert_eq!(states, opened, "a wait ended before the state of a run was dropped");
    assert!(!closes || closed == opened, "it has begun, and was not given its end");
    moving.join().unwrap();
    assert!(!watch.used_after.load(Relaxed), "a value was dropped while it was used");
    assert_eq!(watch.handlers.load(Relaxed), count, "a handler was dropped twice");
    assert_eq!(watch.states.load(Relaxed), opened, "a state was dropped late, or twice");
    assert_eq!(watch.opened.load(Relaxed), opened, "it began after the wait");
}

#[test]
fn l19_a_call_that_moves_to_another_thread_is_waited_for() {
    explore("a plugin leaves while its call moves to another thread and ends", || {
        removed(notified, fire, 1, true);
    });
}

#[test]
fn l25_a_call_that_is_dropped_on_another_thread_is_waited_for() {
    explore("a plugin leaves while its call moves to another thread and is dropped", || {
        removed(notified, fire, 1, false);
    });
}

#[test]
fn l19_a_run_that_moves_to_another_thread_is_waited_for() {
    explore("a plugin leaves while its run moves to another thread and ends", || {
        removed(opens_and_closes, run, 1, true);
    });
}

#[test]
fn l19_a_run_that_comes_to_nothing_more_of_a_plugin_is_waited_for() {
    explore("a plugin leaves while a run has a value of it, and no call to come", || {
        removed(opens, run, 1, true);
    });
}

#[test]
fn l25_a_run_that_is_dropped_on_another_thread_is_waited_for() {
    // In the operation, and in a call of the last stage.
    for polls in [1, 2] {
        explore(
            "a plugin leaves while its run moves to another thread and is dropped",
            move || {
                removed(opens_and_closes, run, polls, false);
            },
        );
    }
}
