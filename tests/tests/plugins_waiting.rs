//! What the removal of a plugin waits for (L19): its own calls, and no others.

mod support;

use std::future::Future;
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::plugin::DrainOutcome;
use hooks_runtime::{Claim, HookRegistry, hook_handlers, hook_points, on};
use support::{Log, poll_once};
use tokio::sync::{Notify, oneshot};

hook_points! {
    /// The bell rings.
    pub void Knock { n: u32 }
    /// Who shows the way.
    pub claiming Guide { n: u32 } -> u32;
}

const KNOCK: KnockPayload = KnockPayload { n: 1 };
const GUIDE: GuidePayload = GuidePayload { n: 1 };

/// The plugin that leaves: it waits once, then notes who was called.
struct Guest {
    gate: Arc<Notify>,
    log: Log,
}

fn guest(gate: &Arc<Notify>, log: &Log) -> Guest {
    Guest { gate: Arc::clone(gate), log: log.clone() }
}

#[hook_handlers(plugin = "guest")]
impl Guest {
    #[hook_handler(Knock)]
    async fn knocks(&self, _: &KnockPayload) {
        self.gate.notified().await;
    }

    #[hook_handler(Guide)]
    async fn guides(&self, _: &GuidePayload) -> Option<u32> {
        self.gate.notified().await;
        self.log.push("guides");
        None
    }

    #[hook_handler(Guide)]
    fn follows(&self, _: &GuidePayload) -> Option<u32> {
        self.log.push("follows");
        None
    }
}

#[tokio::test(start_paused = true)]
async fn l19_a_deadline_that_passes_names_the_handlers_that_still_run() {
    let (hooks, gate, log) = (HookRegistry::new(), Arc::new(Notify::new()), Log::new());
    let installed = hooks.install(guest(&gate, &log)).unwrap();
    let mut knocking = Box::pin(hooks.fire_void::<Knock>(&KNOCK));
    let mut guiding = Box::pin(hooks.fire_claiming::<Guide>(&GUIDE));
    assert!(poll_once(guiding.as_mut()).is_pending());
    assert!(poll_once(knocking.as_mut()).is_pending());
    let since = tokio::time::Instant::now();
    let error = installed.uninstall().within(Duration::from_secs(90)).await.unwrap_err();
    assert_eq!(since.elapsed(), Duration::from_secs(90));
    // In the order of their registration, not in that of the fires.
    let text = "plugin `guest` has handlers running after 90s: knocks, guides; wait again, or \
                longer";
    assert_eq!(error.to_string(), text);
    // It is gone all the same: the fire under way starts no more of it.
    assert_eq!(hooks.handlers().len(), 0);
    gate.notify_waiters();
    knocking.await.unwrap();
    assert_eq!(guiding.await.unwrap(), Claim::Unclaimed);
    assert_eq!(log.take(), ["guides"]);
}

#[tokio::test]
async fn l19_a_plugin_that_does_not_run_is_not_waited_for() {
    let (hooks, gate) = (HookRegistry::new(), Arc::new(Notify::new()));
    let installed = hooks.install(guest(&gate, &Log::new())).unwrap();
    gate.notify_one();
    hooks.fire_void::<Knock>(&KNOCK).await.unwrap();
    let removal = installed.uninstall();
    let mut leaving = Box::pin(removal.within(Duration::ZERO));
    assert_eq!(poll_once(leaving.as_mut()), Poll::Ready(Ok(())));
    // Nor is one whose registry is gone.
    let installed = hooks.install(guest(&gate, &Log::new())).unwrap();
    drop(hooks);
    installed.uninstall().await.into_result().unwrap();
}

#[tokio::test]
async fn l19_a_fire_that_is_dropped_ends_its_handlers() {
    let hooks = HookRegistry::new();
    let installed = hooks.install(guest(&Arc::default(), &Log::new())).unwrap();
    let mut fire = Box::pin(hooks.fire_claiming::<Guide>(&GUIDE));
    assert!(poll_once(fire.as_mut()).is_pending());
    let leaving = tokio::spawn(installed.uninstall().into_future());
    tokio::task::yield_now().await;
    assert!(!leaving.is_finished());
    drop(fire);
    leaving.await.unwrap().into_result().unwrap();
}

