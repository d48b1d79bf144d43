//! What reports, introspection and audits are as JSON (L21, L22, L23), to the
//! letter.

use std::time::Duration;

use hooks_runtime::flow::{NotRun, StageKind, StepStatus};
use hooks_runtime::handler::Target;
use hooks_runtime::point::ModelKind;
use hooks_runtime::registry::{NeverCalledReason, Owner};
use hooks_runtime::report::{
    AnswerRefusal, Contribution, HandlerStatus, RecoveryRefusal, SkipReason,
};
use hooks_runtime::{
    BeforeExecute, FailurePolicy, FlowContext, HookRegistry, OnError, PluginId, Plugins, Verdict,
    hook_points, on,
};
use serde::Serialize;
use serde_json::{Value, json};

hook_points! {
    /// A kettle boils.
    pub void Boil { litres: u32 }
    /// Before tea is poured.
    pub modifying Pour { cup: u32 } -> { milk: bool, sugar: bool }
    /// Before a cup is served.
    pub gating Serve(u32);
    /// A pot is made.
    pub flow Brew(u32) -> u32;
}

struct Black;

fn json<T: Serialize>(of: &T) -> Value {
    serde_json::to_value(of).unwrap()
}

/// The report, with 1 for every time that was taken.
fn untimed<T: Serialize>(report: &T) -> Value {
    fn untime(value: &mut Value) {
        match value {
            Value::Object(keys) => {
                if let Some(elapsed) = keys.get_mut("elapsed_ns").filter(|elapsed| elapsed.is_u64())
                {
                    *elapsed = json!(1);
                }
                keys.values_mut().for_each(untime);
            }
            Value::Array(values) => values.iter_mut().for_each(untime),
            _ => {}
        }
    }
    let mut value = json(report);
    untime(&mut value);
    value
}

#[test]
fn l21_every_status_has_its_shape() {
    let failed = HandlerStatus::Failed {
        kind: "timeout",
        message: "did not finish within 5s".to_owned(),
        policy: FailurePolicy::Closed,
    };
    let shapes = [
        (
            HandlerStatus::Ran(Contribution::Nothing),
            json!({"kind": "ran", "contribution": {"kind": "nothing"}}),
        ),
        (HandlerStatus::Filtered(SkipReason::Scope), json!({"kind": "filtered", "by": "scope"})),
        (
            failed,
            json!({
                "kind": "failed",
                "failure": "timeout",
                "message": "did not finish within 5s",
                "policy": "closed",
            }),
        ),
        (HandlerStatus::Cancelled, json!({"kind": "cancelled"})),
    ];
    for (status, shape) in shapes {
        assert_eq!(json(&status), shape);
    }
    let contributions = [
        (Contribution::Nothing, json!({"kind": "nothing"})),
        (
            Contribution::Fields(vec!["milk", "sugar"]),
            json!({"kind": "fields", "fields": ["milk", "sugar"]}),
        ),
        (Contribution::Claimed, json!({"kind": "claimed"})),
        (Contribution::Passed, json!({"kind": "passed"})),
        (Contribution::Replaced, json!({"kind": "replaced"})),
        (Contribution::Rejected("cold".to_owned()), json!({"kind": "rejected", "reason": "cold"})),
        (Contribution::Answered, json!({"kind": "answered"})),
        (
            Contribution::AnswerRefused(AnswerRefusal::EarlierAnswer),
            json!({"kind": "answer_refused", "by": "earlier_answer"}),
        ),
        (
            Contribution::AnswerRefused(AnswerRefusal::OwnAnswer),
            json!({"kind": "answer_refused", "by": "own_answer"}),
        ),
        (
            Contribution::AnswerRefused(AnswerRefusal::Settled),
            json!({"kind": "answer_refused", "by": "settled"}),
        ),
        (Contribution::Recovered, json!({"kind": "recovered"})),
        (
            Contribution::RecoveryRefused(RecoveryRefusal::EarlierRecovery),
            json!({"kind": "recovery_refused", "by": "earlier_recovery"}),
        ),
        (
            Contribution::RecoveryRefused(RecoveryRefusal::OwnRecovery),
            json!({"kind": "recovery_refused", "by": "own_recovery"}),
        ),
        (
            Contribution::RecoveryRefused(RecoveryRefusal::OtherStage),
            json!({"kind": "recovery_refused", "by": "other_stage"}),
        ),
        (
            Contribution::RecoveryRefused(RecoveryRefusal::OtherFailure),
            json!({"kind": "recovery_refused", "by": "other_failure"}),
        ),
        (Contribution::Skipped, json!({"kind": "skipped"})),
        (Contribution::Aborted("dry".to_owned()), json!({"kind": "aborted", "reason": "dry"})),
    ];
    for (contribution, shape) in contributions {
        assert_eq!(json(&contribution), shape);
    }
}

