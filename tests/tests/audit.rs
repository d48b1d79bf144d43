//! What the audit finds (L23), to the letter.

use hooks_runtime::registry::{
    Audit, NeverCalled, NeverCalledReason, Owner, UnknownConstraint, UnknownPlugin,
};
use hooks_runtime::{
    BeforeExecute, FlowContext, HookRegistry, OnError, PluginId, Plugins, hook_points, on,
};

hook_points! {
    /// A page turns.
    pub void Turn { n: u32 }
    /// Who reads it.
    pub claiming Read { n: u32 } -> u32;
    /// A book is bound.
    pub flow Bind(u32) -> u32;
}

const TURN: TurnPayload = TurnPayload { n: 1 };
const READ: ReadPayload = ReadPayload { n: 1 };

fn turns(_: &TurnPayload) {}

fn nobody_reads(_: &ReadPayload) -> Option<u32> {
    None
}

fn binds(_: &mut FlowContext<Bind>) {}

/// Each line of an audit.
fn lines(audit: &Audit) -> Vec<String> {
    audit.to_string().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn l23_where_all_adds_up_it_says_so() {
    let hooks = HookRegistry::new();
    assert!(hooks.audit().is_clean());
    assert_eq!(hooks.audit().to_string(), "everything adds up");
    hooks
        .register([
            on::<Turn>().name("fan").handler(turns),
            on::<Turn>().name("hush").after("fan").plugin("library").handler(turns),
        ])
        .unwrap();
    assert!(!hooks.audit().is_clean());
    hooks.fire_void::<Turn>(&TURN).await.unwrap();
    assert_eq!(hooks.audit().to_string(), "everything adds up");
    // A point that has no handlers any more is not listed.
    hooks.register(on::<Read>().handler(nobody_reads)).unwrap().unregister();
    assert!(hooks.audit().is_clean());
}

#[tokio::test]
async fn l23_points_that_are_never_fired() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<OnError<Bind>>().name("mend").handler(binds),
            on::<Read>().name("skim").handler(nobody_reads),
            on::<Turn>().name("fan").handler(turns),
            on::<BeforeExecute<Bind>>().name("glue").handler(binds),
        ])
        .unwrap();
    assert_eq!(hooks.audit().never_fired, ["bind/beforeExecute", "bind/onError", "read", "turn"]);
    hooks.fire_void::<Turn>(&TURN).await.unwrap();
    hooks.run_flow::<Bind, _>(1, async |n: u32| Ok::<_, String>(n)).await.unwrap();
    let audit = hooks.audit();
    assert_eq!(audit.never_fired, ["bind/onError", "read"]);
    assert_eq!(
        lines(&audit),
        [
            "`bind/onError` is never fired",
            "`read` is never fired",
            "`mend` (built-in) at `bind/onError` is never called: its point is never fired",
            "`skim` (built-in) at `read` is never called: its point is never fired",
        ]
    );
}

#[tokio::test]
async fn l23_a_fire_without_handlers_was_a_fire() {
    let hooks = HookRegistry::new();
    hooks.fire_void::<Turn>(&TURN).await.unwrap();
    hooks.register(on::<Turn>().name("late").handler(turns)).unwrap();
    let audit = hooks.audit();
    assert_eq!(audit.never_fired, [""; 0]);
    assert_eq!(lines(&audit), ["`late` (built-in) at `turn` is never called: no fire reached it"]);
}

#[tokio::test]
async fn l23_handlers_that_are_never_called_and_why() {
    struct Leather;
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Turn>().name("fan").handler(turns),
            on::<Read>().name("claims").handler(|_: &ReadPayload| Some(7)),
            on::<Read>().name("behind").handler(nobody_reads),
            on::<Read>().name("outside").plugin("library").priority(-1).handler(nobody_reads),
            on::<BeforeExecute<Bind>>().name("hide").target::<Leather>().handler(binds),
            on::<BeforeExecute<Bind>>().name("glue").handler(binds),
        ])
        .unwrap();
    let built_in = hooks.scope(Plugins::BuiltIn);
    let _ = built_in.fire_claiming::<Read>(&READ).await.unwrap();
    hooks.run_flow::<Bind, _>(1, async |n: u32| Ok::<_, String>(n)).await.unwrap();
    let audit = hooks.audit();
    let row = |point, handler: &str, owner, why| NeverCalled {
        point,
        handler: handler.into(),
        owner,
        why,
    };
    let library = Owner::Plugin(PluginId::new("library").unwrap());
    assert_eq!(
        audit.never_called,
        [
            row("bind/beforeExecute", "hide", Owner::BuiltIn, NeverCalledReason::AlwaysFiltered),
            row("read", "outside", library, NeverCalledReason::AlwaysFiltered),
            row("read", "behind", Owner::BuiltIn, NeverCalledReason::NeverReached),
            row("turn", "fan", Owner::BuiltIn, NeverCalledReason::NeverFired),
        ]
    );
    assert_eq!(
        lines(&audit),
        [
            "`turn` is never fired",
            "`hide` (built-in) at `bind/beforeExecute` is never called: every fire leaves it out",
            "`outside` (plugin `library`) at `read` is never called: every fire leaves it out",
            "`behind` (built-in) at `read` is never called: no fire reached it",
            "`fan` (built-in) at `turn` is never called: its point is never fired",
        ]
    );
    // Once called, a handler is no longer listed.
    let _ = hooks.fire_claiming::<Read>(&READ).await.unwrap();
    assert!(!hooks.audit().never_called.iter().any(|row| &*row.handler == "outside"));
}

