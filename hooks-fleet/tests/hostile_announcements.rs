//! Announcements that forge, flood or break: what one process says of itself harms no other.

mod support;

use std::time::Duration;

use hooks_fleet::carrier::Carrier;
use hooks_fleet::wire::{AnnouncedHandler, Announcement};
use hooks_fleet::{Fleet, LocalNetwork, Sharing};
use hooks_runtime::plugin::Quota;
use hooks_runtime::{Gate, HookRegistry, Judgement, on};
use support::*;

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    hooks
}

fn handler(point: &str, name: &str) -> AnnouncedHandler {
    AnnouncedHandler {
        point: point.into(),
        handler: name.into(),
        priority: 0,
        guard: false,
        fail_closed: false,
        timeout_ms: None,
        pure: false,
        idempotent: false,
    }
}

/// What a process would announce that serves `Running` and `Printed`.
async fn honest(service: &str) -> Announcement {
    let hooks = rules();
    hooks.register(on::<Printed>().name("count").handler(|_: &PrintedPayload| ())).unwrap();
    let fleet = Fleet::local(&LocalNetwork::new(), options(service)).unwrap();
    let serving = fleet.serve::<Running>(&hooks).and::<Printed>().start().await.unwrap();
    serving.announcement().clone()
}

async fn announced(network: &LocalNetwork, forged: &Announcement, sharing: &Sharing) {
    network.announce(forged).await.unwrap();
    sharing.wait_for(&forged.service).await;
}

/// L37: a handler that the registry refuses is noticed, and those of others come and go.
#[tokio::test]
async fn l37_a_handler_that_is_refused_holds_up_no_other() {
    let style = honest("style").await;
    let refused = [
        AnnouncedHandler { timeout_ms: Some(0), ..handler("running", "hasty") },
        handler("running", &"x".repeat(1 << 20)),
        handler("running", "a/b"),
        handler("running", ""),
        AnnouncedHandler { guard: true, ..handler("printed", "guard") },
    ];
    for one in refused {
        let network = LocalNetwork::new();
        let hooks = HookRegistry::new();
        let fleet = Fleet::local(&network, options("agent")).unwrap();
        let share = fleet.share::<Running>(&hooks).and::<Printed>().from("style");
        let sharing = share.from("policy").start().await.unwrap();
        let forged = Announcement { handlers: vec![one.clone()], ..style.clone() };
        announced(&network, &forged, &sharing).await;
        let serving = serve_running(&network, "policy", &rules()).await;
        sharing.wait_for("policy").await;
        assert_eq!(names(&hooks.handlers()), ["policy/rules"], "{:.40}", one.handler);
        let strangers = fleet.strangers();
        assert_eq!((strangers.len(), &*strangers[0].service), (1, "style"));
        assert!(strangers[0].why.contains("is refused here"), "{:.200}", strangers[0].why);
        assert!(strangers[0].why.len() < 1_000);
        assert!(serving.leave(Duration::from_secs(9)).await);
        sharing.wait_for_absence_of("policy").await;
        assert_eq!(names(&hooks.handlers()), [""; 0]);
    }
}

/// L16, L37: what the host does not allow a service, its announcement does not get; a handler
/// that is required has a place all the same, and the gate is closed.
#[tokio::test]
async fn l16_a_service_gets_no_place_that_the_host_does_not_allow_it() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    hooks.set_quota("policy", Quota::new().priorities(0..=9).max_handlers(2)).unwrap();
    let mut forged = honest("policy").await;
    forged.handlers = vec![
        AnnouncedHandler { priority: -1_000, guard: true, ..handler("running", "rules") },
        AnnouncedHandler { priority: i32::MIN, ..handler("running", "first") },
        handler("running", "second"),
        handler("running", "third"),
    ];
    network.announce(&forged).await.unwrap();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let _sharing = share.start().await.unwrap();
    assert_eq!(names(&hooks.handlers()), ["policy/rules", "policy/second"]);
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!(failure.as_str(), "refused");
    assert!(failure.to_string().contains("is refused here"), "{failure}");
    assert_eq!(fleet.strangers().len(), 2);
}

