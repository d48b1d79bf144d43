//! Fires that are dropped half way (L25), and fires inside fires (L26).

mod support;

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::handler::On;
use hooks_runtime::plugin::DrainOutcome;
use hooks_runtime::{
    Claim, FireError, Gate, HookContext, HookPoint, HookRegistry, Registration, Verdict,
    hook_points, on,
};
use support::{Count, CountsDrop, poll_once, soon};

hook_points! {
    /// A wave.
    pub void Wave { n: u32 }
    /// Its echo.
    pub void Echo { n: u32 }
    /// Its colour.
    pub modifying Shape { n: u32 } -> { colour: u32 }
    /// Who catches it.
    pub claiming Catch { n: u32 } -> u32;
    /// Whether it may break.
    pub gating Break(u32);
}

const WAVE: WavePayload = WavePayload { n: 1 };
const ECHO: EchoPayload = EchoPayload { n: 1 };
const SHAPE: ShapePayload = ShapePayload { n: 1 };
const CATCH: CatchPayload = CatchPayload { n: 1 };

/// Gives way once, and asks to be polled again.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|task| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// What handlers have begun, and what has come to an end.
#[derive(Clone, Default)]
struct Lives {
    begun: Count,
    ended: Count,
}

impl Lives {
    async fn live(&self) {
        self.begun.add();
        let _life = self.ended.on_drop();
        for _ in 0..3 {
            yield_once().await;
        }
    }
}

async fn at_wave(lives: &Lives, _: &WavePayload) {
    lives.live().await;
}

async fn at_shape(lives: &Lives, _: &ShapePayload) -> Option<ShapeResult> {
    lives.live().await;
    None
}

async fn at_catch(lives: &Lives, _: &CatchPayload) -> Option<u32> {
    lives.live().await;
    None
}

async fn at_break(lives: &Lives, _: &u32) -> Verdict<u32> {
    lives.live().await;
    Verdict::Pass
}

/// For every `k`: fires, polls `k` times, drops. Until a fire comes to its end.
fn dropped_at_every_step<P: HookPoint>(
    handlers: usize,
    handler: impl Fn(On<P>, Lives) -> Registration,
    fire: impl AsyncFn(&HookRegistry),
) {
    for k in 0.. {
        let (hooks, lives) = (HookRegistry::new(), Lives::default());
        for index in 0..handlers {
            let options = on::<P>().plugin("sea").timeout(Duration::from_secs(3600));
            // Half of them with a limit, so that dropped timers are covered too.
            let options = if index % 2 == 0 { options } else { on::<P>().plugin("sea") };
            hooks.register(handler(options, lives.clone())).unwrap();
        }
        let mut fired = Box::pin(fire(&hooks));
        let ended = (0..k).any(|_| poll_once(fired.as_mut()).is_ready());
        let begun = lives.begun.get();
        drop(fired);
        assert_eq!(lives.begun.get(), begun, "k = {k}: no call starts in the drop");
        assert_eq!(lives.ended.get(), begun, "k = {k}: every future is gone");
        let removal = hooks.unregister_plugin("sea");
        assert_eq!(removal.removed(), handlers);
        assert_eq!(removal.running(), [""; 0], "k = {k}: every count is back");
        let drained = poll_once((&removal).into_future().as_mut());
        assert_eq!(drained.map(DrainOutcome::into_result), Poll::Ready(Ok(())));
        // The registry is as good as new.
        hooks.register(handler(on::<P>(), lives.clone())).unwrap();
        block_on(fire(&hooks));
        assert_eq!(lives.ended.get(), begun + 1);
        if ended {
            assert_eq!(begun, handlers);
            return;
        }
    }
}

#[tokio::test]
async fn l25_void_fires_can_be_dropped_at_every_step() {
    // A few are polled together; many are polled as they wake.
    for handlers in [1, 4, 40] {
        dropped_at_every_step::<Wave>(
            handlers,
            |on, lives| on.handler_with(lives, at_wave),
            async |hooks| hooks.fire_void::<Wave>(&WAVE).await.unwrap(),
        );
    }
}

