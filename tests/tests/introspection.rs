//! What introspection answers (L22), to the letter. For the audit see `audit.rs`.

use std::time::Duration;

use hooks_runtime::flow::StageKind;
use hooks_runtime::handler::Target;
use hooks_runtime::point::ModelKind;
use hooks_runtime::registry::{HandlerInfo, Owner};
use hooks_runtime::{
    AfterExecute, BeforeExecute, Claim, FailurePolicy, Finally, FlowContext, HookRegistry, OnError,
    PluginId, Plugins, Verdict, hook_handler, hook_points, on,
};

hook_points! {
    /// A page turns.
    pub void Turn { n: u32 }
    /// Who reads it.
    #[hook(timeout = "2s")]
    pub claiming Read { n: u32 } -> u32;
    /// What may be printed.
    #[hook(on_failure = "open")]
    pub gating Print(u32);
    /// A book is bound.
    pub flow Bind(u32) -> u32;
}

const TURN: TurnPayload = TurnPayload { n: 1 };

/// What runs may be bound to.
struct Leather;
struct Linen;

fn owner(id: &str) -> Owner {
    Owner::Plugin(PluginId::new(id).unwrap())
}

fn names(infos: &[HandlerInfo]) -> Vec<&str> {
    infos.iter().map(|info| &*info.name).collect()
}

fn turns(_: &TurnPayload) {}

/// Quietly: without a word from the panic hook.
fn panics(_: &TurnPayload) {
    std::panic::resume_unwind(Box::new("torn"));
}

fn nobody_reads(_: &ReadPayload) -> Option<u32> {
    None
}

fn binds(_: &mut FlowContext<Bind>) {}

#[hook_handler(
    Read,
    plugin = "library",
    name = "lend",
    priority = -7,
    timeout = "300ms",
    on_failure = "closed"
)]
fn lends(_: &ReadPayload) -> Option<u32> {
    None
}
const LENDS_LINE: u32 = line!() - 3;

/// Some of everything, registered in no particular order.
fn library() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Finally<Bind>>().name("close").handler(binds),
            on::<Read>().name("skim").handler(nobody_reads),
            on::<BeforeExecute<Bind>>().name("glue").plugin("library").handler(binds),
            on::<Print>().name("proof").plugin("press").guard(|_: &u32| Verdict::Pass),
            on::<Print>().name("ink").priority(4).handler(|_: &u32| Verdict::<u32>::Pass),
            on::<BeforeExecute<Bind>>()
                .name("hide")
                .priority(-1)
                .target::<Leather>()
                .handler(binds),
            on::<Turn>().name("fan").plugin("library").handler(turns),
            on::<AfterExecute<Bind>>().name("press").target_named("leather").handler(binds),
        ])
        .unwrap();
    hooks.register(hooks_runtime::handlers![lends]).unwrap();
    hooks
}

#[test]
fn l22_all_handlers_point_by_point_in_the_order_in_which_they_run() {
    let hooks = library();
    let all = ["hide", "glue", "press", "close", "ink", "proof", "lend", "skim", "fan"];
    assert_eq!(names(&hooks.handlers()), all);
    assert_eq!(names(&hooks.handlers_at::<Read>()), ["lend", "skim"]);
    assert_eq!(names(&hooks.handlers_at::<Print>()), ["ink", "proof"]);
    assert_eq!(names(&hooks.handlers_at::<BeforeExecute<Bind>>()), ["hide", "glue"]);
    assert_eq!(names(&hooks.handlers_at::<OnError<Bind>>()), [""; 0]);
    assert_eq!(names(&hooks.handlers_of_flow::<Bind>()), ["hide", "glue", "press", "close"]);
    assert_eq!(names(&hooks.handlers_of("library")), ["glue", "lend", "fan"]);
    // A handler of that name is not an owner of that name.
    assert_eq!(names(&hooks.handlers_of("press")), ["proof"]);
    assert_eq!(names(&hooks.handlers_of("nobody")), [""; 0]);
    let built_in = ["hide", "press", "close", "ink", "skim"];
    assert_eq!(names(&hooks.handlers_of(Owner::BuiltIn)), built_in);
    assert_eq!(names(&hooks.handlers_for(&Target::of::<Leather>())), ["hide"]);
    assert_eq!(names(&hooks.handlers_for(&Target::of::<Linen>())), [""; 0]);
    // A type and a name are two targets, however alike they read.
    assert_eq!(names(&hooks.handlers_for(&Target::named("leather"))), ["press"]);
    assert_eq!(names(&hooks.handlers_for(&Target::named("Leather"))), [""; 0]);
}

#[test]
fn l22_stages_come_in_their_order_not_in_that_of_their_first_use() {
    hook_points! {
        /// Only this test uses it, from its end to its beginning.
        flow Unbind(u32) -> u32;
    }
    let hooks = HookRegistry::new();
    let nothing = |_: &mut FlowContext<Unbind>| ();
    hooks.register(on::<Finally<Unbind>>().name("last").handler(nothing)).unwrap();
    hooks.register(on::<OnError<Unbind>>().name("broken").handler(nothing)).unwrap();
    hooks.register(on::<BeforeExecute<Unbind>>().name("first").handler(nothing)).unwrap();
    assert_eq!(names(&hooks.handlers_of_flow::<Unbind>()), ["first", "broken", "last"]);
}