/// L10, L37: a guard whose place is refused is not called in another one, where rewriters would
/// change what it has judged, whoever comes or goes meanwhile.
#[tokio::test]
async fn l10_a_guard_is_called_in_no_place_but_its_own() {
    for refused_from_the_start in [true, false] {
        let network = LocalNetwork::new();
        let hooks = HookRegistry::new();
        hooks.set_quota("policy", Quota::new().priorities(0..=9)).unwrap();
        let policy = serve_running(&network, "policy", &rules()).await;
        let mut forged = policy.announcement().clone();
        forged.handlers[0].priority = -1;
        if refused_from_the_start {
            network.announce(&forged).await.unwrap();
        }
        let fleet = Fleet::local(&network, options("agent")).unwrap();
        let share = fleet.share::<Running>(&hooks).from("style");
        let share = share.require::<Running>("policy", "rules");
        let sharing = share.start().await.unwrap();
        if !refused_from_the_start {
            let fired = hooks.fire_gating::<Running>(command("ls")).await;
            assert!(matches!(fired, Ok(Gate::Passed(_))), "{fired:?}");
            network.announce(&forged).await.unwrap();
        }
        for processes in 1..=3 {
            let style = serve_running(&network, "style", &rules()).await;
            sharing.wait_for("style").await;
            let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
            assert_eq!(
                failure.to_string(),
                "refused (incompatible): it is refused here: `rules` of plugin `policy` is refused \
                 at `running`: priority -1 is not between 0 and 9; the host allows more with \
                 `set_quota`; nothing ran",
                "{processes}"
            );
            assert!(style.leave(Duration::from_secs(9)).await);
            sharing.wait_for_absence_of("style").await;
        }
        // In its own place it is called again.
        network.announce(policy.announcement()).await.unwrap();
        let _style = serve_running(&network, "style", &rules()).await;
        sharing.wait_for("style").await;
        let fired = hooks.fire_gating::<Running>(command("ls")).await;
        assert!(matches!(fired, Ok(Gate::Passed(_))), "{fired:?}");
        assert!(hooks.handlers().iter().all(|info| info.guard));
    }
}

/// Ten thousand handlers in one announcement: the process takes no part.
#[tokio::test]
async fn l37_an_announcement_has_limits() {
    type Forgery = fn(&mut Announcement);
    let honest = honest("style").await;
    let forgeries: [(&str, Forgery); 5] = [
        ("10000 handlers", |it| {
            let many = (0..10_000).map(|number| handler("running", &number.to_string()));
            it.handlers = many.collect();
        }),
        ("instance", |it| it.instance = "a b".into()),
        ("instance", |it| it.instance = "x".repeat(1 << 20)),
        ("schema", |it| {
            it.points.get_mut("running").unwrap().schema = "1\r\nNats-Msg-Id: 1".into();
        }),
        ("schema", |it| it.points.get_mut("running").unwrap().schema = String::new()),
    ];
    for (why, forge) in forgeries {
        let network = LocalNetwork::new();
        let hooks = HookRegistry::new();
        let fleet = Fleet::local(&network, options("agent")).unwrap();
        let share = fleet.share::<Running>(&hooks).from("style").from("policy");
        let sharing = share.start().await.unwrap();
        let mut forged = honest.clone();
        forge(&mut forged);
        network.announce(&forged).await.unwrap();
        let _serving = serve_running(&network, "policy", &rules()).await;
        sharing.wait_for("policy").await;
        assert_eq!(names(&hooks.handlers()), ["policy/rules"], "{why}");
        let strangers = fleet.strangers();
        assert_eq!(strangers.len(), 1, "{why}");
        assert!(strangers[0].why.contains(why), "{why}: {:.200}", strangers[0].why);
    }
}

/// L37: the largest announcement there may be holds up none of those who hear of it. Where its
/// schema is looked at for each of its handlers, this takes minutes.
#[tokio::test]
async fn l37_a_large_announcement_holds_nobody_up() {
    let network = LocalNetwork::new();
    let mut forged = honest("style").await;
    let point = forged.points.get_mut("running").unwrap();
    point.schema = "large".into();
    for number in 0..20_000 {
        let field = format!("field{number}");
        point.payload["properties"][field] = serde_json::json!({"type": "string"});
    }
    let many = (0..1_000).map(|number| handler("running", &number.to_string()));
    forged.handlers = many.collect();
    network.announce(&forged).await.unwrap();
    // One that does not fit, for a reason as long as it can be.
    let point = forged.points.get_mut("running").unwrap();
    let name = "x".repeat(1 << 20);
    point.payload = serde_json::json!({"properties": {name.clone(): {}}, "required": [name]});
    point.schema = "other".into();
    let mut other = Announcement { service: "post".into(), ..forged };
    other.handlers[0].guard = true;
    network.announce(&other).await.unwrap();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).from("style").from("post").from("policy");
    let sharing = share.start().await.unwrap();
    for _ in 0..9 {
        let serving = serve_running(&network, "policy", &rules()).await;
        sharing.wait_for("policy").await;
        assert_eq!(hooks.handlers().len(), 2_001);
        assert!(serving.leave(Duration::from_secs(9)).await);
        sharing.wait_for_absence_of("policy").await;
    }
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert!(failure.to_string().len() < 1_000, "{failure}");
}

