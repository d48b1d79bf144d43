//! Every way in which a call of a remote handler has no answer, and what it means.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hooks_fleet::carrier::{CarrierError, Message};
use hooks_fleet::wire::{RefusalReason, Reply};
use hooks_fleet::{Fleet, Incoming, LocalNetwork, MayHaveRun, RemoteFailure, Serving, Sharing};
use hooks_runtime::{Gate, HookContext, HookRegistry, Judgement, Verdict, capturing, on};
use support::tamper::Tamper;
use support::*;
use tokio::sync::mpsc;

/// A process that passes everything, and one that fires over a carrier that tampers.
async fn tampered(
    tamper: impl FnOnce(Tamper) -> Tamper,
) -> (HookRegistry, Tamper, (Serving, Sharing)) {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let pass = |_: &RunningPayload| Judgement::Pass;
    remote_hooks.register(on::<Running>().name("rules").guard(pass)).unwrap();
    let serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let carrier = tamper(Tamper::new(&network));
    let fleet = Fleet::over(carrier.clone(), options("agent").repeat_in_headers()).unwrap();
    let sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    (hooks, carrier, (serving, sharing))
}

fn change(
    reply: Result<Message, CarrierError>,
    change: impl Fn(&mut Reply),
) -> Result<Message, CarrierError> {
    let mut message = reply?;
    let mut reply: Reply = serde_json::from_slice(&message.body).unwrap();
    change(&mut reply);
    message.body = serde_json::to_vec(&reply).unwrap();
    Ok(message)
}

/// L37, L10: each row of the table: its name, whether the handler may have run, how often it
/// was sent, and that the gate did not open.
#[tokio::test(start_paused = true)]
async fn l37_a_gate_fails_closed_on_every_row_of_the_table() {
    type Row = (&'static str, CarrierError, MayHaveRun, u32);
    let rows: [Row; 5] = [
        ("absent", CarrierError::Absent, MayHaveRun::No, 2),
        ("unreachable", CarrierError::Unreachable, MayHaveRun::No, 2),
        ("timed_out", CarrierError::TimedOut, MayHaveRun::Perhaps, 1),
        ("lost", CarrierError::Lost, MayHaveRun::Perhaps, 1),
        ("bad_reply", CarrierError::Other("?".into()), MayHaveRun::Perhaps, 1),
    ];
    for (name, error, ran, sent) in rows {
        let (hooks, carrier, _processes) =
            tampered(|it| it.reply(move |_| Err(error.clone()))).await;
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        assert_eq!((failure.as_str(), failure.may_have_run()), (name, ran));
        assert_eq!(carrier.sent(), sent, "{name}");
    }
}

/// L37: replies that are not certainly the answer to this call.
#[tokio::test(start_paused = true)]
async fn l37_replies_of_others_are_refused() {
    type Forgery = fn(Result<Message, CarrierError>) -> Result<Message, CarrierError>;
    let rows: [(&str, Forgery); 7] = [
        ("its header `Hook-Fire-Id` contradicts its body", |it| {
            let header = ("Hook-Fire-Id".to_owned(), "x-1".to_owned());
            it.map(|message| Message { headers: vec![header], ..message })
        }),
        ("it answers another call", |it| change(it, |reply| reply.call = "x-1".into())),
        ("it answers another call", |it| change(it, |reply| reply.attempt = 9)),
        ("it was written for another schema", |it| change(it, |reply| reply.schema = "0".into())),
        ("`stranger` answered, which has not been announced", |it| {
            change(it, |reply| reply.instance = "stranger".into())
        }),
        ("it has version 2 of the contract, 1 is spoken here", |it| {
            change(it, |reply| reply.v = 2)
        }),
        ("it has 1048591 bytes, 1048576 are read", |it| {
            change(it, |reply| reply.instance = "i".into())
                .map(|message| Message { body: vec![b' '; (1 << 20) + 15], ..message })
        }),
    ];
    for (expected, forgery) in rows {
        let (hooks, _, _processes) = tampered(|it| it.reply(forgery)).await;
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        let RemoteFailure::BadReply { problem, .. } = &failure else { panic!("{failure}") };
        assert_eq!(problem, expected);
    }
}

/// L37: a reply that was right once is refused when it comes again.
#[tokio::test]
async fn l37_a_replayed_reply_is_refused() {
    let first = Arc::new(std::sync::Mutex::new(None));
    let (hooks, _, _processes) = tampered(|it| {
        it.reply(move |reply| Ok(first.lock().unwrap().get_or_insert(reply?).clone()))
    })
    .await;
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!(failure.as_str(), "bad_reply");
}

/// L37: a process that answers without having been announced is noticed.
#[tokio::test(start_paused = true)]
async fn l37_a_stranger_that_answers_is_noticed() {
    let network = LocalNetwork::new();
    let rules = HookRegistry::new();
    rules
        .register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    let _serving = serve_running(&network, "policy", &rules).await;
    let hooks = HookRegistry::new();
    let forge = |reply| change(reply, |reply| reply.instance = "rogue".into());
    let fleet = Fleet::over(Tamper::new(&network).reply(forge), options("agent")).unwrap();
    let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "bad_reply");
    let strangers = fleet.strangers();
    assert_eq!((&*strangers[0].service, &*strangers[0].instance), ("policy", "rogue"));
    assert_eq!(strangers[0].why, "it answered without having been announced");
}

