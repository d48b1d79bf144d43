//! Calls over a real NATS server, through a proxy that delays, cuts and freezes.
#![cfg(feature = "nats")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hooks_fleet::{Fleet, MayHaveRun, RemoteFailure, Serving, Sharing, note};
use hooks_runtime::{Claim, Gate, HookRegistry, Judgement, Verdict, capturing, on};
use support::nats::{Proxy, Server};
use support::*;
use tokio::sync::mpsc;

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    let no_rm = |command: &RunningPayload| {
        if command.line.starts_with("rm") { Judgement::reject("no") } else { Judgement::Pass }
    };
    hooks.register(on::<Running>().name("rules").guard(no_rm)).unwrap();
    hooks
}

async fn serve(fleet: &Fleet, hooks: &HookRegistry) -> Serving {
    fleet.serve::<Running>(hooks).start().await.unwrap()
}

async fn share(fleet: &Fleet, hooks: &HookRegistry) -> Sharing {
    let share = fleet.share::<Running>(hooks).require::<Running>("policy", "rules");
    share.start().await.unwrap()
}

async fn passes(hooks: &HookRegistry) -> bool {
    matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_)))
}

/// L37: over the network as in memory.
#[tokio::test]
async fn l37_a_gate_is_asked_over_nats() {
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent")).await;
    let sharing = share(&agent, &hooks).await;
    let absent = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!(absent.as_str(), "absent");

    let policy = server.fleet(options("policy")).await;
    let serving = serve(&policy, &rules()).await;
    sharing.wait_for("policy").await;
    let (gate, report) = hooks.fire_gating_reported::<Running>(command("rm x")).await;
    let Gate::Rejected(rejection) = gate.unwrap() else { panic!("it passed") };
    assert_eq!((rejection.owner().as_ref(), rejection.handler()), ("policy", "rules"));
    let row = report.handler("rules").unwrap();
    assert_eq!(row.note(note::PROCESS), Some(policy.instance()));
    assert_eq!((row.note(note::ATTEMPT), row.note(note::OUTCOME)), (Some("1"), Some("answered")));
    assert!(passes(&hooks).await);

    // It leaves by draining; nothing is asked of it any more.
    assert!(serving.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("policy").await;
    let absent = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!((absent.as_str(), absent.may_have_run()), ("absent", MayHaveRun::No));
}

/// L37: a process that dies without a word is absent at once, and forgotten soon.
#[tokio::test]
async fn l37_a_killed_process_is_absent_at_once_and_forgotten_soon() {
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let patient = options("agent").presence(Duration::from_millis(200), Duration::from_millis(600));
    let agent = server.fleet(patient).await;
    let sharing = agent.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let policy = server.fleet(options("policy")).await;
    let serving = serve(&policy, &rules()).await;
    sharing.wait_for("policy").await;
    assert!(passes(&hooks).await);
    drop((serving, policy));
    sharing.wait_for_absence_of("policy").await;
    assert_eq!(hooks.handlers().len(), 0);
}

/// L37: a peer that is frozen has not answered, and may have run; the gate is closed.
#[tokio::test]
async fn l37_a_frozen_peer_times_out() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port).await;
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent").timeout(Duration::from_millis(700))).await;
    let sharing = share(&agent, &hooks).await;
    let policy = proxy.fleet(options("policy")).await;
    let _serving = serve(&policy, &rules()).await;
    sharing.wait_for("policy").await;
    assert!(passes(&hooks).await);
    proxy.freeze(true);
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    let RemoteFailure::TimedOut { .. } = &failure else { panic!("{failure}") };
    assert_eq!(failure.may_have_run(), MayHaveRun::Perhaps);
    proxy.freeze(false);
    assert!(passes(&hooks).await);
}

/// L37: a connection that is lost while an answer is waited for ends the wait, long before the
/// limit; one that is not there is waited for, and nothing runs.
#[tokio::test]
async fn l37_a_lost_connection_is_noticed_at_once() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port).await;
    let hooks = HookRegistry::new();
    let agent = proxy.fleet(options("agent").timeout(Duration::from_mins(10))).await;
    let sharing = share(&agent, &hooks).await;
    let policy = server.fleet(options("policy")).await;
    let remote_hooks = HookRegistry::new();
    let (began, mut has_begun) = mpsc::unbounded_channel();
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    remote_hooks
        .register(on::<Running>().name("rules").handler(capturing(
            async move |it: &RunningPayload| {
                counted.fetch_add(1, Ordering::Relaxed);
                if it.line == "wait" {
                    began.send(()).unwrap();
                    std::future::pending::<()>().await;
                }
                Verdict::<RunningPayload>::Pass
            },
        )))
        .unwrap();
    let _serving = serve(&policy, &remote_hooks).await;
    sharing.wait_for("policy").await;
    let firing = {
        let hooks = hooks.clone();
        tokio::spawn(async move { hooks.fire_gating::<Running>(command("wait")).await.map(drop) })
    };
    has_begun.recv().await.unwrap();
    proxy.refuse(true);
    proxy.cut();
    let failure = remote(firing.await.unwrap());
    assert_eq!((failure.as_str(), failure.may_have_run()), ("lost", MayHaveRun::Perhaps));
    // Not sent again: it is not declared idempotent.
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    // When it is back, a fire that waited for it goes on.
    let waiting = {
        let hooks = hooks.clone();
        tokio::spawn(async move { passes(&hooks).await })
    };
    proxy.refuse(false);
    assert!(waiting.await.unwrap());
}

