//! Code of a plugin that tries to reach further than it may: it cannot (L16).

mod support;

use std::time::Duration;

use hooks_runtime::plugin::Quota;
use hooks_runtime::registry::Owner;
use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookRegistry, Plugins, Registration, ScopedHooks,
    hook_handlers, hook_points, on,
};
use support::Log;

hook_points! {
    /// The plugin is asked.
    pub void Ask(u32);
    /// What it may reach by that.
    pub void Reach(u32);
    /// The same, asked by a flow.
    pub flow Run(u32) -> u32;
}

/// Every attempt to get out of the scope that was given.
fn attempts(given: &ScopedHooks) -> [ScopedHooks; 6] {
    [
        given.clone(),
        given.scope(Plugins::All),
        given.scope(Plugins::only(["guest", "stranger"])).scope(Plugins::All),
        given.scope(Plugins::only(["guest", "stranger", "stranger"])),
        given.scope(Plugins::All).scope(Plugins::only(["stranger"])).scope(Plugins::All),
        given.scope(Plugins::BuiltIn).scope(Plugins::only(["guest", "stranger"])),
    ]
}

async fn reach(given: &ScopedHooks) {
    for hooks in attempts(given) {
        hooks.fire_void::<Reach>(&1).await.unwrap();
    }
}

fn hosts(log: &Log) -> HookRegistry {
    let hooks = HookRegistry::new();
    let reached = |who: &'static str| on::<Reach>().name(who).handler(log.note(who));
    hooks
        .register([
            reached("host"),
            on::<Reach>().plugin("guest").handler(log.note("guest")),
            on::<Reach>().plugin("stranger").handler(log.note("stranger")),
        ])
        .unwrap();
    hooks
}

/// `host` at every attempt, `guest` where the attempt kept itself in.
const WITHIN: [&str; 10] = [
    "host", "guest", // as given
    "host", "guest", // all
    "host", "guest", // both, then all
    "host", "guest", // both, one twice
    "host",  // the stranger alone
    "host",  // none, then both
];

#[tokio::test]
async fn l16_a_handler_cannot_widen_the_scope_of_its_fire() {
    let log = Log::new();
    let hooks = hosts(&log);
    let asks = on::<Ask>().plugin("guest");
    hooks
        .register(asks.handler(async |_: &u32, cx: &HookContext| reach(cx.hooks()).await))
        .unwrap();
    let turn = hooks.scope(Plugins::only(["guest"]));
    turn.fire_void::<Ask>(&1).await.unwrap();
    assert_eq!(log.take(), WITHIN);
}

#[tokio::test]
async fn l16_nor_the_scope_of_its_flow() {
    let log = Log::new();
    let hooks = hosts(&log);
    let asks = on::<BeforeExecute<Run>>().plugin("guest");
    hooks
        .register(asks.handler(async |flow: &mut FlowContext<Run>| reach(flow.hooks()).await))
        .unwrap();
    let turn = hooks.scope(Plugins::only(["guest"]));
    turn.run_flow::<Run, _>(1, async |n| Ok::<_, std::io::Error>(n)).await.unwrap();
    assert_eq!(log.take(), WITHIN);
}

#[tokio::test]
async fn l16_an_allowlist_that_was_narrowed_binds_the_next_fire() {
    let log = Log::new();
    let hooks = hosts(&log);
    let mut allowed = vec!["guest", "stranger"];
    let fired = async |allowed: &[&'static str]| {
        let turn = hooks.scope(Plugins::only(allowed.iter().copied()));
        turn.fire_void::<Reach>(&1).await.unwrap();
        log.take()
    };
    assert_eq!(fired(&allowed).await, ["host", "guest", "stranger"]);
    allowed.pop();
    assert_eq!(fired(&allowed).await, ["host", "guest"]);
    // A plugin that leaves and comes back, or gives its place to another, is
    // held to the same list.
    hooks.unregister_plugin("guest");
    hooks.unregister_plugin("stranger");
    for plugin in ["late", "stranger", "guest"] {
        hooks.register(on::<Reach>().plugin(plugin).handler(log.note(plugin))).unwrap();
    }
    assert_eq!(fired(&allowed).await, ["host", "guest"]);
}

/// Says that it belongs to no plugin, so to the host.
struct Poser;

#[hook_handlers]
impl Poser {
    #[hook_handler(Reach)]
    fn poses(&self, _: &u32) {}
}

#[test]
fn l16_a_registrar_installs_nothing_for_the_host() {
    let hooks = HookRegistry::new();
    let guest = hooks.registrar("guest").unwrap();
    let text = guest.install(Poser).unwrap_err().to_string();
    assert!(
        text.ends_with(
            "Poser` names plugin `built-in`, but this registrar is bound to plugin `guest`; \
             leave the name out"
        ),
        "{text}",
    );
    guest.register(on::<Reach>().name("unowned").handler(|_: &u32| ())).unwrap();
    assert!(hooks.handlers_of(Owner::BuiltIn).is_empty());
}

#[test]
fn l16_limits_hold_for_every_door() {
    let hooks = HookRegistry::new();
    let guest = hooks.registrar("guest").unwrap();
    hooks.set_quota("guest", Quota::new().max_handlers(2).priorities(0..=0)).unwrap();
    let one = |name: &str| on::<Reach>().name(name).handler(|_: &u32| ());
    let owned = |name: &str| on::<Reach>().name(name).plugin("guest").handler(|_: &u32| ());
    guest.register(one("a")).unwrap();
    let full = "is refused at `reach`: it may have at most 2 handlers; the host allows more with \
                `set_quota`";
    let refused = |registered: Result<_, hooks_runtime::RegisterError>| {
        let text =
            registered.map(|_: hooks_runtime::registry::Handles| ()).unwrap_err().to_string();
        assert!(text.ends_with(full), "{text}");
        assert_eq!(hooks.handlers().len(), 1, "whole or not at all");
    };
    refused(guest.register([one("b"), one("c")]));
    refused(hooks.register([owned("b"), owned("c")]));
    // Replacing is not a way to more, nor is unregistering one's own copy twice.
    let replacing = || on::<Reach>().name("a").replace().handler(|_: &u32| ());
    refused(guest.register([replacing(), one("b"), one("c")]));
    let handles = guest.register([replacing(), one("b")]).unwrap();
    assert_eq!((handles[0].unregister().removed(), handles[0].unregister().removed()), (1, 0));
    guest.register(one("c")).unwrap();
    assert_eq!(hooks.handlers().len(), 2);
}

fn extreme(priority: i32, log: &Log, name: &'static str) -> Registration {
    let on = on::<Reach>().name(name).priority(priority).timeout(Duration::MAX);
    on.handler(log.note(name))
}

#[tokio::test]
async fn l04_the_ends_of_the_numbers_are_numbers_like_others() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks
        .register([
            extreme(i32::MAX, &log, "last"),
            extreme(0, &log, "middle"),
            extreme(i32::MIN, &log, "first"),
            on::<Reach>()
                .name("waits")
                .priority(1)
                .timeout(Duration::MAX)
                .handler(async |_: &u32| tokio::task::yield_now().await),
        ])
        .unwrap();
    hooks.fire_void::<Reach>(&1).await.unwrap();
    assert_eq!(log.take(), ["first", "middle", "last"]);
    assert!(hooks.handlers_at::<Reach>().iter().all(|info| (info.calls, info.failures) == (1, 0)));
}
