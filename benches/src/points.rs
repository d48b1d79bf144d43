//! The points that are measured, and registries full of their handlers.

use std::future::poll_fn;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use hooks_runtime::{HookRegistry, Registration, Verdict, on};

hooks_runtime::hook_points! {
    /// Void.
    pub void Tell { n: u64 }
    /// Claiming; nobody claims.
    pub claiming Ask { n: u64 } -> u64;
    /// Modifying; nobody has anything to add.
    pub modifying Amend { n: u64 } -> { first: String, second: String, third: String }
    /// Gating; everybody lets it pass.
    pub gating Pass(u64);
}

/// How the handlers of a registry are written, and when they are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Plain functions.
    Sync,
    /// Async functions that are ready at their first poll.
    Ready,
    /// Async functions that wait once.
    Once,
    /// Async functions that are ready at once, with a future of half a
    /// kilobyte: more than a fire has room for.
    Large,
}

static SEEN: AtomicU64 = AtomicU64::new(0);

/// What every handler and every baseline does.
#[inline]
pub(crate) fn work(n: u64) {
    SEEN.store(black_box(n), Ordering::Relaxed);
}

/// Waits once: the task is woken at once, and polled again.
pub(crate) async fn once() {
    let mut waited = false;
    poll_fn(|task| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Keeps half a kilobyte across an await that does not wait.
pub(crate) async fn large(n: u64) {
    let room = [n; 64];
    std::future::ready(()).await;
    black_box(&room);
}

fn registry(count: usize, one: impl Fn() -> Registration) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register((0..count).map(|_| one())).expect("they are registered");
    hooks
}

/// A registry with handlers of [`Tell`].
pub(crate) fn tellers(count: usize, form: Form) -> HookRegistry {
    registry(count, || match form {
        Form::Sync => on::<Tell>().handler(|p: &TellPayload| work(p.n)),
        Form::Ready => on::<Tell>().handler(async |p: &TellPayload| work(p.n)),
        Form::Once => on::<Tell>().handler(async |p: &TellPayload| {
            once().await;
            work(p.n);
        }),
        Form::Large => on::<Tell>().handler(async |p: &TellPayload| {
            large(p.n).await;
            work(p.n);
        }),
    })
}

/// A registry with handlers of [`Ask`].
pub(crate) fn askers(count: usize, form: Form) -> HookRegistry {
    registry(count, || match form {
        Form::Sync => on::<Ask>().handler(|p: &AskPayload| -> Option<u64> {
            work(p.n);
            None
        }),
        Form::Ready => on::<Ask>().handler(async |p: &AskPayload| -> Option<u64> {
            work(p.n);
            None
        }),
        Form::Once => on::<Ask>().handler(async |p: &AskPayload| -> Option<u64> {
            once().await;
            work(p.n);
            None
        }),
        Form::Large => on::<Ask>().handler(async |p: &AskPayload| -> Option<u64> {
            large(p.n).await;
            work(p.n);
            None
        }),
    })
}

/// A registry with handlers of [`Amend`].
pub(crate) fn amenders(count: usize, form: Form) -> HookRegistry {
    registry(count, || match form {
        Form::Sync => on::<Amend>().handler(|p: &AmendPayload| {
            work(p.n);
            AmendResult::default()
        }),
        Form::Ready => on::<Amend>().handler(async |p: &AmendPayload| {
            work(p.n);
            AmendResult::default()
        }),
        Form::Once => on::<Amend>().handler(async |p: &AmendPayload| {
            once().await;
            work(p.n);
            AmendResult::default()
        }),
        Form::Large => on::<Amend>().handler(async |p: &AmendPayload| {
            large(p.n).await;
            work(p.n);
            AmendResult::default()
        }),
    })
}

/// A registry with rewriters of [`Pass`].
pub(crate) fn passers(count: usize, form: Form) -> HookRegistry {
    registry(count, || match form {
        Form::Sync => on::<Pass>().handler(|n: &u64| -> Verdict<u64> {
            work(*n);
            Verdict::Pass
        }),
        Form::Ready => on::<Pass>().handler(async |n: &u64| -> Verdict<u64> {
            work(*n);
            Verdict::Pass
        }),
        Form::Once => on::<Pass>().handler(async |n: &u64| -> Verdict<u64> {
            once().await;
            work(*n);
            Verdict::Pass
        }),
        Form::Large => on::<Pass>().handler(async |n: &u64| -> Verdict<u64> {
            large(*n).await;
            work(*n);
            Verdict::Pass
        }),
    })
}

/// A handler without a registry.
type Boxed<P> = Box<dyn Fn(&P)>;

/// The baseline: a loop over these.
pub(crate) fn boxed_tellers(count: usize) -> Vec<Boxed<TellPayload>> {
    (0..count).map(|_| Box::new(|p: &TellPayload| work(p.n)) as _).collect()
}
