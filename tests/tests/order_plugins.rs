//! What the constraints of plugins mean and what they cannot do (L04).

mod support;

use hooks_runtime::handler::On;
use hooks_runtime::plugin::Quota;
use hooks_runtime::registry::DropReason;
use hooks_runtime::{HookPoint, HookRegistry, RegisterError, Verdict, hook_points, on};
use support::Log;

hook_points! {
    /// Something passes by.
    pub void Tick { n: u32 }
    /// A crate on its way.
    pub gating Ship(String);
}

/// A handler of the host, or of a plugin as `plugin/handler`.
fn tick(name: &str, with: impl FnOnce(On<Tick>) -> On<Tick>) -> hooks_runtime::Registration {
    let place = match name.split_once('/') {
        None => on::<Tick>().name(name),
        Some((plugin, name)) => on::<Tick>().name(name).plugin(plugin),
    };
    with(place).handler(|_: &TickPayload| ())
}

fn add(hooks: &HookRegistry, name: &str, with: impl FnOnce(On<Tick>) -> On<Tick>) {
    hooks.register(tick(name, with)).unwrap();
}

#[track_caller]
fn refused(
    hooks: &HookRegistry,
    name: &str,
    with: impl FnOnce(On<Tick>) -> On<Tick>,
    text: &str,
) -> RegisterError {
    let before = order(hooks);
    let error = hooks.register(tick(name, with)).unwrap_err();
    assert_eq!(error.to_string(), text);
    assert_eq!(order(hooks), before, "nothing has changed");
    error
}

/// The handlers in order, those of plugins as `plugin/handler`.
fn order_at<P: HookPoint>(hooks: &HookRegistry) -> Vec<String> {
    let name = |info: &hooks_runtime::registry::HandlerInfo| match info.owner.plugin() {
        None => info.name.to_string(),
        Some(plugin) => format!("{plugin}/{}", info.name),
    };
    hooks.handlers_at::<P>().iter().map(name).collect()
}

fn order(hooks: &HookRegistry) -> Vec<String> {
    order_at::<Tick>(hooks)
}

/// What the audit says of constraints.
fn dropped(hooks: &HookRegistry) -> Vec<String> {
    hooks.audit().dropped.iter().map(ToString::to_string).collect()
}

#[test]
fn l04_a_bare_name_is_the_owners_own_handler_else_the_built_in_one() {
    let hooks = HookRegistry::new();
    add(&hooks, "sand", |on| on.priority(5));
    add(&hooks, "glaze", |on| on.priority(-9).after("sand"));
    add(&hooks, "kiln/sand", |on| on.priority(9));
    add(&hooks, "kiln/fire", |on| on.after("sand"));
    add(&hooks, "mill/grind", |on| on.after("sand"));
    assert_eq!(order(&hooks), ["sand", "mill/grind", "glaze", "kiln/sand", "kiln/fire"]);
    // With its own gone, the built-in one is meant.
    let own = hooks.handlers_at::<Tick>().iter().position(|info| info.priority == 9).unwrap();
    assert_eq!(own, 3);
    hooks.register(tick("kiln/sand", |on| on.priority(-20).replace())).unwrap();
    assert_eq!(order(&hooks), ["kiln/sand", "kiln/fire", "sand", "mill/grind", "glaze"]);
}

#[test]
fn l04_a_handler_that_has_the_name_it_asks_for_means_the_built_in_one() {
    let hooks = HookRegistry::new();
    add(&hooks, "audit", |on| on.priority(5));
    add(&hooks, "kiln/audit", |on| on.after("audit"));
    assert_eq!(order(&hooks), ["audit", "kiln/audit"]);
}

#[test]
fn l04_a_plugin_that_takes_a_name_of_the_host_catches_no_constraint() {
    let hooks = HookRegistry::new();
    hooks.set_quota("guest", Quota::new().priorities(1000..=2000)).unwrap();
    add(&hooks, "first", |on| on.priority(-5));
    add(&hooks, "second", |on| on.after("audit"));
    add(&hooks, "third", |on| on.before("second"));
    let guest = hooks.registrar("guest").unwrap();
    guest.register(tick("audit", |on| on.priority(1000))).unwrap();
    assert_eq!(order(&hooks), ["first", "third", "second", "guest/audit"]);
    add(&hooks, "audit", |on| on.priority(7));
    assert_eq!(order(&hooks), ["first", "third", "audit", "second", "guest/audit"]);
}