/// L37: more fires than the client's queue has places, while there is no connection: each ends
/// within its limit, and nothing of them runs.
#[tokio::test]
async fn l37_without_a_connection_every_fire_ends_in_time() {
    let Some(mut server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    // Three thousand calls that end at once take a while: the limit leaves them that.
    let agent = server.fleet(options("agent").timeout(Duration::from_secs(4)).attempts(1)).await;
    let sharing = share(&agent, &hooks).await;
    let calls = Arc::new(AtomicU32::new(0));
    let remote_hooks = HookRegistry::new();
    let counted = Arc::clone(&calls);
    let rules = on::<Running>().name("rules").handler(move |_: &RunningPayload| {
        counted.fetch_add(1, Ordering::Relaxed);
        Verdict::<RunningPayload>::Pass
    });
    remote_hooks.register(rules).unwrap();
    let policy = server.fleet(options("policy")).await;
    let _serving = serve(&policy, &remote_hooks).await;
    sharing.wait_for("policy").await;
    assert!(passes(&hooks).await);
    server.kill();
    // The first may still have been sent, into a socket that nobody reads.
    let _ = hooks.fire_gating::<Running>(command("ls")).await;
    let fires = (0..3_000)
        .map(|_| async { remote(hooks.fire_gating::<Running>(command("ls")).await).as_str() });
    let words = futures::future::join_all(fires).await;
    assert!(words.iter().all(|word| *word == "unreachable"), "{words:?}");
    server.run().await;
    while !passes(&hooks).await {}
    // None of the three thousand was sent when the connection came back.
    assert!(calls.load(Ordering::Relaxed) < 100, "{calls:?}");
}

/// At the limit of the server and over it, in both directions; the connection stays.
#[tokio::test]
async fn l37_sizes_are_checked_before_the_connection_is_lost() {
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent").max_reply(2 << 20)).await;
    let share = agent.share::<Running>(&hooks).and::<Routing>().from("policy");
    let sharing = share.start().await.unwrap();
    let remote_hooks = HookRegistry::new();
    let doubles = |command: &RunningPayload| {
        Verdict::Replace(RunningPayload { line: command.line.repeat(2) })
    };
    let counts = |text: &String| u32::try_from(text.len()).ok();
    let handlers = [
        on::<Running>().name("doubles").handler(doubles),
        on::<Routing>().name("counts").handler(counts),
    ];
    remote_hooks.register(handlers).unwrap();
    let policy = server.fleet(options("policy")).await;
    let serve = policy.serve::<Running>(&remote_hooks).and::<Routing>();
    let _serving = serve.start().await.unwrap();
    sharing.wait_for("policy").await;
    // The largest that fits: what the envelope takes is found by asking.
    let route =
        async |size: usize| hooks.fire_claiming_reported::<Routing>(&"x".repeat(size)).await;
    let (claimed, report) = route(1 << 20).await;
    let message = report.handlers()[0].status().to_string();
    assert!(message.contains("1048576 are allowed; nothing ran"), "{message}");
    assert_eq!(claimed.unwrap(), Claim::Unclaimed);
    let size: usize = message.split(' ').find_map(|word| word.parse().ok()).unwrap();
    let largest = (1 << 20) - (size - (1 << 20));
    assert_eq!(route(largest).await.0.unwrap(), Claim::Claimed(u32::try_from(largest).unwrap()));
    assert_eq!(route(largest + 16).await.0.unwrap(), Claim::Unclaimed);
    let failure = remote(hooks.fire_gating::<Running>(command(&"x".repeat(600_000))).await);
    let RemoteFailure::Failed { cause, .. } = &failure else { panic!("{failure}") };
    assert_eq!(cause, "too_large");
    assert_eq!(route(3).await.0.unwrap(), Claim::Claimed(3));
}

/// L37: the server restarts: fires fail or wait meanwhile, and are answered after it.
#[tokio::test]
async fn l37_everybody_comes_back_after_a_restart_of_the_server() {
    let Some(mut server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent")).await;
    let sharing = share(&agent, &hooks).await;
    let policy = server.fleet(options("policy")).await;
    let _serving = serve(&policy, &rules()).await;
    sharing.wait_for("policy").await;
    for _ in 0..3 {
        server.kill();
        server.run().await;
        while !passes(&hooks).await {}
        let verdict = hooks.fire_gating::<Running>(command("rm")).await;
        assert!(matches!(verdict, Ok(Gate::Rejected(_))), "{verdict:?}");
    }
    // And those who come later are heard of.
    let second = server.fleet(options("policy")).await;
    let _second = serve(&second, &rules()).await;
    sharing.wait_for_processes("policy", 2).await;
}
