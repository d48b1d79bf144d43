//! Fires and changes on several threads.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hooks_runtime::{Claim, HookRegistry, on};

use crate::driving::{finish, poll_once};
use crate::shapes::{Asked, Payload, Shape, Told, behave, large};

fn suspending() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Told>().plugin("audit").handler(async |payload: &Payload| {
                behave(Shape::Suspends, payload).await;
            }),
            on::<Told>().handler(async |payload: &Payload| {
                large::<2048>(payload).await;
            }),
            on::<Asked>().plugin("audit").handler(async |payload: &Payload| {
                behave(Shape::Suspends, payload).await;
                None::<String>
            }),
            on::<Asked>()
                .handler(async |payload: &Payload| Some(behave(Shape::Suspends, payload).await)),
        ])
        .unwrap();
    hooks
}

/// A guard is traded for a count while others publish again and again.
#[test]
fn l24_fires_suspend_while_others_publish() {
    let (hooks, ended) = (suspending(), AtomicBool::new(false));
    thread::scope(|threads| {
        let fires: Vec<_> = (0..2)
            .map(|_| {
                threads.spawn(|| {
                    let payload = Payload::new();
                    for _ in 0..6 {
                        finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
                        let claim = finish(pin!(hooks.fire_claiming::<Asked>(&payload))).0;
                        assert_eq!(claim.unwrap(), Claim::Claimed("borrowed".to_owned()));
                    }
                })
            })
            .collect();
        threads.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let comes = hooks.register_void::<Told>(async |_: &Payload| ()).unwrap();
                let named = on::<Asked>().name("named").priority(-1).replace();
                hooks.register(named.handler(|_: &Payload| None::<String>)).unwrap();
                assert_eq!(comes.unregister().removed(), 1);
                thread::yield_now();
            }
        });
        fires.into_iter().for_each(|fire| fire.join().unwrap());
        ended.store(true, Ordering::Relaxed);
    });
}

/// A fire is started here, goes on there, and is dropped somewhere else, when
/// its handlers have left and its registry is gone.
#[test]
fn l25_a_fire_changes_its_thread() {
    let hooks = suspending();
    let payload = Arc::new(Payload::new());
    let fire = |hooks: HookRegistry| {
        let payload = Arc::clone(&payload);
        Box::pin(async move { hooks.fire_void::<Told>(&payload).await })
    };
    let (mut finished, mut dropped) = (fire(hooks.clone()), fire(hooks.clone()));
    assert!(poll_once(finished.as_mut()).is_pending());
    assert!(poll_once(dropped.as_mut()).is_pending());
    assert_eq!(hooks.unregister_plugin("audit").running().len(), 1);
    drop(hooks);
    let there = thread::spawn(move || finish(finished.as_mut()).0.unwrap());
    thread::spawn(move || drop(dropped)).join().unwrap();
    there.join().unwrap();
    assert_eq!(payload.alive.load(Ordering::SeqCst), 0);
}
