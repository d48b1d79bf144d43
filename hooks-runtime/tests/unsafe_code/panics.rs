//! Panics where memory changes hands.

use std::future::{Future, Ready, ready};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use hooks_runtime::{HookRegistry, on};

use crate::driving::{finish, poll_once, quietly};
use crate::shapes::{Asked, Payload, Told, pause};

/// Panics when it is dropped.
struct Sharp;

impl Drop for Sharp {
    fn drop(&mut self) {
        panic!("in the drop");
    }
}

/// A panic that carries what panics in turn.
fn carry<T>() -> T {
    std::panic::panic_any(Sharp)
}

/// Ready at once, and panics when it is dropped.
struct ReadySharp(#[allow(dead_code)] Sharp);

impl Future for ReadySharp {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

#[test]
fn l12_a_panic_while_a_future_is_dropped() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        hooks
            .register_void::<Told>(async |_: &Payload| {
                let _sharp = Sharp;
                pause().await;
            })
            .unwrap();
        let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
        assert!(poll_once(fire.as_mut()).is_pending());
        drop(fire);
        finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
        assert_eq!(hooks.handlers_at::<Told>()[0].failures, 1);
    });
}

#[test]
fn l12_a_panic_while_a_future_is_made_polled_or_dropped_when_ready() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        fn never_made(_: &Payload) -> Ready<()> {
            carry()
        }
        fn sharp_when_ready(_: &Payload) -> ReadySharp {
            ReadySharp(Sharp)
        }
        hooks.register_void::<Told>(never_made).unwrap();
        hooks.register_void::<Told>(sharp_when_ready).unwrap();
        hooks.register_void::<Told>(async |_: &Payload| carry::<()>()).unwrap();
        hooks
            .register_void::<Told>(async |_: &Payload| {
                pause().await;
                carry::<()>()
            })
            .unwrap();
        hooks.register(on::<Told>().handler(|_: &Payload| carry::<()>())).unwrap();
        hooks.register_void::<Told>(|_: &Payload| ready(())).unwrap();
        finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
        let failures: Vec<_> = hooks.handlers_at::<Told>().iter().map(|h| h.failures).collect();
        assert_eq!(failures, [1, 1, 1, 1, 1, 0]);
    });
}

#[test]
fn l12_a_panic_while_a_state_is_dropped() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        let sharp = on::<Asked>().handler_with(Sharp, async |_: &Sharp, _: &Payload| {
            pause().await;
            None::<String>
        });
        let handle = hooks.register(sharp).unwrap();
        let mut fire = Box::pin(hooks.fire_claiming::<Asked>(&payload));
        assert!(poll_once(fire.as_mut()).is_pending());
        assert_eq!(handle.unregister().removed(), 1);
        // The fire is the last to hold the handler.
        drop(fire);
        assert!(hooks.handlers_at::<Asked>().is_empty());
    });
}