#[test]
fn l04_a_plugin_id_in_a_constraint_is_a_handlers_name_like_any_other() {
    let hooks = HookRegistry::new();
    add(&hooks, "last", |on| on.priority(-5).after("audit"));
    add(&hooks, "audit/spy", |on| on.priority(1));
    assert_eq!(order(&hooks), ["last", "audit/spy"]);
    assert_eq!(hooks.audit().unknown_constraints.len(), 1);
}

#[test]
fn l04_a_plugin_moves_its_own_handler_to_the_nearest_place_and_no_other() {
    let hooks = HookRegistry::new();
    for (name, priority) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
        add(&hooks, name, |on| on.priority(priority));
    }
    add(&hooks, "kiln/early", |on| on.priority(9).before("b"));
    assert_eq!(order(&hooks), ["a", "kiln/early", "b", "c", "d"]);
    add(&hooks, "kiln/late", |on| on.priority(-9).after("c"));
    assert_eq!(order(&hooks), ["a", "kiln/early", "b", "c", "kiln/late", "d"]);
    // Both of one gap in the order of their keys, whichever came first.
    add(&hooks, "mill/early", |on| on.priority(8).before("b"));
    add(&hooks, "mill/late", |on| on.priority(-10).after("c"));
    let all = ["a", "mill/early", "kiln/early", "b", "c", "mill/late", "kiln/late", "d"];
    assert_eq!(order(&hooks), all);
    // Where it stands well already it stays.
    add(&hooks, "mill/there", |on| on.priority(3).after("a").before("d"));
    assert_eq!(order(&hooks)[5..], ["mill/late", "kiln/late", "mill/there", "d"]);
}

#[test]
fn l04_targets_are_placed_before_the_handlers_that_name_them() {
    let hooks = HookRegistry::new();
    add(&hooks, "audit", |on| on.priority(-10));
    hooks
        .register([
            tick("kiln/x", |on| on.before("y")),
            tick("kiln/y", |on| on.priority(5).before("audit")),
            tick("mill/z", |on| on.priority(9).before("kiln/x")),
        ])
        .unwrap();
    assert_eq!(order(&hooks), ["mill/z", "kiln/x", "kiln/y", "audit"]);
}

#[test]
fn l04_handlers_of_a_plugin_may_name_each_other() {
    let hooks = HookRegistry::new();
    add(&hooks, "audit", |on| on);
    hooks
        .register([
            tick("kiln/b", |on| on.after("a")),
            tick("kiln/a", |on| on.priority(5).before("b")),
        ])
        .unwrap();
    assert_eq!(order(&hooks), ["audit", "kiln/a", "kiln/b"]);
}

#[test]
fn l04_another_plugins_handler_is_named_with_its_plugin() {
    let hooks = HookRegistry::new();
    add(&hooks, "kiln/fire", |on| on.priority(5));
    add(&hooks, "kiln/cool", |on| on.priority(7));
    add(&hooks, "mill/one", |on| on.after("kiln/fire"));
    add(&hooks, "mill/all", |on| on.after("kiln/*"));
    add(&hooks, "mill/none", |on| on.after("fire"));
    let all = ["mill/none", "kiln/fire", "mill/one", "kiln/cool", "mill/all"];
    assert_eq!(order(&hooks), all);
    let audit = hooks.audit();
    let nobody: Vec<_> =
        audit.unknown_constraints.iter().map(|row| (&*row.handler, &*row.name)).collect();
    assert_eq!(nobody, [("none", "fire")]);
}

