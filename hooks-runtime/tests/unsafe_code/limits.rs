//! Futures that their limit ends.

use std::pin::pin;
use std::time::Duration;

use hooks_runtime::{HookRegistry, Sleep, Timer, on};

use crate::driving::{drop_everywhere, finish, quietly};
use crate::shapes::{Asked, Payload, Shape, Told, behave, large, pause};

/// A clock that has always struck after one more turn.
#[derive(Debug)]
struct Impatient;

impl Timer for Impatient {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        Some(Box::pin(pause()))
    }
}

/// No clock at all.
#[derive(Debug)]
struct NoClock;

impl Timer for NoClock {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        None
    }
}

fn limited(timer: impl Timer) -> HookRegistry {
    let hooks = HookRegistry::builder().timer(timer).timeout(Duration::from_secs(60)).build();
    hooks
        .register([
            on::<Told>().handler(async |payload: &Payload| {
                for _ in 0..9 {
                    behave(Shape::Suspends, payload).await;
                }
            }),
            on::<Told>().handler(async |payload: &Payload| {
                for _ in 0..9 {
                    large::<2048>(payload).await;
                }
            }),
            on::<Asked>().handler(async |payload: &Payload| {
                for _ in 0..9 {
                    behave(Shape::Suspends, payload).await;
                }
                None::<String>
            }),
        ])
        .unwrap();
    hooks
}

#[test]
fn l14_a_limit_that_passes_drops_the_future() {
    quietly(|| {
        for hooks in [limited(Impatient), limited(NoClock)] {
            let payload = Payload::new();
            finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
            let _unclaimed = finish(pin!(hooks.fire_claiming::<Asked>(&payload))).0.unwrap();
            assert!(hooks.handlers().iter().all(|handler| handler.failures == 1));
            drop_everywhere(&payload.alive, || hooks.fire_void_reported::<Told>(&payload));
            drop_everywhere(&payload.alive, || hooks.fire_claiming::<Asked>(&payload));
        }
    });
}
