//! A plugin that leaves while others fire: at one instant, and waited for.
#![cfg(schedules)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Waker};

use hooks_runtime::{
    AfterExecute, BeforeExecute, BeforeValidation, Finally, FlowContext, HookRegistry,
    Registration, hook_handlers, hook_points, on,
};
use hooks_schedules::{Log, delay, explore};
use shuttle::future::{block_on, yield_now};
use shuttle::thread;

hook_points! {
    void Notified(Log);
    claiming Asked(Log) -> u32;
    void NotifiedNext(Log);
    flow Run(Log) -> u32;
}

/// Whether `seen` is the beginning of `all`.
fn is_prefix(seen: &[&str], all: &[&str]) -> bool {
    all.starts_with(seen)
}

fn notified(name: &'static str) -> Registration {
    on::<Notified>().name(name).plugin("audit").handler(move |log: &Log| log.note(name))
}

fn asked(name: &'static str) -> Registration {
    on::<Asked>().name(name).plugin("audit").handler(move |log: &Log| {
        log.note(name);
        None::<u32>
    })
}

fn fire_notified(hooks: &HookRegistry) -> Vec<&'static str> {
    let log = Log::default();
    block_on(hooks.fire_void::<Notified>(&log)).unwrap();
    log.seen()
}

fn fire_asked(hooks: &HookRegistry) -> Vec<&'static str> {
    let log = Log::default();
    let _nobody = block_on(hooks.fire_claiming::<Asked>(&log)).unwrap();
    log.seen()
}

#[test]
fn l19_void_starts_no_more_of_a_plugin_from_one_instant_on() {
    explore("a plugin leaves a void point at one instant", || {
        let hooks = HookRegistry::new();
        hooks.register([notified("a"), notified("b"), notified("c")]).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || (fire_notified(&firing), fire_notified(&firing)));
        delay();
        assert_eq!(hooks.unregister_plugin("audit").removed(), 3);
        assert!(fire_notified(&hooks).is_empty(), "a fire that starts later sees none");
        let (first, second) = fires.join().unwrap();
        assert!(is_prefix(&first, &["a", "b", "c"]), "{first:?}");
        assert!(is_prefix(&second, &["a", "b", "c"]), "{second:?}");
        assert!(first.len() == 3 || second.is_empty(), "{first:?}, then {second:?}");
    });
}

#[test]
fn l19_claiming_starts_no_more_of_a_plugin_from_one_instant_on() {
    explore("a plugin leaves a sequential point at one instant", || {
        let hooks = HookRegistry::new();
        hooks.register([asked("a"), asked("b"), asked("c")]).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || (fire_asked(&firing), fire_asked(&firing)));
        delay();
        assert_eq!(hooks.unregister_plugin("audit").removed(), 3);
        let (first, second) = fires.join().unwrap();
        assert!(is_prefix(&first, &["a", "b", "c"]), "{first:?}");
        assert!(is_prefix(&second, &["a", "b", "c"]), "{second:?}");
        assert!(first.len() == 3 || second.is_empty(), "{first:?}, then {second:?}");
    });
}

#[test]
fn l19_two_points_lose_a_plugin_at_one_instant() {
    explore("a plugin leaves two points at one instant", || {
        let hooks = HookRegistry::new();
        let next =
            on::<NotifiedNext>().name("d").plugin("audit").handler(|log: &Log| log.note("d"));
        hooks.register([notified("a"), next]).unwrap();
        let log = Log::default();
        let (firing, heard) = (hooks.clone(), log.clone());
        let fires = thread::spawn(move || {
            block_on(firing.fire_void::<Notified>(&heard)).unwrap();
            block_on(firing.fire_void::<NotifiedNext>(&heard)).unwrap();
        });
        let (removing, backwards) = (hooks.clone(), Log::default());
        let heard = backwards.clone();
        let other = thread::spawn(move || {
            block_on(removing.fire_void::<NotifiedNext>(&heard)).unwrap();
            block_on(removing.fire_void::<Notified>(&heard)).unwrap();
        });
        delay();
        assert_eq!(hooks.unregister_plugin("audit").removed(), 2);
        fires.join().unwrap();
        other.join().unwrap();
        assert!(is_prefix(&log.seen(), &["a", "d"]), "{log:?}");
        assert!(is_prefix(&backwards.seen(), &["d", "a"]), "{backwards:?}");
    });
}

#[test]
fn l19_a_run_of_a_flow_loses_a_plugin_at_one_instant() {
    explore("a plugin leaves the stages of a flow at one instant", || {
        let hooks = HookRegistry::new();
        let log = Log::default();
        let note = |what: &'static str| {
            let log = log.clone();
            move |_: &mut FlowContext<Run>| log.note(what)
        };
        // Not in the order of the stages.
        hooks
            .register([
                on::<Finally<Run>>().plugin("audit").handler(note("finally")),
                on::<BeforeExecute<Run>>().plugin("audit").handler(note("before")),
                on::<AfterExecute<Run>>().plugin("audit").handler(note("after")),
                on::<BeforeValidation<Run>>().plugin("audit").handler(note("first")),
            ])
            .unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || {
            let run = firing.run_flow::<Run, _>(Log::default(), async |_| Ok::<_, String>(1));
            assert_eq!(block_on(run).unwrap(), 1);
        });
        delay();
        assert_eq!(hooks.unregister_plugin("audit").removed(), 4);
        fires.join().unwrap();
        let mut seen = log.seen();
        // Where it has begun, the run gives it its end all the same.
        assert!(seen.is_empty() || seen.pop() == Some("finally"), "{log:?}");
        assert!(is_prefix(&seen, &["first", "before", "after"]), "{log:?}");
    });
}