type BodyForgery = fn(&mut serde_json::Value);

/// L37: what contradicts itself on the way is refused before anything runs.
#[tokio::test]
async fn l37_forged_headers_and_bodies_are_refused() {
    let forge_header = |message: &mut Message| {
        for (name, value) in &mut message.headers {
            if name == "Hook-Timeout-Ms" {
                *value = "999999".into();
            }
        }
    };
    let (hooks, _, _processes) = tampered(|it| it.request(forge_header)).await;
    // The one who is asked cannot know who asks, so neither can the answer be attributed.
    assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "bad_reply");

    let refusals: [(RefusalReason, BodyForgery); 5] = [
        (RefusalReason::Expired, |body| body["budget_ms"] = 0.into()),
        (RefusalReason::TooDeep, |body| body["depth"] = 17.into()),
        (RefusalReason::UnknownHandler, |body| body["handler"] = "other".into()),
        (RefusalReason::UnknownHandler, |body| body["service"] = "other".into()),
        (RefusalReason::Incompatible, |body| body["payload"] = serde_json::json!({"lines": 1})),
    ];
    for (expected, forge) in refusals {
        let (hooks, _, _processes) = tampered(|it| {
            it.request(move |message| {
                let mut body = serde_json::from_slice(&message.body).unwrap();
                forge(&mut body);
                message.body = serde_json::to_vec(&body).unwrap();
                message.headers.clear();
            })
        })
        .await;
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        let RemoteFailure::Refused { why, .. } = &failure else { panic!("{failure}") };
        assert_eq!((*why, failure.may_have_run()), (expected, MayHaveRun::No));
    }
}