#[test]
fn l21_every_word_is_in_snake_case() {
    let filters = [
        (SkipReason::Scope, "scope"),
        (SkipReason::Target, "target"),
        (SkipReason::Unregistered, "unregistered"),
        (SkipReason::Condition, "condition"),
        (SkipReason::Once, "once"),
        (SkipReason::AfterClaim, "after_claim"),
        (SkipReason::AfterRejection, "after_rejection"),
        (SkipReason::AfterFailure, "after_failure"),
        (SkipReason::AfterSkip, "after_skip"),
        (SkipReason::AfterAbort, "after_abort"),
    ];
    for (filter, word) in filters {
        assert_eq!((json(&filter), filter.as_str()), (word.into(), word));
    }
    let models = [
        (ModelKind::Void, "void"),
        (ModelKind::Modifying, "modifying"),
        (ModelKind::Claiming, "claiming"),
        (ModelKind::Gating, "gating"),
        (ModelKind::Flow, "flow"),
        (ModelKind::Stage, "stage"),
    ];
    for (model, word) in models {
        assert_eq!(json(&model), word);
    }
    assert_eq!(json(&FailurePolicy::Open), "open");
    assert_eq!(json(&FailurePolicy::Closed), "closed");
    assert_eq!(json(&NeverCalledReason::NeverFired), "never_fired");
    assert_eq!(json(&NeverCalledReason::AlwaysFiltered), "always_filtered");
    assert_eq!(json(&NeverCalledReason::NeverReached), "never_reached");
    // A stage is called what its point is called on the wire.
    assert_eq!(json(&StageKind::BeforeExecute), "beforeExecute");
    assert_eq!(json(&Owner::BuiltIn), json!({"kind": "built_in"}));
    let plugin = Owner::Plugin(PluginId::new("urn").unwrap());
    assert_eq!(json(&plugin), json!({"kind": "plugin", "id": "urn"}));
    assert_eq!(json(&Target::named("mug")), json!({"kind": "name", "name": "mug"}));
    let black = json!({"kind": "type", "name": std::any::type_name::<Black>()});
    assert_eq!(json(&Target::of::<Black>()), black);
}

#[tokio::test]
async fn l21_a_fire_is_reported_handler_by_handler() {
    let hooks = HookRegistry::new();
    let sweet = |_: &PourPayload| PourResult { milk: Some(true), sugar: Some(true) };
    hooks
        .register([
            on::<Pour>().name("dairy").handler(|_: &PourPayload| PourResult {
                milk: Some(false),
                ..PourResult::default()
            }),
            on::<Pour>().name("sweet").plugin("sugar").handler(sweet),
            on::<Pour>().name("away").plugin("absent").handler(sweet),
            on::<Pour>()
                .name("dry")
                .handler(|_: &PourPayload| Err::<PourResult, _>("the jug is empty")),
        ])
        .unwrap();
    let scope = hooks.scope(Plugins::only(["sugar"]));
    let (poured, report) = scope.fire_modifying_reported::<Pour>(&PourPayload { cup: 1 }).await;
    assert_eq!(poured.unwrap().sugar, Some(true));
    let built_in = json!({"kind": "built_in"});
    assert_eq!(
        untimed(&report),
        json!({
            "point": "pour",
            "model": "modifying",
            "stage": null,
            "handlers": [
                {
                    "handler": "dairy",
                    "owner": built_in,
                    "status": {
                        "kind": "ran",
                        "contribution": {"kind": "fields", "fields": ["milk"]},
                    },
                    "elapsed_ns": 1,
                    "overrun_ns": null,
                    "settings": [],
                    "notes": {},
                },
                {
                    "handler": "sweet",
                    "owner": {"kind": "plugin", "id": "sugar"},
                    "status": {
                        "kind": "ran",
                        "contribution": {"kind": "fields", "fields": ["sugar"]},
                    },
                    "elapsed_ns": 1,
                    "overrun_ns": null,
                    "settings": [],
                    "notes": {},
                },
                {
                    "handler": "away",
                    "owner": {"kind": "plugin", "id": "absent"},
                    "status": {"kind": "filtered", "by": "scope"},
                    "elapsed_ns": null,
                    "overrun_ns": null,
                    "settings": [],
                    "notes": {},
                },
                {
                    "handler": "dry",
                    "owner": built_in,
                    "status": {
                        "kind": "failed",
                        "failure": "error",
                        "message": "the jug is empty",
                        "policy": "open",
                    },
                    "elapsed_ns": 1,
                    "overrun_ns": null,
                    "settings": [],
                    "notes": {},
                },
            ],
            "break_glass": [],
        }),
    );
}

