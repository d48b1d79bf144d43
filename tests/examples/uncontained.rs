//! A host whose handler does what cannot be contained, as a program of its own:
//! `tests/uncontained.rs` watches it end.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    /// A step is taken.
    pub void Step(u32);
}

/// Panics when it is dropped, whatever happens.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the second panic");
    }
}

fn panics_twice() {
    let _bomb = Bomb;
    panic!("the first panic");
}

/// Fills any stack.
fn falls(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 512]);
    if depth == u64::MAX { 0 } else { falls(depth + 1) + room[7] }
}

fn main() {
    let hooks = HookRegistry::new();
    let what = std::env::args().nth(1).expect("what the handler does");
    let handler = on::<Step>().name("bad").handler(move |_: &u32| match &*what {
        "panic" => panic!("the only panic"),
        "double panic" => panics_twice(),
        "stack overflow" => drop(falls(0)),
        other => unreachable!("{other}"),
    });
    hooks.register(handler).unwrap();
    let fire = pin!(hooks.fire_void::<Step>(&1)).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(fire, Poll::Ready(Ok(()))));
    println!("contained");
}
