//! Durable void points in a real JetStream.
#![cfg(feature = "nats")]

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use hooks_fleet::carrier::{Carrier, Message, Settled};
use hooks_fleet::nats::{Nats, NatsOptions};
use hooks_fleet::wire::subject::Route;
use hooks_fleet::{Fleet, FleetOptions, Incoming, Serving};
use hooks_runtime::{HookContext, HookRegistry, on};
use support::nats::{Proxy, Server, at};
use support::*;
use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, span};

fn durable(service: &str) -> FleetOptions {
    let back_off = [Duration::from_millis(100)];
    options(service).durable::<Stored>().deliveries(3, back_off)
}

async fn archive(
    server: NatsOptions,
    handler: impl Fn(&StoredPayload, &HookContext) -> Result<(), String> + Send + Sync + 'static,
) -> Serving {
    let hooks = HookRegistry::new();
    hooks.register(on::<Stored>().name("keep").handler(handler)).unwrap();
    let fleet = Fleet::connect(server, durable("archive")).await.unwrap();
    fleet.serve::<Stored>(&hooks).start().await.unwrap()
}

/// L37: nothing is lost while nobody is there, nor when the server restarts.
#[tokio::test]
async fn l37_durable_fires_survive_the_absence_of_everybody() {
    let Some(mut server) = Server::start().await else { return };
    let hooks = HookRegistry::new();
    let agent = server.fleet(durable("agent").timeout(Duration::from_secs(20))).await;
    let share = agent.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let _sharing = share.start().await.unwrap();
    for page in 0..10 {
        hooks.fire_void::<Stored>(&StoredPayload { page }).await.unwrap();
        if page == 4 {
            server.kill();
            server.run().await;
        }
    }
    server.kill();
    server.run().await;
    let (kept, mut pages) = mpsc::unbounded_channel();
    let _serving = archive(server.options(), move |stored, _| {
        kept.send(stored.page).map_err(|error| error.to_string())
    })
    .await;
    let mut seen = BTreeMap::new();
    while seen.len() < 10 {
        *seen.entry(pages.recv().await.unwrap()).or_insert(0) += 1;
    }
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

/// A second message of one id is the first one, also after a restart of the server and after
/// the first was handled: with the retention `limits` that holds.
#[tokio::test]
async fn l37_an_id_is_stored_once() {
    let Some(mut server) = Server::start().await else { return };
    let (kept, mut pages) = mpsc::unbounded_channel();
    let _serving = archive(server.options(), move |stored, _| {
        kept.send(stored.page).map_err(|error| error.to_string())
    })
    .await;
    let nats = Nats::connect(server.options(), "agent").await.unwrap();
    let route = Route {
        service: "archive".into(),
        point: "stored".into(),
        handler: "keep".into(),
        schema: String::new(),
    };
    let store = async |id: &str, page: u32| {
        let body = format!(
            r#"{{"v":1,"call":"{id}","attempt":1,"service":"archive","handler":"keep","point":"stored",
                "model":"void","schema":"","budget_ms":1,"payload":{{"page":{page}}}}}"#
        );
        let message = Message { headers: Vec::new(), body: body.into() };
        nats.store(&route, id, message, Duration::from_secs(20)).await.unwrap();
    };
    store("a", 1).await;
    store("a", 1).await;
    assert_eq!(pages.recv().await, Some(1));
    server.kill();
    server.run().await;
    store("a", 1).await;
    store("b", 2).await;
    assert_eq!(pages.recv().await, Some(2));
    assert!(pages.try_recv().is_err());
}

