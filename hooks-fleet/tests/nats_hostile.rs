//! What clients of the same server may try who are not let in everywhere.
#![cfg(feature = "nats")]

mod support;

use std::time::Duration;

use hooks_fleet::nats::Nats;
use hooks_fleet::wire::subject::{Route, presence, token};
use hooks_fleet::{FleetOptions, RemoteFailure};
use hooks_runtime::{Gate, HookRegistry, Judgement, on};
use support::nats::{Proxy, Server};
use support::*;

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    let rules = on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::reject("no"));
    hooks.register(rules).unwrap();
    hooks
}

/// A client of the server that speaks for itself.
async fn client(server: &Server) -> async_nats::Client {
    async_nats::connect(format!("nats://127.0.0.1:{}", server.port)).await.unwrap()
}

/// L37: a process replies to those who ask. Nobody has it write into the subjects of the server
/// or of this crate, where it may write and he may not.
#[tokio::test]
async fn l37_nobody_has_a_service_write_for_him() {
    let Some(server) = Server::start().await else { return };
    let policy = server.fleet(options("policy")).await;
    let serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    let announcement = serving.announcement().clone();
    let schema = announcement.points["running"].schema.clone();
    let route = Route {
        service: "policy".into(),
        point: "running".into(),
        handler: "rules".into(),
        schema,
    };
    let stranger = client(&server).await;
    let mut heard = stranger.subscribe("hooks.void.>").await.unwrap();
    let mut inbox = stranger.subscribe("_INBOX.mine").await.unwrap();
    let ping = format!("hooks.ping.policy.{}", token(policy.instance()));
    for to in ["$JS.API.STREAM.PURGE.KV_HOOKS_PRESENCE", "hooks.void.archive.stored.keep"] {
        for subject in [route.request(), ping.clone()] {
            stranger.publish_with_reply(subject, to, "{}".into()).await.unwrap();
        }
    }
    // Both subscriptions have taken what came before once they have answered these.
    for subject in [route.request(), ping] {
        stranger.publish_with_reply(subject, "_INBOX.mine", "{}".into()).await.unwrap();
        futures::StreamExt::next(&mut inbox).await.unwrap();
    }
    let jetstream = async_nats::jetstream::new(stranger.clone());
    let bucket = jetstream.get_key_value("HOOKS_PRESENCE").await.unwrap();
    let key = presence("policy", policy.instance());
    assert!(bucket.get(key).await.unwrap().is_some(), "the bucket was purged");
    stranger.flush().await.unwrap();
    assert!(futures::FutureExt::now_or_never(futures::StreamExt::next(&mut heard)).is_none());
}

