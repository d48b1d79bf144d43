//! The watch over who is there, where it is lost.
#![cfg(feature = "nats")]

mod support;

use std::time::Duration;

use hooks_fleet::wire::subject::presence;
use hooks_fleet::{Fleet, FleetOptions};
use hooks_runtime::{HookRegistry, Judgement, on};
use support::nats::{Proxy, Server};
use support::*;

fn quick(service: &str) -> FleetOptions {
    options(service).presence(Duration::from_millis(200), Duration::from_millis(600))
}

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    hooks
}

/// L37: who came and who went while this process was cut off is known when it is back.
#[tokio::test]
async fn l37_what_happened_while_the_connection_was_lost_is_known_after_it() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port).await;
    let hooks = HookRegistry::new();
    let agent = proxy.fleet(quick("agent")).await;
    let share = agent.share::<Running>(&hooks).from("policy").from("audit");
    let sharing = share.start().await.unwrap();
    let policy = server.fleet(quick("policy")).await;
    let leaving = policy.serve::<Running>(&rules()).start().await.unwrap();
    sharing.wait_for("policy").await;
    proxy.refuse(true);
    proxy.cut();
    let audit = server.fleet(quick("audit")).await;
    let _coming = audit.serve::<Running>(&rules()).start().await.unwrap();
    assert!(leaving.leave(Duration::from_secs(9)).await);
    assert!(sharing.is_present("policy") && !sharing.is_present("audit"));
    proxy.refuse(false);
    sharing.wait_for("audit").await;
    sharing.wait_for_absence_of("policy").await;
    assert_eq!(names(&hooks.handlers_at::<Running>()), ["audit/rules"]);
    assert!(hooks.fire_gating::<Running>(command("ls")).await.is_ok());
}

/// L37: a bucket that somebody deletes is made again, and those who come after are heard.
#[tokio::test]
async fn l37_presence_comes_back_after_its_bucket_was_deleted() {
    let Some(server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(quick("agent")).await;
    let share = agent.share::<Running>(&hooks).from("policy").from("audit");
    let sharing = share.start().await.unwrap();
    let policy = server.fleet(quick("policy")).await;
    let _serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    sharing.wait_for("policy").await;
    let operator = async_nats::connect(format!("nats://127.0.0.1:{}", server.port)).await.unwrap();
    let jetstream = async_nats::jetstream::new(operator);
    jetstream.delete_stream("KV_HOOKS_PRESENCE").await.unwrap();
    // It is there all the while, and answers when it is asked.
    assert!(hooks.fire_gating::<Running>(command("ls")).await.is_ok());
    let audit = server.fleet(quick("audit")).await;
    let _coming = audit.serve::<Running>(&rules()).start().await.unwrap();
    let heard = tokio::time::timeout(Duration::from_mins(1), sharing.wait_for("audit")).await;
    assert!(heard.is_ok(), "it is not heard");
    assert!(sharing.is_present("policy"));
}

/// L37: a process that says seldom that it is there says so before the server forgets it: one that
/// begins to listen later hears of it too.
#[tokio::test]
async fn l37_nobody_is_forgotten_who_is_there() {
    let Some(server) = Server::start().await else { return };
    let seldom = options("policy").presence(Duration::from_hours(1), Duration::from_hours(1));
    let ages = server.options().ages(Duration::from_millis(600), Duration::from_hours(1));
    let policy = Fleet::connect(ages, seldom).await.unwrap();
    let serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    let operator = async_nats::connect(format!("nats://127.0.0.1:{}", server.port)).await.unwrap();
    let bucket =
        async_nats::jetstream::new(operator).get_key_value("HOOKS_PRESENCE").await.unwrap();
    let key = presence("policy", &serving.announcement().instance);
    // For several times as long as it is kept.
    let mut said = 0;
    while said < 9 {
        let entry = bucket.entry(key.clone()).await.unwrap().expect("it is forgotten");
        said = entry.revision;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent")).await;
    let _sharing = agent.share::<Running>(&hooks).from("policy").start().await.unwrap();
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
}