/// L14, L37: no answer in time may have run, and is not tried again unless it may be.
#[tokio::test(start_paused = true)]
async fn l37_only_idempotent_handlers_are_called_again_when_they_may_have_run() {
    for idempotent in [false, true] {
        let network = LocalNetwork::new();
        let remote_hooks = HookRegistry::new();
        let calls = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        let rules = on::<Running>().name("rules").handler(move |_: &RunningPayload| {
            counted.fetch_add(1, Ordering::Relaxed);
            Verdict::<RunningPayload>::Pass
        });
        remote_hooks.register(rules).unwrap();
        let fleet = Fleet::local(&network, options("policy")).unwrap();
        let mut serve = fleet.serve::<Running>(&remote_hooks);
        if idempotent {
            serve = serve.idempotent("rules");
        }
        let _serving = serve.start().await.unwrap();
        let hooks = HookRegistry::new();
        let is_first = AtomicU32::new(0);
        let carrier = Tamper::new(&network).reply(move |reply| {
            let first = is_first.fetch_add(1, Ordering::Relaxed) == 0;
            if first { Err(CarrierError::Lost) } else { reply }
        });
        let agent = Fleet::over(carrier, options("agent")).unwrap();
        let _sharing = agent.share::<Running>(&hooks).from("policy").start().await.unwrap();
        let fired = hooks.fire_gating::<Running>(command("ls")).await;
        if idempotent {
            assert!(matches!(fired, Ok(Gate::Passed(_))));
        } else {
            assert_eq!(remote(fired).as_str(), "lost");
        }
        assert_eq!(calls.load(Ordering::Relaxed), if idempotent { 2 } else { 1 });
    }
}

/// L14: a handler that does not answer within its limit; the failure is the remote one, which
/// says that it may have run, and the call there has ended.
#[tokio::test(start_paused = true)]
async fn l14_a_limit_is_kept_and_ends_the_call_there() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let (ended, mut has_ended) = mpsc::unbounded_channel();
    let slow = on::<Running>().name("slow").timeout(Duration::from_secs(3));
    remote_hooks
        .register(slow.handler(capturing(async move |_: &RunningPayload| {
            let _guard = Ended(ended);
            std::future::pending::<()>().await;
            Verdict::<RunningPayload>::Pass
        })))
        .unwrap();
    let _serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert!(["timed_out", "failed"].contains(&failure.as_str()), "{failure}");
    assert_ne!(failure.may_have_run(), MayHaveRun::No);
    has_ended.recv().await.unwrap();
}

struct Ended(mpsc::UnboundedSender<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// L25: a fire that is dropped ends the call in the other process.
#[tokio::test]
async fn l25_a_dropped_fire_cancels_the_call_there() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let (began, mut has_begun) = mpsc::unbounded_channel();
    let (ended, mut has_ended) = mpsc::unbounded_channel();
    remote_hooks
        .register(on::<Running>().name("slow").handler(capturing(
            async move |_: &RunningPayload| {
                let _guard = Ended(ended);
                began.send(()).unwrap();
                std::future::pending::<()>().await;
                Verdict::<RunningPayload>::Pass
            },
        )))
        .unwrap();
    let _serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    let firing = {
        let hooks = hooks.clone();
        tokio::spawn(async move { hooks.fire_gating::<Running>(command("ls")).await.map(drop) })
    };
    has_begun.recv().await.unwrap();
    firing.abort();
    has_ended.recv().await.unwrap();
}

/// Deadlines travel as remaining time, and nested fires share them.
#[tokio::test(start_paused = true)]
async fn l37_nested_calls_share_the_time_of_the_outer_one() {
    let network = LocalNetwork::new();
    // The inner service waits for ever; it alone would be given five seconds.
    let inner = HookRegistry::new();
    let waits = async |_: &String| {
        std::future::pending::<()>().await;
        None::<u32>
    };
    inner.register(on::<Routing>().name("waits").handler(waits)).unwrap();
    let inner_fleet = Fleet::local(&network, options("inner")).unwrap();
    let _inner = inner_fleet.serve::<Routing>(&inner).start().await.unwrap();
    // The outer one asks it, with a second left.
    let outer = HookRegistry::new();
    let (left, mut heard) = mpsc::unbounded_channel();
    let asks = on::<Running>().name("asks").timeout(Duration::from_secs(1));
    outer
        .register(asks.handler(capturing(async move |_: &RunningPayload, cx: &HookContext| {
            let began = tokio::time::Instant::now();
            let incoming = cx.get::<Incoming>().unwrap();
            assert!(incoming.remaining() <= Duration::from_secs(1));
            assert_eq!(incoming.attempt(), 1);
            let (_, report) = cx.hooks().fire_claiming_reported::<Routing>(&"x".to_owned()).await;
            left.send((began.elapsed(), report.handlers()[0].status().clone())).unwrap();
            Verdict::<RunningPayload>::Pass
        })))
        .unwrap();
    let outer_fleet = Fleet::local(&network, options("outer")).unwrap();
    let _outer = outer_fleet.serve::<Running>(&outer).start().await.unwrap();
    let _asks = outer_fleet.share::<Routing>(&outer).from("inner").start().await.unwrap();
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "outer", &hooks).await;
    let fired = hooks.fire_gating::<Running>(command("ls")).await;
    // The inner call ends while the outer one can still answer: each leaves a tenth of its time.
    let (elapsed, status) = heard.try_recv().unwrap();
    assert_eq!((elapsed.as_millis(), status.as_str()), (810, "error"));
    assert!(matches!(fired, Ok(Gate::Passed(_))), "{fired:?}");
}

