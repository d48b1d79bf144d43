//! What the tests of this folder share.
#![allow(dead_code)]

pub mod events;
pub mod hostile;
pub mod naive_order;
pub mod recorder;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hooks_runtime::plugin::{DrainError, Removal};

/// Waits until nothing of what was removed is left.
pub async fn drained(removal: &Removal) -> Result<(), DrainError> {
    removal.await.into_result()
}

/// What happened, in the order in which it happened.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    /// What was noted since the last look.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// A synchronous void handler that notes `what`.
    pub fn note<P>(&self, what: &'static str) -> impl Fn(&P) + Send + Sync + 'static {
        let log = self.clone();
        move |_| log.push(what)
    }

    /// A synchronous claiming handler that notes `what` and makes no claim.
    pub fn note_claim<P>(&self, what: &'static str) -> impl Fn(&P) -> Option<u32> + use<P> {
        let log = self.clone();
        move |_| {
            log.push(what);
            None
        }
    }
}

/// Counts up when it is dropped.
#[derive(Clone, Debug, Default)]
pub struct Count(Arc<AtomicUsize>);

impl Count {
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// A value that counts once when it goes.
    pub fn on_drop(&self) -> CountsDrop {
        CountsDrop(self.clone())
    }
}

#[derive(Debug)]
pub struct CountsDrop(Count);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// Runs a closure when it is dropped.
pub struct OnDrop<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Polls once, with a waker that does nothing.
pub fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The future's output, or a failed test where it would hang. Under paused time
/// the limit passes as soon as nothing else can happen.
#[track_caller]
pub fn soon<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let asked = std::panic::Location::caller();
    async move {
        let limited = tokio::time::timeout(Duration::from_secs(3600), future).await;
        limited.unwrap_or_else(|_| panic!("what is awaited at {asked} never ends"))
    }
}

/// From here on panics with these texts, or with none, are not printed: the
/// test brings them about.
pub fn keep_quiet(planned: &'static [&'static str]) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let payload = panic.payload();
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            if text.is_some_and(|text| !planned.contains(&text)) {
                loud(panic);
            }
        }));
    });
}

/// Panics when it is dropped, if it is sharp; then it is not sharp any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Spiky {
    pub sharp: bool,
}

impl Drop for Spiky {
    fn drop(&mut self) {
        if std::mem::take(&mut self.sharp) {
            panic!("spiky to the end");
        }
    }
}

impl std::fmt::Display for Spiky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("spiky")
    }
}

impl std::error::Error for Spiky {}