/// L16: a service never takes the place of a handler of this process.
#[tokio::test]
async fn l16_no_service_takes_the_place_of_a_local_handler() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let check = on::<Running>().plugin("auth").name("check");
    hooks.register(check.guard(|_: &RunningPayload| Judgement::reject("no"))).unwrap();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).from_any_service();
    let sharing = share.start().await.unwrap();
    let rogue = HookRegistry::new();
    let check = on::<Running>().name("check");
    rogue.register(check.guard(|_: &RunningPayload| Judgement::Pass)).unwrap();
    let _rogue = serve_running(&network, "auth", &rogue).await;
    sharing.wait_for("auth").await;
    let fired = hooks.fire_gating::<Running>(command("ls")).await;
    assert!(matches!(fired, Ok(Gate::Rejected(_))), "{fired:?}");
    assert!(fleet.strangers()[0].why.contains("`check` at `running` is refused here"));
}

/// L37: a second share of the same handler, also of another fleet, is refused, and does not
/// take the required handler out of the order when it ends.
#[tokio::test]
async fn l37_a_handler_is_shared_once_in_a_registry() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let first = Fleet::local(&network, options("agent")).unwrap();
    let share = first.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let _sharing = share.start().await.unwrap();
    let _serving = serve_running(&network, "policy", &rules()).await;
    let second = Fleet::local(&network, options("agent")).unwrap();
    let again = second.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let error = again.start().await.unwrap_err();
    assert!(error.to_string().contains("rules"), "{error}");
    // One that does not require it has nothing, and takes nothing with it.
    let sharing = second.share::<Running>(&hooks).from("policy").start().await.unwrap();
    sharing.wait_for("policy").await;
    sharing.stop();
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
}

/// A share that cannot start shares nothing, then or later.
#[tokio::test]
async fn a_share_that_fails_to_start_leaves_nothing() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let local = on::<Running>().plugin("policy").name("rules");
    hooks.register(local.guard(|_: &RunningPayload| Judgement::Pass)).unwrap();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "rules");
    share.from("style").start().await.unwrap_err();
    let other = HookRegistry::new();
    let watching = fleet.share::<Printed>(&other).from("style").start().await.unwrap();
    let _style = serve_running(&network, "style", &rules()).await;
    watching.wait_for("style").await;
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
}

/// L37: where processes of one service differ, what is stricter counts, whichever instance
/// comes first.
#[tokio::test]
async fn l37_of_two_announcements_the_stricter_counts() {
    let honest = honest("policy").await;
    let strict = AnnouncedHandler { guard: true, fail_closed: true, ..handler("running", "rules") };
    let lax = AnnouncedHandler { pure: true, ..handler("running", "rules") };
    for [first, second] in [[&strict, &lax], [&lax, &strict]] {
        let network = LocalNetwork::new();
        let hooks = HookRegistry::new();
        for (instance, one) in [("a", first), ("b", second)] {
            let handlers = vec![one.clone()];
            let instance = instance.to_owned();
            network.announce(&Announcement { instance, handlers, ..honest.clone() }).await.unwrap();
        }
        let sharing = share_running(&network, "policy", &hooks).await;
        sharing.wait_for_processes("policy", 2).await;
        let info = &hooks.handlers()[0];
        assert_eq!((info.guard, info.pure), (true, false));
    }
}

/// A process of another schema decides nothing about one that fits.
#[tokio::test]
async fn l37_a_process_that_does_not_fit_decides_on_no_place() {
    let honest = honest("policy").await;
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let mut other = Announcement { instance: "a".into(), ..honest.clone() };
    other.handlers = vec![AnnouncedHandler { priority: -7, ..handler("running", "rules") }];
    let point = other.points.get_mut("running").unwrap();
    (point.schema, point.payload) = ("other".into(), serde_json::json!({"type": "string"}));
    let mut fits = Announcement { instance: "b".into(), ..honest.clone() };
    fits.handlers = vec![AnnouncedHandler { priority: 3, ..handler("running", "rules") }];
    network.announce(&other).await.unwrap();
    network.announce(&fits).await.unwrap();
    let _sharing = share_running(&network, "policy", &hooks).await;
    assert_eq!(hooks.handlers()[0].priority, 3);
}