#[test]
fn l04_a_constraint_does_not_lead_out_of_the_priorities_that_a_plugin_may_use() {
    let hooks = HookRegistry::new();
    hooks.set_quota("guest", Quota::new().priorities(1000..=2000)).unwrap();
    add(&hooks, "audit", |on| on.priority(10));
    add(&hooks, "log", |on| on.priority(1500));
    add(&hooks, "close", |on| on.priority(3000));
    let error = refused(
        &hooks,
        "guest/spy",
        |on| on.priority(1000).before("audit"),
        "`spy` of plugin `guest` is refused at `tick`: before `audit` would put it past handlers \
         of others whose priority is not between 1000 and 2000; the host allows more with \
         `set_quota`",
    );
    assert!(matches!(error, RegisterError::Refused { .. }));
    refused(
        &hooks,
        "guest/spy",
        |on| on.priority(1000).after("close"),
        "`spy` of plugin `guest` is refused at `tick`: after `close` would put it past handlers \
         of others whose priority is not between 1000 and 2000; the host allows more with \
         `set_quota`",
    );
    // Inside its range it may go where it likes.
    add(&hooks, "guest/behind", |on| on.priority(1000).after("log"));
    add(&hooks, "guest/ahead", |on| on.priority(1600).before("log"));
    assert_eq!(order(&hooks), ["audit", "guest/ahead", "log", "guest/behind", "close"]);
    // A constraint that holds anyway leads nowhere.
    add(&hooks, "guest/anyway", |on| on.priority(2000).after("audit").before("close"));
    let all = ["audit", "guest/ahead", "log", "guest/behind", "guest/anyway", "close"];
    assert_eq!(order(&hooks), all);
}

#[test]
fn l04_a_plugins_handler_does_not_pass_another_plugins_below_its_range() {
    let hooks = HookRegistry::new();
    hooks.set_quota("guest", Quota::new().priorities(100..=200)).unwrap();
    add(&hooks, "base", |on| on.priority(150));
    // Its own constraint puts it behind `base`, where the guest stands.
    add(&hooks, "kiln/low", |on| on.priority(1).after("base"));
    refused(
        &hooks,
        "guest/spy",
        |on| on.priority(160).before("kiln/low"),
        "`spy` of plugin `guest` is refused at `tick`: before `kiln/low` would put it past \
         handlers of others whose priority is not between 100 and 200; the host allows more with \
         `set_quota`",
    );
    // What the plugin has under earlier terms stays as it is.
    add(&hooks, "mill/free", |on| on.priority(160).before("kiln/low"));
    assert_eq!(order(&hooks), ["base", "mill/free", "kiln/low"]);
    hooks.set_quota("mill", Quota::new().priorities(100..=200)).unwrap();
    add(&hooks, "more", |on| on);
    assert_eq!(order(&hooks), ["more", "base", "mill/free", "kiln/low"]);
}

#[test]
fn l04_constraints_that_contradict_the_order_of_others_are_an_error() {
    let hooks = HookRegistry::new();
    add(&hooks, "first", |on| on.priority(1));
    add(&hooks, "second", |on| on.priority(2));
    let error = refused(
        &hooks,
        "kiln/fire",
        |on| on.before("first").after("second"),
        "`fire` of plugin `kiln` has no place at `tick`: before `first`, after `second` \
         contradicts the order of the other handlers, which a plugin cannot change; leave a \
         constraint out",
    );
    assert!(matches!(error, RegisterError::NoPlace { .. }));
    // What the host asks of the handler counts as well.
    add(&hooks, "third", |on| on.after("kiln/fire"));
    add(&hooks, "fourth", |on| on.priority(9));
    refused(
        &hooks,
        "kiln/fire",
        |on| on.after("fourth"),
        "`fire` of plugin `kiln` has no place at `tick`: after `fourth` contradicts the order of \
         the other handlers, which a plugin cannot change; leave a constraint out",
    );
}

#[test]
fn l04_a_circle_between_two_plugins_is_the_error_of_the_second() {
    let hooks = HookRegistry::new();
    let place = || format!("{}:{}:", file!(), line!());
    add(&hooks, "kiln/fire", |on| on.before("mill/grind"));
    let error = hooks.register(tick("mill/grind", |on| on.before("kiln/fire"))).unwrap_err();
    let text = error.to_string();
    let RegisterError::Cycle { path, .. } = error else { panic!("{text}") };
    let steps: Vec<_> =
        path.iter().map(|step| format!("{} {}", step.handler, step.owner)).collect();
    assert_eq!(steps, ["fire plugin `kiln`", "grind plugin `mill`", "fire plugin `kiln`"]);
    assert!(path.iter().all(|step| place().starts_with(step.location.file())));
    assert_eq!(order(&hooks), ["kiln/fire"]);
}

