//! Durable void points: handed over, delivered at least once, given up with a reason.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hooks_fleet::carrier::{Carrier, Message, Settled};
use hooks_fleet::wire::subject::Route;
use hooks_fleet::{Fleet, FleetOptions, Incoming, LocalNetwork, Serving};
use hooks_runtime::{HookContext, HookRegistry, on};
use support::*;
use tokio::sync::mpsc;

fn durable(service: &str) -> FleetOptions {
    let back_off = [Duration::from_secs(1), Duration::from_secs(5)];
    options(service).durable::<Stored>().deliveries(3, back_off)
}

async fn archive(
    network: &LocalNetwork,
    handler: impl Fn(&StoredPayload, &HookContext) -> Result<(), String> + Send + Sync + 'static,
) -> Serving {
    let hooks = HookRegistry::new();
    hooks.register(on::<Stored>().name("keep").handler(handler)).unwrap();
    let fleet = Fleet::local(network, durable("archive")).unwrap();
    fleet.serve::<Stored>(&hooks).start().await.unwrap()
}

/// L37: what is fired while nobody is there is handled when somebody is.
#[tokio::test(start_paused = true)]
async fn l37_durable_fires_wait_for_their_service() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, durable("agent")).unwrap();
    let share = fleet.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let sharing = share.start().await.unwrap();
    for page in 0..3 {
        hooks.fire_void::<Stored>(&StoredPayload { page }).await.unwrap();
    }
    let (kept, mut pages) = mpsc::unbounded_channel();
    let keep = move |stored: &StoredPayload, _: &HookContext| {
        kept.send(stored.page).map_err(|error| error.to_string())
    };
    let serving = archive(&network, keep).await;
    for page in 0..3 {
        assert_eq!(pages.recv().await, Some(page));
    }
    // It leaves, and comes back: the handler stayed in the order.
    sharing.wait_for("archive").await;
    assert!(serving.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("archive").await;
    hooks.fire_void::<Stored>(&StoredPayload { page: 9 }).await.unwrap();
    let (kept, mut pages) = mpsc::unbounded_channel();
    let keep = move |stored: &StoredPayload, _: &HookContext| {
        kept.send(stored.page).map_err(|error| error.to_string())
    };
    let _serving = archive(&network, keep).await;
    assert_eq!(pages.recv().await, Some(9));
}

/// L37: a delivery that fails comes again, later each time, and then is a dead letter that
/// says why.
#[tokio::test(start_paused = true)]
async fn l37_a_delivery_that_fails_comes_again_and_is_given_up_with_a_reason() {
    let network = LocalNetwork::new();
    let (trying, mut tries) = mpsc::unbounded_channel();
    let _serving = archive(&network, move |stored, cx| {
        let incoming = cx.get::<Incoming>().unwrap();
        let at = tokio::time::Instant::now();
        trying.send((stored.page, incoming.attempt(), incoming.call().to_owned(), at)).unwrap();
        if stored.page == 1 { Err("the disk is full".to_owned()) } else { Ok(()) }
    })
    .await;
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, durable("agent")).unwrap();
    let _sharing = fleet.share::<Stored>(&hooks).from("archive").start().await.unwrap();
    hooks.fire_void::<Stored>(&StoredPayload { page: 1 }).await.unwrap();
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(tries.recv().await.unwrap());
    }
    assert_eq!(seen.iter().map(|it| (it.0, it.1)).collect::<Vec<_>>(), [(1, 1), (1, 2), (1, 3)]);
    // One id for all of them, by which the handler knows what it has seen.
    assert!(seen.iter().all(|it| it.2 == seen[0].2));
    let waits: Vec<_> = seen.windows(2).map(|pair| (pair[1].3 - pair[0].3).as_secs()).collect();
    assert_eq!(waits, [1, 5]);
    // What comes later is not held up for ever.
    hooks.fire_void::<Stored>(&StoredPayload { page: 2 }).await.unwrap();
    assert_eq!(tries.recv().await.unwrap().0, 2);
    let dead = network.dead_letters();
    assert_eq!(dead.len(), 1);
    assert_eq!((dead[0].attempts, &*dead[0].subject), (3, "hooks.dead.archive.stored.keep"));
    assert!(dead[0].why.contains("the disk is full"), "{}", dead[0].why);
}

/// L37: a process that dies with a delivery does not take it along.
#[tokio::test(start_paused = true)]
async fn l37_what_a_dead_process_had_is_delivered_again() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, durable("agent")).unwrap();
    let share = fleet.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let _sharing = share.start().await.unwrap();
    hooks.fire_void::<Stored>(&StoredPayload { page: 4 }).await.unwrap();
    let (began, mut has_begun) = mpsc::unbounded_channel();
    let hangs = HookRegistry::new();
    hangs
        .register(on::<Stored>().name("keep").handler(hooks_runtime::capturing(
            async move |_: &StoredPayload| {
                began.send(()).unwrap();
                std::future::pending::<()>().await;
            },
        )))
        .unwrap();
    let dying = Fleet::local(&network, durable("archive")).unwrap();
    let dying = dying.serve::<Stored>(&hangs).start().await.unwrap();
    has_begun.recv().await.unwrap();
    drop(dying);
    let attempts = Arc::new(AtomicU32::new(0));
    let (kept, mut pages) = mpsc::unbounded_channel();
    let seen = Arc::clone(&attempts);
    let _serving = archive(&network, move |stored, cx| {
        seen.store(cx.get::<Incoming>().unwrap().attempt(), Ordering::Relaxed);
        kept.send(stored.page).map_err(|error| error.to_string())
    })
    .await;
    assert_eq!(pages.recv().await, Some(4));
    assert_eq!(attempts.load(Ordering::Relaxed), 2);
}