#[tokio::test(start_paused = true)]
async fn l21_times_are_whole_nanoseconds() {
    let hooks = HookRegistry::new();
    let slow = on::<Boil>().name("slow").timeout(Duration::from_millis(20));
    hooks
        .register(slow.handler(async |_: &BoilPayload| std::future::pending::<()>().await))
        .unwrap();
    let (_, report) = hooks.fire_void_reported::<Boil>(&BoilPayload { litres: 1 }).await;
    let elapsed = report.handlers()[0].elapsed().unwrap();
    assert_eq!(
        json(&report)["handlers"][0]["elapsed_ns"],
        json!(u64::try_from(elapsed.as_nanos()).unwrap())
    );
    let boil = &json(&hooks.handlers())[0];
    assert_eq!(boil["timeout_ns"], json!(20_000_000));
}

#[tokio::test]
async fn l21_a_flow_is_reported_stage_by_stage() {
    let hooks = HookRegistry::new();
    let stage = on::<BeforeExecute<Brew>>().name("taste");
    hooks.register(stage.handler(|flow: &mut FlowContext<Brew>| flow.abort("stale"))).unwrap();
    let operation = async |litres| Ok::<_, std::io::Error>(litres);
    let (brewed, report) = hooks.flow::<Brew>().run_reported(2, operation).await;
    brewed.unwrap_err();
    assert_eq!(
        untimed(&report),
        json!({
            "flow": "brew",
            "stages": [{
                "point": "brew/beforeExecute",
                "model": "stage",
                "stage": "beforeExecute",
                "handlers": [{
                    "handler": "taste",
                    "owner": {"kind": "built_in"},
                    "status": {
                        "kind": "ran",
                        "contribution": {"kind": "aborted", "reason": "stale"},
                    },
                    "elapsed_ns": 1,
                    "overrun_ns": null,
                    "settings": [],
                    "notes": {},
                }],
                "break_glass": [],
            }],
            "validation": null,
            "operation": {
                "status": {"kind": "not_run", "by": "not_reached"},
                "elapsed_ns": null,
            },
            "recovery": null,
            "break_glass": [],
        }),
    );
}

#[tokio::test]
async fn l21_a_flow_reports_its_validation_and_its_operation() {
    let hooks = HookRegistry::new();
    let run = hooks.flow::<Brew>().validate(|_| Ok::<_, String>(()));
    let (_, report) = run.run_reported(2, async |_| Err("burnt")).await;
    assert_eq!(
        untimed(&report),
        json!({
            "flow": "brew",
            "stages": [],
            "validation": {"status": {"kind": "ran"}, "elapsed_ns": 1},
            "operation": {
                "status": {"kind": "failed", "failure": "error", "message": "burnt"},
                "elapsed_ns": 1,
            },
            "recovery": null,
            "break_glass": [],
        }),
    );
    let shapes = [
        (StepStatus::Ran, json!({"kind": "ran"})),
        (StepStatus::NotRun(NotRun::Answered), json!({"kind": "not_run", "by": "answered"})),
        (StepStatus::NotRun(NotRun::NotReached), json!({"kind": "not_run", "by": "not_reached"})),
        (StepStatus::Cancelled, json!({"kind": "cancelled"})),
    ];
    for (status, shape) in shapes {
        assert_eq!(json(&status), shape);
    }
}

