//! Conditions: asked between calls, dropped with their handlers.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::report::SkipReason;
use hooks_runtime::{HookRegistry, on};

use crate::driving::{drop_everywhere, finish, poll_once, quietly};
use crate::shapes::{Asked, Payload, Shape, Told, behave};

/// What the conditions answer, and when they panic.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Met,
    Unmet,
    Panics,
}

fn answer(answer: Answer) -> bool {
    match answer {
        Answer::Met => true,
        Answer::Unmet => false,
        Answer::Panics => panic!("asked"),
    }
}

/// A handler with a condition stops the loop over plain ones, which goes on behind
/// it: whatever the condition answers, and whatever the handlers do.
#[test]
fn l31_conditions_between_plain_handlers() {
    let shapes = [Shape::Ready, Shape::Suspends, Shape::PanicsLate];
    quietly(|| {
        for shape in shapes {
            for asked in [Answer::Met, Answer::Unmet, Answer::Panics] {
                let hooks = HookRegistry::new();
                let void = async |shape: &Shape, payload: &Payload| {
                    behave(*shape, payload).await;
                };
                let claiming = async |shape: &Shape, payload: &Payload| {
                    behave(*shape, payload).await;
                    None::<String>
                };
                for place in 0..4 {
                    let (mut told, mut claim) = (on::<Told>(), on::<Asked>());
                    if place % 2 == 1 {
                        let kept = Box::new(asked);
                        told = told.when(move |_| answer(*kept)).when(|_| true);
                        claim = claim.when(move |_| answer(asked));
                    }
                    hooks.register(told.handler_with(shape, void)).unwrap();
                    hooks.register(claim.handler_with(shape, claiming)).unwrap();
                }
                let payload = Payload::new();
                finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
                assert!(
                    !finish(pin!(hooks.fire_claiming::<Asked>(&payload))).0.unwrap().is_claimed()
                );
                for (place, handler) in hooks.handlers().iter().enumerate() {
                    let skips = u64::from(asked == Answer::Unmet && place % 2 == 1);
                    let fails =
                        shape == Shape::PanicsLate || asked == Answer::Panics && place % 2 == 1;
                    let failures = if skips == 1 { 0 } else { u64::from(fails) };
                    let counts =
                        (handler.calls, handler.failures, handler.skips.of(SkipReason::Condition));
                    assert_eq!(
                        counts,
                        (1 - skips, failures, skips),
                        "{shape:?} {asked:?} {handler:?}"
                    );
                }
                drop_everywhere(&payload.alive, || hooks.fire_void::<Told>(&payload));
                drop_everywhere(&payload.alive, || hooks.fire_claiming_reported::<Asked>(&payload));
            }
        }
    });
}

struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// It is removed while its call is pending, and is released when that ends or is
/// dropped.
#[test]
fn l31_one_that_is_called_once_is_released_after_its_call() {
    for is_dropped in [false, true] {
        let hooks = HookRegistry::new();
        let dropped = Arc::new(AtomicU32::new(0));
        let (kept, state) = (Counted(dropped.clone()), Counted(dropped.clone()));
        let handler = on::<Told>()
            .once()
            .when(move |_| kept.0.load(Ordering::SeqCst) == 0)
            .handler_with(state, async |state: &Counted, payload: &Payload| {
                behave(Shape::Suspends, payload).await;
                assert_eq!(state.0.load(Ordering::SeqCst), 0);
            });
        hooks.register(handler).unwrap();
        let payload = Payload::new();
        {
            let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
            assert!(poll_once(fire.as_mut()).is_pending());
            assert!(hooks.handlers().is_empty());
            assert_eq!(dropped.load(Ordering::SeqCst), 0);
            finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
            if !is_dropped {
                finish(fire.as_mut()).0.unwrap();
            }
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 2);
    }
}