#[tokio::test]
async fn l25_sequential_fires_can_be_dropped_at_every_step() {
    dropped_at_every_step::<Shape>(
        3,
        |on, lives| on.handler_with(lives, at_shape),
        async |hooks| {
            let shape = hooks.fire_modifying::<Shape>(&SHAPE).await.unwrap();
            assert_eq!(shape.colour, None);
        },
    );
    dropped_at_every_step::<Catch>(
        3,
        |on, lives| on.handler_with(lives, at_catch),
        async |hooks| assert!(!hooks.fire_claiming::<Catch>(&CATCH).await.unwrap().is_claimed()),
    );
    dropped_at_every_step::<Break>(
        3,
        |on, lives| on.handler_with(lives, at_break),
        async |hooks| assert_eq!(hooks.fire_gating::<Break>(7).await.unwrap(), Gate::Passed(7)),
    );
}

#[tokio::test(start_paused = true)]
async fn l25_a_dropped_fire_ends_the_wait_for_its_plugin() {
    let (hooks, lives) = (HookRegistry::new(), Lives::default());
    hooks.register(on::<Wave>().plugin("sea").handler_with(lives, at_wave)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Wave>(&WAVE));
    assert!(poll_once(fire.as_mut()).is_pending());
    let removal = hooks.unregister_plugin("sea");
    let waiting = tokio::spawn(async move { removal.await.into_result() });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    // The wait is polled only because the drop wakes it.
    drop(fire);
    soon(waiting).await.unwrap().unwrap();
}

/// Wave fires Echo and Echo fires Wave, until one is refused.
fn endless(hooks: &HookRegistry) -> Arc<Mutex<Option<FireError>>> {
    type Refused = Arc<Mutex<Option<FireError>>>;
    async fn wave(refused: &Refused, _: &WavePayload, cx: &HookContext) {
        yield_once().await;
        if let Err(error) = cx.hooks().fire_void::<Echo>(&ECHO).await {
            refused.lock().unwrap().replace(error);
        }
    }
    async fn echo(refused: &Refused, _: &EchoPayload, cx: &HookContext) {
        if let Err(error) = cx.hooks().fire_void::<Wave>(&WAVE).await {
            refused.lock().unwrap().replace(error);
        }
    }
    let refused: Refused = Arc::default();
    hooks
        .register([
            on::<Wave>().handler_with(Arc::clone(&refused), wave),
            on::<Echo>().handler_with(Arc::clone(&refused), echo),
        ])
        .unwrap();
    refused
}

#[tokio::test]
async fn l26_past_the_depth_the_error_prints_the_chain() {
    let hooks = HookRegistry::builder().max_depth(3).build();
    let refused = endless(&hooks);
    for _ in 0..2 {
        hooks.fire_void::<Wave>(&WAVE).await.unwrap();
        let error = refused.lock().unwrap().take().unwrap();
        let text = "fires are nested deeper than 3: wave > echo > wave > echo; end the \
                    recursion, or raise `max_depth` of the builder";
        assert_eq!(error.to_string(), text);
        assert!(matches!(error, FireError::Nesting(deep) if deep.limit == 3));
    }
}

#[tokio::test]
async fn l26_the_depth_is_32_unless_set_and_128_at_most() {
    for (hooks, limit) in [
        (HookRegistry::new(), 32),
        (HookRegistry::builder().max_depth(0).build(), 1),
        (HookRegistry::builder().max_depth(usize::MAX).build(), 128),
    ] {
        let refused = endless(&hooks);
        hooks.fire_void::<Wave>(&WAVE).await.unwrap();
        let chain: Vec<_> = ["wave", "echo"].into_iter().cycle().take(limit + 1).collect();
        let text = format!(
            "fires are nested deeper than {limit}: {}; end the recursion, or \
                            raise `max_depth` of the builder",
            chain.join(" > ")
        );
        assert_eq!(refused.lock().unwrap().take().unwrap().to_string(), text);
    }
}

