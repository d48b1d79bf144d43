//! Handlers in shadow (L36): called with the real payload, recorded, and without effect.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::operator::{Mode, OperatorError};
use hooks_runtime::report::{Contribution, ContributionKind, HandlerStatus};
use hooks_runtime::{
    BeforeExecute, Claim, FailurePolicy, FlowContext, Gate, HookContext, HookRegistry, Judgement,
    Registration, Verdict, hook_points, on,
};
use proptest::prelude::*;
use support::Log;

hook_points! {
    pub void Noted { n: u32 }
    pub modifying Label { n: u32 } -> { title: String, footer: String }
    pub claiming Route(u32) -> u32;
    pub gating Send(u32);
    pub flow Call(u32) -> u32;
}

const HOUR: Duration = Duration::from_secs(3_600);

fn shadow(hooks: &HookRegistry, target: &str) {
    hooks.operator().shadow(target).break_glass("test").until(HOUR).apply().unwrap();
}

#[tokio::test]
async fn l36_a_modifying_handler_in_shadow_sets_nothing_and_later_ones_see_nothing() {
    let (hooks, seen) = (HookRegistry::new(), Log::new());
    let title = |title: &str| LabelResult { title: Some(title.into()), ..Default::default() };
    hooks
        .register(on::<Label>().name("first").handler(move |_: &LabelPayload| title("first")))
        .unwrap();
    let note = seen.clone();
    hooks
        .register(on::<Label>().name("second").handler(
            move |_: &LabelPayload, cx: &HookContext| {
                note.push(format!("{:?}", cx.merged::<Label>().unwrap().title));
                LabelResult { title: Some("second".into()), footer: Some("f".into()) }
            },
        ))
        .unwrap();
    shadow(&hooks, "label:first");
    let (label, report) = hooks.fire_modifying_reported::<Label>(&LabelPayload { n: 1 }).await;
    assert_eq!(label.unwrap().title.as_deref(), Some("second"));
    assert_eq!(seen.take(), ["None"]);
    let first = report.handler("first").unwrap().status();
    let decided = Contribution::Fields(vec!["title"]);
    assert_eq!(first, &HandlerStatus::Shadowed { decision: decided.clone(), warns: false });
    assert_eq!((first.decision(), first.effect()), (Some(&decided), None));

    // What is set already would not have been set by it.
    hooks.operator().enforce("label:first").apply().unwrap();
    hooks.operator().shadow("label:second").apply().unwrap();
    let (label, report) = hooks.fire_modifying_reported::<Label>(&LabelPayload { n: 1 }).await;
    assert_eq!(label.map(|it| (it.title, it.footer)).unwrap(), (Some("first".to_owned()), None));
    assert_eq!(report.handler("second").unwrap().status().to_string(), "in shadow: set footer");
    let second = hooks.handlers_at::<Label>()[1].shadow;
    assert_eq!((second.of(ContributionKind::Fields), second.total()), (1, 1));
}

#[tokio::test]
async fn l36_a_claim_in_shadow_asks_the_next_one() {
    let hooks = HookRegistry::new();
    for (name, desk) in [("one", 1), ("two", 2)] {
        hooks.register(on::<Route>().name(name).handler(move |_: &u32| Some(desk))).unwrap();
    }
    shadow(&hooks, "route:one");
    let (claim, report) = hooks.fire_claiming_reported::<Route>(&7).await;
    assert_eq!(claim.unwrap(), Claim::Claimed(2));
    assert_eq!(report.handler("one").unwrap().status().to_string(), "in shadow: claimed");
    let one = &hooks.handlers_at::<Route>()[0];
    assert_eq!(
        (one.mode, one.calls, one.shadow.of(ContributionKind::Claimed)),
        (Mode::Shadow, 1, 1)
    );
}