#[tokio::test]
async fn l23_constraints_that_name_no_handler() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Turn>().name("fan").after("fann").before("library/*").handler(turns),
            // A handler that follows itself, or its own plugin of one, follows none.
            on::<Turn>()
                .name("alone")
                .plugin("hermit")
                .after("alone")
                .before("hermit/*")
                .handler(turns),
            on::<Turn>().name("hush").plugin("library").after("fan").before("glue").handler(turns),
            // There is a `glue`, but at another point.
            on::<Read>().name("glue").handler(nobody_reads),
        ])
        .unwrap();
    hooks.fire_void::<Turn>(&TURN).await.unwrap();
    let _ = hooks.fire_claiming::<Read>(&READ).await.unwrap();
    let audit = hooks.audit();
    assert!(!audit.is_clean());
    let row = |handler: &str, owner, side: &str, name: &str| UnknownConstraint {
        point: "turn",
        handler: handler.into(),
        owner,
        name: name.into(),
        constraint: format!("{side} `{name}`"),
    };
    let plugin = |id| Owner::Plugin(PluginId::new(id).unwrap());
    assert_eq!(
        audit.unknown_constraints,
        [
            row("fan", Owner::BuiltIn, "after", "fann"),
            row("alone", plugin("hermit"), "before", "hermit/*"),
            row("alone", plugin("hermit"), "after", "alone"),
            row("hush", plugin("library"), "before", "glue"),
        ]
    );
    assert_eq!(
        lines(&audit),
        [
            "`fan` (built-in) at `turn` is ordered after `fann`, but no handler of that name is \
             registered there",
            "`alone` (plugin `hermit`) at `turn` is ordered before `hermit/*`, but no other handler \
             of that plugin is registered there",
            "`alone` (plugin `hermit`) at `turn` is ordered after `alone`, but no other handler of \
             that name is registered there",
            "`hush` (plugin `library`) at `turn` is ordered before `glue`, but no handler of that \
             name is registered there",
        ]
    );
    // The named handler may be registered later, and removed.
    let fann = hooks.register(on::<Turn>().name("fann").handler(turns)).unwrap();
    assert!(!hooks.audit().unknown_constraints.iter().any(|row| &*row.name == "fann"));
    fann.unregister();
    assert!(hooks.audit().unknown_constraints.iter().any(|row| &*row.name == "fann"));
}

#[test]
fn l23_plugins_that_were_asked_for_and_never_here() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Turn>().name("fan").plugin("library").handler(turns)).unwrap();
    assert_eq!(hooks.unregister_plugin("libary").removed(), 0);
    let _ = hooks.scope(Plugins::only(["library", "glue", "a\u{1b}b"]));
    let unknown = hooks.audit().unknown_plugins;
    let row = |id: &str, nearest: Option<&str>| UnknownPlugin {
        id: id.into(),
        nearest: nearest.map(str::to_owned),
    };
    assert_eq!(
        unknown,
        [row("a\\u{1b}b", None), row("glue", None), row("libary", Some("library"))]
    );
    assert_eq!(
        lines(&hooks.audit())[2..],
        [
            "plugin `a\\u{1b}b` is asked for, but never registered a handler",
            "plugin `glue` is asked for, but never registered a handler",
            "plugin `libary` is asked for, but never registered a handler: is it `library`?",
        ]
    );
    // A registration clears the entry, and a plugin that was registered once is known.
    hooks.register(on::<Turn>().name("fan").plugin("glue").handler(turns)).unwrap();
    for id in ["glue", "glue", "library"] {
        hooks.unregister_plugin(id);
    }
    let unknown: Vec<_> = hooks.audit().unknown_plugins.into_iter().map(|it| it.id).collect();
    assert_eq!(unknown, ["a\\u{1b}b", "libary"]);
}

#[test]
fn l23_however_many_ids_are_asked_for_few_are_remembered() {
    let hooks = HookRegistry::new();
    for n in 0..100_000 {
        hooks.unregister_plugin(format!("plugin-{n}"));
    }
    let huge = "x".repeat(1 << 20);
    hooks.unregister_plugin(&huge);
    let unknown = hooks.audit().unknown_plugins;
    assert_eq!(unknown.len(), 64);
    assert!(unknown.iter().all(|it| it.id.len() < 200));
}
