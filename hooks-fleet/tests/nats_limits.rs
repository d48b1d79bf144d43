//! The limits of a NATS connection, and what a process notices of them.
#![cfg(feature = "nats")]

mod support;

use std::time::Duration;

use hooks_fleet::nats::Nats;
use hooks_fleet::{Fleet, RemoteFailure};
use hooks_runtime::{Gate, HookRegistry, Judgement, on};
use support::nats::{Proxy, Server, at};
use support::*;

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    let pass = |_: &RunningPayload| Judgement::Pass;
    hooks.register(on::<Running>().name("rules").guard(pass)).unwrap();
    hooks
}

/// L37: a peer that is there and says nothing is noticed by its silence, long before the limit
/// of the call.
#[tokio::test]
async fn l37_a_half_open_connection_is_noticed() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port).await;
    let policy = server.fleet(options("policy")).await;
    let _serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    let hooks = HookRegistry::new();
    let nats = at(proxy.port).ping_interval(Duration::from_millis(50));
    let nats = Nats::connect(nats, "agent").await.unwrap();
    let patient = options("agent").timeout(Duration::from_mins(10));
    let agent = Fleet::over(nats.clone(), patient).unwrap();
    let share = agent.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let _sharing = share.start().await.unwrap();
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    assert_eq!((nats.health().is_connected, nats.health().losses), (true, 0));
    proxy.freeze(true);
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!(failure, RemoteFailure::Lost { service: "policy".into() });
    assert!(nats.health().losses > 0);
    proxy.freeze(false);
    while !nats.health().is_connected {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
}

/// L37: messages that come faster than they are taken are dropped, which is counted; the calls
/// have not been answered, and may have run.
#[tokio::test]
async fn l37_dropped_messages_are_noticed() {
    let Some(server) = Server::start().await else { return };
    let narrow = server.options().subscription_capacity(1);
    let nats = Nats::connect(narrow, "policy").await.unwrap();
    let policy = Fleet::over(nats.clone(), options("policy")).unwrap();
    let _serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent").timeout(Duration::from_secs(2)).attempts(1)).await;
    let _sharing = agent.share::<Running>(&hooks).from("policy").start().await.unwrap();
    assert_eq!(nats.health().overruns, 0);
    let fires = (0..2_000).map(|_| hooks.fire_gating::<Running>(command("ls")));
    let ended = futures::future::join_all(fires).await;
    assert!(nats.health().overruns > 0);
    let failed: Vec<_> = ended.into_iter().filter(Result::is_err).map(remote).collect();
    assert!(!failed.is_empty());
    assert!(failed.iter().all(|it| it.as_str() == "timed_out"), "{:?}", failed[0]);
}

/// L37: a consumer that an earlier version of the service made is changed to what is wanted.
#[tokio::test]
async fn l37_a_consumer_of_an_earlier_version_is_changed() {
    let Some(server) = Server::start().await else { return };
    let log = Log::default();
    let serve = async |deliveries: u32| {
        let hooks = HookRegistry::new();
        let log = log.clone();
        let fails = move |_: &StoredPayload| -> Result<(), &'static str> {
            log.push("tried");
            Err("no ink")
        };
        hooks.register(on::<Stored>().name("keep").handler(fails)).unwrap();
        let options = options("archive").durable::<Stored>();
        let options = options.deliveries(deliveries, [Duration::from_millis(10)]);
        let fleet = server.fleet(options).await;
        fleet.serve::<Stored>(&hooks).start().await.unwrap()
    };
    let first = serve(1).await;
    assert!(first.leave(Duration::from_secs(9)).await);
    let _second = serve(3).await;
    let hooks = HookRegistry::new();
    let agent = server.fleet(options("agent").durable::<Stored>()).await;
    let share = agent.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let _sharing = share.start().await.unwrap();
    hooks.fire_void::<Stored>(&StoredPayload { page: 1 }).await.unwrap();
    let nats = Nats::connect(server.options(), "operator").await.unwrap();
    let letters = loop {
        let letters = nats.dead_letters(9).await.unwrap();
        if !letters.is_empty() {
            break letters;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((letters.len(), letters[0].attempts, &*letters[0].why), (1, 3, "error: no ink"));
    assert_eq!(log.take(), ["tried"; 3]);
}