#[test]
fn l04_the_host_is_never_refused_for_the_constraints_of_a_plugin() {
    let hooks = HookRegistry::new();
    add(&hooks, "first", |on| on.priority(1));
    add(&hooks, "kiln/fire", |on| on.priority(5).after("second").before("first"));
    assert_eq!(order(&hooks), ["kiln/fire", "first"], "no `second` yet");
    let second = hooks.register(tick("second", |on| on.priority(2))).unwrap();
    assert_eq!(order(&hooks), ["first", "second", "kiln/fire"], "where its key puts it");
    let because = "its constraints contradict the order of the other handlers";
    assert_eq!(
        dropped(&hooks),
        [
            format!("`fire` (plugin `kiln`) at `tick` does not run before `first`: {because}"),
            format!("`fire` (plugin `kiln`) at `tick` does not run after `second`: {because}"),
        ]
    );
    assert!(!hooks.audit().is_clean());
    let explained = hooks.explain_order::<Tick>();
    assert_eq!(
        explained[2].reason,
        format!(
            "priority 5; not before `first`, after `second`, as it asks for: {because}; registered \
             as number 1 of that priority"
        )
    );
    // What cannot be kept is tried again.
    assert_eq!(second.unregister().removed(), 1);
    assert_eq!(order(&hooks), ["kiln/fire", "first"]);
    assert_eq!(dropped(&hooks), [""; 0]);
}

/// What was in the way of a dropped constraint need not be named by anything.
#[test]
fn l04_a_dropped_constraint_is_kept_again_when_who_was_in_its_way_leaves() {
    let hooks = HookRegistry::new();
    // It means the built-in handler of its own name, which comes later.
    let group = [tick("a", |on| on), tick("east/h1", |on| on.after("h1")), tick("b", |on| on)];
    hooks.register(group).unwrap();
    let group = [tick("c", |on| on), tick("d", |on| on.after("east/h1")), tick("h1", |on| on)];
    let handles = hooks.register(group).unwrap();
    assert_eq!(order(&hooks), ["a", "east/h1", "b", "c", "d", "h1"]);
    assert_eq!(dropped(&hooks).len(), 1);
    assert_eq!(handles[1].unregister().removed(), 1);
    assert_eq!(order(&hooks), ["a", "b", "c", "h1", "east/h1"]);
    assert_eq!(dropped(&hooks), [""; 0]);
}

/// The same where the plugin itself brings what its constraint names.
#[test]
fn l04_a_dropped_constraint_on_a_plugins_own_is_kept_again() {
    let hooks = HookRegistry::new();
    let last = hooks.register(tick("last", |on| on.after("west/h2"))).unwrap();
    add(&hooks, "west/h2", |on| on.after("west/*"));
    assert_eq!(order(&hooks), ["west/h2", "last"]);
    add(&hooks, "west/other", |on| on);
    assert_eq!(order(&hooks), ["west/h2", "last", "west/other"]);
    assert_eq!(dropped(&hooks).len(), 1);
    // Who asks for no place changes nothing about that.
    let idle = hooks.register(tick("idle", |on| on)).unwrap();
    assert_eq!(order(&hooks), ["west/h2", "last", "west/other", "idle"]);
    idle.unregister();
    assert_eq!(dropped(&hooks).len(), 1);
    last.unregister();
    assert_eq!(order(&hooks), ["west/other", "west/h2"]);
    assert_eq!(dropped(&hooks), [""; 0]);
}

/// The one that asks for the place, though others of its plugin join with it.
#[test]
fn l04_a_refusal_names_the_handler_that_has_no_place() {
    let hooks = HookRegistry::new();
    add(&hooks, "west/late", |on| on.priority(1));
    add(&hooks, "host", |on| on.after("east/*"));
    let east = hooks.registrar("east").unwrap();
    let group = [tick("hears", |on| on), tick("prepares", |on| on.after("west/*"))];
    assert_eq!(
        east.register(group).unwrap_err().to_string(),
        "`prepares` of plugin `east` has no place at `tick`: after `west/*` contradicts the \
         order of the other handlers, which a plugin cannot change; leave a constraint out"
    );
    assert_eq!(order(&hooks), ["host", "west/late"], "nothing has changed");
}