#[tokio::test]
async fn l36_a_gate_keeps_the_original_payload() {
    let (hooks, seen) = (HookRegistry::new(), Log::new());
    let note = seen.clone();
    hooks.register(on::<Send>().name("double").handler(|n: &u32| Verdict::Replace(n * 2))).unwrap();
    hooks.register(on::<Send>().name("never").guard(|_: &u32| Judgement::reject("never"))).unwrap();
    hooks
        .register(on::<Send>().name("last").guard(move |n: &u32| {
            note.push(n.to_string());
            Judgement::Pass
        }))
        .unwrap();
    shadow(&hooks, "send:double");
    shadow(&hooks, "send:never");
    let (gate, report) = hooks.fire_gating_reported::<Send>(21).await;
    assert!(matches!(gate.unwrap(), Gate::Passed(21)));
    assert_eq!(seen.take(), ["21"]);
    let said: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(said, ["in shadow: replaced the payload", "in shadow: rejected: never", "passed"]);
    assert_eq!(report.warnings().count(), 0);
}

#[tokio::test]
async fn l36_a_guard_that_warns_is_in_the_report() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Send>().name("never").plugin("p").guard(|_: &u32| Judgement::reject("a\nb")))
        .unwrap();
    hooks.operator().warn("send:p/*").break_glass("trying").until(HOUR).apply().unwrap();
    let (gate, report) = hooks.fire_gating_reported::<Send>(1).await;
    assert!(matches!(gate.unwrap(), Gate::Passed(1)));
    let warnings: Vec<_> = report.warnings().collect();
    assert_eq!(warnings.len(), 1);
    assert_eq!((warnings[0].handler(), warnings[0].reason()), ("never", "a\nb"));
    assert_eq!(warnings[0].owner().as_ref(), "p");
    assert_eq!(warnings[0].to_string(), r"`never` (plugin `p`) would have rejected: a\nb");
    assert_eq!(
        serde_json::to_value(&report).unwrap()["handlers"][0]["status"],
        serde_json::json!({"kind": "shadowed", "decision": {"kind": "rejected", "reason": "a\nb"}, "warns": true}),
    );
}

/// Errors, panics and timeouts in shadow, at once and later, of handlers that fail closed.
#[tokio::test(start_paused = true)]
async fn l36_failures_in_shadow_never_reach_the_policy() {
    let hooks = HookRegistry::new();
    let place = |name: &'static str| on::<Send>().name(name).timeout(Duration::from_secs(1));
    hooks
        .register([
            place("error").guard(|_: &u32| Err::<Judgement, _>("down")),
            place("panic").guard(|_: &u32| -> Judgement { panic!("out") }),
            place("late").guard(async |_: &u32| std::future::pending::<Judgement>().await),
            place("later").guard(async |_: &u32| -> Judgement {
                tokio::task::yield_now().await;
                panic!("later")
            }),
            place("condition").when(|_: &u32| panic!("asked")).guard(|_: &u32| Judgement::Pass),
        ])
        .unwrap();
    shadow(&hooks, "send:*");
    let (gate, report) = hooks.fire_gating_reported::<Send>(1).await;
    assert!(matches!(gate.unwrap(), Gate::Passed(1)));
    let said: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(
        said,
        [
            "in shadow: error: down",
            "in shadow: panic: panicked: out",
            "in shadow: timeout: did not finish within 1s",
            "in shadow: panic: panicked: later",
            "in shadow: panic: panicked: asked",
        ],
    );
    assert!(hooks.handlers().iter().all(|handler| handler.shadow_failures == 1));
    // Without a report too.
    assert!(matches!(hooks.fire_gating::<Send>(2).await.unwrap(), Gate::Passed(2)));
    assert!(hooks.handlers().iter().all(|handler| handler.shadow_failures == 2));
}

#[tokio::test]
async fn l36_an_answer_that_comes_late_in_shadow_has_no_effect() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Send>().name("waits").handler(async |n: &u32| {
            tokio::task::yield_now().await;
            Verdict::Replace(n + 1)
        }))
        .unwrap();
    hooks
        .register(on::<Route>().name("waits").handler(async |n: &u32| {
            tokio::task::yield_now().await;
            Some(*n)
        }))
        .unwrap();
    shadow(&hooks, "*:waits");
    assert!(matches!(hooks.fire_gating::<Send>(1).await.unwrap(), Gate::Passed(1)));
    assert_eq!(hooks.fire_claiming::<Route>(&1).await.unwrap(), Claim::Unclaimed);
    let decided = hooks.handlers();
    assert_eq!(
        (
            decided[0].shadow.of(ContributionKind::Claimed),
            decided[1].shadow.of(ContributionKind::Replaced)
        ),
        (1, 1)
    );
}

