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

/// The scenes. Does nothing where this is not a child.
#[test]
fn scene() {
    let said = match std::env::var(SCENE).as_deref() {
        Ok("no runtime") => futures::executor::block_on(fire()),
        Ok("no time") => {
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(fire())
        }
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

/// Tokio cannot be asked whether a runtime has time: it panics. The panic is caught,
/// but the process's panic hook has printed it by then.
#[test]
fn l14_of_a_runtime_without_time_only_tokio_prints() {
    let printed = printed("no time");
    let lines: Vec<&str> = printed.lines().filter(|line| !line.is_empty()).collect();
    let [panicked, said, note] = lines[..] else { panic!("{printed}") };
    assert!(panicked.contains("panicked at"), "{printed}");
    assert!(said.contains("timers are disabled"), "{printed}");
    assert!(note.starts_with("note: run with `RUST_BACKTRACE=1`"), "{printed}");
}