/// L37: what its processes die with, as often as it may be delivered, is a dead letter too, as with
/// a server.
#[tokio::test(start_paused = true)]
async fn l37_what_kills_its_processes_is_given_up() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, durable("agent")).unwrap();
    let share = fleet.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let _sharing = share.start().await.unwrap();
    for page in [4, 5] {
        hooks.fire_void::<Stored>(&StoredPayload { page }).await.unwrap();
    }
    for attempt in 1..=3 {
        let (began, mut has_begun) = mpsc::unbounded_channel();
        let hangs = HookRegistry::new();
        let keep = on::<Stored>().name("keep").handler(hooks_runtime::capturing(
            async move |it: &StoredPayload, cx: &HookContext| {
                if it.page == 4 {
                    began.send(cx.get::<Incoming>().unwrap().attempt()).unwrap();
                    std::future::pending::<()>().await;
                }
            },
        ));
        hangs.register(keep).unwrap();
        let dying = Fleet::local(&network, durable("archive")).unwrap();
        let dying = dying.serve::<Stored>(&hangs).start().await.unwrap();
        assert_eq!(has_begun.recv().await, Some(attempt));
        drop(dying);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let dead = network.dead_letters();
    assert_eq!((dead.len(), dead[0].attempts), (1, 3));
    assert_eq!(dead[0].why, "no process settled it, as often as it was delivered");
}

/// An id is the same message for two minutes, as with a server, and not for ever: what is
/// remembered does not grow with all that was ever stored.
#[tokio::test(start_paused = true)]
async fn l37_an_id_is_remembered_for_two_minutes() {
    let network = LocalNetwork::new();
    let route = Route {
        service: "archive".into(),
        point: "stored".into(),
        handler: "keep".into(),
        schema: String::new(),
    };
    let store = async || {
        let message = Message { headers: Vec::new(), body: "a".into() };
        network.store(&route, "a", message, Duration::from_secs(1)).await.unwrap();
    };
    let mut deliveries = network.consume(&route, 3).await.unwrap();
    for (waits, is_new) in [(0, true), (0, false), (119, false), (1, true), (60, false)] {
        tokio::time::sleep(Duration::from_secs(waits)).await;
        store().await;
        let next = tokio::time::timeout(Duration::from_nanos(1), deliveries.next()).await;
        assert_eq!(next.is_ok(), is_new, "{waits}");
        if let Ok(Some(delivery)) = next {
            (delivery.settle)(Settled::Done).await.unwrap();
        }
    }
}

/// L37: messages that are stored for a service that takes none are noticed: no fire fails by them.
#[tokio::test]
async fn l37_a_service_that_takes_no_stored_messages_is_noticed() {
    let network = LocalNetwork::new();
    let called = HookRegistry::new();
    called.register(on::<Stored>().name("keep").handler(|_: &StoredPayload| ())).unwrap();
    let archive = Fleet::local(&network, options("archive")).unwrap();
    let _serving = archive.serve::<Stored>(&called).start().await.unwrap();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, durable("agent")).unwrap();
    let _sharing = fleet.share::<Stored>(&hooks).from("archive").start().await.unwrap();
    hooks.fire_void::<Stored>(&StoredPayload { page: 1 }).await.unwrap();
    let strangers = fleet.strangers();
    assert_eq!((strangers.len(), &*strangers[0].instance), (1, archive.instance()));
    assert_eq!(
        strangers[0].why,
        "what is stored for it at `stored` does not fit it: it is called there, durable here; it \
         waits for a process that it fits"
    );
}

/// L37: the longest back-off there is keeps a message for so long, and its process alive.
#[tokio::test(start_paused = true)]
async fn l37_no_back_off_is_too_long() {
    let network = LocalNetwork::new();
    let (trying, mut tries) = mpsc::unbounded_channel();
    let fails = HookRegistry::new();
    let keep = on::<Stored>().name("keep").handler(move |it: &StoredPayload| {
        trying.send(it.page).unwrap();
        Err::<(), _>("the disk is full")
    });
    fails.register(keep).unwrap();
    let patient = |service: &str| durable(service).deliveries(3, [Duration::MAX]);
    let archive = Fleet::local(&network, patient("archive")).unwrap();
    let _serving = archive.serve::<Stored>(&fails).start().await.unwrap();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, patient("agent")).unwrap();
    let _sharing = fleet.share::<Stored>(&hooks).from("archive").start().await.unwrap();
    for page in [1, 2] {
        hooks.fire_void::<Stored>(&StoredPayload { page }).await.unwrap();
        assert_eq!(tries.recv().await, Some(page));
    }
}

/// L37: where it cannot be stored the fire fails, under its policy.
#[tokio::test(start_paused = true)]
async fn l37_a_fire_that_cannot_be_stored_fails() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, durable("agent")).unwrap();
    let share = fleet.share::<Stored>(&hooks).require::<Stored>("archive", "keep");
    let _sharing = share.start().await.unwrap();
    network.cut(true);
    let failure = remote(hooks.fire_void::<Stored>(&StoredPayload { page: 1 }).await);
    assert_eq!(failure.as_str(), "unreachable");
}