/// A handler that suspends, and must never be seen by who has waited for it.
fn suspending(gone: &Arc<AtomicBool>) -> Registration {
    on::<Notified>().name("slow").plugin("audit").handler_with(
        Arc::clone(gone),
        async |gone: &Arc<AtomicBool>, log: &Log| {
            assert!(!gone.load(Relaxed), "called after it was waited for");
            yield_now().await;
            assert!(!gone.load(Relaxed), "running after it was waited for");
            log.note("slow");
        },
    )
}

#[test]
fn l19_no_handler_runs_after_the_wait() {
    explore("a wait for a plugin ends, and then none of its handlers runs", || {
        let (hooks, gone) = (HookRegistry::new(), Arc::new(AtomicBool::new(false)));
        hooks.register(suspending(&gone)).unwrap();
        let fires: Vec<_> = (0..2)
            .map(|_| {
                let hooks = hooks.clone();
                thread::spawn(move || {
                    // Fail-open would hide a panicking assertion.
                    let (outcome, report) =
                        block_on(hooks.fire_void_reported::<Notified>(&Log::default()));
                    outcome.unwrap();
                    assert!(!report.to_string().contains("panicked"), "{report}");
                })
            })
            .collect();
        delay();
        block_on(hooks.unregister_plugin("audit").into_future()).into_result().unwrap();
        gone.store(true, Relaxed);
        fires.into_iter().for_each(|fire| fire.join().unwrap());
    });
}

#[test]
fn l25_a_wait_ends_when_the_fire_is_dropped() {
    explore("a wait for a plugin ends when its fire is dropped", || {
        let (hooks, gone) = (HookRegistry::new(), Arc::new(AtomicBool::new(false)));
        hooks.register(suspending(&gone)).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || {
            let log = Log::default();
            let mut fire = Box::pin(firing.fire_void::<Notified>(&log));
            let _pending = fire.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            thread::yield_now();
            drop(fire);
        });
        let removing = hooks.clone();
        let other = thread::spawn(move || {
            delay();
            block_on(removing.unregister_plugin("audit").into_future()).into_result().unwrap();
        });
        delay();
        block_on(hooks.unregister_plugin("audit").into_future()).into_result().unwrap();
        gone.store(true, Relaxed);
        fires.join().unwrap();
        other.join().unwrap();
    });
}

/// A plugin of two handlers that say which version they are of.
struct Versioned(&'static str);

#[hook_handlers(plugin = "versioned")]
impl Versioned {
    #[hook_handler(Asked)]
    fn first(&self, log: &Log) -> Option<u32> {
        log.note(self.0);
        None
    }

    #[hook_handler(Asked, priority = 1)]
    async fn second(&self, log: &Log) -> Option<u32> {
        yield_now().await;
        log.note(self.0);
        None
    }
}

#[test]
fn l18_a_replacement_is_one_instant() {
    explore("a fire sees the old version of a plugin or the new one", || {
        let hooks = HookRegistry::new();
        let _old = hooks.install(Versioned("old")).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || (fire_asked(&firing), fire_asked(&firing)));
        delay();
        let new = hooks.install_or_replace(Versioned("new")).unwrap();
        assert_eq!(fire_asked(&hooks), ["new", "new"]);
        let (first, second) = fires.join().unwrap();
        for seen in [&first, &second] {
            assert!(*seen == ["old", "old"] || *seen == ["new", "new"], "{seen:?}");
        }
        assert!(first[0] == "old" || second[0] == "new", "{first:?}, then {second:?}");
        block_on(new.uninstall().into_future()).into_result().unwrap();
        assert!(fire_asked(&hooks).is_empty());
    });
}

#[test]
fn l19_a_version_that_was_replaced_can_still_be_removed() {
    explore("install, replace, uninstall and fire", || {
        let hooks = HookRegistry::new();
        let old = hooks.install(Versioned("old")).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || fire_asked(&firing));
        let removing = thread::spawn(move || {
            delay();
            block_on(old.uninstall().into_future()).into_result().unwrap();
        });
        delay();
        let new = hooks.install_or_replace(Versioned("new")).unwrap();
        let seen = fires.join().unwrap();
        removing.join().unwrap();
        let whole: [&[&str]; 4] = [&[], &["old"], &["old", "old"], &["new", "new"]];
        assert!(whole.contains(&&seen[..]), "{seen:?}");
        assert_eq!(fire_asked(&hooks), ["new", "new"], "its successor is left alone");
        drop(new);
    });
}
