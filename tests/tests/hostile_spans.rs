//! The ready-made `Spans` under a subscriber that panics in any of its methods,
//! and in any several of them, as one with a poisoned lock does (L12).

mod support;

use std::pin::pin;

use hooks_runtime::observe::Spans;
use hooks_runtime::{Finally, FlowContext, Gate, HookRegistry, Verdict, hook_points, on};
use support::{keep_quiet, poll_once};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

hook_points! {
    /// Rings.
    pub void Ring(u32);
    /// Checks.
    pub gating Check(u32);
    /// Works.
    pub flow Work(u32) -> u32;
}

const TEXT: &str = "the subscriber panics";

/// Panics in the methods whose bit is set.
struct Hostile(u8);

impl Hostile {
    fn at(&self, method: u8) {
        if self.0 >> method & 1 == 1 {
            panic!("{TEXT}");
        }
    }
}

impl Subscriber for Hostile {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.at(0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        self.at(1);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.at(2);
    }

    fn enter(&self, _: &Id) {
        self.at(3);
    }

    fn exit(&self, _: &Id) {
        self.at(4);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.at(5);
        id.clone()
    }

    fn try_close(&self, _: Id) -> bool {
        self.at(6);
        true
    }
}

async fn fire_all() {
    let hooks = HookRegistry::builder().observer(Spans::default()).build();
    let rejects = async |_: &u32| {
        tokio::task::yield_now().await;
        Verdict::<u32>::Reject("no".into())
    };
    let fails = async |_: &u32| {
        tokio::task::yield_now().await;
        Err::<(), _>("no luck")
    };
    let ends = async |_: &mut FlowContext<Work>| tokio::task::yield_now().await;
    hooks
        .register([
            on::<Check>().handler(rejects),
            on::<Ring>().plugin("bell").handler(fails),
            on::<Finally<Work>>().handler(ends),
        ])
        .unwrap();
    assert!(matches!(hooks.fire_gating::<Check>(1).await.unwrap(), Gate::Rejected(_)));
    hooks.fire_void::<Ring>(&1).await.unwrap();
    // Dropped while it waits.
    assert!(poll_once(pin!(hooks.fire_void::<Ring>(&1))).is_pending());
    let operation = async |n: u32| {
        tokio::task::yield_now().await;
        Ok::<_, std::io::Error>(n + 1)
    };
    assert_eq!(hooks.run_flow::<Work, _>(1, operation).await.unwrap(), 2);
    assert!(poll_once(pin!(hooks.run_flow::<Work, _>(1, operation))).is_pending());
    hooks.unregister_plugin("bell").await.into_result().unwrap();
}

#[test]
fn l12_spans_contain_a_subscriber_that_panics_anywhere() {
    keep_quiet(&[TEXT]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for methods in 0..=0b111_1111 {
        let hostile = tracing::Dispatch::new(Hostile(methods));
        tracing::dispatcher::with_default(&hostile, || runtime.block_on(fire_all()));
    }
}
