//! Futures that their limit ends.

use std::pin::pin;
use std::time::Duration;

use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{HookRegistry, on};

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

/// A handler with a limit stops the loop over plain ones, which goes on behind it:
/// whatever it does, and whether those around it wait.
#[test]
fn l14_limits_between_plain_handlers() {
    let shapes = [Shape::Ready, Shape::Suspends, Shape::PanicsAtOnce, Shape::PanicsLate];
    quietly(|| {
        for limited in shapes {
            for plain in [Shape::Ready, Shape::Suspends] {
                let hooks = HookRegistry::builder().timer(Patient).build();
                let told = async |shape: &Shape, payload: &Payload| {
                    behave(*shape, payload).await;
                };
                let asked = async |shape: &Shape, payload: &Payload| {
                    behave(*shape, payload).await;
                    None::<String>
                };
                for (shape, limit) in
                    [(plain, None), (limited, LIMIT), (plain, None), (limited, LIMIT)]
                {
                    let (mut void, mut claiming) = (on::<Told>(), on::<Asked>());
                    if let Some(limit) = limit {
                        (void, claiming) = (void.timeout(limit), claiming.timeout(limit));
                    }
                    hooks.register(void.handler_with(shape, told)).unwrap();
                    hooks.register(claiming.handler_with(shape, asked)).unwrap();
                }
                let payload = Payload::new();
                finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
                let claim = finish(pin!(hooks.fire_claiming::<Asked>(&payload))).0.unwrap();
                assert!(!claim.is_claimed());
                let panics = matches!(limited, Shape::PanicsAtOnce | Shape::PanicsLate);
                for (place, handler) in hooks.handlers().iter().enumerate() {
                    let failures = u64::from(panics && place % 2 == 1);
                    assert_eq!((handler.calls, handler.failures), (1, failures), "{handler:?}");
                }
                drop_everywhere(&payload.alive, || hooks.fire_void::<Told>(&payload));
                drop_everywhere(&payload.alive, || hooks.fire_claiming::<Asked>(&payload));
            }
        }
    });
}

const LIMIT: Option<Duration> = Some(Duration::from_secs(3_600));

/// A clock that never strikes.
#[derive(Debug)]
struct Patient;

impl Timer for Patient {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        Some(Box::pin(std::future::pending()))
    }
}
