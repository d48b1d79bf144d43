//! Who may do what: the configuration of the server that this crate comes with, and TLS.
#![cfg(feature = "nats")]

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use hooks_fleet::nats::{Nats, NatsOptions};
use hooks_fleet::{Fleet, FleetOptions, Serving};
use hooks_runtime::{Gate, HookRegistry, Judgement, on};
use nkeys::KeyPair;
use support::nats::{Server, file, has};
use support::*;
use tokio::sync::mpsc;

const ROLES: [&str; 4] = ["OPERATOR", "AGENT", "POLICY", "ARCHIVE"];

/// A server with the roles of the file, and the keys of each.
async fn guarded() -> Option<(Server, [KeyPair; 4])> {
    let keys = ROLES.map(|_| KeyPair::new_user());
    let variables = ROLES.iter().zip(&keys);
    let variables = variables.map(|(role, key)| (format!("{role}_NKEY"), key.public_key()));
    let text = std::fs::read_to_string(file("nats/fleet.conf")).unwrap();
    let server = Server::with_config(&text, variables.collect()).await?;
    let operator = Nats::connect(signed(&server, &keys[0]), "operator").await.unwrap();
    operator.prepare().await.unwrap();
    Some((server, keys))
}

fn signed(server: &Server, key: &KeyPair) -> NatsOptions {
    server.options().nkey(key.seed().unwrap())
}

fn rules(passes: bool) -> HookRegistry {
    let hooks = HookRegistry::new();
    let rules = on::<Running>().name("rules").guard(move |_: &RunningPayload| {
        if passes { Judgement::Pass } else { Judgement::reject("no") }
    });
    hooks.register(rules).unwrap();
    hooks
}

async fn serve(options: NatsOptions, passes: bool) -> Result<Serving, hooks_fleet::FleetError> {
    let fleet = Fleet::connect(options, self::options("policy")).await?;
    fleet.serve::<Running>(&rules(passes)).start().await
}

/// L37: with the permissions of the file every role does its work, and none that of another.
#[tokio::test]
async fn l37_a_stranger_is_kept_out_of_the_queue_group_of_a_gate() {
    let Some((server, [_, agent, policy, archive])) = guarded().await else { return };
    let hooks = HookRegistry::new();
    let fleet = Fleet::connect(signed(&server, &agent), options("agent")).await.unwrap();
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let sharing = share.start().await.unwrap();
    let serving = serve(signed(&server, &policy), false).await.unwrap();
    sharing.wait_for("policy").await;
    let rejected =
        async || matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Rejected(_)));
    assert!(rejected().await);
    // Another user of this server says that it is the policy, and would let all pass.
    let archive = signed(&server, &archive).inbox_prefix("_INBOX_archive");
    let stranger = serve(archive, true).await;
    assert!(stranger.is_err(), "it was let in");
    for _ in 0..50 {
        assert!(rejected().await);
    }
    assert_eq!(sharing.processes("policy"), 1);
    // It is noticed, where it was kept out.
    let log = std::fs::read_to_string(server.folder.path().join("server.log")).unwrap();
    assert!(log.contains("Subscription Violation") && log.contains("hooks.req.policy"), "{log}");
    assert!(
        log.contains("Publish Violation") && log.contains("$KV.HOOKS_PRESENCE.policy"),
        "{log}"
    );
    assert!(serving.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("policy").await;

    // Who is not known at all does not get in.
    let nobody = Fleet::connect(server.options(), options("policy")).await.unwrap_err();
    assert!(nobody.to_string().contains("cannot be joined"), "{nobody}");
    let unknown = signed(&server, &KeyPair::new_user());
    assert!(Fleet::connect(unknown, options("policy")).await.is_err());
}

/// The role that takes durable messages can do so, with what the file allows it.
#[tokio::test]
async fn l37_the_role_of_a_durable_service_is_enough_for_it() {
    let Some((server, [operator, agent, _, archive])) = guarded().await else { return };
    let durable =
        |service: &str| -> FleetOptions { options(service).durable::<Stored>().deliveries(1, []) };
    let hooks = HookRegistry::new();
    let fleet = Fleet::connect(signed(&server, &agent), durable("agent")).await.unwrap();
    let share = fleet.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let _sharing = share.start().await.unwrap();
    for page in 0..2 {
        hooks.fire_void::<Stored>(&StoredPayload { page }).await.unwrap();
    }
    let archive_hooks = HookRegistry::new();
    let (kept, mut pages) = mpsc::unbounded_channel();
    let keep = on::<Stored>().name("keep").handler(move |stored: &StoredPayload| {
        kept.send(stored.page).unwrap();
        if stored.page == 0 { Err("the disk is full") } else { Ok(()) }
    });
    archive_hooks.register(keep).unwrap();
    let archive = Fleet::connect(signed(&server, &archive), durable("archive")).await.unwrap();
    let _serving = archive.serve::<Stored>(&archive_hooks).start().await.unwrap();
    assert_eq!((pages.recv().await, pages.recv().await), (Some(0), Some(1)));
    let operator = Nats::connect(signed(&server, &operator), "operator").await.unwrap();
    assert_eq!(operator.dead_letters(9).await.unwrap().len(), 1);
}

/// TLS with a certificate that the client trusts, and not with another.
#[tokio::test]
async fn l37_the_connection_is_encrypted_where_it_is_asked_for() {
    if !has("openssl") {
        eprintln!("LEFT OUT: there is no openssl here to make certificates with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let openssl = |arguments: &str| {
        let mut command = Command::new("openssl");
        command.args(arguments.split(' ')).current_dir(folder.path());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.unwrap().success(), "{arguments}");
    };
    for name in ["ca", "other"] {
        openssl(&format!(
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={name} -keyout {name}-key.pem -out {name}.pem"
        ));
    }
    std::fs::write(folder.path().join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    openssl("req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out request.pem");
    openssl(
        "x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile names -out cert.pem",
    );
    let path = |name: &str| folder.path().join(name).display().to_string();
    let config =
        format!("tls {{ cert_file: {:?}, key_file: {:?} }}", path("cert.pem"), path("key.pem"));
    let Some(server) = Server::with_config(&config, Vec::new()).await else { return };
    let at = || NatsOptions::new(format!("tls://localhost:{}", server.port));
    let trusted = Fleet::connect(at().root_certificates(path("ca.pem")), options("agent")).await;
    assert!(trusted.is_ok(), "{trusted:?}");
    let distrusted =
        Fleet::connect(at().root_certificates(path("other.pem")), options("agent")).await;
    assert!(distrusted.is_err());
}
