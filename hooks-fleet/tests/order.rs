//! The order of handlers of equal priority: the same in every process that fires, whoever it
//! heard of first.

mod support;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hooks_fleet::carrier::Carrier;
use hooks_fleet::{Fleet, LocalNetwork, Serving, Sharing};
use hooks_runtime::observe::{ObservedHandler, Observer};
use hooks_runtime::{HookRegistry, Verdict, on};
use support::*;

/// A process of that service with these handlers at priorities, registered in this order.
async fn serve(network: &LocalNetwork, service: &str, handlers: &[(&str, i32)]) -> Serving {
    let hooks = HookRegistry::new();
    for (name, priority) in handlers {
        let pass = |_: &RunningPayload| Verdict::<RunningPayload>::Pass;
        hooks.register(on::<Running>().name(*name).priority(*priority).handler(pass)).unwrap();
    }
    serve_running(network, service, &hooks).await
}

const SERVICES: [(&str, &[(&str, i32)]); 3] = [
    ("east", &[("zebra", 0), ("apple", 0), ("late", 7)]),
    ("north", &[("first", -3), ("pear", 0)]),
    // Before `north` in its name, behind it among those of equal priority.
    ("north-west", &[("plum", 0)]),
];

/// One process that fires, with a handler of its own.
async fn agent(network: &LocalNetwork) -> (HookRegistry, Sharing) {
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks);
    let sharing = share.from("east").from("north").from("north-west").start().await.unwrap();
    (hooks, sharing)
}

/// The host's own come first, also where they are registered last.
fn register_own(hooks: &HookRegistry) {
    let pass = |_: &RunningPayload| Verdict::<RunningPayload>::Pass;
    hooks.register(on::<Running>().name("own").handler(pass)).unwrap();
}

const ORDER: [&str; 7] = [
    "north/first",
    "built-in/own",
    "east/zebra",
    "east/apple",
    "north/pear",
    "north-west/plum",
    "east/late",
];

/// L37: whatever the order in which processes come, leave and come back.
#[tokio::test(start_paused = true)]
async fn l37_every_process_that_fires_has_one_order() {
    let arrivals = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for arrival in arrivals {
        let network = LocalNetwork::new();
        let (early, sharing) = agent(&network).await;
        let mut serving = Vec::new();
        for at in arrival {
            let (service, handlers) = SERVICES[at];
            serving.push(Some(serve(&network, service, handlers).await));
            sharing.wait_for(service).await;
        }
        register_own(&early);
        assert_eq!(names(&early.handlers_at::<Running>()), ORDER, "{arrival:?}");
        // One that begins now hears of all at once.
        let (late, _late_sharing) = agent(&network).await;
        register_own(&late);
        assert_eq!(names(&late.handlers_at::<Running>()), ORDER, "{arrival:?}");
        for (at, serving) in arrival.into_iter().zip(&mut serving) {
            let (service, handlers) = SERVICES[at];
            assert!(serving.take().unwrap().leave(Duration::from_secs(9)).await);
            sharing.wait_for_absence_of(service).await;
            *serving = Some(serve(&network, service, handlers).await);
            sharing.wait_for(service).await;
            assert_eq!(names(&early.handlers_at::<Running>()), ORDER, "{arrival:?}, {service}");
            assert_eq!(names(&late.handlers_at::<Running>()), ORDER, "{arrival:?}, {service}");
        }
    }
}

/// What a registry's list of the point was whenever an observer was told of a change.
#[derive(Clone, Debug, Default)]
struct Lists {
    hooks: Arc<OnceLock<HookRegistry>>,
    seen: Log,
}

impl Lists {
    fn look(&self) {
        let Some(hooks) = self.hooks.get() else { return };
        self.seen.push(names(&hooks.handlers_at::<Running>()).join(", "));
    }
}

impl Observer for Lists {
    fn registered(&self, _: &ObservedHandler<'_>) {
        self.look();
    }

    fn removed(&self, _: &ObservedHandler<'_>) {
        self.look();
    }
}

/// L37: the last process of an old version leaves: what it alone served goes, and what changes
/// its place for it does so, at one instant.
#[tokio::test(start_paused = true)]
async fn l37_a_change_of_who_is_there_is_one_change_of_the_order() {
    let network = LocalNetwork::new();
    let join = || Fleet::local(&network, options("policy")).unwrap();
    // Where two disagree, the one of the lower instance decides: here the old one.
    let (old, new) = loop {
        let (one, other) = (join(), join());
        if one.instance() < other.instance() {
            break (one, other);
        }
    };
    let lists = Lists::default();
    let hooks = HookRegistry::builder().observer(lists.clone()).build();
    lists.hooks.set(hooks.clone()).unwrap();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let serve = async |fleet: &Fleet, names: [&str; 2]| {
        let hooks = HookRegistry::new();
        for name in names {
            let pass = |_: &RunningPayload| Verdict::<RunningPayload>::Pass;
            hooks.register(on::<Running>().name(name).handler(pass)).unwrap();
        }
        fleet.serve::<Running>(&hooks).start().await.unwrap()
    };
    let first = serve(&old, ["gone", "stays"]).await;
    sharing.wait_for_processes("policy", 1).await;
    let _second = serve(&new, ["stays", "comes"]).await;
    sharing.wait_for_processes("policy", 2).await;
    let all = ["policy/gone", "policy/comes", "policy/stays"];
    assert_eq!(names(&hooks.handlers_at::<Running>()), all);
    lists.seen.take();
    assert!(first.leave(Duration::from_secs(9)).await);
    sharing.wait_for_processes("policy", 1).await;
    // Two that move and one that goes, and nobody has seen anything between.
    let left = ["policy/stays", "policy/comes"];
    assert_eq!(names(&hooks.handlers_at::<Running>()), left);
    let seen = lists.seen.take();
    assert!(!seen.is_empty() && seen.iter().all(|seen| *seen == left.join(", ")), "{seen:?}");
}

/// L37: what is wrong with one service keeps no other one out.
#[tokio::test(start_paused = true)]
async fn l37_a_service_that_cannot_be_registered_concerns_no_other() {
    let network = LocalNetwork::new();
    let (hooks, sharing) = agent(&network).await;
    // No registry has a handler of such a name: somebody else wrote this.
    let north = serve(&network, "north", &[("pear", 0)]).await;
    let mut announcement = north.announcement().clone();
    announcement.service = "east".to_owned();
    announcement.handlers[0].handler = "a/b\n".to_owned();
    network.announce(&announcement).await.unwrap();
    let _west = serve(&network, "north-west", &[("plum", 0)]).await;
    sharing.wait_for("north-west").await;
    assert_eq!(names(&hooks.handlers_at::<Running>()), ["north/pear", "north-west/plum"]);
}
