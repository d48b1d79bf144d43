//! Waits for a plugin that would wait for themselves (L19): inside a run of a
//! flow in which it has begun, and where what it captured is dropped.

mod support;

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use hooks_runtime::plugin::DrainError;
use hooks_runtime::{
    AfterExecute, BeforeExecute, Finally, FlowContext, HookRegistry, hook_points, on,
};
use support::{Log, OnDrop, drained, poll_once, soon};

hook_points! {
    /// One delivery, stage by stage.
    #[hook(name = "yard:deliver")]
    pub flow Deliver(u32) -> u32;
    /// A lorry turns.
    pub void Turn(u32);
}

const IN_RUN: &str = "plugin `porter` cannot be waited for here: this is inside a run of \
                      yard:deliver, in which it has begun";

/// What comes of waiting for the plugin here.
fn waited(hooks: &HookRegistry) -> String {
    let removal = hooks.unregister_plugin("porter");
    match poll_once(std::pin::pin!(drained(&removal))) {
        Poll::Pending => "waits".to_owned(),
        Poll::Ready(Ok(())) => "gone".to_owned(),
        Poll::Ready(Err(error)) => error.to_string(),
    }
}

fn begins(hooks: &HookRegistry) {
    let begins = |_: &mut FlowContext<Deliver>| ();
    hooks.register(on::<BeforeExecute<Deliver>>().plugin("porter").handler(begins)).unwrap();
}

#[tokio::test(start_paused = true)]
async fn l19_asked_from_the_operation_of_a_run_in_which_it_has_begun_it_is_an_error() {
    let hooks = HookRegistry::new();
    begins(&hooks);
    let operation = async |_: u32| {
        tokio::task::yield_now().await;
        let removal = hooks.unregister_plugin("porter");
        let waited = soon(drained(&removal)).await.unwrap_err();
        let within = soon(removal.within(Duration::from_secs(5))).await;
        assert_eq!(within, Err(waited.clone()));
        assert!(matches!(waited, DrainError::InsideRun { flow: "yard:deliver", .. }));
        Err::<u32, _>(waited.to_string())
    };
    let error = hooks.run_flow::<Deliver, _>(1, operation).await.unwrap_err();
    assert_eq!(error.to_string(), IN_RUN);
    // The run has ended: there is nothing to wait for.
    assert_eq!(waited(&hooks), "gone");
}

#[tokio::test]
async fn l19_asked_from_another_handler_of_such_a_run_it_is_an_error() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    begins(&hooks);
    let asks = async |(hooks, log): &(HookRegistry, Log), _: &mut FlowContext<Deliver>| {
        tokio::task::yield_now().await;
        log.push(waited(hooks));
        // Also by way of a fire of its own.
        hooks.fire_void::<Turn>(&1).await.unwrap();
    };
    let nested = |(hooks, log): &(HookRegistry, Log), _: &u32| log.push(waited(hooks));
    let state = || (hooks.clone(), log.clone());
    hooks
        .register([
            on::<AfterExecute<Deliver>>().plugin("other").handler_with(state(), asks),
            on::<Turn>().plugin("other").handler_with(state(), nested),
            on::<Finally<Deliver>>().handler_with(state(), asks),
        ])
        .unwrap();
    hooks.run_flow::<Deliver, _>(1, async |n| Ok::<_, String>(n)).await.unwrap();
    assert_eq!(log.take(), [IN_RUN; 4]);
}

/// The run is no other's: one that waits beside it does not wait for itself.
#[tokio::test]
async fn l19_asked_from_a_run_in_which_it_has_not_begun_it_waits() {
    let hooks = HookRegistry::new();
    begins(&hooks);
    let mut begun =
        Box::pin(hooks.run_flow::<Deliver, _>(1, async |_| pending::<Result<u32, String>>().await));
    assert!(poll_once(begun.as_mut()).is_pending());
    hooks.unregister_plugin("porter");
    let asks = async |_: u32| Err::<u32, _>(waited(&hooks));
    let error = hooks.run_flow::<Deliver, _>(1, asks).await.unwrap_err();
    assert_eq!(error.to_string(), "waits");
    drop(begun);
    assert_eq!(waited(&hooks), "gone");
}

/// Nor does a fire on the thread that polled the run last.
#[tokio::test]
async fn l19_asked_from_a_fire_beside_a_run_in_which_it_has_begun_it_waits() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    begins(&hooks);
    let asks = |(hooks, log): &(HookRegistry, Log), _: &u32| log.push(waited(hooks));
    let asks = on::<Turn>().handler_with((hooks.clone(), log.clone()), asks);
    hooks.register(asks).unwrap();
    let mut begun =
        Box::pin(hooks.run_flow::<Deliver, _>(1, async |_| pending::<Result<u32, String>>().await));
    assert!(poll_once(begun.as_mut()).is_pending());
    hooks.fire_void::<Turn>(&1).await.unwrap();
    assert_eq!(log.take(), ["waits"]);
}

/// What is dropped with a run is inside it: its state, and its operation.
#[tokio::test]
async fn l19_what_a_run_drops_is_inside_it() {
    struct Asks(#[allow(dead_code)] OnDrop<Box<dyn FnMut() + Send + Sync>>);
    for dropped in [false, true] {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let asks = |what: &'static str| {
            let (hooks, log) = (hooks.clone(), log.clone());
            Asks(OnDrop(Box::new(move || log.push(format!("{what}: {}", waited(&hooks))))))
        };
        let value = Mutex::new(Some(asks("state")));
        let puts = |value: &Mutex<Option<Asks>>, flow: &mut FlowContext<Deliver>| {
            flow.state_mut().insert(value.lock().unwrap().take());
        };
        let puts = on::<BeforeExecute<Deliver>>().plugin("porter").handler_with(value, puts);
        hooks.register(puts).unwrap();
        let held = asks("operation");
        let operation = async move |n: u32| {
            let _held = held;
            if dropped { pending().await } else { Ok::<_, String>(n) }
        };
        let mut run = Box::pin(hooks.run_flow::<Deliver, _>(1, operation));
        assert_eq!(poll_once(run.as_mut()).is_pending(), dropped);
        drop(run);
        let expected = [format!("operation: {IN_RUN}"), format!("state: {IN_RUN}")];
        assert_eq!(log.take(), expected, "dropped: {dropped}");
    }
}

#[tokio::test]
async fn l19_asked_where_what_it_captured_is_dropped_it_is_an_error() {
    const DROPPED: &str = "plugin `porter` cannot wait for itself: this is the drop of what its handlers captured; \
         await the removal outside of it, or drop it";
    // By the removal, by the call that ends last, and with the list.
    for way in ["removed", "running", "replaced"] {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let (asking, seen) = (hooks.clone(), log.clone());
        let asks = OnDrop(move || seen.push(waited(&asking)));
        let turns = on::<Turn>().plugin("porter").name("turns");
        let first = turns.handler_with(
            (Arc::new(Mutex::new(asks)), hooks.clone()),
            move |(_, hooks): &(Arc<_>, HookRegistry), _: &u32| {
                if way == "running" {
                    hooks.unregister_plugin("porter");
                }
            },
        );
        hooks.register(first).unwrap();
        match way {
            "removed" => drop(hooks.unregister_plugin("porter")),
            "running" => hooks.fire_void::<Turn>(&1).await.unwrap(),
            _ => {
                let turns = on::<Turn>().plugin("porter").name("turns").replace();
                hooks.register(turns.handler(|_: &u32| ())).unwrap();
            }
        }
        assert_eq!(log.take(), [DROPPED], "{way}");
        assert_eq!(waited(&hooks), "gone", "{way}");
    }
}
