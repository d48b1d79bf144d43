//! What a process prints where a limit has no timer (L14): the failure is a typed
//! error, and this library prints nothing besides.
//!
//! Each test runs one scene in a child, which is this program again.

use std::process::Command;
use std::time::Duration;

use hooks_runtime::{FailurePolicy, HookRegistry, hook_points, on};

hook_points! {
    /// Tells.
    pub void Tell { n: u32 }
}

const SCENE: &str = "HOOKS_TESTS_SCENE";

/// Fires a handler that has to wait with a limit; what comes of it.
async fn fire() -> String {
    let hooks = HookRegistry::new();
    let limited =
        on::<Tell>().timeout(Duration::from_millis(200)).on_failure(FailurePolicy::Closed);
    let waits = async |_: &TellPayload| std::future::pending::<()>().await;
    hooks.register(limited.name("waits").handler(waits)).unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap_err().to_string()
}

/// The same in a runtime that was built without time.
fn fire_without_time() -> String {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(fire())
}

/// A hook of the program, which prints in its own words.
fn set_own_hook() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("the program's hook: {}", panic.payload_as_str().unwrap_or("?"));
    }));
}

/// A panic that is caught, as the program's hook sees it.
fn panic_with(message: &'static str) {
    std::panic::catch_unwind(|| std::panic::panic_any(message)).unwrap_err();
}

/// The program has a hook of its own before the first wait.
fn own_hook() -> String {
    set_own_hook();
    let said = fire_without_time();
    panic_with("the program's own");
    std::thread::spawn(|| panic_with("another thread's")).join().unwrap();
    let hooks = HookRegistry::new();
    let panics = |tell: &TellPayload| assert_ne!(tell.n, 1, "the handler's");
    hooks.register(on::<Tell>().name("panics").handler(panics)).unwrap();
    futures::executor::block_on(hooks.fire_void::<Tell>(&TellPayload { n: 1 })).unwrap();
    said
}

/// Other threads panic while this one asks for waits. Every panic of theirs is printed.
fn meanwhile() -> String {
    set_own_hook();
    let said = fire_without_time();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..100).for_each(|_| panic_with("meanwhile")));
        }
        for _ in 0..100 {
            fire_without_time();
        }
    });
    said
}

/// The first wait is in a drop while its thread panics, the second after that.
fn while_panicking() -> String {
    struct FiresInDrop;

    impl Drop for FiresInDrop {
        fn drop(&mut self) {
            let said = fire_without_time();
            assert!(said.contains("there is no timer"), "{said}");
        }
    }

    std::panic::catch_unwind(|| {
        let _fires = FiresInDrop;
        panic!("the first");
    })
    .unwrap_err();
    eprintln!("caught");
    fire_without_time()
}

/// The scenes. Does nothing where this is not a child.
#[test]
fn scene() {
    let said = match std::env::var(SCENE).as_deref() {
        Ok("no runtime") => futures::executor::block_on(fire()),
        Ok("no time") => fire_without_time(),
        Ok("own hook") => own_hook(),
        Ok("meanwhile") => meanwhile(),
        Ok("hook set later") => {
            fire_without_time();
            set_own_hook();
            fire_without_time()
        }
        Ok("while panicking") => while_panicking(),
        _ => return,
    };
    assert!(said.contains("waits with a limit of 200ms, but there is no timer"), "{said}");
}

/// What a child prints to its standard error.
fn printed(scene: &str) -> String {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "scene", "--nocapture", "--test-threads=1"])
        .env(SCENE, scene)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    assert!(String::from_utf8(child.stdout).unwrap().contains("1 passed"));
    String::from_utf8(child.stderr).unwrap()
}

#[test]
fn l14_without_a_runtime_a_limit_prints_nothing() {
    assert_eq!(printed("no runtime"), "");
}

/// Tokio cannot be asked whether a runtime has time: it panics. The panic is caught, and
/// the process's panic hook does not get it.
#[test]
fn l14_of_a_runtime_without_time_nothing_is_printed() {
    assert_eq!(printed("no time"), "");
}

#[test]
fn l14_the_programs_panic_hook_gets_every_other_panic() {
    let printed = printed("own hook");
    let said: Vec<_> = printed.lines().filter(|line| line.contains("hook: ")).collect();
    let [own, another, handlers] = said[..] else { panic!("{printed}") };
    assert_eq!(own, "the program's hook: the program's own");
    assert_eq!(another, "the program's hook: another thread's");
    assert!(handlers.ends_with("the handler's"), "{printed}");
}

#[test]
fn l14_the_programs_panic_hook_gets_those_of_other_threads_meanwhile() {
    assert_eq!(printed("meanwhile"), "the program's hook: meanwhile\n".repeat(200));
}

/// The program has the last word on its panics.
#[test]
fn l14_a_panic_hook_that_is_set_later_is_used_as_it_is() {
    let printed = printed("hook set later");
    assert!(printed.starts_with("the program's hook: A Tokio 1.x context"), "{printed}");
    assert!(printed.contains("timers are disabled") && printed.lines().count() == 1, "{printed}");
}

/// A thread that panics cannot change the hook, and does not try to.
#[test]
fn l14_the_panic_hook_is_left_alone_while_a_thread_panics() {
    let printed = printed("while panicking");
    let (before, after) = printed.split_once("caught\n").unwrap();
    assert!(before.contains("the first") && before.contains("timers are disabled"), "{printed}");
    assert_eq!(after, "");
}
