//! What do eight handlers that finish at once cost, beside a loop over
//! `Vec<Box<dyn Fn>>` with the same work?

use std::future::Future;
use std::hint::black_box;

use hooks_runtime::{HookRegistry, Merge, on};

use crate::measure::{compare, now};
use crate::points::{Amend, AmendPayload, AmendResult, Ask, AskPayload, Tell, TellPayload, work};

type Boxed<P, R> = Vec<Box<dyn Fn(&P) -> R>>;

pub(crate) fn print() {
    let (sync, ready) = (HookRegistry::new(), HookRegistry::new());
    for _ in 0..8 {
        let handlers = [
            on::<Tell>().handler(|p: &TellPayload| work(p.n)),
            on::<Ask>().handler(|p: &AskPayload| -> Option<u64> {
                work(p.n);
                None
            }),
            on::<Amend>().handler(|p: &AmendPayload| {
                work(p.n);
                AmendResult::default()
            }),
        ];
        sync.register(handlers).expect("they are registered");
        let handlers = [
            on::<Tell>().handler(async |p: &TellPayload| work(p.n)),
            on::<Ask>().handler(async |p: &AskPayload| -> Option<u64> {
                work(p.n);
                None
            }),
            on::<Amend>().handler(async |p: &AmendPayload| {
                work(p.n);
                AmendResult::default()
            }),
        ];
        ready.register(handlers).expect("they are registered");
    }
    let tell = TellPayload { n: 1 };
    let boxed: Boxed<TellPayload, ()> =
        (0..8).map(|_| Box::new(|p: &TellPayload| work(p.n)) as _).collect();
    compare(
        "void, eight handlers that finish at once",
        vec![
            (
                "a loop over Vec<Box<dyn Fn>>",
                Box::new(|| black_box(&boxed).iter().for_each(|f| f(&tell))),
            ),
            ("sync handlers", Box::new(|| now!(sync.fire_void::<Tell>(black_box(&tell))))),
            ("async handlers", Box::new(|| now!(ready.fire_void::<Tell>(black_box(&tell))))),
        ],
    );
    let ask = AskPayload { n: 1 };
    let boxed: Boxed<AskPayload, Option<u64>> = (0..8)
        .map(|_| {
            Box::new(|p: &AskPayload| {
                work(p.n);
                None
            }) as _
        })
        .collect();
    compare(
        "claiming, nobody claims",
        vec![
            (
                "a loop over Vec<Box<dyn Fn>>",
                Box::new(|| {
                    black_box(black_box(&boxed).iter().find_map(|f| f(&ask)));
                }),
            ),
            (
                "sync handlers",
                Box::new(|| {
                    black_box(now!(sync.fire_claiming::<Ask>(black_box(&ask))).is_claimed());
                }),
            ),
            (
                "async handlers",
                Box::new(|| {
                    black_box(now!(ready.fire_claiming::<Ask>(black_box(&ask))).is_claimed());
                }),
            ),
        ],
    );
    let amend = AmendPayload { n: 1 };
    let boxed: Boxed<AmendPayload, AmendResult> = (0..8)
        .map(|_| {
            Box::new(|p: &AmendPayload| {
                work(p.n);
                AmendResult::default()
            }) as _
        })
        .collect();
    compare(
        "modifying, nothing to add",
        vec![
            (
                "a loop over Vec<Box<dyn Fn>>",
                Box::new(|| {
                    let mut merged = AmendResult::default();
                    for f in black_box(&boxed) {
                        merged.merge(f(&amend));
                    }
                    black_box(merged);
                }),
            ),
            (
                "sync handlers",
                Box::new(|| {
                    black_box(now!(sync.fire_modifying::<Amend>(black_box(&amend))));
                }),
            ),
            (
                "async handlers",
                Box::new(|| {
                    black_box(now!(ready.fire_modifying::<Amend>(black_box(&amend))));
                }),
            ),
        ],
    );
}