#[test]
fn l04_a_circle_that_the_host_closes_drops_the_plugins_constraint() {
    let hooks = HookRegistry::new();
    add(&hooks, "kiln/fire", |on| on.after("log"));
    add(&hooks, "log", |on| on.after("kiln/fire"));
    assert_eq!(order(&hooks), ["kiln/fire", "log"]);
    let rows = hooks.audit().dropped;
    assert_eq!(rows.len(), 1);
    assert_eq!((&*rows[0].handler, &*rows[0].constraint), ("fire", "after `log`"));
    assert_eq!(rows[0].reason, DropReason::Circular);
}

#[test]
fn l04_a_range_that_the_host_closes_drops_the_plugins_constraint() {
    let hooks = HookRegistry::new();
    hooks.set_quota("guest", Quota::new().priorities(100..=200)).unwrap();
    add(&hooks, "base", |on| on.priority(120));
    add(&hooks, "guest/spy", |on| on.priority(150).before("base"));
    assert_eq!(order(&hooks), ["guest/spy", "base"]);
    // Nothing names it: it stands between the two by constraints of its own.
    add(&hooks, "low", |on| on.priority(5).after("base"));
    assert_eq!(order(&hooks), ["base", "low", "guest/spy"]);
    let reason = hooks.audit().dropped[0].reason;
    assert_eq!(reason, DropReason::OutOfRange { lowest: 100, highest: 200 });
}

#[test]
fn l04_a_plugins_guard_cannot_be_put_before_a_rewriter() {
    let hooks = HookRegistry::new();
    let rewrites = |_: &String| Verdict::<String>::Pass;
    let guard = || {
        let guard = on::<Ship>().name("weigh").plugin("kiln").before("label");
        guard.guard(|_: &String| Verdict::Pass)
    };
    let label = || on::<Ship>().name("label").handler(rewrites);
    let weigh = hooks.register(guard()).unwrap();
    hooks.register(label()).unwrap();
    assert_eq!(order_at::<Ship>(&hooks), ["label", "kiln/weigh"]);
    assert_eq!(hooks.audit().dropped[0].reason, DropReason::Circular);
    weigh.unregister();
    let error = hooks.register(guard()).unwrap_err();
    let RegisterError::Cycle { path, .. } = error else { panic!("{error}") };
    let names: Vec<_> = path.iter().map(|step| &*step.handler).collect();
    assert_eq!(names, ["label", "weigh", "label"]);
}

#[tokio::test]
async fn l05_a_fire_walks_what_the_constraints_of_plugins_make() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    for (name, priority) in [("a", 1), ("b", 2)] {
        hooks.register(on::<Tick>().name(name).priority(priority).handler(log.note(name))).unwrap();
    }
    let early = on::<Tick>().name("early").plugin("kiln").priority(9).before("a");
    hooks.register(early.handler(log.note("early"))).unwrap();
    hooks.fire_void::<Tick>(&TickPayload { n: 1 }).await.unwrap();
    assert_eq!(log.take(), ["early", "a", "b"]);
}

#[test]
fn l22_why_a_plugins_handler_stands_where_it_stands() {
    let hooks = HookRegistry::new();
    add(&hooks, "a", |on| on.priority(1));
    add(&hooks, "b", |on| on.priority(2));
    add(&hooks, "kiln/early", |on| on.priority(9).before("b").after("a"));
    add(&hooks, "c", |on| on.priority(0).after("kiln/early"));
    let explained: Vec<_> = hooks
        .explain_order::<Tick>()
        .iter()
        .map(|reason| format!("{}: {}", reason.handler, reason.reason))
        .collect();
    assert_eq!(
        explained,
        [
            "a: priority 1; registered as number 1 of that priority",
            "early: priority 9; after `a`, it asks for that; before `b`, it asks for that; \
             registered as number 1 of that priority",
            "b: priority 2; registered as number 1 of that priority",
            "c: priority 0; after `early`, it asks for that; registered as number 1 of that \
             priority",
        ]
    );
}

