//! Messages on which the client of the server breaks: what a process knows of it then.
#![cfg(feature = "nats")]

mod support;

use std::time::Duration;

use hooks_fleet::nats::Nats;
use hooks_fleet::wire::subject::Route;
use hooks_fleet::{Fleet, RemoteFailure};
use hooks_runtime::{Gate, HookRegistry, Judgement, on};
use support::nats::Server;
use support::*;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    let pass = |_: &RunningPayload| Judgement::Pass;
    hooks.register(on::<Running>().name("rules").guard(pass)).unwrap();
    hooks
}

/// Publishes what no client writes: these headers, as they are.
async fn publish_raw(server: &Server, subject: &str, header: &[u8]) {
    let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", server.port)).await.unwrap());
    let headers = [b"NATS/1.0\r\nX: ", header, b"\r\n\r\n"].concat();
    let (size, body) = (headers.len(), b"{}");
    let connect = "CONNECT {\"verbose\": false, \"headers\": true, \"no_responders\": true}\r\n";
    let publish = format!("{connect}HPUB {subject} {size} {}\r\n", size + body.len());
    let sent = [publish.as_bytes(), &headers, body, b"\r\nPING\r\n"].concat();
    stream.write_all(&sent).await.unwrap();
    let mut line = String::new();
    while line != "PONG\r\n" {
        line.clear();
        assert_ne!(stream.read_line(&mut line).await.unwrap(), 0, "the server has hung up");
    }
}

/// L37: headers that are no text break the connection, which comes back; and a header on which
/// the client itself breaks ends it for good. The process knows that, and no gate is open.
#[tokio::test]
async fn l37_a_client_that_has_ended_is_no_connection() {
    let Some(server) = Server::start().await else { return };
    let nats = Nats::connect(server.options(), "agent").await.unwrap();
    let patient = options("agent").timeout(Duration::from_mins(10));
    let agent = Fleet::over(nats.clone(), patient).unwrap();
    let hooks = HookRegistry::new();
    let share = agent.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let sharing = share.start().await.unwrap();
    let serving = {
        let policy = server.fleet(options("policy")).await;
        policy.serve::<Running>(&rules()).start().await.unwrap()
    };
    sharing.wait_for("policy").await;
    let passes =
        async || matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_)));
    assert!(passes().await);
    // Every process that fires hears what is in the bucket.
    publish_raw(&server, "$KV.HOOKS_PRESENCE.rogue.utf8", b"\xff\xfe").await;
    while nats.health().losses == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let jetstream = {
        let operator = format!("nats://127.0.0.1:{}", server.port);
        async_nats::jetstream::new(async_nats::connect(operator).await.unwrap())
    };
    let bucket = jetstream.get_stream("KV_HOOKS_PRESENCE").await.unwrap();
    bucket.purge().filter("$KV.HOOKS_PRESENCE.rogue.>").await.unwrap();
    while !passes().await {}
    publish_raw(&server, "$KV.HOOKS_PRESENCE.rogue.lone", b"a\rb").await;
    while nats.health().is_connected {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let failed = tokio::time::timeout(Duration::from_secs(9), async {
        remote(hooks.fire_gating::<Running>(command("ls")).await)
    });
    let failure = failed.await.expect("a client that has ended is not waited for");
    assert_eq!(failure, RemoteFailure::Unreachable { service: "policy".into() });
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
    drop(serving);
}

/// L37: the same at a process that serves: who asks it finds nobody there.
#[tokio::test]
async fn l37_a_service_whose_client_has_ended_is_absent() {
    let Some(server) = Server::start().await else { return };
    let agent = server.fleet(options("agent")).await;
    let hooks = HookRegistry::new();
    let share = agent.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let sharing = share.start().await.unwrap();
    let nats = Nats::connect(server.options(), "policy").await.unwrap();
    let policy = Fleet::over(nats.clone(), options("policy")).unwrap();
    let serving = policy.serve::<Running>(&rules()).start().await.unwrap();
    sharing.wait_for("policy").await;
    let route = Route {
        service: "policy".into(),
        point: "running".into(),
        handler: "rules".into(),
        schema: serving.announcement().points["running"].schema.clone(),
    };
    publish_raw(&server, &route.request(), b"a\rb").await;
    while nats.health().is_connected {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let failure = loop {
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        // What was sent before the server has noticed is lost.
        if failure.as_str() != "timed_out" {
            break failure;
        }
    };
    assert_eq!(failure, RemoteFailure::Absent { service: "policy".into() });
    assert!(!serving.leave(Duration::from_secs(9)).await);
}