/// L37: attempts, a back-off, and a dead letter that says why.
#[tokio::test]
async fn l37_what_fails_for_good_is_a_dead_letter() {
    let Some(server) = Server::start().await else { return };
    let (trying, mut tries) = mpsc::unbounded_channel();
    let _serving = archive(server.options(), move |stored, cx| {
        let incoming = cx.get::<Incoming>().unwrap();
        trying.send((stored.page, incoming.attempt(), incoming.call().to_owned())).unwrap();
        if stored.page == 1 { Err("the disk is full".to_owned()) } else { Ok(()) }
    })
    .await;
    let hooks = HookRegistry::new();
    let agent = server.fleet(durable("agent")).await;
    let sharing = agent.share::<Stored>(&hooks).from("archive").start().await.unwrap();
    sharing.wait_for("archive").await;
    hooks.fire_void::<Stored>(&StoredPayload { page: 1 }).await.unwrap();
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(tries.recv().await.unwrap());
    }
    assert_eq!(seen.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(), [(1, 1), (1, 2), (1, 3)]);
    assert!(seen.iter().all(|it| it.2 == seen[0].2));
    hooks.fire_void::<Stored>(&StoredPayload { page: 2 }).await.unwrap();
    assert_eq!(tries.recv().await.unwrap().0, 2);
    let nats = Nats::connect(server.options(), "operator").await.unwrap();
    let dead = loop {
        let dead = nats.dead_letters(9).await.unwrap();
        if !dead.is_empty() {
            break dead;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].attempts, &*dead[0].subject), (3, "hooks.dead.archive.stored.keep"));
    assert!(dead[0].why.contains("the disk is full"), "{}", dead[0].why);
    assert!(String::from_utf8_lossy(&dead[0].message.body).contains(r#""payload":{"page":1}"#));
}

/// L37: a process that dies with what it was given each time: it is delivered again, and the
/// server's own word for it is with the dead letters.
#[tokio::test]
async fn l37_what_kills_its_processes_is_a_dead_letter_too() {
    let Some(server) = Server::start().await else { return };
    let options = || server.options().ack_wait(Duration::from_millis(600));
    let hooks = HookRegistry::new();
    let agent = server.fleet(durable("agent")).await;
    let share = agent.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let _sharing = share.start().await.unwrap();
    hooks.fire_void::<Stored>(&StoredPayload { page: 1 }).await.unwrap();
    for attempt in 1..=3 {
        let (began, mut has_begun) = mpsc::unbounded_channel();
        let hangs = HookRegistry::new();
        hangs
            .register(on::<Stored>().name("keep").handler(hooks_runtime::capturing(
                async move |_: &StoredPayload, cx: &HookContext| {
                    began.send(cx.get::<Incoming>().unwrap().attempt()).unwrap();
                    std::future::pending::<()>().await;
                },
            )))
            .unwrap();
        let dying = Fleet::connect(options(), durable("archive")).await.unwrap();
        let dying = dying.serve::<Stored>(&hangs).start().await.unwrap();
        assert_eq!(has_begun.recv().await, Some(attempt));
        drop(dying);
    }
    // The server notices when it would deliver it once more.
    let _alive = archive(options(), |_, _| Err("it must not be called".to_owned())).await;
    let nats = Nats::connect(server.options(), "operator").await.unwrap();
    let dead = loop {
        let dead = nats.dead_letters(9).await.unwrap();
        if !dead.is_empty() {
            break dead;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(dead[0].subject.starts_with("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.HOOKS_VOID."));
    assert_eq!(dead[0].why, "no process settled it, as often as it was delivered");
}

/// L37: an acknowledgement that comes after the message was delivered again counts: it is
/// handled twice, as "at least once" allows, and not a third time, nor given up.
#[tokio::test]
async fn l37_a_late_acknowledgement_ends_the_deliveries() {
    let Some(server) = Server::start().await else { return };
    let proxy = Proxy::to(server.port).await;
    let wait = Duration::from_millis(600);
    let first = Nats::connect(at(proxy.port).ack_wait(wait), "archive").await.unwrap();
    let other = Nats::connect(server.options().ack_wait(wait), "archive").await.unwrap();
    let route = Route {
        service: "archive".into(),
        point: "stored".into(),
        handler: "keep".into(),
        schema: String::new(),
    };
    let message = Message { headers: Vec::new(), body: "a".into() };
    other.store(&route, "a", message, Duration::from_secs(9)).await.unwrap();
    let mut of_first = first.consume(&route, 3).await.unwrap();
    let slow = of_first.next().await.unwrap();
    assert_eq!((slow.attempt, &*slow.message.body), (1, &b"a"[..]));
    // The server hears no more that it is under way, and gives it to the other.
    proxy.freeze(true);
    let mut of_other = other.consume(&route, 3).await.unwrap();
    let again = of_other.next().await.unwrap();
    assert_eq!((again.attempt, &*again.message.body), (2, &b"a"[..]));
    proxy.freeze(false);
    (slow.settle)(Settled::Done).await.unwrap();
    // What the other says of it counts no more, whatever it is.
    let _ = (again.settle)(Settled::Again(Duration::ZERO)).await;
    let third = tokio::time::timeout(2 * wait, of_other.next()).await;
    assert!(third.is_err(), "it is delivered a third time: {third:?}");
    assert_eq!(other.dead_letters(9).await.unwrap(), []);
}

/// The warnings of the log.
#[derive(Clone, Default)]
struct Warnings(Log);

impl Visit for Warnings {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push(format!("{field}: {value:?}"));
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN && metadata.target().starts_with("hooks_fleet")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// L20: what keeps a process from taking durable messages is in the log, once.
#[tokio::test]
async fn l20_a_process_that_can_take_no_durable_messages_says_so() {
    let Some(server) = Server::start().await else { return };
    let warnings = Warnings::default();
    let _logged = tracing::subscriber::set_default(warnings.clone());
    let _serving = archive(server.options(), |_, _| Ok(())).await;
    // Somebody changes the stream, and the consumer goes.
    let operator = async_nats::connect(format!("nats://127.0.0.1:{}", server.port)).await.unwrap();
    let jetstream = async_nats::jetstream::new(operator);
    let stream = jetstream.get_stream("HOOKS_VOID").await.unwrap();
    let mut config = stream.cached_info().config.clone();
    config.subjects = vec!["other.>".to_owned()];
    jetstream.update_stream(config).await.unwrap();
    stream.delete_consumer("archive==stored==keep").await.unwrap();
    let expected = r#"error: the stream `HOOKS_VOID` takes ["other.>"], not ["hooks.void.>"]"#;
    let mut seen = Vec::new();
    while !seen.iter().any(|line| line == expected) {
        tokio::time::sleep(Duration::from_millis(5)).await;
        seen.extend(warnings.0.take());
    }
    assert!(seen.iter().any(|line| line == "message: no durable messages can be taken"));
    // It is tried several times more.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(warnings.0.take().iter().filter(|line| *line == expected).count(), 0);
}
