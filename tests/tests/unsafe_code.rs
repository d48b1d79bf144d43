//! Walks every path of the unsafe code, for Miri: futures that are ready,
//! suspended, cancelled, panicking, zero-sized, over-aligned and oversized, in
//! every model; storage that is reused; lists that change under a fire.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

use hooks_runtime::{
    BeforeExecute, Claim, FlowContext, Gate, HookContext, HookRegistry, Verdict, hook_points, on,
};

hook_points! {
    pub void Told(Payload);
    pub modifying Amended(Payload) -> { first: String, second: String }
    pub claiming Asked(Payload) -> String;
    pub gating Passed(Payload);
    pub flow Run(Payload) -> String;
}

/// What is borrowed by every handler; counts the futures that are alive.
#[derive(Debug, Default)]
pub struct Payload {
    text: String,
    alive: Arc<AtomicU32>,
}

impl Payload {
    fn new() -> Self {
        Self { text: "borrowed".to_owned(), alive: Arc::default() }
    }
}

/// In a future, says that it is alive.
struct Alive(Arc<AtomicU32>);

impl Alive {
    fn new(payload: &Payload) -> Self {
        payload.alive.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&payload.alive))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[repr(align(256))]
struct Aligned(u8);

/// How a handler's future behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Ready,
    Suspends,
    Aligned,
    Large,
    PanicsLate,
}

const SHAPES: [Shape; 5] =
    [Shape::Ready, Shape::Suspends, Shape::Aligned, Shape::Large, Shape::PanicsLate];

