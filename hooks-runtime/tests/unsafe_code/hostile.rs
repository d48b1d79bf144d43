//! Observers and log subscribers that panic, each alone and both, in every one
//! of their methods, while handlers of every model are ready, wait, fail and
//! are cancelled.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, ObservedHandler, Observer};
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{BeforeExecute, Finally, FlowContext, HookContext, HookRegistry, Verdict, on};
use tracing::{Event, Metadata, Subscriber, span};

use crate::driving::{drop_everywhere, finish, quietly};
use crate::shapes::{
    Amended, AmendedResult, Asked, Passed, Payload, Run, SHAPES, Shape, Told, behave,
};

/// The methods of an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Registered,
    Removed,
    FireStarted,
    FireEnded,
    HandlerStarted,
    HandlerEnded,
    HandlerOverran,
    HandlerFiltered,
    PollStarted,
    PollEnded,
    LogsFailures,
}

const METHODS: [Method; 11] = [
    Method::Registered,
    Method::Removed,
    Method::FireStarted,
    Method::FireEnded,
    Method::HandlerStarted,
    Method::HandlerEnded,
    Method::HandlerOverran,
    Method::HandlerFiltered,
    Method::PollStarted,
    Method::PollEnded,
    Method::LogsFailures,
];

/// Panics in one of its methods, or in none.
#[derive(Debug)]
struct Hostile(Option<Method>);

impl Hostile {
    fn at(&self, method: Method) {
        assert!(self.0 != Some(method), "the observer panics");
    }
}

impl Observer for Hostile {
    fn registered(&self, _: &ObservedHandler<'_>) {
        self.at(Method::Registered);
    }

    fn removed(&self, _: &ObservedHandler<'_>) {
        self.at(Method::Removed);
    }

    fn fire_started(&self, _: &ObservedFire) {
        self.at(Method::FireStarted);
    }

    fn fire_ended(&self, _: &ObservedFire, _: &FireEnd<'_>, _: Duration) {
        self.at(Method::FireEnded);
    }

    fn handler_started(&self, _: &ObservedCall<'_>) {
        self.at(Method::HandlerStarted);
    }

    fn handler_ended(&self, _: &ObservedCall<'_>, _: &HandlerStatus, _: Duration) {
        self.at(Method::HandlerEnded);
    }

    fn handler_overran(&self, _: &ObservedCall<'_>, _: Duration, _: Duration) {
        self.at(Method::HandlerOverran);
    }

    fn handler_filtered(&self, _: &ObservedCall<'_>, _: SkipReason) {
        self.at(Method::HandlerFiltered);
    }

    fn poll_started(&self, _: &ObservedCall<'_>) {
        self.at(Method::PollStarted);
    }

    fn poll_ended(&self, _: &ObservedCall<'_>) {
        self.at(Method::PollEnded);
    }

    fn logs_failures(&self) -> bool {
        self.at(Method::LogsFailures);
        true
    }
}

/// Panics at every event; asked for anything else it does nothing.
struct Poisoned;

thread_local! {
    static EVENTS: Cell<u32> = const { Cell::new(0) };
}

impl Subscriber for Poisoned {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {
        EVENTS.set(EVENTS.get() + 1);
        panic!("the subscriber panics");
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

impl fmt::Debug for Poisoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Poisoned")
    }
}

/// How many handlers of a kind each point has. Miri is slow, and meets the same
/// code with one.
const COPIES: usize = if cfg!(miri) { 1 } else { 2 };

/// Handlers of that shape at every point, and an error.
fn hooks(method: Option<Method>, shape: Shape) -> HookRegistry {
    let hooks = HookRegistry::builder().observer(Hostile(method)).build();
    for _ in 0..COPIES {
        hooks
            .register([
                on::<Told>().plugin("audit").handler_with(
                    shape,
                    async |shape: &Shape, payload: &Payload| {
                        behave(*shape, payload).await;
                    },
                ),
                on::<Told>().handler(|_: &Payload| Err::<(), _>("no")),
                // Late in every call.
                on::<Told>().timeout(Duration::from_nanos(1)).handler(|_: &Payload| ()),
                on::<Amended>()
                    .timeout(Duration::from_nanos(1))
                    .handler(|_: &Payload| AmendedResult::default()),
                on::<Amended>().handler_with(
                    shape,
                    async |shape: &Shape, payload: &Payload, _: &HookContext| AmendedResult {
                        first: Some(behave(*shape, payload).await),
                        second: None,
                    },
                ),
                on::<Asked>().plugin("audit").handler_with(
                    shape,
                    async |shape: &Shape, payload: &Payload| {
                        behave(*shape, payload).await;
                        None::<String>
                    },
                ),
                on::<Passed>().handler_with(shape, async |shape: &Shape, payload: &Payload| {
                    behave(*shape, payload).await;
                    Verdict::<Payload>::Pass
                }),
                on::<Finally<Run>>().handler_with(
                    shape,
                    async |shape: &Shape, _: &mut FlowContext<Run>| {
                        behave(*shape, &Payload::new()).await;
                    },
                ),
            ])
            .unwrap();
    }
    hooks
        .register(on::<BeforeExecute<Run>>().handler(async |flow: &mut FlowContext<Run>| {
            behave(Shape::Suspends, flow.input().unwrap()).await;
        }))
        .unwrap();
    hooks
}

