//! The points, and how a handler's future can behave.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use hooks_runtime::hook_points;

hook_points! {
    pub void Told(Payload);
    pub modifying Amended(Payload) -> { first: String, second: String }
    pub claiming Asked(Payload) -> String;
    #[hook(on_failure = "open")]
    pub gating Passed(Payload);
    pub flow Run(Payload) -> String;
}

/// What is borrowed by every handler; counts the futures that are alive.
#[derive(Debug, Default)]
pub struct Payload {
    pub text: String,
    pub alive: Arc<AtomicU32>,
}

impl Payload {
    pub fn new() -> Self {
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

/// A future without a byte.
struct Empty;

impl Future for Empty {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

/// How a handler's future behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Ready,
    Empty,
    Suspends,
    Aligned,
    Huge,
    Large,
    PanicsAtOnce,
    PanicsLate,
}

/// In the order of registration: after the aligned one the storage must be
/// made anew, after the huge one it fits the large one as it is.
pub const SHAPES: [Shape; 8] = [
    Shape::Ready,
    Shape::Empty,
    Shape::Suspends,
    Shape::Aligned,
    Shape::Huge,
    Shape::Large,
    Shape::PanicsAtOnce,
    Shape::PanicsLate,
];

/// Pending once, having asked to be woken.
pub async fn pause() {
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

/// What all handlers do, whatever they return. The futures that are large or
/// aligned have functions of their own, so that only those are.
pub async fn behave(shape: Shape, payload: &Payload) -> String {
    let alive = Alive::new(payload);
    let borrowed = &payload.text;
    match shape {
        Shape::Suspends => pause().await,
        Shape::PanicsAtOnce => panic!("at once"),
        Shape::PanicsLate => {
            pause().await;
            panic!("late");
        }
        Shape::Empty => Empty.await,
        Shape::Ready | Shape::Aligned | Shape::Huge | Shape::Large => {}
    }
    drop(alive);
    borrowed.clone()
}

/// As [`behave`], in a future that is aligned to 256 bytes.
pub async fn aligned(payload: &Payload) -> String {
    let aligned = Aligned(7);
    let text = behave(Shape::Suspends, payload).await;
    assert_eq!(std::ptr::from_ref(&aligned).addr() % 256, 0);
    assert_eq!(aligned.0, 7);
    text
}

/// As [`behave`], in a future of more than `N` bytes.
pub async fn large<const N: usize>(payload: &Payload) -> String {
    let large = [3_u8; N];
    let text = behave(Shape::Suspends, payload).await;
    assert!(large.first() == Some(&3) && large.last() == Some(&3));
    text
}
