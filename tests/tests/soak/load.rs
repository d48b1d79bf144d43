//! The threads of the load: some fire, one changes handlers, one plugins.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Waker};
use std::time::Instant;

use hooks_runtime::{
    Finally, FlowContext, HookRegistry, Plugins, ScopedHooks, Verdict, hook_handlers, on,
};
use tokio::runtime::Runtime;

use crate::points::{Amended, AmendedResult, Asked, Passed, Run, Stuck, Told, Work, pause};

/// What the threads did.
#[derive(Debug, Default)]
pub struct Done {
    pub fires: AtomicU64,
    pub dropped: AtomicU64,
    pub timeouts: AtomicU64,
    pub changes: AtomicU64,
    pub installs: AtomicU64,
    /// Calls of handlers that had been removed and waited for.
    pub late: AtomicU64,
}

/// Numbers that look drawn: the same ones in every run.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// Fires all models until `end`, whole, scoped, and dropped midway.
pub fn fire(hooks: &HookRegistry, done: &Done, seed: u64, end: Instant) {
    let (runtime, mut draw) = (runtime(), Draw(seed));
    let _entered = runtime.enter();
    let scoped = hooks.scope(Plugins::only(["guest"]));
    while Instant::now() < end {
        let n = draw.next();
        let hooks: &ScopedHooks = if n & 1 == 0 { hooks } else { &scoped };
        let (work, stop) = (Work(n >> 8), (n >> 1) % 4);
        match (n >> 3) % 32 {
            0..8 => one(&runtime, done, stop, hooks.fire_void::<Told>(&work)),
            8..14 => one(&runtime, done, stop, hooks.fire_modifying::<Amended>(&work)),
            14..20 => one(&runtime, done, stop, hooks.fire_claiming::<Asked>(&work)),
            20..26 => one(&runtime, done, stop, hooks.fire_gating::<Passed>(work)),
            26..31 => {
                let run = hooks.run_flow::<Run, _>(work, async |Work(n)| {
                    pause().await;
                    if n.is_multiple_of(11) { Err("the operation") } else { Ok(n) }
                });
                one(&runtime, done, stop, run);
            }
            _ => {
                // Never dropped: each of its calls must end with its limit.
                runtime.block_on(hooks.fire_void::<Stuck>(&work)).unwrap();
                done.timeouts.fetch_add(1, Relaxed);
            }
        }
    }
}

/// Runs a fire to its end, or drops it after `stop` polls.
fn one<T>(runtime: &Runtime, done: &Done, stop: u64, fire: impl Future<Output = T>) {
    done.fires.fetch_add(1, Relaxed);
    let mut fire = pin!(fire);
    if stop == 3 {
        runtime.block_on(fire);
        return;
    }
    for _ in 0..stop {
        if fire.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return;
        }
    }
    done.dropped.fetch_add(1, Relaxed);
}

/// Registers, replaces and removes handlers until `end`, one by one and in
/// groups, built-in and of plugins.
pub fn change(hooks: &HookRegistry, done: &Done, end: Instant) {
    let (runtime, mut draw) = (runtime(), Draw(3));
    while Instant::now() < end {
        let n = draw.next();
        let plugin = format!("visitor-{}", n % 5);
        let handles = hooks
            .register([
                on::<Told>().name("visits").plugin(&*plugin).before("told").handler(|_: &Work| ()),
                on::<Asked>().name("visits").plugin(&*plugin).handler(|_: &Work| None::<u64>),
                on::<Finally<Run>>()
                    .name("visits")
                    .plugin(&*plugin)
                    .handler(|_: &mut FlowContext<Run>| ()),
            ])
            .unwrap();
        let replaces = on::<Told>().name("visits").plugin(&*plugin).replace();
        let replaced = hooks.register(replaces.handler(async |_: &Work| pause().await)).unwrap();
        let scoped = on::<Passed>().handler(|_: &Work| Verdict::<Work>::Pass);
        let scoped = hooks.register(scoped).unwrap().into_iter().next().unwrap().scoped();
        if n & 8 == 0 {
            let removal = hooks.unregister_plugin(&plugin);
            assert_eq!(removal.removed(), 3);
            runtime.block_on(removal.into_future()).into_result().unwrap();
        } else {
            assert_eq!(handles.unregister().removed() + replaced.unregister().removed(), 3);
        }
        drop(scoped);
        done.changes.fetch_add(1, Relaxed);
    }
}

/// A plugin that comes, is replaced, and goes.
struct Guest {
    gone: Arc<AtomicBool>,
    done: Arc<Done>,
}

#[hook_handlers(plugin = "guest")]
impl Guest {
    #[hook_handler(Told)]
    async fn told(&self, work: &Work) {
        self.called();
        if work.0 & 1 == 0 {
            pause().await;
            self.called();
        }
    }

    #[hook_handler(Amended, priority = 1)]
    fn amended(&self, work: &Work) -> AmendedResult {
        self.called();
        AmendedResult { second: Some(work.0), ..Default::default() }
    }

    #[hook_handler(Asked, priority = -1)]
    async fn asked(&self, _: &Work) -> Option<u64> {
        pause().await;
        self.called();
        None
    }

    #[hook_handler(Passed, guard)]
    fn passed(&self, _: &Work) -> Verdict {
        self.called();
        Verdict::Pass
    }

    #[hook_handler(Finally<Run>)]
    async fn finally(&self, _: &mut FlowContext<Run>) {
        pause().await;
        self.called();
    }
}

impl Guest {
    fn called(&self) {
        if self.gone.load(Relaxed) {
            self.done.late.fetch_add(1, Relaxed);
        }
    }
}

/// Installs, replaces and uninstalls a plugin until `end`.
pub fn install(hooks: &HookRegistry, done: &Arc<Done>, end: Instant) {
    let runtime = runtime();
    let guest = || {
        let gone = Arc::<AtomicBool>::default();
        (Guest { gone: Arc::clone(&gone), done: Arc::clone(done) }, gone)
    };
    while Instant::now() < end {
        let ((first, first_gone), (second, second_gone)) = (guest(), guest());
        let first = hooks.install(first).unwrap();
        let second = hooks.install_or_replace(second).unwrap();
        runtime.block_on(first.uninstall().into_future()).into_result().unwrap();
        first_gone.store(true, Relaxed);
        runtime.block_on(second.uninstall().into_future()).into_result().unwrap();
        second_gone.store(true, Relaxed);
        done.installs.fetch_add(2, Relaxed);
    }
}
