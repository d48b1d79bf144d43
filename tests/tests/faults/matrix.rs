//! One cell of the matrix, and the matrix as text.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use hooks_runtime::plugin::DrainOutcome;
use hooks_runtime::{FailurePolicy, HookRegistry};

use crate::executor::{Executor, polled};
use crate::fault::Fault;
use crate::ground::{self, Came, Model};
use crate::hostile::{self, HostileObserver};
use crate::shed::Shed;
use crate::support::{Count, Log, poll_once};

/// `bad` and `next` at a point of that model, in a registry of their own.
pub fn shed(fault: Fault, model: Model, policy: FailurePolicy, depth: usize) -> Arc<Shed> {
    let shed = Arc::new(Shed {
        fault,
        model,
        closed: policy == FailurePolicy::Closed,
        log: Log::new(),
        begun: Count::default(),
        over: Count::default(),
        active: AtomicBool::new(true),
        hooks: Mutex::default(),
        handles: Mutex::default(),
    });
    let builder = HookRegistry::builder().max_depth(depth);
    let hostile = fault.observer_panics();
    let hooks = if hostile { builder.observer(HostileObserver) } else { builder }.build();
    let group = [ground::bad_handler(&shed), ground::noting(model, shed.closed, "next", &shed)];
    let handles = hooks.register(group).unwrap();
    shed.handles.lock().unwrap().extend(handles);
    *shed.hooks.lock().unwrap() = Some(hooks);
    shed
}

/// What comes of a fault: the outcome, the report, who was called, and the
/// outcome of a second fire in which nothing is wrong.
pub fn cell(fault: Fault, model: Model, policy: FailurePolicy, executor: Executor) -> String {
    let shed = shed(fault, model, policy, 4);
    let text = match fault {
        Fault::FireDropped => dropped_everywhere(&shed, executor),
        Fault::RuntimeShutDown => shut_down(&shed, executor),
        _ if fault.log_panics() => {
            let (log, asked) = hostile::log();
            let text = executor.run(hostile::under(log, watched(Arc::clone(&shed))));
            assert_ne!(asked.load(Ordering::SeqCst), 0, "{fault:?} {model}: it was asked");
            text
        }
        _ => executor.run(watched(Arc::clone(&shed))),
    };
    // Whatever happened: each call that began is over, a removal of the plugin has
    // nothing to wait for, and nothing is left behind.
    assert_eq!(shed.begun.get(), shed.over.get(), "{fault:?} {model}: L20, one end each");
    if let Some(hooks) = shed.hooks.lock().unwrap().take() {
        let removal = hooks.unregister_plugin("shed");
        let drained = poll_once((&removal).into_future().as_mut());
        let drained = drained.map(DrainOutcome::into_result);
        assert_eq!(drained, Poll::Ready(Ok(())), "{fault:?} {model}: L25, the counts fall back");
    }
    assert_eq!(Arc::strong_count(&shed), 1, "{fault:?} {model}: L25, nothing is leaked");
    text
}

/// Fires once with the fault and once without.
async fn watched(shed: Arc<Shed>) -> String {
    let hooks = (*shed.hooks()).clone();
    let mut fire = ground::fire(shed.model, hooks);
    let came = match shed.fault {
        Fault::NeverEnds => polled(3, fire.as_mut()).await,
        Fault::RegistryDropped => {
            assert!(polled(1, fire.as_mut()).await.is_none(), "it waits");
            shed.hooks.lock().unwrap().take();
            Some(fire.as_mut().await)
        }
        _ => Some(fire.as_mut().await),
    };
    drop(fire);
    let text = told(&shed, came);
    if shed.hooks.lock().unwrap().is_none() {
        return text;
    }
    format!("{text} | then {}", again(&shed).await)
}

/// The outcome of a fire in which nothing is wrong.
async fn again(shed: &Arc<Shed>) -> String {
    shed.active.store(false, Ordering::SeqCst);
    if shed.fault.limit().is_some() {
        // In its place, without the limit: a machine may be slow.
        shed.hooks().register(ground::bad_handler(shed)).unwrap();
    }
    let (outcome, _) = ground::fire(shed.model, (*shed.hooks()).clone()).await;
    let called = shed.log.take().join(", ");
    format!("{outcome} [{called}]")
}

fn told(shed: &Shed, came: Option<Came>) -> String {
    let (outcome, rows) = came.unwrap_or_else(|| ("dropped".into(), Vec::new()));
    let called = shed.log.take().join(", ");
    format!("{outcome} | {} | [{called}]", rows.join("; "))
}

/// The fire is polled so many times and dropped, for every number.
fn dropped_everywhere(shed: &Arc<Shed>, executor: Executor) -> String {
    let shed = Arc::clone(shed);
    executor.run(async move {
        let mut calls = Vec::new();
        for polls in 0.. {
            let mut fire = ground::fire(shed.model, (*shed.hooks()).clone());
            let came = polled(polls, fire.as_mut()).await;
            drop(fire);
            assert_eq!(shed.begun.get(), shed.over.get(), "after {polls} polls");
            calls.push(format!("[{}]", shed.log.take().join(", ")));
            if let Some((outcome, _)) = came {
                let again = again(&shed).await;
                return format!("{outcome} | {} | then {again}", calls.join(" "));
            }
        }
        unreachable!("it waits three times")
    })
}

/// The fire begins in a runtime that ends before it.
fn shut_down(shed: &Arc<Shed>, executor: Executor) -> String {
    let runtime = executor.runtime();
    let mut fire = ground::fire(shed.model, (*shed.hooks()).clone());
    let entered = runtime.as_ref().map(|runtime| runtime.enter());
    let first = poll_once(fire.as_mut());
    drop(entered);
    drop(runtime);
    let came = match first {
        Poll::Ready(came) => came,
        Poll::Pending => match poll_once(fire.as_mut()) {
            Poll::Ready(came) => came,
            Poll::Pending => panic!("a limit without a timer is a failure, not a wait"),
        },
    };
    drop(fire);
    let text = told(shed, Some(came));
    format!("{text} | then {}", futures::executor::block_on(again(shed)))
}

/// One line for all executors, or one for each where they differ.
pub fn lines(model: Model, policy: FailurePolicy, cells: &[(Executor, String)]) -> String {
    let policy = match policy {
        FailurePolicy::Open => "open",
        FailurePolicy::Closed => "closed",
    };
    let (_, first) = &cells[0];
    if cells.iter().all(|(_, cell)| cell == first) {
        return format!("  {model:<9} {policy:<6} {first}\n");
    }
    let lines =
        cells.iter().map(|(who, cell)| format!("  {model:<9} {policy:<6} ({who}) {cell}\n"));
    lines.collect()
}

/// Compares the text with the committed file, or writes it.
pub fn compare(file: &str, text: &str) {
    let path = format!("{}/tests/faults/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    for (number, (came, expected)) in text.lines().zip(committed.lines()).enumerate() {
        assert_eq!(came, expected, "{file}, line {}", number + 1);
    }
    assert_eq!(text.lines().count(), committed.lines().count(), "{file} has other lines");
}
