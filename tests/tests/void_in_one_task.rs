//! Void is concurrent in one task, and not parallel (L07): a handler that holds
//! its thread holds up the others.

mod support;

use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use hooks_runtime::{HookRegistry, Registration, hook_points, on};
use support::Log;

hook_points! {
    /// The hour strikes.
    pub void Strike(u32);
}

type Threads = Arc<Mutex<Vec<ThreadId>>>;

/// Notes its thread, its beginning and its end, and gives way in between.
fn strikes(log: &Log, threads: &Threads, name: &'static str) -> Registration {
    async fn strike(state: &(Log, Threads, &'static str), _: &u32) {
        let (log, threads, name) = state;
        threads.lock().unwrap().push(std::thread::current().id());
        log.push(format!("{name} begins"));
        tokio::task::yield_now().await;
        log.push(format!("{name} ends"));
    }
    on::<Strike>().name(name).handler_with((log.clone(), threads.clone(), name), strike)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn l07_void_handlers_share_one_task() {
    let (hooks, log, threads) = (HookRegistry::new(), Log::new(), Threads::default());
    let holds = log.clone();
    hooks
        .register([
            strikes(&log, &threads, "first"),
            on::<Strike>().name("holds").handler(move |_: &u32| {
                holds.push("holds begins");
                std::thread::yield_now();
                holds.push("holds ends");
            }),
            strikes(&log, &threads, "last"),
        ])
        .unwrap();
    // A task of its own, on any of the four threads.
    tokio::spawn(async move { hooks.fire_void::<Strike>(&1).await }).await.unwrap().unwrap();
    let told = log.take();
    assert_eq!(told[..4], ["first begins", "holds begins", "holds ends", "last begins"]);
    assert_eq!(told[4..], ["first ends", "last ends"]);
    let threads = threads.lock().unwrap();
    assert_eq!(threads[0], threads[1], "all were started by one poll, on one thread");
}
