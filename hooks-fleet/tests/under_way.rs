//! Calls that end before their time, and what is known of them by then.

#![allow(unreachable_pub, reason = "points are public")]

mod support;

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hooks_fleet::carrier::{Carrier, CarrierError};
use hooks_fleet::wire::cancellation;
use hooks_fleet::{Fleet, LocalNetwork, RemoteFailure};
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, capturing, on};
use support::tamper::Tamper;
use support::*;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

struct Ended(UnboundedSender<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// A handler that never answers, and says when it begins and when it has ended.
fn waits() -> (HookRegistry, UnboundedReceiver<()>, UnboundedReceiver<()>) {
    let (began, has_begun) = mpsc::unbounded_channel();
    let (ended, has_ended) = mpsc::unbounded_channel();
    let hooks = HookRegistry::new();
    let waits = on::<Running>().name("waits");
    let waits = waits.handler(capturing(async move |_: &RunningPayload| {
        let _ended = Ended(ended);
        began.send(()).unwrap();
        std::future::pending::<()>().await;
        Verdict::<RunningPayload>::Pass
    }));
    hooks.register(waits).unwrap();
    (hooks, has_begun, has_ended)
}

/// L25, L37: a fire that is dropped as soon as it has asked: the cancellation may be there before
/// the handler is called, which it is not then.
#[tokio::test(start_paused = true)]
async fn l25_a_call_that_was_cancelled_before_it_began_does_not_begin() {
    let network = LocalNetwork::new();
    let (rules, mut has_begun, mut has_ended) = waits();
    let _serving = serve_running(&network, "policy", &rules).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    {
        let mut firing = pin!(hooks.fire_gating::<Running>(command("ls")));
        let is_ready = poll_fn(|cx| Poll::Ready(firing.as_mut().poll(cx).is_ready())).await;
        assert!(!is_ready);
    }
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(has_begun.try_recv().is_err(), "it was called");
    // What comes after it is called, whatever was cancelled, however often.
    for number in 0..5_000 {
        network.cancel("policy", &cancellation(&format!("none-{number}"), 1));
    }
    let firing = tokio::spawn(async move {
        hooks.fire_gating::<Running>(command("ls")).await.map(drop).map_err(drop)
    });
    has_begun.recv().await.unwrap();
    firing.abort();
    has_ended.recv().await.unwrap();
}

/// L37: where what is served is dropped, or does not end in the time that it has to leave,
/// nothing of it goes on, and who waits for an answer hears so at once.
#[tokio::test(start_paused = true)]
async fn l37_what_serves_no_more_has_no_calls_under_way() {
    for leaves in [false, true] {
        let network = LocalNetwork::new();
        let (rules, mut has_begun, mut has_ended) = waits();
        let serving = serve_running(&network, "policy", &rules).await;
        let hooks = HookRegistry::new();
        let _sharing = share_running(&network, "policy", &hooks).await;
        let firing = tokio::spawn(async move { hooks.fire_gating::<Running>(command("ls")).await });
        has_begun.recv().await.unwrap();
        let began = tokio::time::Instant::now();
        if leaves {
            assert!(!serving.leave(Duration::from_secs(1)).await);
        } else {
            drop(serving);
        }
        let failure = remote(firing.await.unwrap());
        assert_eq!(began.elapsed().as_secs(), u64::from(leaves));
        has_ended.recv().await.unwrap();
        let RemoteFailure::Failed { cause, message, .. } = &failure else { panic!("{failure}") };
        assert_eq!((&**cause, &**message), ("cancelled", "its process serves no more"));
    }
}

/// L20, L37: who observes calls hears of each once, also where its fire is dropped.
#[tokio::test]
async fn l20_a_call_that_is_dropped_has_an_end_too() {
    let network = LocalNetwork::new();
    let (rules, mut has_begun, mut has_ended) = waits();
    let _serving = serve_running(&network, "policy", &rules).await;
    let (hooks, log) = (HookRegistry::new(), Log::default());
    let heard = log.clone();
    let observed = options("agent").observe(move |call| {
        heard.push(format!("{} {} {}", call.handler, call.attempt, call.outcome));
    });
    let fleet = Fleet::local(&network, observed).unwrap();
    let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let firing = tokio::spawn(async move {
        hooks.fire_gating::<Running>(command("ls")).await.map(drop).map_err(drop)
    });
    has_begun.recv().await.unwrap();
    assert_eq!(log.take(), [""; 0]);
    firing.abort();
    has_ended.recv().await.unwrap();
    assert_eq!(log.take(), ["waits 1 dropped"]);
}

/// Breaks wherever it is touched.
struct Breaks;

impl fmt::Display for Breaks {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("it breaks while it is shown")
    }
}

