//! What the Ethos documents state about plugins: the filter of a fire, the
//! closures that unregister, and `unregisterPlugin`.

mod support;

use hooks_points::*;
use hooks_runtime::{Claim, HookContext, HookRegistry, Plugins, ScopedHooks, on};
use serde_json::json;
use support::Log;

fn session() -> SessionStartPayload {
    SessionStartPayload {
        session_id: "s1".into(),
        session_key: "cli:test".into(),
        platform: "cli".into(),
        personality_id: None,
    }
}

fn prompt() -> BeforePromptBuildPayload {
    BeforePromptBuildPayload { session_id: "s1".into(), personality_id: None, history: Vec::new() }
}

fn dispatch(platform: &str) -> BeforeDispatchPayload {
    BeforeDispatchPayload { chat_id: "c".into(), platform: platform.into(), text: "hi".into() }
}

/// One handler of each owner at a point of each of the three models.
fn three_owners_everywhere(hooks: &HookRegistry, log: &Log) {
    for owner in ["", "plugin-a", "plugin-b"] {
        let (void, modifying, claiming) = (log.clone(), log.clone(), log.clone());
        let own = |registration: &str| format!("{registration}:{owner}");
        let (v, m, c) = (own("void"), own("modifying"), own("claiming"));
        let mut at_void = on::<SessionStart>().name(v.clone());
        let mut at_modifying = on::<BeforePromptBuild>().name(m.clone());
        let mut at_claiming = on::<BeforeDispatch>().name(c.clone());
        if !owner.is_empty() {
            at_void = at_void.plugin(owner);
            at_modifying = at_modifying.plugin(owner);
            at_claiming = at_claiming.plugin(owner);
        }
        hooks
            .register([
                at_void.handler(move |_: &SessionStartPayload| void.push(&*v)),
                at_modifying.handler(
                    move |_: &BeforePromptBuildPayload| -> Option<BeforePromptBuildResult> {
                        modifying.push(&*m);
                        None
                    },
                ),
                at_claiming.handler(move |_: &BeforeDispatchPayload| -> Option<Handled> {
                    claiming.push(&*c);
                    None
                }),
            ])
            .unwrap();
    }
}

/// Fires the three points of [`three_owners_everywhere`].
async fn fire_all_three(hooks: &ScopedHooks) {
    hooks.fire_void::<SessionStart>(&session()).await.unwrap();
    let merged = hooks.fire_modifying::<BeforePromptBuild>(&prompt()).await.unwrap();
    assert_eq!(merged, BeforePromptBuildResult::default());
    let claim = hooks.fire_claiming::<BeforeDispatch>(&dispatch("cli")).await.unwrap();
    assert_eq!(claim, Claim::Unclaimed);
}

fn of_owners(owners: &[&str]) -> Vec<String> {
    ["void", "modifying", "claiming"]
        .iter()
        .flat_map(|model| owners.iter().map(move |owner| format!("{model}:{owner}")))
        .collect()
}

#[tokio::test]
async fn l16_the_filter_has_three_forms() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    three_owners_everywhere(&hooks, &log);
    let everyone = ["", "plugin-a", "plugin-b"];

    fire_all_three(&hooks).await;
    assert_eq!(log.take(), of_owners(&everyone), "without a scope");
    fire_all_three(&hooks.scope(Plugins::All)).await;
    assert_eq!(log.take(), of_owners(&everyone), "undefined");
    fire_all_three(&hooks.scope(Plugins::BuiltIn)).await;
    assert_eq!(log.take(), of_owners(&[""]), "[]");
    fire_all_three(&hooks.scope(Plugins::only(["plugin-a"]))).await;
    assert_eq!(log.take(), of_owners(&["", "plugin-a"]), "['plugin-a']");
    fire_all_three(&hooks.scope(Plugins::only(["plugin-c", "not an id"]))).await;
    assert_eq!(log.take(), of_owners(&[""]), "ids that no plugin has");
    fire_all_three(&hooks.scope(Plugins::only(Vec::<String>::new()))).await;
    assert_eq!(log.take(), of_owners(&[""]), "only, of an empty list");
}

#[tokio::test]
async fn l16_a_scope_is_kept_by_what_its_handlers_fire() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    three_owners_everywhere(&hooks, &log);
    hooks
        .register(on::<AfterTicketRevision>().plugin("plugin-a").handler(
            async |_: &AfterTicketRevisionPayload, cx: &HookContext| {
                fire_all_three(cx.hooks()).await
            },
        ))
        .unwrap();
    let revision: AfterTicketRevisionPayload = serde_json::from_value(
        json!({ "taskId": "t", "summary": "s", "reason": "r", "assignee": "a" }),
    )
    .unwrap();
    let turn = hooks.scope(Plugins::only(["plugin-a"]));
    turn.fire_void::<AfterTicketRevision>(&revision).await.unwrap();
    assert_eq!(log.take(), of_owners(&["", "plugin-a"]));
    // A scope of a scope narrows it; it cannot bring plugin-b back in.
    fire_all_three(&turn.scope(Plugins::All)).await;
    assert_eq!(log.take(), of_owners(&["", "plugin-a"]));
    fire_all_three(&turn.scope(Plugins::only(["plugin-b"]))).await;
    assert_eq!(log.take(), of_owners(&[""]));
}

#[tokio::test]
async fn l16_a_scope_made_before_its_plugin_admits_it() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    let turn = hooks.scope(Plugins::only(["plugin-b"]));
    three_owners_everywhere(&hooks, &log);
    fire_all_three(&turn).await;
    assert_eq!(log.take(), of_owners(&["", "plugin-b"]));
}

#[tokio::test]
async fn l17_unregistering_is_idempotent_and_exact() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    let one = hooks.register(on::<SessionStart>().handler(log.note("one"))).unwrap();
    let two = hooks.register(on::<SessionStart>().handler(log.note("two"))).unwrap();
    assert_eq!(one[0].unregister().removed(), 1);
    assert_eq!(one[0].unregister().removed(), 0, "the second time there is nothing to remove");
    hooks.fire_void::<SessionStart>(&session()).await.unwrap();
    assert_eq!(log.take(), ["two"]);
    assert_eq!(two.unregister().removed(), 1);
    assert_eq!(two.unregister().removed(), 0);
    hooks.fire_void::<SessionStart>(&session()).await.unwrap();
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn l19_a_plugin_leaves_all_three_models_at_once() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    three_owners_everywhere(&hooks, &log);
    assert_eq!(hooks.unregister_plugin("plugin-a").removed(), 3);
    assert_eq!(hooks.unregister_plugin("plugin-a").removed(), 0);
    fire_all_three(&hooks).await;
    assert_eq!(log.take(), of_owners(&["", "plugin-b"]));
}

#[tokio::test]
async fn l24_a_registry_keeps_its_handlers_to_itself() {
    let (here, there) = (HookRegistry::new(), HookRegistry::new());
    let log = Log::new();
    here.register(on::<SessionStart>().handler(log.note("here"))).unwrap();
    there.fire_void::<SessionStart>(&session()).await.unwrap();
    assert_eq!(log.take(), [""; 0]);
    here.clone().fire_void::<SessionStart>(&session()).await.unwrap();
    assert_eq!(log.take(), ["here"], "a clone is the same registry");
}