/// Fires every point to its end, and, where its handlers wait and that is
/// wanted, again `dropped` after every number of polls.
fn fire_everything(hooks: &HookRegistry, shape: Shape, dropped: bool) {
    let payload = Payload::new();
    let alive = Arc::clone(&payload.alive);
    let own = || Payload { text: "own".to_owned(), alive: Arc::clone(&alive) };
    finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
    finish(pin!(hooks.fire_void_reported::<Told>(&payload))).0.0.unwrap();
    finish(pin!(hooks.fire_modifying::<Amended>(&payload))).0.unwrap();
    let _claim = finish(pin!(hooks.fire_claiming::<Asked>(&payload))).0.unwrap();
    let _gate = finish(pin!(hooks.fire_gating::<Passed>(own()))).0.unwrap();
    let operation = async |input: Payload| Ok::<_, std::io::Error>(input.text);
    finish(pin!(hooks.run_flow::<Run, _>(own(), operation))).0.unwrap();
    if shape != Shape::Ready && dropped {
        drop_everywhere(&alive, || hooks.fire_void::<Told>(&payload));
        drop_everywhere(&alive, || hooks.fire_modifying::<Amended>(&payload));
        drop_everywhere(&alive, || hooks.fire_claiming::<Asked>(&payload));
        drop_everywhere(&alive, || hooks.fire_gating::<Passed>(own()));
        drop_everywhere(&alive, || hooks.run_flow::<Run, _>(own(), operation));
    }
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    hooks.unregister_plugin("audit");
}

/// All of it, with one method of the observer that panics: nothing unwinds.
#[track_caller]
fn contained(method: Option<Method>, shape: Shape) {
    let dropped = !cfg!(miri) || method == Some(Method::PollEnded);
    let all = || fire_everything(&hooks(method, shape), shape, dropped);
    assert!(catch_unwind(AssertUnwindSafe(all)).is_ok(), "{method:?}, {shape:?}");
}

/// The shapes of futures that differ in how they end; under Miri those that
/// are ready and those that wait.
fn shapes() -> impl Iterator<Item = Shape> {
    let same = |shape: &Shape| !matches!(shape, Shape::Aligned | Shape::Huge | Shape::Large);
    let brief = |shape: &Shape| !cfg!(miri) || matches!(shape, Shape::Ready | Shape::Suspends);
    SHAPES.into_iter().filter(same).filter(brief)
}

#[test]
fn l12_an_observer_that_panics_in_any_method() {
    quietly(|| {
        for method in METHODS {
            // Miri meets the others with the log that panics too.
            if !cfg!(miri) || method == Method::PollEnded {
                shapes().for_each(|shape| contained(Some(method), shape));
            }
        }
    });
}

#[test]
fn l12_a_log_subscriber_that_panics() {
    quietly(|| {
        let poisoned = tracing::Dispatch::new(Poisoned);
        tracing::dispatcher::with_default(&poisoned, || {
            shapes().for_each(|shape| contained(None, shape));
        });
        assert_ne!(EVENTS.get(), 0, "the subscriber was asked");
    });
}

#[test]
fn l12_an_observer_and_a_log_subscriber_that_panic() {
    quietly(|| {
        let poisoned = tracing::Dispatch::new(Poisoned);
        tracing::dispatcher::with_default(&poisoned, || {
            for method in METHODS {
                shapes().for_each(|shape| contained(Some(method), shape));
            }
        });
        assert_ne!(EVENTS.get(), 0, "the subscriber was asked");
    });
}

/// Values whose drop panics while the log is poisoned.
#[test]
fn l12_drops_that_panic_into_a_log_subscriber_that_panics() {
    struct Sharp(Arc<AtomicU32>);

    impl Drop for Sharp {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
            panic!("in the drop");
        }
    }

    quietly(|| {
        let poisoned = tracing::Dispatch::new(Poisoned);
        tracing::dispatcher::with_default(&poisoned, || {
            let dropped = Arc::new(AtomicU32::new(0));
            let all = || {
                let (hooks, payload) = (HookRegistry::new(), Payload::new());
                let state = (Sharp(Arc::clone(&dropped)), Arc::clone(&dropped));
                let waits = async |(_, dropped): &(Sharp, Arc<AtomicU32>), payload: &Payload| {
                    let _sharp = Sharp(Arc::clone(dropped));
                    behave(Shape::Suspends, payload).await;
                };
                hooks.register(on::<Told>().plugin("audit").handler_with(state, waits)).unwrap();
                finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
                let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
                assert!(crate::driving::poll_once(fire.as_mut()).is_pending());
                hooks.unregister_plugin("audit");
            };
            assert!(catch_unwind(AssertUnwindSafe(all)).is_ok());
            assert_eq!(dropped.load(Ordering::SeqCst), 3, "two futures and the state");
        });
    });
}