/// Sizes are checked before anything is sent, in both directions.
#[tokio::test]
async fn l37_what_is_too_large_is_a_typed_failure() {
    let network = LocalNetwork::new().with_max_bytes(4_096);
    let remote_hooks = HookRegistry::new();
    let grows = |command: &RunningPayload| {
        Verdict::Replace(RunningPayload { line: command.line.repeat(100) })
    };
    remote_hooks.register(on::<Running>().name("grows").handler(grows)).unwrap();
    let _serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    let failure = remote(hooks.fire_gating::<Running>(command(&"x".repeat(5_000))).await);
    let RemoteFailure::TooLarge { size, limit } = failure else { panic!("{failure}") };
    assert!(size > 5_000 && limit == 4_096);
    let failure = remote(hooks.fire_gating::<Running>(command(&"x".repeat(100))).await);
    let RemoteFailure::Failed { cause, .. } = &failure else { panic!("{failure}") };
    assert_eq!(cause, "too_large");
    let Gate::Passed(passed) = hooks.fire_gating::<Running>(command("x")).await.unwrap() else {
        panic!("it was rejected")
    };
    assert_eq!(passed.line.len(), 100);
}

/// More calls than a process takes are refused, and nothing of them runs.
#[tokio::test]
async fn l37_an_overloaded_process_refuses() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let (began, mut has_begun) = mpsc::unbounded_channel();
    remote_hooks
        .register(on::<Running>().name("slow").handler(capturing(
            async move |_: &RunningPayload| {
                began.send(()).unwrap();
                std::future::pending::<()>().await;
                Verdict::<RunningPayload>::Pass
            },
        )))
        .unwrap();
    let fleet = Fleet::local(&network, options("policy").max_in_flight(1)).unwrap();
    let _serving = fleet.serve::<Running>(&remote_hooks).start().await.unwrap();
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    let firing = {
        let hooks = hooks.clone();
        tokio::spawn(async move { hooks.fire_gating::<Running>(command("ls")).await.map(drop) })
    };
    has_begun.recv().await.unwrap();
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    let RemoteFailure::Refused { why, .. } = failure else { panic!("{failure}") };
    assert_eq!(why, RefusalReason::Overloaded);
    assert!(has_begun.try_recv().is_err());
    firing.abort();
}

/// L37: who observes calls takes no part in them: its panic is no failure of the handler.
#[tokio::test]
async fn l37_an_observer_that_panics_changes_no_call() {
    let network = LocalNetwork::new();
    let rules = HookRegistry::new();
    let pass = |_: &RunningPayload| Judgement::Pass;
    rules.register(on::<Running>().name("rules").guard(pass)).unwrap();
    let _serving = serve_running(&network, "policy", &rules).await;
    let hooks = HookRegistry::new();
    let observed = options("agent").observe(|call| panic!("it has no place for {}", call.handler));
    let fleet = Fleet::local(&network, observed).unwrap();
    let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
}