/// A fire under way goes on with a version that was replaced, until that
/// version is uninstalled: what was waited for must not start again.
#[tokio::test]
async fn l19_a_replaced_version_that_is_uninstalled_starts_nothing_more() {
    let (hooks, gate, log) = (HookRegistry::new(), Arc::new(Notify::new()), Log::new());
    let first = hooks.install(guest(&gate, &log)).unwrap();
    let mut fire = Box::pin(hooks.fire_claiming::<Guide>(&GUIDE));
    assert!(poll_once(fire.as_mut()).is_pending());
    let second = hooks.install_or_replace(guest(&gate, &log)).unwrap();
    let mut leaving = first.uninstall().into_future();
    assert!(poll_once(leaving.as_mut()).is_pending());
    gate.notify_one();
    assert_eq!(fire.await.unwrap(), Claim::Unclaimed);
    assert_eq!(log.take(), ["guides"]);
    leaving.await.into_result().unwrap();
    // The version that took its place is untouched.
    gate.notify_one();
    let _ = hooks.fire_claiming::<Guide>(&GUIDE).await.unwrap();
    assert_eq!(log.take(), ["guides", "follows"]);
    second.uninstall().await.into_result().unwrap();
}

/// A version leaves, a second comes and is replaced by a third while the first
/// still runs: what becomes of the wait for the first.
#[tokio::test(start_paused = true)]
async fn l19_a_wait_is_not_lost_when_the_plugin_comes_back_and_is_replaced() {
    let hooks = HookRegistry::new();
    let gates: [Arc<Notify>; 3] = Default::default();
    let version = |index: usize| guest(&gates[index], &Log::new());
    let first = hooks.install(version(0)).unwrap();
    let mut fire_of_first = Box::pin(hooks.fire_void::<Knock>(&KNOCK));
    assert!(poll_once(fire_of_first.as_mut()).is_pending());
    let leaving = tokio::spawn(first.uninstall().into_future());
    tokio::task::yield_now().await;
    let _second = hooks.install(version(1)).unwrap();
    let mut fire_of_second = Box::pin(hooks.fire_void::<Knock>(&KNOCK));
    assert!(poll_once(fire_of_second.as_mut()).is_pending());
    let _third = hooks.install_or_replace(version(2)).unwrap();

    gates[0].notify_one();
    fire_of_first.await.unwrap();
    // Nothing of the first runs any more. Time passes only when all is idle.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let ended_with_the_first = leaving.is_finished();
    gates[1].notify_one();
    fire_of_second.await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(leaving.is_finished(), "nothing runs at all, and it still waits");
    assert!(ended_with_the_first, "it waited for a version that came after it");
    leaving.await.unwrap().into_result().unwrap();
}

#[tokio::test]
async fn l19_a_neighbour_that_waits_holds_no_other_up() {
    let (hooks, gate) = (HookRegistry::new(), Arc::new(Notify::new()));
    let (release, released) = oneshot::channel::<()>();
    let released = Mutex::new(Some(released));
    async fn waits(released: &Mutex<Option<oneshot::Receiver<()>>>, _: &KnockPayload) {
        let released = released.lock().unwrap().take().unwrap();
        released.await.unwrap();
    }
    hooks.register(on::<Knock>().priority(-1).handler_with(released, waits)).unwrap();
    let guest = hooks.install(guest(&gate, &Log::new())).unwrap();
    let mut firing = Box::pin(hooks.fire_void::<Knock>(&KNOCK));
    assert!(poll_once(firing.as_mut()).is_pending());
    let mut leaving = guest.uninstall().into_future();
    assert!(poll_once(leaving.as_mut()).is_pending(), "it runs itself");
    gate.notify_one();
    assert!(poll_once(firing.as_mut()).is_pending(), "the neighbour still waits");
    assert_eq!(poll_once(leaving.as_mut()).map(DrainOutcome::into_result), Poll::Ready(Ok(())));
    release.send(()).unwrap();
    firing.await.unwrap();
}

#[tokio::test]
async fn l19_nor_does_one_that_comes_after_it_in_a_sequence() {
    let (hooks, gate) = (HookRegistry::new(), Arc::new(Notify::new()));
    let theirs = Arc::new(Notify::new());
    async fn waits(gate: &Arc<Notify>, _: &GuidePayload) -> Option<u32> {
        gate.notified().await;
        Some(2)
    }
    let neighbour = on::<Guide>().priority(9).handler_with(Arc::clone(&theirs), waits);
    hooks.register(neighbour).unwrap();
    let guest = hooks.install(guest(&gate, &Log::new())).unwrap();
    gate.notify_one();
    let mut firing = Box::pin(hooks.fire_claiming::<Guide>(&GUIDE));
    assert!(poll_once(firing.as_mut()).is_pending(), "the neighbour waits");
    assert_eq!(
        poll_once(guest.uninstall().into_future().as_mut()).map(DrainOutcome::into_result),
        Poll::Ready(Ok(()))
    );
    theirs.notify_one();
    assert_eq!(firing.await.unwrap().claimed(), Some(2));
}

