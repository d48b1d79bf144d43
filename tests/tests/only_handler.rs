//! Hooks that are narrowed to one handler, and groups of handles that are put together
//! afterwards.

mod support;

use hooks_runtime::registry::Owner;
use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};
use hooks_runtime::{
    BeforeExecute, FlowContext, Gate, HookContext, HookRegistry, PluginId, Plugins, Verdict,
    hook_points, on,
};
use support::Log;

hook_points! {
    /// A page was saved.
    pub void Saved { page: u32 }
    /// Something was said in turn.
    pub void Said { what: String }
    /// Before a page is printed.
    pub gating Printing { text: String }
    /// One sum, stage by stage.
    pub flow Sum(u32) -> u32;
}

fn plugin(id: &str) -> Owner {
    Owner::Plugin(PluginId::new(id).unwrap())
}

fn three(hooks: &HookRegistry, log: &Log) {
    let note = |name: &'static str| {
        let log = log.clone();
        move |_: &SavedPayload| log.push(name)
    };
    let saved = |name: &'static str| on::<Saved>().name(name);
    hooks
        .register([
            saved("index").handler(note("index")),
            saved("copy").plugin("backup").handler(note("backup/copy")),
            saved("copy").plugin("mirror").handler(note("mirror/copy")),
        ])
        .unwrap();
}

#[tokio::test]
async fn l16_hooks_narrowed_to_one_handler_reach_no_other() {
    let (hooks, log) = (HookRegistry::new(), Log::default());
    three(&hooks, &log);
    let saved = SavedPayload { page: 1 };
    let narrowed = hooks.only_handler(&plugin("mirror"), "copy");
    let (fired, report) = narrowed.fire_void_reported::<Saved>(&saved).await;
    fired.unwrap();
    assert_eq!(log.take(), ["mirror/copy"]);
    let statuses: Vec<_> = report.handlers().iter().map(|row| row.status().clone()).collect();
    assert_eq!(
        statuses,
        [
            HandlerStatus::Filtered(SkipReason::Scope),
            HandlerStatus::Filtered(SkipReason::Scope),
            HandlerStatus::Ran(Contribution::Nothing),
        ]
    );
    // Built-in handlers too, which every other scope admits.
    hooks.only_handler(&Owner::BuiltIn, "index").fire_void::<Saved>(&saved).await.unwrap();
    assert_eq!(log.take(), ["index"]);
    hooks.only_handler(&Owner::BuiltIn, "copy").fire_void::<Saved>(&saved).await.unwrap();
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn l16_a_handler_outside_of_the_scope_is_not_reached_by_its_name() {
    let (hooks, log) = (HookRegistry::new(), Log::default());
    three(&hooks, &log);
    let saved = SavedPayload { page: 1 };
    let mirror = plugin("mirror");
    let scopes = [
        hooks.scope(Plugins::only(["backup"])).only_handler(&mirror, "copy"),
        hooks.only_handler(&mirror, "copy").scope(Plugins::only(["backup"])),
        hooks.only_handler(&mirror, "copy").scope(Plugins::except(["mirror"])),
        hooks.only_handler(&mirror, "copy").only_handler(&plugin("backup"), "copy"),
    ];
    for scope in scopes {
        scope.fire_void::<Saved>(&saved).await.unwrap();
        assert_eq!(log.take(), [""; 0], "{scope:?}");
    }
    let within = hooks.only_handler(&mirror, "copy").scope(Plugins::only(["mirror"]));
    within.fire_void::<Saved>(&saved).await.unwrap();
    assert_eq!(log.take(), ["mirror/copy"]);
}

/// L32: what the handler fires in turn has the scope and the values, and not the narrowing.
#[tokio::test]
async fn l16_what_the_one_handler_fires_is_not_narrowed() {
    let (hooks, log) = (HookRegistry::new(), Log::default());
    hooks
        .register([
            on::<Saved>().name("tell").handler(async |saved: &SavedPayload, cx: &HookContext| {
                let what = format!("{} for {:?}", saved.page, cx.get::<u8>());
                cx.hooks().fire_void::<Said>(&SaidPayload { what }).await
            }),
            on::<Said>().name("hear").handler({
                let log = log.clone();
                move |said: &SaidPayload, cx: &HookContext| {
                    log.push(format!("{} {:?}", said.what, cx.get::<u8>()));
                }
            }),
            on::<Said>().name("away").plugin("away").handler({
                let log = log.clone();
                move |_: &SaidPayload| log.push("away")
            }),
        ])
        .unwrap();
    let narrowed = hooks.scope(Plugins::BuiltIn).only_handler(&Owner::BuiltIn, "tell");
    narrowed.with(7_u8).fire_void::<Saved>(&SavedPayload { page: 3 }).await.unwrap();
    assert_eq!(log.take(), ["3 for Some(7) Some(7)"]);
}

#[tokio::test]
async fn l10_one_rewriter_or_guard_answers_alone() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Printing>().name("shout").handler(|page: &PrintingPayload| {
                Verdict::Replace(PrintingPayload { text: page.text.to_uppercase() })
            }),
            on::<Printing>().name("no").guard(|_: &PrintingPayload| Verdict::reject("no")),
        ])
        .unwrap();
    let page = || PrintingPayload { text: "a".into() };
    let shout = hooks.only_handler(&Owner::BuiltIn, "shout");
    let Gate::Passed(page_printed) = shout.fire_gating::<Printing>(page()).await.unwrap() else {
        panic!("the guard was asked")
    };
    assert_eq!(page_printed.text, "A");
    let no = hooks.only_handler(&Owner::BuiltIn, "no");
    assert!(matches!(no.fire_gating::<Printing>(page()).await.unwrap(), Gate::Rejected(_)));
}

#[tokio::test]
async fn l16_a_run_narrowed_to_one_handler_of_a_stage_calls_no_other() {
    let (hooks, log) = (HookRegistry::new(), Log::default());
    let add = |name: &'static str| {
        let log = log.clone();
        on::<BeforeExecute<Sum>>().name(name).handler(move |flow: &mut FlowContext<Sum>| {
            log.push(name);
            if let Some(input) = flow.input_mut() {
                *input += 1;
            }
        })
    };
    hooks.register([add("one"), add("two")]).unwrap();
    let narrowed = hooks.only_handler(&Owner::BuiltIn, "two");
    let sum = narrowed.flow::<Sum>().run(1, async |n| Ok::<_, std::io::Error>(n * 10)).await;
    assert_eq!((sum.unwrap(), log.take()), (20, vec!["two".to_owned()]));
}

#[tokio::test]
async fn l17_handles_of_different_groups_leave_at_one_instant() {
    let (hooks, other) = (HookRegistry::new(), HookRegistry::new());
    let register = |hooks: &HookRegistry, name: &'static str| {
        hooks.register(on::<Saved>().name(name).handler(|_: &SavedPayload| ())).unwrap()
    };
    let (first, second) = (register(&hooks, "index"), register(&hooks, "copy"));
    let foreign = register(&other, "index");
    let removed = hooks.unregister(first.into_iter().chain(second).chain(foreign)).await;
    assert_eq!(removed.removed(), 2);
    assert!(!hooks.has_handlers::<Saved>());
    assert!(other.has_handlers::<Saved>());
}