#[tokio::test]
async fn l21_a_flow_reports_who_recovered_it() {
    let hooks = HookRegistry::new();
    let milk = on::<OnError<Brew>>().name("milk").plugin("urn");
    let milk = milk.handler(|flow: &mut FlowContext<Brew>| assert!(flow.recover(7)));
    hooks.register(milk).unwrap();
    let (brewed, report) = hooks.flow::<Brew>().run_reported(2, async |_| Err("burnt")).await;
    assert_eq!(brewed.unwrap(), 7);
    assert_eq!(
        json(&report)["recovery"],
        json!({"handler": "milk", "owner": {"kind": "plugin", "id": "urn"}, "error": "burnt"})
    );
}

fn no_failures() -> Value {
    json!({
        "error": 0, "panic": 0, "timeout": 0, "no_timer": 0, "breaker_open": 0, "rate_limited": 0,
    })
}

fn no_decisions() -> Value {
    json!({
        "nothing": 0, "fields": 0, "claimed": 0, "passed": 0, "replaced": 0,
        "rejected": 0, "answered": 0, "answer_refused": 0, "recovered": 0,
        "recovery_refused": 0, "skipped": 0, "aborted": 0,
    })
}

#[test]
fn l22_introspection_has_every_key_for_every_handler() {
    let hooks = HookRegistry::new();
    hooks
        .register(
            on::<BeforeExecute<Brew>>()
                .name("warm")
                .plugin("urn")
                .priority(-3)
                .timeout(Duration::from_secs(5))
                .target_named("pot")
                .handler(|_: &mut FlowContext<Brew>| ()),
        )
        .unwrap();
    let line = line!() - 9;
    hooks.register(on::<Serve>().name("cool").guard(|_: &u32| Verdict::Pass)).unwrap();
    let rows = json(&hooks.handlers());
    let location = rows[0]["location"].clone();
    assert_eq!(location["line"], json!(line));
    assert_eq!(location["file"], json!(file!()));
    assert!(location["column"].is_u64());
    assert_eq!(
        rows[0],
        json!({
            "point": "brew/beforeExecute",
            "model": "stage",
            "flow": "brew",
            "stage": "beforeExecute",
            "name": "warm",
            "owner": {"kind": "plugin", "id": "urn"},
            "priority": -3,
            "guard": false,
            "policy": "closed",
            "timeout_ns": 5_000_000_000_u64,
            "target": {"kind": "name", "name": "pot"},
            "location": location,
            "calls": 0,
            "failures": 0,
            "failures_by": no_failures(),
            "in_flight": 0,
            "overruns": 0,
            "conditional": false,
            "once": false,
            "pure": false,
            "skips": {"scope": 0, "target": 0, "unregistered": 0, "condition": 0, "once": 0,
                "disabled": 0, "sampled_out": 0},
            "mode": "enforce",
            "shadow": no_decisions(),
            "shadow_failures": 0,
            "breaker": null,
            "breaker_is_shadow": false,
            "breaker_transitions": {"opened": 0, "half_opened": 0, "closed": 0},
            "settings": [],
        }),
    );
    assert_eq!(
        rows[1],
        json!({
            "point": "serve",
            "model": "gating",
            "flow": null,
            "stage": null,
            "name": "cool",
            "owner": {"kind": "built_in"},
            "priority": 0,
            "guard": true,
            "policy": "closed",
            "timeout_ns": null,
            "target": null,
            "location": rows[1]["location"],
            "calls": 0,
            "failures": 0,
            "failures_by": no_failures(),
            "in_flight": 0,
            "overruns": 0,
            "conditional": false,
            "once": false,
            "pure": false,
            "skips": {"scope": 0, "target": 0, "unregistered": 0, "condition": 0, "once": 0,
                "disabled": 0, "sampled_out": 0},
            "mode": "enforce",
            "shadow": no_decisions(),
            "shadow_failures": 0,
            "breaker": null,
            "breaker_is_shadow": false,
            "breaker_transitions": {"opened": 0, "half_opened": 0, "closed": 0},
            "settings": [],
        }),
    );
    assert_eq!(
        json(&hooks.explain_order::<Serve>()),
        json!([{
            "handler": "cool",
            "owner": {"kind": "built_in"},
            "reason": "priority 0; a guard, so after every rewriter; registered as number 1 of \
                       that priority",
        }]),
    );
}
