//! What does a void fire cost whose handlers are woken one by one, each by an
//! event of its own?

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use futures::task::AtomicWaker;
use hooks_runtime::{HookRegistry, on};

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::BoxFuture;
use crate::peers::names::{JOIN_ALL, READY, UNORDERED};
use crate::points::{TELL, Tell, TellPayload, work};
use crate::questions::{FINE, handlers};

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    [8, 64, 1_024].map(|count| table(effort, count)).into()
}

/// The answer for so many handlers.
pub(crate) fn table(effort: Effort, count: usize) -> Table {
    let bells: &Vec<_> = &(0..count).map(|_| Arc::new(Bell::default())).collect();
    let hooks = HookRegistry::new();
    let waiting = |bell: &Arc<Bell>| on::<Tell>().handler_with(Arc::clone(bell), answer);
    hooks.register(bells.iter().map(waiting)).expect("they are registered");
    let boxed = |bell| -> BoxFuture<'_, ()> { Box::pin(answer(bell, black_box(&TELL))) };
    let contenders = vec![
        one_by_one(UNORDERED, bells, async || {
            let mut all: FuturesUnordered<_> = bells.iter().map(boxed).collect();
            while all.next().await.is_some() {}
        }),
        one_by_one(JOIN_ALL, bells, async || {
            join_all(bells.iter().map(boxed)).await;
        }),
        one_by_one(READY, bells, async || {
            hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
    ];
    let question = format!("void, woken one by one, {}", handlers(count));
    Table::new(question, UNORDERED, measure(effort, contenders))
}

/// What one handler waits for.
#[derive(Default)]
struct Bell {
    rung: AtomicBool,
    waiting: AtomicWaker,
}

impl Bell {
    fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.waiting.wake();
    }

    /// Waits until it is rung, and takes that ring.
    async fn rung(&self) {
        poll_fn(|task| {
            if self.rung.load(Ordering::Acquire) {
                self.rung.store(false, Ordering::Relaxed);
                return Poll::Ready(());
            }
            self.waiting.register(task.waker());
            Poll::Pending
        })
        .await;
    }
}

/// The handler.
async fn answer(bell: &Arc<Bell>, p: &TellPayload) {
    bell.rung().await;
    work(p.n);
}

/// Whether the task was woken.
#[derive(Default)]
struct Task(AtomicBool);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// A contender whose task is polled whenever it was woken, while one bell after
/// another is rung.
fn one_by_one<'a>(
    name: &'static str,
    bells: &'a [Arc<Bell>],
    mut fire: impl AsyncFnMut() + 'a,
) -> Contender<'a> {
    let woken = Arc::new(Task::default());
    let waker = Waker::from(Arc::clone(&woken));
    Contender::batch(name, move |times| {
        let mut task = Context::from_waker(&waker);
        for _ in 0..times {
            let mut fire = pin!(fire());
            let mut state = fire.as_mut().poll(&mut task);
            for bell in bells {
                woken.0.store(false, Ordering::Relaxed);
                bell.ring();
                while state.is_pending() && woken.0.swap(false, Ordering::AcqRel) {
                    state = fire.as_mut().poll(&mut task);
                }
            }
            assert!(state.is_ready(), "{name}: every bell was rung");
        }
    })
}
