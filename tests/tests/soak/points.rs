//! The points of the load, and the handlers that stay at them throughout.

use std::future::{pending, poll_fn};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Poll;

use hooks_runtime::{
    AfterExecute, BeforeExecute, Finally, FlowContext, HookRegistry, OnError, Verdict, hook_points,
    on,
};

hook_points! {
    pub void Told(Work);
    pub modifying Amended(Work) -> { first: u64, second: u64 }
    pub claiming Asked(Work) -> u64;
    #[hook(on_failure = "open")]
    pub gating Passed(Work);
    pub flow Run(Work) -> u64;
    /// Its handlers never end by themselves.
    #[hook(timeout = "1ms")]
    pub void Stuck(Work);
}

/// What a fire is about: the number decides how its handlers behave.
#[derive(Clone, Copy, Debug)]
pub struct Work(pub u64);

/// What a handler counts of itself.
#[derive(Debug, Default)]
pub struct Counts {
    pub calls: AtomicU64,
    pub failures: AtomicU64,
}

impl Counts {
    /// One call: most are ready at once, some suspend, a few fail.
    pub async fn behave(&self, Work(n): Work) -> io::Result<u64> {
        self.calls.fetch_add(1, Relaxed);
        if n.is_multiple_of(3) {
            pause().await;
        }
        if n.is_multiple_of(17) {
            self.failures.fetch_add(1, Relaxed);
            return Err(io::Error::other("an error"));
        }
        if n.is_multiple_of(29) {
            self.failures.fetch_add(1, Relaxed);
            panic!("a panic");
        }
        Ok(n)
    }
}

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

/// The handlers that stay, by name, with their own counts.
pub type Staying = Vec<(&'static str, Arc<Counts>)>;

/// Registers one handler at every point and stage.
pub fn register(hooks: &HookRegistry) -> Staying {
    let mut staying = Staying::new();
    let mut counts = |name| {
        let counts = Arc::<Counts>::default();
        staying.push((name, Arc::clone(&counts)));
        counts
    };
    macro_rules! stage {
        ($stage:ident, $name:literal) => {
            on::<$stage<Run>>().name($name).handler_with(
                counts($name),
                async |counts: &Arc<Counts>, flow: &mut FlowContext<Run>| {
                    let work = flow.input().copied().unwrap_or(Work(1));
                    counts.behave(work).await.map(drop)
                },
            )
        };
    }
    hooks
        .register([
            on::<Told>()
                .name("told")
                .handler_with(counts("told"), async |counts: &Arc<Counts>, work: &Work| {
                    counts.behave(*work).await.map(drop)
                }),
            on::<Amended>().name("amended").handler_with(
                counts("amended"),
                async |counts: &Arc<Counts>, work: &Work| {
                    let n = counts.behave(*work).await?;
                    Ok::<_, io::Error>(AmendedResult { first: Some(n), second: None })
                },
            ),
            on::<Asked>().name("asked").handler_with(
                counts("asked"),
                async |counts: &Arc<Counts>, work: &Work| {
                    counts.behave(*work).await.map(|n| n.is_multiple_of(2).then_some(n))
                },
            ),
            on::<Passed>().name("passed").handler_with(
                counts("passed"),
                async |counts: &Arc<Counts>, work: &Work| {
                    counts.behave(*work).await.map(|n| match n % 3 {
                        0 => Verdict::Pass,
                        1 => Verdict::Replace(Work(n + 1)),
                        _ => Verdict::reject("not today"),
                    })
                },
            ),
            stage!(BeforeExecute, "before"),
            stage!(AfterExecute, "after"),
            stage!(OnError, "failed"),
            stage!(Finally, "finally"),
            on::<Stuck>().name("stuck").handler_with(
                counts("stuck"),
                async |counts: &Arc<Counts>, _: &Work| {
                    counts.calls.fetch_add(1, Relaxed);
                    counts.failures.fetch_add(1, Relaxed);
                    pending::<()>().await;
                },
            ),
        ])
        .unwrap();
    staying
}