#[test]
fn l22_a_handler_with_all_its_terms() {
    let hooks = library();
    let lend = &hooks.handlers_at::<Read>()[0];
    assert_eq!((lend.point, lend.model), ("read", ModelKind::Claiming));
    assert_eq!((lend.flow, lend.stage, lend.guard), (None, None, false));
    assert_eq!((&*lend.name, &lend.owner, lend.priority), ("lend", &owner("library"), -7));
    assert_eq!(lend.policy, FailurePolicy::Closed);
    assert_eq!(lend.timeout, Some(Duration::from_millis(300)));
    assert_eq!(lend.target, None);
    assert_eq!((lend.location.file(), lend.location.line()), (file!(), LENDS_LINE));
    assert_eq!((lend.calls, lend.failures, lend.skips.total()), (0, 0, 0));

    // What it does not say is the point's.
    let skim = &hooks.handlers_at::<Read>()[1];
    assert_eq!((skim.policy, skim.timeout), (FailurePolicy::Open, Some(Duration::from_secs(2))));
    let proof = &hooks.handlers_at::<Print>()[1];
    assert_eq!((proof.model, proof.guard), (ModelKind::Gating, true));
    assert_eq!((proof.policy, proof.timeout), (FailurePolicy::Open, None));
    let close = &hooks.handlers_at::<Finally<Bind>>()[0];
    assert_eq!((close.point, close.model), ("bind/finally", ModelKind::Stage));
    assert_eq!((close.flow, close.stage), (Some("bind"), Some(StageKind::Finally)));
    assert_eq!(close.policy, FailurePolicy::Open);
    let hide = &hooks.handlers_of_flow::<Bind>()[0];
    assert_eq!(
        (hide.policy, &hide.target),
        (FailurePolicy::Closed, &Some(Target::of::<Leather>()))
    );
    assert_eq!(hide.target.as_ref().unwrap().to_string(), "introspection::Leather");
    assert_eq!(Target::named("leather").to_string(), "\"leather\"");
}

/// Calls, failures, and how often it was left out.
fn counts(infos: &[HandlerInfo]) -> Vec<(&str, [u64; 3])> {
    infos.iter().map(|i| (&*i.name, [i.calls, i.failures, i.skips.total()])).collect()
}

#[tokio::test]
async fn l22_the_counters_are_exact() {
    let hooks = HookRegistry::new();
    let read = |n| ReadPayload { n };
    hooks
        .register([
            // Fails when asked for page 2.
            on::<Read>().name("careful").handler(|page: &ReadPayload| {
                if page.n == 2 { Err("torn") } else { Ok(None::<u32>) }
            }),
            // Claims odd pages.
            on::<Read>()
                .name("odd")
                .handler(|page: &ReadPayload| (page.n % 2 == 1).then_some(page.n)),
            on::<Read>().name("late").plugin("library").handler(nobody_reads),
            on::<Read>().name("last").handler(async |_: &ReadPayload| -> Option<u32> {
                tokio::task::yield_now().await;
                None
            }),
        ])
        .unwrap();
    for n in [1, 1, 3] {
        assert_eq!(hooks.fire_claiming::<Read>(&read(n)).await.unwrap(), Claim::Claimed(n));
    }
    // A handler behind a claim was not left out by the scope.
    let after_claims =
        [("careful", [3, 0, 0]), ("odd", [3, 0, 0]), ("late", [0, 0, 0]), ("last", [0, 0, 0])];
    assert_eq!(counts(&hooks.handlers_at::<Read>()), after_claims);

    for n in [2, 4] {
        assert_eq!(hooks.fire_claiming::<Read>(&read(n)).await.unwrap(), Claim::Unclaimed);
    }
    let scoped = hooks.scope(Plugins::BuiltIn);
    assert_eq!(scoped.fire_claiming::<Read>(&read(2)).await.unwrap(), Claim::Unclaimed);
    let (_, _report) = scoped.fire_claiming_reported::<Read>(&read(4)).await;
    // The claim ends the fire before the scope leaves a handler out.
    assert_eq!(scoped.fire_claiming::<Read>(&read(5)).await.unwrap(), Claim::Claimed(5));
    let expected =
        [("careful", [8, 2, 0]), ("odd", [8, 0, 0]), ("late", [2, 0, 2]), ("last", [4, 0, 0])];
    assert_eq!(counts(&hooks.handlers_at::<Read>()), expected);

    // They stay with the handler when others come and go.
    let other =
        hooks.register(on::<Read>().name("other").priority(-1).handler(nobody_reads)).unwrap();
    assert_eq!(counts(&hooks.handlers_at::<Read>())[1..], expected);
    let _ = hooks.fire_claiming::<Read>(&read(1)).await.unwrap();
    other.unregister();
    hooks.unregister_plugin("library");
    let expected = [("careful", [9, 2, 0]), ("odd", [9, 0, 0]), ("last", [4, 0, 0])];
    assert_eq!(counts(&hooks.handlers_at::<Read>()), expected);
}

