//! Polling fires by hand.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

/// Polls once.
pub fn poll_once<F: Future + ?Sized>(fire: Pin<&mut F>) -> Poll<F::Output> {
    fire.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls to the end, and says how many polls that took.
pub fn finish<F: Future + ?Sized>(mut fire: Pin<&mut F>) -> (F::Output, usize) {
    let mut polls = 0;
    loop {
        polls += 1;
        if let Poll::Ready(done) = poll_once(fire.as_mut()) {
            return (done, polls);
        }
    }
}

/// Drops a fresh fire after every possible number of polls; nothing of it may
/// stay alive.
pub fn drop_everywhere<F: Future>(alive: &AtomicU32, fire: impl Fn() -> F) {
    let (_, polls) = finish(pin!(fire()));
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    for stop in 0..polls {
        let mut fire = Box::pin(fire());
        for _ in 0..stop {
            assert!(poll_once(fire.as_mut()).is_pending());
        }
        drop(fire);
        assert_eq!(alive.load(Ordering::SeqCst), 0, "after {stop} of {polls} polls");
    }
}

/// Keeps the panics of a test from the terminal.
pub fn quietly(test: impl FnOnce()) {
    std::panic::set_hook(Box::new(|_| {}));
    test();
}