/// A neighbour that waits once, says that it is here, then blocks its thread
/// until it hears from the test.
struct Blocker {
    first: Arc<Notify>,
    here: mpsc::Sender<()>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Blocker {
    async fn block(&self) {
        self.first.notified().await;
        self.here.send(()).unwrap();
        self.go.lock().unwrap().recv().unwrap();
    }
}

/// The test's side of a blocker.
struct Other {
    first: Arc<Notify>,
    is_here: mpsc::Receiver<()>,
    go: mpsc::Sender<()>,
}

fn blocker() -> (Blocker, Other) {
    let first = Arc::new(Notify::new());
    let (here, is_here) = mpsc::channel();
    let (go, may_go) = mpsc::channel();
    let blocker = Blocker { first: Arc::clone(&first), here, go: Mutex::new(may_go) };
    (blocker, Other { first, is_here, go })
}

/// Polls `firing` to its end on another thread and, while the neighbour blocks
/// that thread, asks the guest to leave.
fn leaves_beside(
    hooks: &HookRegistry,
    guest: hooks_runtime::plugin::Installed,
    other: &Other,
    firing: impl Future + Send,
    unblocked: impl FnOnce(),
) {
    std::thread::scope(|threads| {
        threads.spawn(|| {
            block_on(firing);
        });
        other.is_here.recv().unwrap();
        let left = poll_once(guest.uninstall().into_future().as_mut());
        let gone = hooks.unregister_plugin("guest").removed() == 0;
        // Before the verdict: a thread that stays blocked would hang the test.
        other.go.send(()).unwrap();
        unblocked();
        assert_eq!(left.map(DrainOutcome::into_result), Poll::Ready(Ok(())));
        assert!(gone);
    });
}

/// In a void fire, blocked in the poll that starts it or in a later one. A fire
/// polls many that wait in another way than few, hence the idlers.
#[test]
fn l19_a_neighbour_that_blocks_its_thread_holds_no_other_up() {
    async fn blocks(blocker: &Blocker, _: &KnockPayload) {
        blocker.block().await;
    }
    async fn idles(gate: &Arc<Notify>, _: &KnockPayload) {
        gate.notified().await;
    }
    for (in_first_poll, idlers) in [(true, 0), (false, 0), (true, 40), (false, 40)] {
        let (hooks, gate) = (HookRegistry::new(), Arc::new(Notify::new()));
        let idling = Arc::new(Notify::new());
        let guest = hooks.install(guest(&gate, &Log::new())).unwrap();
        let (blocker, other) = blocker();
        hooks.register(on::<Knock>().priority(9).handler_with(blocker, blocks)).unwrap();
        let idlers = (0..idlers).map(|_| on::<Knock>().handler_with(Arc::clone(&idling), idles));
        hooks.register(idlers).unwrap();
        let mut firing = Box::pin(hooks.fire_void::<Knock>(&KNOCK));
        if !in_first_poll {
            assert!(poll_once(firing.as_mut()).is_pending());
        }
        // Both may go on, and do so in one poll: ours first, as it stands first.
        gate.notify_one();
        other.first.notify_one();
        leaves_beside(&hooks, guest, &other, firing, || idling.notify_waiters());
    }
}

#[test]
fn l19_nor_does_one_that_blocks_after_it_in_a_sequence() {
    async fn blocks(blocker: &Blocker, _: &GuidePayload) -> Option<u32> {
        blocker.block().await;
        None
    }
    for in_first_poll in [true, false] {
        let (hooks, gate) = (HookRegistry::new(), Arc::new(Notify::new()));
        let guest = hooks.install(guest(&gate, &Log::new())).unwrap();
        let (blocker, other) = blocker();
        hooks.register(on::<Guide>().priority(9).handler_with(blocker, blocks)).unwrap();
        let mut firing = Box::pin(hooks.fire_claiming::<Guide>(&GUIDE));
        if !in_first_poll {
            assert!(poll_once(firing.as_mut()).is_pending());
        }
        gate.notify_one();
        other.first.notify_one();
        leaves_beside(&hooks, guest, &other, firing, || ());
    }
}