#[tokio::test(start_paused = true)]
async fn l22_every_kind_of_failure_counts_and_a_dropped_fire_counts_as_a_call() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Turn>().name("errs").handler(|_: &TurnPayload| Err::<(), _>("torn")),
            on::<Turn>().name("panics").handler(panics),
            on::<Turn>()
                .name("hangs")
                .timeout(Duration::from_secs(1))
                .handler(async |_: &TurnPayload| std::future::pending::<()>().await),
            on::<Turn>().name("works").handler(turns),
        ])
        .unwrap();
    hooks.fire_void::<Turn>(&TURN).await.unwrap();
    let once =
        [("errs", [1, 1, 0]), ("panics", [1, 1, 0]), ("hangs", [1, 1, 0]), ("works", [1, 0, 0])];
    assert_eq!(counts(&hooks.handlers_at::<Turn>()), once);
    let dropped = tokio::time::timeout(Duration::from_millis(10), hooks.fire_void::<Turn>(&TURN));
    assert!(dropped.await.is_err());
    let twice =
        [("errs", [2, 2, 0]), ("panics", [2, 2, 0]), ("hangs", [2, 1, 0]), ("works", [2, 0, 0])];
    assert_eq!(counts(&hooks.handlers_at::<Turn>()), twice);
}

#[tokio::test]
async fn l22_a_run_for_another_target_leaves_a_bound_handler_out() {
    let hooks = library();
    let operation = async |n: u32| Ok::<_, String>(n);
    hooks.flow::<Bind>().target::<Leather>().run(1, operation).await.unwrap();
    hooks.flow::<Bind>().target::<Linen>().target_named("leather").run(1, operation).await.unwrap();
    hooks.run_flow::<Bind, _>(1, operation).await.unwrap();
    let failing = async |_: u32| Err::<u32, _>("torn".to_owned());
    hooks.flow::<Bind>().target::<Leather>().run(1, failing).await.unwrap_err();
    let expected =
        [("hide", [2, 0, 2]), ("glue", [4, 0, 0]), ("press", [1, 0, 2]), ("close", [4, 0, 0])];
    assert_eq!(counts(&hooks.handlers_of_flow::<Bind>()), expected);
}

#[test]
fn l22_why_each_handler_stands_where_it_stands() {
    let hooks = HookRegistry::new();
    let rewrites = |_: &u32| Verdict::<u32>::Pass;
    hooks
        .register([
            on::<Print>().name("ink").handler(rewrites),
            on::<Print>().name("varnish").priority(-5).after("ink").handler(rewrites),
            on::<Print>().name("proof").priority(-9).guard(|_: &u32| Verdict::Pass),
            on::<Print>().name("paper").plugin("mill").handler(rewrites),
            on::<Print>().name("wash").priority(8).before("mill/*").handler(rewrites),
        ])
        .unwrap();
    let reasons = hooks.explain_order::<Print>();
    let told: Vec<_> =
        reasons.iter().map(|r| format!("{} ({}): {}", r.handler, r.owner, r.reason)).collect();
    assert_eq!(
        told,
        [
            "ink (built-in): priority 0; registered as number 1 of that priority",
            "varnish (built-in): priority -5; after `ink`, it asks for that; registered as number \
             1 of that priority",
            "wash (built-in): priority 8; registered as number 1 of that priority",
            "paper (plugin `mill`): priority 0; after `wash`, that one asks for it; registered as \
             number 2 of that priority",
            "proof (built-in): priority -9; a guard, so after every rewriter; registered as number \
             1 of that priority",
        ]
    );
    assert_eq!(hooks.explain_order::<Turn>(), []);
    assert_eq!(hooks.explain_order_of("print"), Some(reasons));
    assert_eq!(hooks.explain_order_of("turn"), None);
    assert_eq!(hooks.explain_order_of("prints"), None);
}

#[test]
fn l22_the_order_of_a_stage_is_explained_by_its_wire_name() {
    let hooks = HookRegistry::new();
    let stage = |name| on::<BeforeExecute<Bind>>().name(name);
    hooks
        .register([
            stage("late").handler(|_: &mut FlowContext<Bind>| ()),
            stage("early").priority(-1).handler(|_: &mut FlowContext<Bind>| ()),
        ])
        .unwrap();
    let explained = hooks.explain_order_of(hooks.handlers()[0].point).unwrap();
    assert_eq!(explained, hooks.explain_order::<BeforeExecute<Bind>>());
    let names: Vec<_> = explained.iter().map(|row| &*row.handler).collect();
    assert_eq!(names, ["early", "late"]);
}
