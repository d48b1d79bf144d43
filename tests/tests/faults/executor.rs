//! Where a fire is polled.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Who polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Executor {
    /// Tokio on this thread, its time paused.
    CurrentThread,
    /// Tokio on threads of its own.
    MultiThread,
    /// No runtime, and so no timer.
    None,
}

impl Executor {
    pub const ALL: [Self; 3] = [Self::CurrentThread, Self::MultiThread, Self::None];

    /// Runs a future to its end.
    pub fn run<T: Send + 'static>(self, future: impl Future<Output = T> + Send + 'static) -> T {
        match self.runtime() {
            None => futures::executor::block_on(future),
            Some(runtime) => {
                let spawned = runtime.spawn(future);
                runtime.block_on(spawned).expect("nothing unwinds out of a fire")
            }
        }
    }

    pub fn runtime(self) -> Option<tokio::runtime::Runtime> {
        let mut builder = match self {
            Self::CurrentThread => tokio::runtime::Builder::new_current_thread(),
            Self::MultiThread => tokio::runtime::Builder::new_multi_thread(),
            Self::None => return None,
        };
        builder.enable_all();
        if self == Self::CurrentThread {
            builder.start_paused(true);
        } else {
            builder.worker_threads(2);
        }
        Some(builder.build().unwrap())
    }
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CurrentThread => "tokio, one thread",
            Self::MultiThread => "tokio, many threads",
            Self::None => "no runtime",
        })
    }
}

/// Polls up to `times` times in a row.
pub async fn polled<T>(
    times: usize,
    mut future: Pin<&mut (impl Future<Output = T> + ?Sized)>,
) -> Option<T> {
    poll_fn(|task| {
        for _ in 0..times {
            if let Poll::Ready(output) = future.as_mut().poll(task) {
                return Poll::Ready(Some(output));
            }
        }
        Poll::Ready(None)
    })
    .await
}

/// Waits for one poll, and asks for it.
#[derive(Default)]
pub struct Once {
    waited: bool,
}

impl Future for Once {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        if self.waited {
            return Poll::Ready(());
        }
        self.waited = true;
        task.waker().wake_by_ref();
        Poll::Pending
    }
}
