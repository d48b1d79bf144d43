//! What a removed handler captured is released by the removal, or by the last
//! call that used it, whatever else still knows the list it was in.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use hooks_runtime::{HookRegistry, on};

use crate::driving::{finish, poll_once};
use crate::shapes::{Asked, Payload, Shape, Told, behave};

/// Counts how often it was dropped, and is used by every call.
struct Captured {
    text: String,
    dropped: Arc<AtomicU32>,
}

impl Drop for Captured {
    fn drop(&mut self) {
        self.text.clear();
        self.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

fn captured() -> (Captured, Arc<AtomicU32>) {
    let dropped = Arc::new(AtomicU32::new(0));
    (Captured { text: "captured".to_owned(), dropped: Arc::clone(&dropped) }, dropped)
}

/// A handler of the plugin `leaving` that is ready at once.
fn ready(hooks: &HookRegistry) -> Arc<AtomicU32> {
    let (state, dropped) = captured();
    let handler =
        on::<Told>().plugin("leaving").handler_with(state, |state: &Captured, _: &Payload| {
            assert_eq!(state.text, "captured");
        });
    hooks.register(handler).unwrap();
    dropped
}

/// A handler of the plugin `leaving` that waits, and uses its state afterwards.
fn waiting(hooks: &HookRegistry) -> Arc<AtomicU32> {
    let (state, dropped) = captured();
    let handler = on::<Told>().plugin("leaving").handler_with(
        state,
        async |state: &Captured, payload: &Payload| {
            behave(Shape::Suspends, payload).await;
            assert_eq!(state.text, "captured");
        },
    );
    hooks.register(handler).unwrap();
    dropped
}

fn stays(hooks: &HookRegistry) {
    let handler = async |payload: &Payload| {
        behave(Shape::Suspends, payload).await;
    };
    hooks.register(on::<Told>().handler(handler)).unwrap();
}

#[test]
fn l19_a_value_is_released_while_another_handler_of_the_fire_waits() {
    let hooks = HookRegistry::new();
    let dropped = ready(&hooks);
    stays(&hooks);
    let payload = Payload::new();
    let mut fire = pin!(hooks.fire_void::<Told>(&payload));
    assert!(poll_once(fire.as_mut()).is_pending());
    let removal = hooks.unregister_plugin("leaving");
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert!(poll_once((&removal).into_future().as_mut()).is_ready());
    finish(fire).0.unwrap();
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn l19_a_value_is_released_by_the_last_call_where_the_removal_is_not_awaited() {
    let hooks = HookRegistry::new();
    let dropped = waiting(&hooks);
    stays(&hooks);
    let payload = Payload::new();
    let mut fire = pin!(hooks.fire_void::<Told>(&payload));
    assert!(poll_once(fire.as_mut()).is_pending());
    hooks.unregister_plugin("leaving");
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    finish(fire.as_mut()).0.unwrap();
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn l25_a_value_is_released_by_a_fire_that_is_dropped() {
    let hooks = HookRegistry::new();
    let dropped = waiting(&hooks);
    let payload = Payload::new();
    let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
    assert!(poll_once(fire.as_mut()).is_pending());
    hooks.unregister_plugin("leaving");
    drop(fire);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert_eq!(payload.alive.load(Ordering::SeqCst), 0);
}

#[test]
fn l19_a_removal_asked_from_another_handler_of_the_fire() {
    let hooks = HookRegistry::new();
    let registry = Arc::new(Mutex::new(None::<HookRegistry>));
    let asks = Arc::clone(&registry);
    let before = ready(&hooks);
    // Of another plugin, which stays.
    hooks
        .register(on::<Told>().plugin("asking").handler_with(
            asks,
            |asks: &Arc<Mutex<Option<HookRegistry>>>, _: &Payload| {
                if let Some(hooks) = asks.lock().unwrap().take() {
                    hooks.unregister_plugin("leaving");
                }
            },
        ))
        .unwrap();
    let after = waiting(&hooks);
    *registry.lock().unwrap() = Some(hooks.clone());
    let payload = Payload::new();
    finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
    assert_eq!([before, after].map(|dropped| dropped.load(Ordering::SeqCst)), [1, 1]);
}

#[test]
fn l19_a_plugin_that_removes_itself_is_released_when_its_call_has_ended() {
    let hooks = HookRegistry::new();
    let (state, dropped) = captured();
    let own = Mutex::new(Some(hooks.clone()));
    hooks
        .register(on::<Asked>().plugin("leaving").handler_with(
            (state, own),
            |(state, own): &(Captured, Mutex<Option<HookRegistry>>), _: &Payload| {
                if let Some(hooks) = own.lock().unwrap().take() {
                    hooks.unregister_plugin("leaving");
                }
                // The state is there until the call has ended.
                assert_eq!((&*state.text, state.dropped.load(Ordering::SeqCst)), ("captured", 0));
                None::<String>
            },
        ))
        .unwrap();
    let payload = Payload::new();
    let claim = finish(pin!(hooks.fire_claiming::<Asked>(&payload))).0.unwrap();
    assert!(!claim.is_claimed());
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

/// Fires, waits and removals on three threads: each value is dropped once, and
/// never while a call uses it.
#[test]
fn l19_removals_beside_fires_on_other_threads() {
    let hooks = HookRegistry::new();
    stays(&hooks);
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let payload = Payload::new();
                for _ in 0..4 {
                    finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
                    thread::yield_now();
                }
            });
        }
        threads.spawn(|| {
            for _ in 0..4 {
                let dropped = [ready(&hooks), waiting(&hooks)];
                thread::yield_now();
                let removal = hooks.unregister_plugin("leaving");
                finish((&removal).into_future().as_mut()).0.into_result().unwrap();
                assert_eq!(dropped.map(|dropped| dropped.load(Ordering::SeqCst)), [1, 1]);
            }
        });
    });
}