#[tokio::test]
async fn l26_side_by_side_and_spawned_fires_are_not_nested() {
    let hooks = HookRegistry::builder().max_depth(1).build();
    hooks
        .register([
            on::<Wave>().handler(async |_: &WavePayload, cx: &HookContext| {
                yield_once().await;
                let hooks = cx.hooks().clone();
                tokio::spawn(async move { hooks.fire_void::<Echo>(&ECHO).await }).await.unwrap()
            }),
            on::<Echo>().handler(async |_: &EchoPayload| yield_once().await),
        ])
        .unwrap();
    let (one, two) =
        futures::join!(hooks.fire_void_reported::<Wave>(&WAVE), hooks.fire_void::<Echo>(&ECHO));
    two.unwrap();
    one.0.unwrap();
    assert_eq!(one.1.handlers()[0].status().to_string(), "ran");
}

/// Wakes another waker when the last of it is dropped.
#[derive(Default)]
struct Heir(Mutex<Option<Waker>>);

impl Wake for Heir {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Heir {
    fn drop(&mut self) {
        if let Some(waker) = self.0.get_mut().unwrap().take() {
            waker.wake();
        }
    }
}

/// More handlers than are polled all at once, so that each has its own waker.
const CROWD: u32 = 40;

#[test]
fn l24_no_lock_is_held_while_a_waker_is_dropped() {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (hooks, seen) = (HookRegistry::new(), Arc::new(Mutex::new(None)));
        let waits = async |seen: &Arc<Mutex<Option<Waker>>>, _: &WavePayload| {
            poll_fn(|task| {
                *seen.lock().unwrap() = Some(task.waker().clone());
                Poll::<()>::Pending
            })
            .await;
        };
        for _ in 0..CROWD {
            hooks.register(on::<Wave>().handler_with(Arc::clone(&seen), waits)).unwrap();
        }
        let mut fire = Box::pin(hooks.fire_void::<Wave>(&WAVE));
        let heir = Arc::new(Heir::default());
        let waker = Waker::from(Arc::clone(&heir));
        assert!(fire.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        *heir.0.lock().unwrap() = seen.lock().unwrap().clone();
        drop((waker, heir));
        assert!(poll_once(fire.as_mut()).is_pending());
        done.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(10)).expect("the second poll has ended");
}

/// Something whose drops are counted.
type Shell = Arc<CountsDrop>;

hook_points! {
    /// A shell is found.
    pub modifying Find(Count) -> { shell: Shell }
    /// A shell is handed on.
    pub gating Hand(Shell);
}

#[test]
fn l25_what_a_dropped_fire_had_so_far_is_dropped_once() {
    let (hooks, found, handed) = (HookRegistry::new(), Count::default(), Count::default());
    hooks
        .register([
            on::<Find>()
                .handler(|count: &Count| FindResult { shell: Some(Arc::new(count.on_drop())) }),
            on::<Find>().handler(async |_: &Count| {
                yield_once().await;
                None::<FindResult>
            }),
            on::<Hand>().handler(async |_: &Shell| {
                yield_once().await;
                Verdict::<Shell>::Pass
            }),
        ])
        .unwrap();
    for polls in 0..=2 {
        let mut find = Box::pin(hooks.fire_modifying::<Find>(&found));
        let mut hand = Box::pin(hooks.fire_gating::<Hand>(Arc::new(handed.on_drop())));
        for poll in 1..=polls {
            assert_eq!(poll_once(find.as_mut()).is_ready(), poll == 2);
            assert_eq!(poll_once(hand.as_mut()).is_ready(), poll == 2);
        }
        drop((find, hand));
        // Nothing was found before the first poll.
        assert_eq!((found.get(), handed.get()), (polls, polls + 1), "after {polls}");
    }
}

#[test]
fn l18_a_fire_that_waits_ends_as_it_began_when_all_handlers_have_left() {
    let hooks = HookRegistry::new();
    let handle = hooks
        .register(on::<Catch>().handler(async |_: &CatchPayload| {
            yield_once().await;
            Some(7)
        }))
        .unwrap();
    assert!(block_on(hooks.fire_claiming::<Catch>(&CATCH)).unwrap().is_claimed());
    let mut fire = Box::pin(hooks.fire_claiming::<Catch>(&CATCH));
    assert!(poll_once(fire.as_mut()).is_pending());
    handle.unregister();
    assert_eq!(poll_once(fire.as_mut()).map(Result::unwrap), Poll::Ready(Claim::Claimed(7)));
}
