//! Handlers that are parts of another: what an operator sets for that one holds for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_runtime::operator::{Mode, Setting};
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{Gate, HookContext, HookRegistry, Judgement, Verdict, hook_points, on};

hook_points! {
    pub gating Send(u32);
    pub gating Other(u32);
    pub void Noted { n: u32 }
    pub modifying Label { n: u32 } -> { title: String }
    pub claiming Route(u32) -> u32;
}

const HOUR: Duration = Duration::from_secs(3_600);

/// A filter of a plugin that rejects all, at its turn and at the end.
fn hooks() -> HookRegistry {
    let hooks = HookRegistry::new();
    let turn = |_: &u32| Verdict::<u32, String>::reject("turn");
    let end = |_: &u32| Judgement::<String>::reject("end");
    let of = |name: &'static str| on::<Send>().name(name).plugin("mail");
    hooks
        .register([
            of("filter").handler(turn),
            of("end").part_of("filter").guard(end),
            on::<Send>().name("end").plugin("other").guard(|_: &u32| Judgement::<String>::Pass),
        ])
        .unwrap();
    let same = on::<Other>().name("filter").plugin("mail");
    hooks.register(same.guard(|_: &u32| Judgement::<String>::reject("other"))).unwrap();
    hooks
}

fn disable(hooks: &HookRegistry, target: &str) -> Setting {
    hooks.operator().disable(target).break_glass("test").until(HOUR).apply().unwrap()
}

/// L34, L35: one target is for a handler and its parts, of the same owner at the same point.
#[tokio::test]
async fn l35_a_setting_holds_for_the_parts_of_a_handler() {
    let hooks = hooks();
    let setting = disable(&hooks, "send:mail/filter");
    let (gate, report) = hooks.fire_gating_reported::<Send>(1).await;
    assert_eq!(gate.unwrap(), Gate::Passed(1), "{report}");
    let statuses: Vec<_> = report.handlers().iter().map(|row| row.status().clone()).collect();
    let off = HandlerStatus::Filtered(SkipReason::Disabled);
    assert_eq!(statuses[..2], [off.clone(), off]);
    assert_eq!(statuses[2].to_string(), "passed", "another owner's");
    assert!(matches!(hooks.fire_gating::<Other>(1).await.unwrap(), Gate::Rejected(_)));
    let infos = hooks.handlers_at::<Send>();
    assert_eq!((infos[1].part_of.as_deref(), infos[1].mode), (Some("filter"), Mode::Disable));
    assert_eq!((infos[0].part_of.as_deref(), infos[2].mode), (None, Mode::Enforce));
    hooks.operator().clear(setting.id()).unwrap();
    let Gate::Rejected(rejection) = hooks.fire_gating::<Send>(1).await.unwrap() else { panic!() };
    assert_eq!(rejection.reason(), "turn");
}

/// L34: a part is set apart by its own name, and explained by it.
#[tokio::test]
async fn l34_a_part_has_a_name_of_its_own() {
    let hooks = hooks();
    let operator = hooks.operator();
    let setting = disable(&hooks, "send:mail/end");
    let Gate::Rejected(rejection) = hooks.fire_gating::<Send>(1).await.unwrap() else { panic!() };
    assert_eq!(rejection.reason(), "turn");
    let value = |target: &str| operator.explain(target).unwrap().get("mode").unwrap().value.clone();
    assert_eq!(
        (value("send:mail/filter"), value("send:mail/end")),
        ("enforce".into(), "disable".into())
    );
    operator.clear(setting.id()).unwrap();
    // Of two settings the later one counts, by whichever name.
    disable(&hooks, "send:mail/filter");
    operator.enforce("send:mail/end").apply().unwrap();
    let Gate::Rejected(rejection) = hooks.fire_gating::<Send>(1).await.unwrap() else { panic!() };
    assert_eq!(rejection.reason(), "end");
    // A pattern that names both counts once for each.
    disable(&hooks, "send:mail/*");
    assert_eq!(hooks.fire_gating::<Send>(1).await.unwrap(), Gate::Passed(1));
}

