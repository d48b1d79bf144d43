//! A plugin that is removed while runs of a flow are under way: the handlers of
//! its last stages are called although they were removed, and released afterwards.

use std::future::{IntoFuture, pending};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use hooks_runtime::{AfterExecute, BeforeExecute, Finally, FlowContext, HookRegistry, OnError, on};

use crate::driving::{finish, poll_once};
use crate::shapes::{Payload, Run, Shape, behave};

/// Used by every call, and dropped once.
struct Captured {
    text: String,
    dropped: Arc<AtomicU32>,
}

impl Captured {
    fn new(dropped: &Arc<AtomicU32>) -> Self {
        Self { text: "captured".to_owned(), dropped: Arc::clone(dropped) }
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        self.text.clear();
        self.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// What is dropped, and how often handlers were called.
#[derive(Default)]
struct Counts {
    handlers: Arc<AtomicU32>,
    states: Arc<AtomicU32>,
    closed: Arc<AtomicU32>,
}

impl Counts {
    fn seen(&self) -> [u32; 3] {
        [&self.handlers, &self.states, &self.closed].map(|count| count.load(Ordering::SeqCst))
    }
}

/// The plugin `leaving`: puts a value into the state of its runs, and looks at it
/// in the last stages, in calls that are pending once.
fn register(hooks: &HookRegistry, counts: &Counts) {
    let opens = |(_, states): &(Captured, Arc<AtomicU32>), flow: &mut FlowContext<Run>| {
        flow.state_mut().insert(Captured::new(states));
    };
    let closes = async |(captured, closed): &(Captured, Arc<AtomicU32>),
                        flow: &mut FlowContext<Run>| {
        behave(Shape::Suspends, &Payload::new()).await;
        assert_eq!(captured.text, "captured");
        assert_eq!(flow.state().get::<Captured>().unwrap().text, "captured");
        closed.fetch_add(1, Ordering::SeqCst);
    };
    let never = |_: &Captured, _: &mut FlowContext<Run>| -> () { panic!("it was called") };
    let captured = || Captured::new(&counts.handlers);
    let closed = || (captured(), Arc::clone(&counts.closed));
    hooks
        .register([
            on::<BeforeExecute<Run>>()
                .plugin("leaving")
                .handler_with((captured(), Arc::clone(&counts.states)), opens),
            on::<AfterExecute<Run>>().plugin("leaving").handler_with(captured(), never),
            on::<OnError<Run>>().plugin("leaving").handler_with(closed(), closes),
            on::<Finally<Run>>().plugin("leaving").handler_with(closed(), closes),
        ])
        .unwrap();
}

async fn suspends_and_fails(input: Payload) -> Result<String, String> {
    Err(behave(Shape::Suspends, &input).await)
}

#[test]
fn l19_the_last_stages_of_a_removed_plugin_are_called_and_released() {
    let (hooks, counts) = (HookRegistry::new(), Counts::default());
    register(&hooks, &counts);
    let mut run = pin!(hooks.run_flow::<Run, _>(Payload::new(), suspends_and_fails));
    assert!(poll_once(run.as_mut()).is_pending());
    let removal = hooks.unregister_plugin("leaving");
    let mut drained = pin!((&removal).into_future());
    assert!(poll_once(drained.as_mut()).is_pending());
    assert_eq!(counts.seen(), [2, 0, 0], "those of other stages are released");
    assert!(finish(run.as_mut()).0.is_err());
    assert_eq!(counts.seen(), [4, 1, 2]);
    assert!(poll_once(drained.as_mut()).is_ready());
}

#[test]
fn l25_a_removed_plugin_is_released_by_a_run_that_is_dropped() {
    let (hooks, counts) = (HookRegistry::new(), Counts::default());
    register(&hooks, &counts);
    let operation = async |_| pending::<Result<String, String>>().await;
    // In the operation, and in a call of the last stage.
    let mut waits = Box::pin(hooks.run_flow::<Run, _>(Payload::new(), operation));
    assert!(poll_once(waits.as_mut()).is_pending());
    let fails = async |_| Err::<String, _>("at once");
    let mut fails = Box::pin(hooks.run_flow::<Run, _>(Payload::new(), fails));
    assert!(poll_once(fails.as_mut()).is_pending());
    hooks.unregister_plugin("leaving");
    drop(waits);
    assert_eq!(counts.seen(), [2, 1, 0], "one run is under way");
    drop(fails);
    assert_eq!(counts.seen(), [4, 2, 0]);
}

/// A replaced handler goes with the last run that knows it, on another thread.
#[test]
fn l19_a_replaced_handler_is_waited_for_on_another_thread() {
    let (hooks, counts) = (HookRegistry::new(), Counts::default());
    let named = || on::<Finally<Run>>().plugin("leaving").name("closes");
    let closes = |_: &Captured, _: &mut FlowContext<Run>| ();
    hooks.register(named().handler_with(Captured::new(&counts.handlers), closes)).unwrap();
    let there = hooks.clone();
    let mut run = Box::pin(async move {
        let operation = async |_| pending::<Result<String, String>>().await;
        there.run_flow::<Run, _>(Payload::new(), operation).await
    });
    assert!(poll_once(run.as_mut()).is_pending());
    hooks.register(named().replace().handler(|_: &mut FlowContext<Run>| ())).unwrap();
    let there = thread::spawn(move || drop(run));
    let removal = hooks.unregister_plugin("leaving");
    finish(pin!((&removal).into_future())).0.into_result().unwrap();
    assert_eq!(counts.seen(), [1, 0, 0]);
    there.join().unwrap();
}

/// Runs, waits and removals on three threads: each value is dropped once, never
/// while a call uses it, and always before the wait ends.
#[test]
fn l19_removals_beside_runs_on_other_threads() {
    let hooks = HookRegistry::new();
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                for _ in 0..4 {
                    let run = hooks.run_flow::<Run, _>(Payload::new(), suspends_and_fails);
                    assert!(finish(pin!(run)).0.is_err());
                    thread::yield_now();
                }
            });
        }
        threads.spawn(|| {
            for _ in 0..4 {
                let counts = Counts::default();
                register(&hooks, &counts);
                thread::yield_now();
                let removal = hooks.unregister_plugin("leaving");
                finish(pin!((&removal).into_future())).0.into_result().unwrap();
                let [handlers, states, closed] = counts.seen();
                assert_eq!((handlers, closed), (4, 2 * states), "all that opened has closed");
            }
        });
    });
}