/// Pending once, having asked to be woken.
async fn pause() {
    let mut first = true;
    poll_fn(|task| {
        if std::mem::take(&mut first) {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

/// What all handlers do, whatever they return.
async fn behave(shape: Shape, payload: &Payload) -> String {
    let alive = Alive::new(payload);
    let borrowed = &payload.text;
    match shape {
        Shape::Ready => {}
        Shape::Suspends => pause().await,
        Shape::Aligned => {
            let aligned = Aligned(7);
            pause().await;
            assert_eq!(std::ptr::from_ref(&aligned).addr() % 256, 0);
            assert_eq!(aligned.0, 7);
        }
        Shape::Large => {
            let large = [3_u8; 2048];
            pause().await;
            assert!(large.iter().all(|byte| *byte == 3));
        }
        Shape::PanicsLate => {
            pause().await;
            panic!("late");
        }
    }
    drop(alive);
    borrowed.clone()
}

/// One handler of every shape at every point, with state and context; the
/// panicking ones only where they are passed over.
fn registered() -> HookRegistry {
    let hooks = HookRegistry::new();
    for shape in SHAPES {
        hooks
            .register([
                on::<Told>().handler_with(shape, async |shape: &Shape, payload: &Payload| {
                    behave(*shape, payload).await;
                }),
                on::<Amended>().handler_with(
                    shape,
                    async |shape: &Shape, payload: &Payload, cx: &HookContext| {
                        let before = cx.merged::<Amended>().is_some_and(|m| m.first.is_some());
                        let text = behave(*shape, payload).await;
                        let second = before.then(|| cx.handler().to_owned());
                        AmendedResult { first: Some(text), second }
                    },
                ),
                on::<Asked>().handler_with(shape, async |shape: &Shape, payload: &Payload| {
                    behave(*shape, payload).await;
                    None
                }),
            ])
            .unwrap();
        if shape == Shape::PanicsLate {
            continue;
        }
        hooks
            .register([
                on::<Passed>().handler_with(shape, async |shape: &Shape, payload: &Payload| {
                    let text = behave(*shape, payload).await + "+";
                    Verdict::Replace(Payload { text, alive: Arc::clone(&payload.alive) })
                }),
                on::<BeforeExecute<Run>>().handler_with(
                    shape,
                    async |shape: &Shape, flow: &mut FlowContext<Run>| {
                        let text = behave(*shape, flow.input().unwrap()).await;
                        flow.input_mut().unwrap().text = text + "+";
                    },
                ),
            ])
            .unwrap();
    }
    hooks
}

/// Polls to the end, and says how many polls that took.
fn finish<T>(mut fire: Pin<&mut impl Future<Output = T>>) -> (T, usize) {
    let mut polls = 0;
    loop {
        polls += 1;
        if let Poll::Ready(done) = fire.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return (done, polls);
        }
    }
}

/// Drops a fresh fire after every possible number of polls; nothing of it may
/// stay alive.
fn drop_everywhere<F: Future>(alive: &AtomicU32, fire: impl Fn() -> F) {
    let (_, polls) = finish(pin!(fire()));
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    for stop in 0..polls {
        let mut fire = Box::pin(fire());
        for _ in 0..stop {
            assert!(fire.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        drop(fire);
        assert_eq!(alive.load(Ordering::SeqCst), 0, "after {stop} of {polls} polls");
    }
}

fn quietly(test: impl FnOnce()) {
    std::panic::set_hook(Box::new(|_| {}));
    test();
}

#[test]
fn l25_void() {
    quietly(|| {
        let (hooks, payload) = (registered(), Payload::new());
        finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
        drop_everywhere(&payload.alive, || hooks.fire_void::<Told>(&payload));
    });
}

#[test]
fn l25_void_with_many_that_wait() {
    let (hooks, payload) = (HookRegistry::new(), Payload::new());
    for _ in 0..40 {
        hooks
            .register_void::<Told>(async |payload: &Payload| {
                behave(Shape::Suspends, payload).await;
            })
            .unwrap();
    }
    drop_everywhere(&payload.alive, || hooks.fire_void::<Told>(&payload));
}

#[test]
fn l08_modifying() {
    quietly(|| {
        let (hooks, payload) = (registered(), Payload::new());
        let (merged, _) = finish(pin!(hooks.fire_modifying::<Amended>(&payload)));
        let merged = merged.unwrap();
        assert_eq!(merged.first.as_deref(), Some("borrowed"));
        assert!(merged.second.is_some(), "the second handler saw what the first had set");
        drop_everywhere(&payload.alive, || hooks.fire_modifying::<Amended>(&payload));
    });
}

#[test]
fn l09_claiming() {
    quietly(|| {
        let (hooks, payload) = (registered(), Payload::new());
        let (claim, _) = finish(pin!(hooks.fire_claiming::<Asked>(&payload)));
        assert_eq!(claim.unwrap(), Claim::Unclaimed);
        drop_everywhere(&payload.alive, || hooks.fire_claiming::<Asked>(&payload));
    });
}

#[test]
fn l10_gating() {
    let hooks = registered();
    let alive = Arc::new(AtomicU32::new(0));
    let payload = || Payload { text: "in".to_owned(), alive: Arc::clone(&alive) };
    let (gate, _) = finish(pin!(hooks.fire_gating::<Passed>(payload())));
    let Gate::Passed(passed) = gate.unwrap() else { panic!("nobody rejects") };
    assert_eq!(passed.text, "in++++");
    drop_everywhere(&alive, || hooks.fire_gating::<Passed>(payload()));
}

#[test]
fn l11_flow() {
    let hooks = registered();
    let alive = Arc::new(AtomicU32::new(0));
    let run = || {
        let input = Payload { text: "in".to_owned(), alive: Arc::clone(&alive) };
        hooks.run_flow::<Run, _>(input, async |input| {
            pause().await;
            Ok::<_, std::io::Error>(input.text)
        })
    };
    assert_eq!(finish(pin!(run())).0.unwrap(), "in++++");
    drop_everywhere(&alive, run);
}

#[test]
fn l24_the_list_changes_while_a_fire_waits() {
    let (hooks, payload) = (HookRegistry::new(), Payload::new());
    let handle = hooks
        .register_claiming::<Asked>(async |payload: &Payload| {
            behave(Shape::Suspends, payload).await;
            None
        })
        .unwrap();
    hooks.register_claiming::<Asked>(async |p: &Payload| Some(p.text.clone())).unwrap();
    let mut fire = pin!(hooks.fire_claiming::<Asked>(&payload));
    assert!(fire.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    // The fire keeps its list alive: the handler, its state and its name.
    assert!(handle.unregister());
    for _ in 0..70 {
        hooks.register_claiming::<Asked>(async |_: &Payload| None).unwrap();
    }
    assert_eq!(finish(fire).0.unwrap(), Claim::Claimed("borrowed".to_owned()));
}

#[test]
fn l12_a_panic_while_a_future_is_dropped() {
    struct Sharp;
    impl Drop for Sharp {
        fn drop(&mut self) {
            panic!("in the drop");
        }
    }
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        hooks
            .register_void::<Told>(async |_: &Payload| {
                let _sharp = Sharp;
                pause().await;
            })
            .unwrap();
        let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
        assert!(fire.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(fire);
        finish(pin!(hooks.fire_void::<Told>(&payload))).0.unwrap();
    });
}