/// An older constraint of another plugin does not get in the way of a later
/// registration.
#[test]
fn l04_a_plugin_cannot_keep_another_from_registering() {
    let hooks = HookRegistry::new();
    add(&hooks, "door", |on| on);
    add(&hooks, "kiln/evil", |on| on.before("oven/*").after("door"));
    add(&hooks, "oven/security", |on| on.before("door"));
    assert_eq!(order(&hooks), ["oven/security", "door", "kiln/evil"]);
    assert_eq!(hooks.audit().dropped.len(), 2, "both constraints of the older one");

    let hooks = HookRegistry::new();
    add(&hooks, "kiln/evil", |on| on.before("oven/first").after("oven/second"));
    let group = [tick("oven/first", |on| on), tick("oven/second", |on| on.after("first"))];
    hooks.register(group).unwrap();
    assert_eq!(order(&hooks), ["kiln/evil", "oven/first", "oven/second"]);
}

#[test]
fn l04_a_plugin_that_goes_before_one_that_moved_passes_no_other() {
    let hooks = HookRegistry::new();
    add(&hooks, "log", |on| on.priority(5));
    add(&hooks, "oven/one", |on| on.priority(1).after("log"));
    add(&hooks, "oven/two", |on| on.priority(2).after("log"));
    assert_eq!(order(&hooks), ["log", "oven/one", "oven/two"]);
    add(&hooks, "kiln/fire", |on| on.priority(9).before("oven/one"));
    assert_eq!(order(&hooks), ["log", "kiln/fire", "oven/one", "oven/two"]);
}

#[test]
fn l04_a_handler_that_names_none_and_is_named_by_none_changes_the_order_of_no_others() {
    for present in [false, true] {
        let hooks = HookRegistry::new();
        add(&hooks, "sink/d", |on| on.priority(-2).before("oven/b"));
        if present {
            add(&hooks, "kiln/d", |on| on.priority(-2));
        }
        add(&hooks, "oven/b", |on| on.priority(2).before("nobody"));
        let group = [
            tick("oven/c", |on| on.priority(3).before("b")),
            tick("oven/a", |on| on.priority(3).before("sink/*")),
        ];
        hooks.register(group).unwrap();
        let mut others = order(&hooks);
        others.retain(|name| name != "kiln/d");
        assert_eq!(others, ["oven/a", "sink/d", "oven/c", "oven/b"], "kiln: {present}");
    }
}

/// The order does not depend on how it was worked out: one that has a name
/// which occurs in a constraint makes all of it be sorted anew.
#[test]
fn l04_a_later_registration_changes_the_order_of_no_others() {
    for later in ["kiln/log", "kiln/other", "other"] {
        let hooks = HookRegistry::new();
        add(&hooks, "log", |on| on.priority(2));
        add(&hooks, "copy", |on| on.after("log"));
        add(&hooks, "sink/b", |on| on.priority(-3).after("log"));
        add(&hooks, "last", |on| on.after("sink/b"));
        let before = order(&hooks);
        add(&hooks, later, |on| on.priority(-9));
        let mut others = order(&hooks);
        assert_eq!(others.remove(0), later);
        assert_eq!(others, before, "{later}");
    }
}

#[test]
fn l04_two_that_name_each_other_have_their_place_before_who_names_them() {
    let hooks = HookRegistry::new();
    add(&hooks, "sink/c", |on| on.priority(-2).after("oven/b"));
    let group = [
        tick("oven/d", |on| on.priority(2).before("b")),
        tick("oven/b", |on| on.priority(3).after("d")),
    ];
    hooks.register(group).unwrap();
    assert_eq!(order(&hooks), ["oven/d", "oven/b", "sink/c"]);
    add(&hooks, "other", |on| on);
    assert_eq!(order(&hooks), ["other", "oven/d", "oven/b", "sink/c"]);
    assert_eq!(dropped(&hooks), [""; 0]);
}

/// Who names all handlers of a plugin means those of its own phase.
#[test]
fn l04_all_of_a_plugin_are_its_handlers_of_the_same_phase() {
    let hooks = HookRegistry::new();
    let rewrites = |_: &String| Verdict::<String>::Pass;
    let judges = on::<Ship>().name("judge").plugin("kiln").guard(|_: &String| Verdict::Pass);
    let labels = on::<Ship>().name("label").plugin("kiln").priority(9).handler(rewrites);
    hooks.register([judges, labels]).unwrap();
    hooks.register(on::<Ship>().name("host").after("kiln/*").handler(rewrites)).unwrap();
    assert_eq!(order_at::<Ship>(&hooks), ["kiln/label", "host", "kiln/judge"]);
}