/// L37: what cannot be read, or is in another's name, is noticed, and changes nothing.
#[tokio::test]
async fn l37_forged_announcements_are_noticed() {
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent")).await;
    let sharing = agent.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let policy = server.fleet(options("policy")).await;
    let serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    sharing.wait_for("policy").await;
    let honest = serde_json::to_value(serving.announcement()).unwrap();
    let newer = serde_json::json!({"v": 2, "service": "policy", "instance": "new"}).to_string();
    let mut lax = honest.clone();
    lax["handlers"] = serde_json::json!([]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let forgeries = [
        ("policy.new", newer, "version 2 of the contract"),
        ("rogue.x", lax.to_string(), "announces another process"),
        ("policy.y", lax.to_string(), "announces another process"),
        ("policy.deep", deep, "no message of the fleet"),
        ("policy.text", "\u{feff}{}".to_owned(), "no message of the fleet"),
        ("a.b.c", "{}".to_owned(), "is not that of an announcement"),
    ];
    let stranger = client(&server).await;
    for (key, body, _) in &forgeries {
        let subject = format!("$KV.HOOKS_PRESENCE.{key}");
        stranger.publish(subject, body.clone().into()).await.unwrap();
    }
    stranger.flush().await.unwrap();
    while agent.strangers().len() < forgeries.len() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for (stranger, (key, _, why)) in agent.strangers().iter().zip(&forgeries) {
        assert!(stranger.why.contains(why), "{key}: {}", stranger.why);
    }
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
    let fired = hooks.fire_gating::<Running>(command("ls")).await;
    assert!(matches!(fired, Ok(Gate::Rejected(_))), "{fired:?}");
}

/// A flood of pings, of requests that nobody waits for, and of announcements holds up no gate.
#[tokio::test]
async fn l37_a_flood_holds_up_no_gate() {
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent")).await;
    let sharing = agent.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let policy = server.fleet(options("policy")).await;
    let serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    sharing.wait_for("policy").await;
    let honest = serving.announcement().clone();
    let stranger = client(&server).await;
    let ping = format!("hooks.ping.policy.{}", policy.instance());
    for number in 0..1_200 {
        for subject in ["$SRV.PING", &*ping, "hooks.req.policy.running.rules.x"] {
            stranger.publish(subject.to_owned(), "{}".into()).await.unwrap();
            stranger
                .publish_with_reply(subject.to_owned(), "_INBOX.none", "x".into())
                .await
                .unwrap();
        }
        // Processes of the service that nobody has started.
        let mut forged = honest.clone();
        forged.instance = format!("x{number}");
        let subject = format!("$KV.HOOKS_PRESENCE.policy.{}", forged.instance);
        stranger.publish(subject, serde_json::to_vec(&forged).unwrap().into()).await.unwrap();
    }
    stranger.flush().await.unwrap();
    for _ in 0..20 {
        let fired = hooks.fire_gating::<Running>(command("ls")).await;
        assert!(matches!(fired, Ok(Gate::Rejected(_))), "{fired:?}");
    }
    while agent.strangers().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(sharing.processes("policy") <= 1_000);
    assert!(agent.strangers()[0].why.contains("1000 processes of its service are there"));
}

/// L37: the server was away for longer than anybody is remembered, and a process that fires
/// comes back to it before those that serve do: their handlers stay in the order.
#[tokio::test]
async fn l37_no_gate_opens_because_the_server_was_away() {
    let Some(mut server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let hasty = |service: &str| -> FleetOptions {
        options(service).presence(Duration::from_millis(100), Duration::from_millis(500))
    };
    let serving_proxy = Proxy::to(server.port).await;
    let agent = server.fleet(hasty("agent").timeout(Duration::from_millis(300))).await;
    let sharing = agent.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let policy = serving_proxy.fleet(hasty("policy")).await;
    let _serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    sharing.wait_for("policy").await;
    serving_proxy.refuse(true);
    server.kill();
    tokio::time::sleep(Duration::from_millis(700)).await;
    server.run().await;
    // The agent is back, the policy is not: nobody answers, and the gate stays closed.
    loop {
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        if failure.as_str() == "absent" {
            break;
        }
    }
    for _ in 0..15 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        assert!(matches!(failure, RemoteFailure::Absent { .. }), "{failure}");
    }
    serving_proxy.refuse(false);
    loop {
        match hooks.fire_gating::<Running>(command("ls")).await {
            Ok(Gate::Rejected(_)) => break,
            Ok(Gate::Passed(_)) => panic!("the gate has opened"),
            Err(_) => {}
        }
    }
}

/// Who may not read the dead letters does not hear that there are none.
#[tokio::test]
async fn l37_dead_letters_that_cannot_be_read_are_an_error() {
    let config = r#"authorization { users: [
        { user: root, password: root },
        { user: nobody, password: nobody, permissions: { publish: ["none"], subscribe: ["_INBOX_nobody.>"] } },
    ] }"#;
    let Some(server) = Server::with_config(config, Vec::new()).await else { return };
    let root = Nats::connect(server.options().user("root", "root"), "root").await.unwrap();
    assert_eq!(root.dead_letters(9).await.unwrap(), []);
    root.prepare().await.unwrap();
    let nobody = server.options().user("nobody", "nobody");
    let nobody = Nats::connect(nobody, "nobody").await.unwrap();
    nobody.dead_letters(9).await.unwrap_err();
}