/// L35: what opens a gate needs break-glass for a part as well.
#[test]
fn l35_a_part_of_a_gate_opens_by_break_glass_only() {
    let hooks = HookRegistry::new();
    let end = on::<Send>().name("end").part_of("gone").guard(|_: &u32| Judgement::<String>::Pass);
    hooks.register(end).unwrap();
    let error = hooks.operator().disable("send:gone").apply().unwrap_err();
    assert!(error.to_string().contains("break_glass"), "{error}");
}

/// L34: a sample has a handler and its parts in the same fires.
#[tokio::test]
async fn l34_a_sample_has_all_parts_or_none() {
    let (hooks, calls) =
        (HookRegistry::new(), Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]));
    for (index, name) in ["filter", "end"].into_iter().enumerate() {
        let calls = Arc::clone(&calls);
        let on = on::<Label>().name(name);
        let on = if index == 1 { on.part_of("filter") } else { on };
        let count = move |_: &LabelPayload| {
            calls[index].fetch_add(1, Ordering::Relaxed);
            None::<LabelResult>
        };
        hooks.register(on.handler(count)).unwrap();
    }
    hooks.operator().sample("label:filter", 0.5).apply().unwrap();
    for n in 0..100 {
        hooks.fire_modifying::<Label>(&LabelPayload { n }).await.unwrap();
        let [first, second] = [0, 1].map(|index: usize| calls[index].load(Ordering::Relaxed));
        assert_eq!(first, second, "after {n}");
    }
    assert!((20..80).contains(&calls[0].load(Ordering::Relaxed)));
}

/// L36: a call knows whether it is in shadow, also past its first poll, in every model.
#[tokio::test]
async fn l36_a_call_knows_that_it_is_in_shadow() {
    let hooks = HookRegistry::new();
    let seen = Arc::new(AtomicUsize::new(0));
    let note = |seen: &Arc<AtomicUsize>, cx: &HookContext| {
        seen.fetch_add(if cx.is_in_shadow() { 100 } else { 1 }, Ordering::Relaxed);
    };
    async fn later(seen: &Arc<AtomicUsize>, _: &u32, cx: &HookContext) -> Option<u32> {
        tokio::task::yield_now().await;
        seen.fetch_add(if cx.is_in_shadow() { 100 } else { 1 }, Ordering::Relaxed);
        None
    }
    let void = move |seen: &Arc<AtomicUsize>, _: &NotedPayload, cx: &HookContext| note(seen, cx);
    let gate = move |seen: &Arc<AtomicUsize>, _: &u32, cx: &HookContext| {
        note(seen, cx);
        Judgement::<String>::Pass
    };
    let label = move |seen: &Arc<AtomicUsize>, _: &LabelPayload, cx: &HookContext| {
        note(seen, cx);
        None::<LabelResult>
    };
    let state = || Arc::clone(&seen);
    hooks.register(on::<Noted>().name("a").pure().handler_with(state(), void)).unwrap();
    hooks.register(on::<Send>().name("a").guard_with(state(), gate)).unwrap();
    hooks.register(on::<Label>().name("a").handler_with(state(), label)).unwrap();
    hooks.register(on::<Route>().name("a").handler_with(state(), later)).unwrap();
    let fire = async || {
        hooks.fire_void::<Noted>(&NotedPayload { n: 1 }).await.unwrap();
        assert_eq!(hooks.fire_gating::<Send>(1).await.unwrap(), Gate::Passed(1));
        hooks.fire_modifying::<Label>(&LabelPayload { n: 1 }).await.unwrap();
        let _ = hooks.fire_claiming::<Route>(&1).await.unwrap();
        seen.swap(0, Ordering::Relaxed)
    };
    assert_eq!(fire().await, 4);
    // A trace and a report make no difference.
    hooks.operator().shadow("*:a").break_glass("test").until(HOUR).apply().unwrap();
    assert_eq!(fire().await, 400);
    let (_, report) = hooks.fire_claiming_reported::<Route>(&1).await;
    assert_eq!(seen.swap(0, Ordering::Relaxed), 100, "{report}");
}
