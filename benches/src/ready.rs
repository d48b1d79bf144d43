//! What do eight handlers that finish at once cost, beside a loop over
//! `Vec<Box<dyn Fn>>` with the same work?

use std::future::Future;
use std::hint::black_box;

use hooks_runtime::{HookRegistry, Merge, on};

use crate::measure::clock::{compare, now};
use crate::points::{Amend, AmendPayload, AmendResult, Ask, AskPayload, Tell, TellPayload, work};

const BASELINE: &str = "a loop over Vec<Box<dyn Fn>>";
const SYNC: &str = "sync handlers";
const ASYNC: &str = "async handlers";

type Boxed<P, R> = Vec<Box<dyn Fn(&P) -> R>>;

/// Eight copies of one handler.
fn eight<P: 'static, R: 'static>(handler: impl Fn(&P) -> R + Copy + 'static) -> Boxed<P, R> {
    (0..8).map(|_| Box::new(handler) as _).collect()
}

pub(crate) fn print() {
    void();
    claiming();
    modifying();
}

fn void() {
    let handler = |p: &TellPayload| work(p.n);
    let (boxed, sync, ready) = (eight(handler), HookRegistry::new(), HookRegistry::new());
    for _ in 0..8 {
        sync.register(on::<Tell>().handler(handler)).expect("it is registered");
        let handler = on::<Tell>().handler(async |p: &TellPayload| work(p.n));
        ready.register(handler).expect("it is registered");
    }
    let tell = TellPayload { n: 1 };
    let baseline = || black_box(&boxed).iter().for_each(|f| f(&tell));
    compare(
        "void, eight handlers that finish at once",
        vec![
            (BASELINE, Box::new(baseline)),
            (SYNC, Box::new(|| now!(sync.fire_void::<Tell>(black_box(&tell))))),
            (ASYNC, Box::new(|| now!(ready.fire_void::<Tell>(black_box(&tell))))),
        ],
    );
}

fn claiming() {
    let handler = |p: &AskPayload| -> Option<u64> {
        work(p.n);
        None
    };
    let (boxed, sync, ready) = (eight(handler), HookRegistry::new(), HookRegistry::new());
    for _ in 0..8 {
        sync.register(on::<Ask>().handler(handler)).expect("it is registered");
        let handler = on::<Ask>().handler(async |p: &AskPayload| -> Option<u64> {
            work(p.n);
            None
        });
        ready.register(handler).expect("it is registered");
    }
    let ask = AskPayload { n: 1 };
    let fire = |hooks: &HookRegistry| {
        black_box(now!(hooks.fire_claiming::<Ask>(black_box(&ask))).is_claimed());
    };
    let baseline = || {
        black_box(black_box(&boxed).iter().find_map(|f| f(&ask)));
    };
    compare(
        "claiming, nobody claims",
        vec![
            (BASELINE, Box::new(baseline)),
            (SYNC, Box::new(|| fire(&sync))),
            (ASYNC, Box::new(|| fire(&ready))),
        ],
    );
}

fn modifying() {
    let handler = |p: &AmendPayload| {
        work(p.n);
        AmendResult::default()
    };
    let (boxed, sync, ready) = (eight(handler), HookRegistry::new(), HookRegistry::new());
    for _ in 0..8 {
        sync.register(on::<Amend>().handler(handler)).expect("it is registered");
        let handler = on::<Amend>().handler(async |p: &AmendPayload| {
            work(p.n);
            AmendResult::default()
        });
        ready.register(handler).expect("it is registered");
    }
    let amend = AmendPayload { n: 1 };
    let fire = |hooks: &HookRegistry| {
        black_box(now!(hooks.fire_modifying::<Amend>(black_box(&amend))));
    };
    let baseline = || {
        let mut merged = AmendResult::default();
        for f in black_box(&boxed) {
            merged.merge(f(&amend));
        }
        black_box(merged);
    };
    compare(
        "modifying, nothing to add",
        vec![
            (BASELINE, Box::new(baseline)),
            (SYNC, Box::new(|| fire(&sync))),
            (ASYNC, Box::new(|| fire(&ready))),
        ],
    );
}
