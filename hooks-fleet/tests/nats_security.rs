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
    let refused = "cannot be joined: it refuses this user: its key, password or credentials are \
                   not known there";
    assert!(nobody.to_string().ends_with(refused), "{nobody}");
    let unknown = signed(&server, &KeyPair::new_user());
    let unknown = Fleet::connect(unknown, options("policy")).await.unwrap_err();
    assert!(unknown.to_string().ends_with(refused), "{unknown}");
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
    // They are not for everybody, which is said.
    let agent = Nats::connect(signed(&server, &agent), "agent").await.unwrap();
    let error = agent.dead_letters(9).await.unwrap_err().to_string();
    let why = "gives this user no answer about the stream `HOOKS_DEAD`: it may not read it, which \
               the log of the server tells; dead letters are for the operator";
    assert!(error.ends_with(why), "{error}");
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

/// Users with passwords: who may not subscribe to the replies to another cannot read them.
#[tokio::test]
async fn l37_replies_are_read_by_nobody_else() {
    let config = r#"authorization { users: [
        { user: agent, password: "a" },
        { user: policy, password: "p" },
        { user: spy, password: "s", permissions: { subscribe: ["_INBOX_spy.>", "other.>"] } },
    ] }"#;
    let Some(server) = Server::with_config(config, Vec::new()).await else { return };
    let hooks = HookRegistry::new();
    let agent = server.options().user("agent", "a").inbox_prefix("_INBOX_of_the_agent");
    let agent = Fleet::connect(agent, options("agent")).await.unwrap();
    let share = agent.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let sharing = share.start().await.unwrap();
    let _serving = serve(server.options().user("policy", "p"), false).await.unwrap();
    sharing.wait_for("policy").await;
    let spy = |user: &str, password: &str| {
        let options =
            async_nats::ConnectOptions::with_user_and_password(user.into(), password.into());
        options.connect(format!("nats://127.0.0.1:{}", server.port))
    };
    // One who may hears all of them, so the prefix is the one that was asked for.
    let (allowed, denied) = (spy("policy", "p").await.unwrap(), spy("spy", "s").await.unwrap());
    let mut heard = allowed.subscribe("_INBOX_of_the_agent.>").await.unwrap();
    let mut unheard = denied.subscribe("_INBOX_of_the_agent.>").await.unwrap();
    allowed.flush().await.unwrap();
    denied.flush().await.unwrap();
    let fired = hooks.fire_gating::<Running>(command("ls")).await;
    assert!(matches!(fired, Ok(Gate::Rejected(_))), "{fired:?}");
    assert!(futures::StreamExt::next(&mut heard).await.is_some());
    assert!(
        futures::FutureExt::now_or_never(futures::StreamExt::next(&mut unheard))
            .flatten()
            .is_none()
    );
    let log = std::fs::read_to_string(server.folder.path().join("server.log")).unwrap();
    assert!(log.contains("Subscription Violation"), "{log}");
    let wrong = Fleet::connect(server.options().user("agent", "wrong"), options("agent")).await;
    assert!(wrong.is_err());
}

/// L37: across accounts the server does not say that nobody is there: a required handler is
/// known by its presence, and its absence ends the fire at once all the same.
#[tokio::test]
async fn l37_in_another_account_a_required_handler_is_absent_at_once() {
    let config = r#"accounts {
        SERVICES {
            jetstream: enabled
            users: [{ user: policy, password: "p" }]
            exports: [{ service: "hooks.req.>" }]
        }
        AGENTS {
            jetstream: enabled
            users: [{ user: agent, password: "a" }]
            imports: [{ service: { account: SERVICES, subject: "hooks.req.>" } }]
        }
    }"#;
    let Some(server) = Server::with_config(config, Vec::new()).await else { return };
    let hooks = HookRegistry::new();
    let patient = options("agent").timeout(Duration::from_mins(10));
    let agent = Fleet::connect(server.options().user("agent", "a"), patient).await.unwrap();
    let share = agent.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let _sharing = share.start().await.unwrap();
    let fired =
        tokio::time::timeout(Duration::from_secs(5), hooks.fire_gating::<Running>(command("ls")));
    assert_eq!(remote(fired.await.unwrap()).as_str(), "absent");
    // Also while it serves in its own account: there it is not announced to this one.
    let _serving = serve(server.options().user("policy", "p"), true).await.unwrap();
    assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "absent");
}

/// A user that may not use the subjects for replies of its service hears of that, and not only
/// that time was over.
#[tokio::test]
async fn a_role_under_the_name_of_another_service_is_told_what_it_lacks() {
    let Some((server, [_, agent, ..])) = guarded().await else { return };
    let fleet = Fleet::connect(signed(&server, &agent), options("office")).await.unwrap();
    let share = fleet.share::<Running>(&HookRegistry::new()).from("policy");
    assert_eq!(
        share.start().await.unwrap_err().to_string(),
        format!(
            "the NATS server at `nats://127.0.0.1:{}` gives this user no answer about the stream \
             `KV_HOOKS_PRESENCE`: it may neither see nor make it, or may not subscribe to \
             `_INBOX_office.>`, which the log of the server tells; `Nats::prepare` makes it, as the \
             operator",
            server.port
        )
    );
}

/// What cannot work is said before a server is asked.
#[tokio::test]
async fn keys_and_certificates_that_cannot_be_used_are_named() {
    let nowhere = || NatsOptions::new("nats://127.0.0.1:1");
    let seed = KeyPair::new_user().seed().unwrap();
    let no_seed = "the nkey is not the seed of a user: that is 58 letters and digits, begins with \
                   `SU`, and has no end of line";
    for (wrong, expected) in [
        (nowhere().nkey(format!("{seed}\n")), no_seed),
        (nowhere().nkey(KeyPair::new_user().public_key()), no_seed),
        (
            nowhere().root_certificates("/nowhere/ca.pem"),
            "the root certificates `/nowhere/ca.pem` cannot be read: No such file or directory (os \
             error 2)",
        ),
        (
            nowhere().client_certificate("/nowhere/cert.pem", "/nowhere/key.pem"),
            "the client certificate `/nowhere/cert.pem` cannot be read: No such file or directory \
             (os error 2)",
        ),
    ] {
        let error = Fleet::connect(wrong, options("policy")).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// A server without JetStream: what is missing, and how it is got.
#[tokio::test]
async fn a_server_without_jetstream_is_told_as_that() {
    let Some(server) = Server::without_jetstream().await else { return };
    let fleet = Fleet::connect(server.options(), options("agent")).await.unwrap();
    let share = fleet.share::<Running>(&HookRegistry::new()).from("policy");
    assert_eq!(
        share.start().await.unwrap_err().to_string(),
        format!(
            "the NATS server at `nats://127.0.0.1:{}` has no JetStream: start it with `-js`, or \
             with `jetstream {{}}` in its configuration",
            server.port
        )
    );
}