#[test]
fn l36_what_cannot_be_shadowed_is_refused() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Noted>().name("effects").handler(|_: &NotedPayload| ()),
            on::<Noted>().name("pure").plugin("p").pure().handler(|_: &NotedPayload| ()),
            on::<BeforeExecute<Call>>().name("stage").handler(|_: &mut FlowContext<Call>| ()),
        ])
        .unwrap();
    let operator = hooks.operator();
    assert_eq!(
        operator
            .shadow("noted:effects")
            .break_glass("x")
            .until(HOUR)
            .apply()
            .unwrap_err()
            .to_string(),
        "`noted:effects` cannot run in shadow: it is void, so its effects are all it has; declare it \
         `pure` if it has none, or disable it",
    );
    assert_eq!(
        operator
            .shadow("call/beforeExecute:stage")
            .break_glass("x")
            .until(HOUR)
            .apply()
            .unwrap_err()
            .to_string(),
        "`call/beforeExecute:stage` cannot run in shadow: a handler of a stage changes the context of \
         its run; disable it instead",
    );
    assert_eq!(
        operator.warn("noted:p/pure").break_glass("x").until(HOUR).apply(),
        Err(OperatorError::NotAGuard { handler: "noted:p/pure".into() }),
    );
    assert!(operator.shadow("*:p/*").apply().is_ok());
}

