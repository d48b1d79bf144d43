//! What cannot be contained ends the process (L12): tested in a process of its
//! own, so that the documents say what is so.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Ended by `abort`.
const SIGABRT: i32 = 6;

/// The program, built as everything here is, or so that a panic aborts.
fn host(panic: &str) -> PathBuf {
    let mut target = std::env::current_exe().unwrap();
    // From target/profile/deps/this to target/profile.
    target.pop();
    target.pop();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["rustc", "--quiet", "--offline", "--example", "uncontained"]);
    if target.ends_with("release") {
        cargo.arg("--release");
    }
    let root = target.parent().unwrap();
    cargo.arg("--target-dir").arg(root);
    // Only this crate: what it links was built to unwind, which is no matter.
    cargo.args(["--", "-C"]).arg(format!("panic={panic}"));
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let program = root.join(format!("uncontained-{panic}"));
    std::fs::copy(target.join("examples/uncontained"), &program).unwrap();
    program
}

fn run(program: &PathBuf, what: &str) -> (Output, String) {
    let ran = Command::new(program).arg(what).env("RUST_BACKTRACE", "0").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    (ran, said)
}

/// Ended by a signal, with this among its last words.
#[track_caller]
fn assert_aborts(program: &PathBuf, what: &str, words: &str) {
    let (ran, said) = run(program, what);
    assert_eq!(ran.status.signal(), Some(SIGABRT), "{said}");
    assert!(said.contains(words), "{said}");
    assert!(ran.stdout.is_empty(), "the fire did not return");
}

/// One test: the builds share a folder.
#[test]
fn l12_a_double_panic_an_overflow_and_a_panic_that_aborts_end_the_process() {
    let unwinding = host("unwind");
    let (ran, said) = run(&unwinding, "panic");
    assert!(ran.status.success(), "{said}");
    assert_eq!(ran.stdout, b"contained\n");
    assert_aborts(&unwinding, "double panic", "the second panic");
    assert_aborts(&unwinding, "stack overflow", "has overflowed its stack");
    assert_aborts(&host("abort"), "panic", "the only panic");
    println!(
        "\nproof: uncontained: a double panic, a stack overflow and `panic = \"abort\"` end the process"
    );
}