impl fmt::Debug for Breaks {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("it breaks while it is shown")
    }
}

impl std::error::Error for Breaks {}

impl Drop for Breaks {
    fn drop(&mut self) {
        panic!("it breaks while it ends")
    }
}

/// L12, L37: an error of a handler that breaks when it is shown and when it is dropped is a
/// failure as any other, which the process that fires hears of at once.
#[tokio::test(start_paused = true)]
async fn l12_an_error_that_breaks_is_a_failure_as_any_other() {
    let network = LocalNetwork::new();
    let rules = HookRegistry::new();
    let breaks = |_: &RunningPayload| -> Result<Judgement, Breaks> { Err(Breaks) };
    rules.register(on::<Running>().name("rules").guard(breaks)).unwrap();
    let _serving = serve_running(&network, "policy", &rules).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    let RemoteFailure::Failed { cause, message, .. } = &failure else { panic!("{failure}") };
    assert_eq!(cause, "error");
    assert_eq!(message, "printing the error panicked: it breaks while it is shown");
}

mod lax {
    hooks_runtime::hook_points! {
        #![hook(json = "camelCase", schema, catalogue = pub fn points)]
        /// Before a letter is sent.
        #[hook(on_failure = "open")]
        pub gating Sending { text: String }
    }
}

/// L10, L37: a rejection that is too long to be sent is a rejection, with less of its reason, and
/// no failure that an open policy lets pass.
#[tokio::test]
async fn l10_no_rejection_is_lost_for_its_length() {
    let network = LocalNetwork::new().with_max_bytes(4_096);
    let rules = HookRegistry::new();
    let no = |_: &lax::SendingPayload| Judgement::reject("é\n".repeat(9_000));
    rules.register(on::<lax::Sending>().name("no").guard(no)).unwrap();
    let policy = Fleet::local(&network, with_points("policy", lax::points())).unwrap();
    let _serving = policy.serve::<lax::Sending>(&rules).start().await.unwrap();
    let hooks = HookRegistry::new();
    let agent = Fleet::local(&network, with_points("agent", lax::points())).unwrap();
    let _sharing = agent.share::<lax::Sending>(&hooks).from("policy").start().await.unwrap();
    let letter = lax::SendingPayload { text: "a".into() };
    let fired = hooks.fire_gating::<lax::Sending>(letter).await.unwrap();
    let Gate::Rejected(rejection) = fired else { panic!("it passed") };
    assert_eq!(*rejection.reason(), format!("{}… (27000 bytes)", "é\n".repeat(85)));
}

/// L37: where a call is tried again and again, the failure is that of the last attempt, and not
/// that no time was left for one more.
#[tokio::test(start_paused = true)]
async fn l37_a_call_that_is_tried_to_the_end_fails_as_its_last_attempt() {
    let network = LocalNetwork::new();
    let rules = HookRegistry::new();
    let pass = |_: &RunningPayload| Judgement::Pass;
    rules.register(on::<Running>().name("rules").guard(pass)).unwrap();
    let _serving = serve_running(&network, "policy", &rules).await;
    for limit in [7, 50, 300, 1_000, 5_000, 60_000] {
        let hooks = HookRegistry::new();
        let carrier = Tamper::new(&network).reply(|_| Err(CarrierError::Absent));
        let patient = options("agent").attempts(u32::MAX).timeout(Duration::from_millis(limit));
        let fleet = Fleet::over(carrier.clone(), patient).unwrap();
        let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        assert_eq!(failure, RemoteFailure::Absent { service: "policy".into() }, "{limit}");
        assert!(limit < 50 || carrier.sent() > 1, "{limit}");
    }
}