#[tokio::test]
async fn l36_a_pure_void_handler_runs_in_shadow_beside_the_others() {
    let (hooks, calls) = (HookRegistry::new(), Arc::new(AtomicUsize::new(0)));
    let count = calls.clone();
    let pure = on::<Noted>().name("pure").pure().on_failure(FailurePolicy::Closed);
    hooks
        .register(pure.handler(move |_: &NotedPayload| {
            count.fetch_add(1, Ordering::Relaxed);
            Err("no")
        }))
        .unwrap();
    assert!(hooks.fire_void::<Noted>(&NotedPayload { n: 1 }).await.is_err());
    shadow(&hooks, "noted:pure");
    assert!(hooks.fire_void::<Noted>(&NotedPayload { n: 1 }).await.is_ok());
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

/// What one handler of a random registry does.
#[derive(Clone, Copy, Debug)]
enum Does {
    Nothing,
    Answers(u32),
    Refuses,
    Fails,
    Panics,
}

fn does() -> impl Strategy<Value = (Does, bool, bool, bool)> {
    let does = prop_oneof![
        Just(Does::Nothing),
        (0..9u32).prop_map(Does::Answers),
        Just(Does::Refuses),
        Just(Does::Fails),
        Just(Does::Panics),
    ];
    // Whether it waits, is a guard, and is in shadow.
    (does, any::<bool>(), any::<bool>(), any::<bool>())
}

async fn maybe_wait(waits: bool) {
    if waits {
        tokio::task::yield_now().await;
    }
}

fn at_gate(name: String, does: Does, waits: bool, guard: bool) -> Registration {
    let place = on::<Send>().name(name);
    if guard {
        return place.guard_with((does, waits), async |(does, waits): &(Does, bool), _: &u32| {
            maybe_wait(*waits).await;
            match does {
                Does::Refuses => Ok(Judgement::reject("no")),
                Does::Fails => Err("down"),
                Does::Panics => panic!("out"),
                _ => Ok(Judgement::Pass),
            }
        });
    }
    place.handler_with((does, waits), async |(does, waits): &(Does, bool), n: &u32| {
        maybe_wait(*waits).await;
        match does {
            Does::Nothing => Ok(Verdict::Pass),
            Does::Answers(more) => Ok(Verdict::Replace(n * 10 + more)),
            Does::Refuses => Ok(Verdict::reject("no")),
            Does::Fails => Err("down"),
            Does::Panics => panic!("out"),
        }
    })
}

fn at_label(name: String, does: Does, waits: bool) -> Registration {
    on::<Label>().name(name.clone()).handler_with(
        (does, waits, name),
        async |(does, waits, name): &(Does, bool, String), _: &LabelPayload| {
            maybe_wait(*waits).await;
            match does {
                Does::Nothing => Ok(None),
                Does::Answers(n) => Ok(Some(LabelResult {
                    title: (n % 2 == 0).then(|| name.clone()),
                    footer: (n % 3 == 0).then(|| name.clone()),
                })),
                Does::Refuses | Does::Fails => Err("down"),
                Does::Panics => panic!("out"),
            }
        },
    )
}

fn at_route(name: String, does: Does, waits: bool) -> Registration {
    on::<Route>().name(name).handler_with(
        (does, waits),
        async |(does, waits): &(Does, bool), _: &u32| {
            maybe_wait(*waits).await;
            match does {
                Does::Nothing => Ok(None),
                Does::Answers(desk) => Ok(Some(*desk)),
                Does::Refuses | Does::Fails => Err("down"),
                Does::Panics => panic!("out"),
            }
        },
    )
}

fn at_noted(name: String, does: Does, waits: bool, closed: bool) -> Registration {
    let policy = if closed { FailurePolicy::Closed } else { FailurePolicy::Open };
    on::<Noted>().name(name).pure().on_failure(policy).handler_with(
        (does, waits),
        async |(does, waits): &(Does, bool), _: &NotedPayload| {
            maybe_wait(*waits).await;
            match does {
                Does::Refuses | Does::Fails => Err("down"),
                Does::Panics => panic!("out"),
                _ => Ok(()),
            }
        },
    )
}

/// What fires of every model come to, as text.
fn outcomes(hooks: &HookRegistry) -> [String; 4] {
    let gate = block_on(hooks.fire_gating::<Send>(1)).map(|gate| match gate {
        Gate::Passed(payload) => format!("passed {payload}"),
        Gate::Rejected(rejection) => rejection.to_string(),
    });
    let label = block_on(hooks.fire_modifying::<Label>(&LabelPayload { n: 1 }));
    let claim = block_on(hooks.fire_claiming::<Route>(&1));
    let noted = block_on(hooks.fire_void::<Noted>(&NotedPayload { n: 1 }));
    let shown = |error: hooks_runtime::FireError| error.to_string();
    [
        format!("{:?}", gate.map_err(shown)),
        format!("{:?}", label.map(|it| (it.title, it.footer)).map_err(shown)),
        format!("{:?}", claim.map_err(shown)),
        format!("{:?}", noted.map_err(shown)),
    ]
}

proptest! {
    /// A fire with any handlers in shadow returns exactly what it returns without them,
    /// in every model.
    #[test]
    fn l36_shadow_changes_no_outcome(handlers in prop::collection::vec(does(), 0..8)) {
        let (shadowed, without) = (HookRegistry::new(), HookRegistry::new());
        for (index, (does, waits, guard, in_shadow)) in handlers.into_iter().enumerate() {
            let group = || {
                let name = || format!("h{index}");
                vec![
                    at_gate(name(), does, waits, guard),
                    at_label(name(), does, waits),
                    at_route(name(), does, waits),
                    at_noted(name(), does, waits, guard),
                ]
            };
            shadowed.register(group()).unwrap();
            if in_shadow {
                shadow(&shadowed, &format!("*:h{index}"));
            } else {
                without.register(group()).unwrap();
            }
        }
        prop_assert_eq!(outcomes(&shadowed), outcomes(&without));
        // And again, with reports.
        let (gate, _) = block_on(shadowed.fire_gating_reported::<Send>(1));
        prop_assert_eq!(
            format!("{gate:?}").contains("Passed"),
            format!("{:?}", block_on(without.fire_gating::<Send>(1))).contains("Passed")
        );
    }
}
