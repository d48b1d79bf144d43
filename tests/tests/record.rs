//! What a recording has of each fire and each call (L36, L38).

mod record_support;
mod support;

use std::time::{Duration, SystemTime};

use hooks_runtime::error::FailureCause;
use hooks_runtime::operator::{BreakerSettings, BreakerState, Mode, SettingEnd};
use hooks_runtime::record::{
    CallStatus, CapturePolicy, Captured, Decision, Header, Line, LineKind, NotCaptured, Part,
    RecordedScope, Recorder, SettingChanged, StepOutcome, digest,
};
use hooks_runtime::report::SkipReason;
use hooks_runtime::{
    BeforeExecute, FailurePolicy, FlowContext, HookRegistry, Judgement, Plugins, Verdict,
    hook_points, on,
};
use record_support::{answer, call, calls, fires, recorded};
use serde_json::json;
use support::{keep_quiet, soon};

/// Why a parcel is refused.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Refused {
    pub code: u32,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "code {}", self.code)
    }
}

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]
    /// A bell rang.
    pub void Rang { bell: u32 }
    /// A label is made.
    pub modifying Labelled { book: u32 } -> { title: String, footer: String, shelf_no: u32 }
    /// Who takes it?
    pub claiming Routed { path: String } -> { port: u16 }
    /// Who is it?
    pub claiming Named(u32) -> String;
    /// Before a parcel leaves.
    pub gating Parcel { to: String, grams: u32 } -> Refused;
    /// A press.
    pub flow Press(u32) -> u32;
}

hook_points! {
    /// Without JSON.
    pub claiming Plain(u32) -> u32;
}

fn full(recorder: Recorder) -> Recorder {
    recorder.catalogue(&points()).capture("*", CapturePolicy::Full)
}

fn parcel(grams: u32) -> ParcelPayload {
    ParcelPayload { to: "desk".into(), grams }
}

/// L38: what a handler answered is there in the form in which one that speaks JSON answers,
/// so that it can be answered in its place.
#[tokio::test]
async fn l38_the_answers_of_a_modifying_point_are_recorded_with_their_values() {
    let hooks = HookRegistry::new();
    let title = on::<Labelled>().name("title").plugin("books");
    hooks
        .register(title.handler(|label: &LabelledPayload| LabelledResult {
            title: Some(format!("book {}", label.book)),
            ..Default::default()
        }))
        .unwrap();
    hooks.register(on::<Labelled>().name("none").handler(|_: &LabelledPayload| None)).unwrap();
    let late = on::<Labelled>().name("late").handler(|_: &LabelledPayload| LabelledResult {
        title: Some("too late".into()),
        shelf_no: Some(4),
        ..Default::default()
    });
    hooks.register(late).unwrap();
    let lines = recorded(&hooks, full, async || {
        hooks.fire_modifying::<Labelled>(&LabelledPayload { book: 7 }).await.unwrap();
    })
    .await;
    let fire = fires(&lines)[0];
    assert_eq!((&*fire.point, &*fire.model, &*fire.outcome), ("labelled", "modifying", "amended"));
    assert_eq!(fire.payload, Captured::Full { value: json!({"book": 7}) });
    assert_eq!((fire.calls, fire.parent, fire.depth, fire.steps), (3, None, 0, 0));
    assert_eq!(answer(&lines, "title"), json!({"title": "book 7"}));
    assert_eq!(answer(&lines, "none"), json!(null));
    assert_eq!(
        answer(&lines, "late"),
        json!({"title": "too late", "shelfNo": 4}),
        "also what did not count, which it would in another order",
    );
    let late = call(&lines, "late");
    assert_eq!(late.changed.as_deref(), Some(&["shelf_no".to_owned()][..]));
    assert_eq!(late.decision, Some(Decision::Fields { fields: vec!["shelf_no".into()] }));
    assert_eq!((late.effect.clone(), late.place), (late.decision.clone(), 2));
    let title = call(&lines, "title");
    assert_eq!((title.plugin.as_deref(), title.mode), (Some("books"), Mode::Enforce));
    assert_eq!((title.policy, title.time_limit_ns), (FailurePolicy::Open, None));
    assert!(title.took_ns.is_some() && title.call.is_some());
    // What was recorded can be answered again, by a handler that speaks JSON.
    let (again, catalogue) = (HookRegistry::new(), points());
    let said = answer(&lines, "title");
    let on_json = catalogue.on("labelled").unwrap();
    again.register(on_json.handler(move |_: hooks_runtime::json::Value| said.clone())).unwrap();
    let labelled = again.fire_modifying::<Labelled>(&LabelledPayload { book: 9 }).await.unwrap();
    assert_eq!(labelled.title.as_deref(), Some("book 7"));
}

#[tokio::test]
async fn l38_claims_are_recorded_and_so_is_who_was_not_asked() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Routed>().name("no").handler(|_: &RoutedPayload| None)).unwrap();
    let port = |_: &RoutedPayload| Some(RoutedResult { port: 80 });
    hooks.register(on::<Routed>().name("web").handler(port)).unwrap();
    hooks.register(on::<Routed>().name("later").handler(port)).unwrap();
    hooks.register(on::<Named>().name("clerk").handler(|_: &u32| Some("ada".to_owned()))).unwrap();
    let lines = recorded(&hooks, full, async || {
        let path = RoutedPayload { path: "/".into() };
        assert!(hooks.fire_claiming::<Routed>(&path).await.unwrap().is_claimed());
        assert!(hooks.fire_claiming::<Named>(&1).await.unwrap().is_claimed());
    })
    .await;
    assert_eq!(answer(&lines, "no"), json!({"handled": false}));
    assert_eq!(answer(&lines, "web"), json!({"handled": true, "port": 80}));
    assert_eq!(answer(&lines, "clerk"), json!({"handled": true, "claim": "ada"}));
    let later = call(&lines, "later");
    assert_eq!((later.status, later.skipped), (CallStatus::Filtered, Some(SkipReason::AfterClaim)));
    assert_eq!((&later.answer, &later.decision, later.call), (&None, &None, None));
}

#[tokio::test]
async fn l38_replacements_and_reasons_of_a_gate_are_recorded() {
    let hooks = HookRegistry::new();
    let heavier = |parcel: &ParcelPayload| {
        Verdict::Replace(ParcelPayload { grams: parcel.grams + 1, ..parcel.clone() })
    };
    hooks.register(on::<Parcel>().name("wrap").handler(heavier)).unwrap();
    hooks
        .register(on::<Parcel>().name("light").guard(|parcel: &ParcelPayload| {
            if parcel.grams < 10 { Judgement::Pass } else { Judgement::Reject(Refused { code: 4 }) }
        }))
        .unwrap();
    let lines = recorded(&hooks, full, async || {
        let _ = hooks.fire_gating::<Parcel>(parcel(1)).await.unwrap();
        let _ = hooks.fire_gating::<Parcel>(parcel(9)).await.unwrap();
    })
    .await;
    let outcomes: Vec<_> = fires(&lines).iter().map(|fire| &*fire.outcome).collect();
    assert_eq!(outcomes, ["passed", "rejected"]);
    let [wrap, light, _, refused] = calls(&lines)[..] else { panic!("four calls") };
    assert_eq!(
        wrap.answer,
        Some(Captured::Full {
            value: json!({"verdict": "replace", "payload": {"to": "desk", "grams": 2}}),
        }),
    );
    assert_eq!(wrap.changed.as_deref(), Some(&["grams".to_owned()][..]));
    assert_eq!(light.answer, Some(Captured::Full { value: json!({"verdict": "pass"}) }));
    assert_eq!(
        refused.answer,
        Some(Captured::Full { value: json!({"verdict": "reject", "reason": {"code": 4}}) }),
    );
    assert_eq!(refused.decision, Some(Decision::Rejected { reason: "code 4".into() }));
}

/// L36: what a handler in shadow decides is apart from its effect, which is none.
#[tokio::test]
async fn l36_decision_and_effect_are_apart_in_a_recording() {
    let hooks = HookRegistry::new();
    let heavier = |parcel: &ParcelPayload| {
        Verdict::Replace(ParcelPayload { grams: parcel.grams + 100, ..parcel.clone() })
    };
    hooks.register(on::<Parcel>().name("wrap").handler(heavier)).unwrap();
    let strict = |_: &ParcelPayload| Judgement::Reject(Refused { code: 1 });
    hooks.register(on::<Parcel>().name("strict").guard(strict)).unwrap();
    keep_quiet(&["planned"]);
    let broken = |_: &ParcelPayload| -> Judgement<Refused> { panic!("planned") };
    hooks.register(on::<Parcel>().name("broken").guard(broken)).unwrap();
    let operator = hooks.operator();
    let glass = |draft: hooks_runtime::operator::NewSetting<'_>| {
        draft.break_glass("try it").until(Duration::from_secs(60)).apply().unwrap().id().number()
    };
    let ids = [
        glass(operator.shadow("parcel:wrap")),
        glass(operator.warn("parcel:strict")),
        glass(operator.shadow("parcel:broken")),
    ];
    let lines = recorded(&hooks, full, async || {
        let gate = hooks.fire_gating::<Parcel>(parcel(1)).await.unwrap();
        assert_eq!(gate.into_result().unwrap().grams, 1);
    })
    .await;
    let wrap = call(&lines, "wrap");
    assert_eq!((wrap.mode, wrap.status), (Mode::Shadow, CallStatus::Shadowed));
    assert_eq!((&wrap.decision, &wrap.effect), (&Some(Decision::Replaced), &None));
    assert_eq!(answer(&lines, "wrap")["payload"]["grams"], 101);
    assert_eq!(wrap.changed.as_deref(), Some(&["grams".to_owned()][..]));
    let strict = call(&lines, "strict");
    assert_eq!((strict.mode, strict.status), (Mode::Warn, CallStatus::Shadowed));
    assert_eq!(strict.decision, Some(Decision::Rejected { reason: "code 1".into() }));
    assert_eq!((&strict.effect, &*fires(&lines)[0].outcome), (&None, "passed"));
    let broken = call(&lines, "broken");
    assert_eq!((broken.status, &broken.effect), (CallStatus::ShadowFailed, &None));
    let failure = broken.failure.as_ref().unwrap();
    assert_eq!((failure.cause, &*failure.message), (FailureCause::Panic, "panicked: planned"));
    let counted: Vec<_> = calls(&lines).iter().map(|call| call.settings.clone()).collect();
    assert_eq!(counted, ids.map(|id| vec![id]));
}

#[tokio::test(start_paused = true)]
async fn l38_failures_limits_and_skips_are_recorded() {
    let hooks = HookRegistry::new();
    let slow = on::<Rang>().name("slow").timeout(Duration::from_secs(5));
    hooks
        .register(slow.handler(async |_: &RangPayload| std::future::pending::<()>().await))
        .unwrap();
    hooks.register(on::<Rang>().name("error").handler(|_: &RangPayload| Err("no\npower"))).unwrap();
    let odd = on::<Rang>().name("odd").when(|rang: &RangPayload| rang.bell % 2 == 1);
    hooks.register(odd.handler(|_: &RangPayload| ())).unwrap();
    let closed = on::<Rang>().name("closed").on_failure(FailurePolicy::Closed);
    hooks.register(closed.handler(|_: &RangPayload| Err("shut"))).unwrap();
    let lines = recorded(&hooks, full, async || {
        soon(hooks.fire_void::<Rang>(&RangPayload { bell: 2 })).await.unwrap_err();
    })
    .await;
    let fire = fires(&lines)[0];
    assert_eq!(fire.outcome, "failed");
    assert!(fire.error.as_deref().unwrap().contains("`closed`"), "{:?}", fire.error);
    let handlers: Vec<_> = calls(&lines).iter().map(|call| &*call.handler).collect();
    assert_eq!(handlers, ["slow", "error", "odd", "closed"], "in the order of the list");
    let slow = call(&lines, "slow");
    assert_eq!(slow.failure.as_ref().unwrap().cause, FailureCause::Timeout);
    assert_eq!((slow.time_limit_ns, slow.overrun_ns), (Some(5_000_000_000), None));
    let error = call(&lines, "error");
    assert_eq!(error.failure.as_ref().unwrap().message, "no\npower");
    assert_eq!((error.policy, &error.answer), (FailurePolicy::Open, &None));
    assert_eq!(call(&lines, "odd").skipped, Some(SkipReason::Condition));
    assert_eq!(call(&lines, "closed").policy, FailurePolicy::Closed);
}

#[tokio::test]
async fn l38_a_run_of_a_flow_has_its_stages_its_steps_and_the_output() {
    let hooks = HookRegistry::new();
    let before = on::<BeforeExecute<Press>>().name("before");
    hooks
        .register(before.handler(|flow: &mut FlowContext<Press>| *flow.input_mut().unwrap() += 1))
        .unwrap();
    let lines = recorded(&hooks, full, async || {
        let press = async |n: u32| if n < 9 { Ok(n * 10) } else { Err("jammed") };
        let flow = || hooks.flow::<Press>().target_named("left");
        assert_eq!(flow().validate(|_| Ok::<_, &str>(())).run(1, press).await.unwrap(), 20);
        flow().run(9, press).await.unwrap_err();
        let answered = on::<BeforeExecute<Press>>().name("answer");
        let answered = answered.handler(|flow: &mut FlowContext<Press>| {
            flow.respond(0);
        });
        hooks.register(answered).unwrap();
        assert_eq!(flow().run(1, press).await.unwrap(), 0);
    })
    .await;
    let runs: Vec<_> = fires(&lines).into_iter().filter(|fire| fire.model == "flow").collect();
    let outcomes: Vec<_> = runs.iter().map(|run| &*run.outcome).collect();
    assert_eq!(outcomes, ["ran", "failed", "ran"]);
    assert_eq!(runs[0].payload, Captured::Full { value: json!(1) });
    assert_eq!(runs[0].targets, ["\"left\""]);
    let stage = fires(&lines).into_iter().find(|fire| fire.point == "press/beforeExecute");
    let stage = stage.unwrap();
    assert_eq!((stage.flow_run, stage.parent), (Some(runs[0].fire), Some(runs[0].fire)));
    assert_eq!(stage.payload, Captured::Missing { why: NotCaptured::Shared });
    let steps: Vec<_> = lines
        .iter()
        .filter_map(|line| match &line.kind {
            LineKind::Step(step) => Some((&*step.step, &step.status, &step.output)),
            _ => None,
        })
        .collect();
    assert_eq!(steps.len(), 4);
    assert_eq!(steps[0], ("validation", &StepOutcome::Ran, &None));
    let output = Some(Captured::Full { value: json!(20) });
    assert_eq!(steps[1], ("operation", &StepOutcome::Ran, &output));
    assert!(matches!(steps[2].1, StepOutcome::Failed(failure) if failure.message == "jammed"));
    assert!(matches!(steps[3].1, StepOutcome::NotRun { .. }));
}

#[tokio::test]
async fn l38_a_policy_says_for_each_point_what_is_written() {
    let hooks = HookRegistry::new();
    let web = |_: &RoutedPayload| Some(RoutedResult { port: 80 });
    hooks.register(on::<Routed>().name("web").handler(web)).unwrap();
    hooks.register(on::<Named>().name("clerk").handler(|_: &u32| Some("ada".to_owned()))).unwrap();
    hooks.register(on::<Plain>().name("plain").handler(|n: &u32| Some(*n))).unwrap();
    let strict = |_: &ParcelPayload| Judgement::Reject(Refused { code: 1 });
    let wrap = |parcel: &ParcelPayload| Verdict::Replace(parcel.clone());
    hooks.register(on::<Parcel>().name("wrap").handler(wrap)).unwrap();
    hooks.register(on::<Parcel>().name("strict").guard(strict)).unwrap();
    let redaction = CapturePolicy::redacted(|point, part, value| {
        assert_eq!(point, "parcel");
        match part {
            Part::Payload => value["to"] = "…".into(),
            Part::Text => *value = "a reason".into(),
            _ => value["seen"] = true.into(),
        }
    });
    let ask = |recorder: Recorder| {
        let recorder = recorder.catalogue(&points()).capture("*", CapturePolicy::Full);
        let recorder = recorder.capture("routed", CapturePolicy::Hash).capture("parcel", redaction);
        recorder.capture("rang", CapturePolicy::None)
    };
    let lines = recorded(&hooks, ask, async || {
        hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await.unwrap();
        let path = RoutedPayload { path: "/".into() };
        assert!(hooks.fire_claiming::<Routed>(&path).await.unwrap().is_claimed());
        assert!(hooks.fire_claiming::<Plain>(&1).await.unwrap().is_claimed());
        let _ = hooks.fire_gating::<Parcel>(parcel(1)).await.unwrap();
    })
    .await;
    let payloads: Vec<_> = fires(&lines).iter().map(|fire| fire.payload.clone()).collect();
    assert_eq!(
        payloads,
        [
            Captured::Missing { why: NotCaptured::Policy },
            Captured::Hash { hash: digest(&json!({"path": "/"})) },
            Captured::Missing { why: NotCaptured::NoJson },
            Captured::Redacted { value: json!({"to": "…", "grams": 1}) },
        ],
    );
    let hash = digest(&json!({"handled": true, "port": 80}));
    assert_eq!(call(&lines, "web").answer, Some(Captured::Hash { hash }));
    let missing = Captured::Missing { why: NotCaptured::NoJson };
    assert_eq!(call(&lines, "plain").answer, Some(missing));
    assert_eq!(answer(&lines, "wrap")["payload"]["to"], "…");
    assert_eq!(answer(&lines, "strict")["seen"], true);
    let strict = call(&lines, "strict");
    assert_eq!(strict.decision, Some(Decision::Rejected { reason: "a reason".into() }));
    assert!(!format!("{lines:?}").contains("desk"), "nothing else has it");
}

#[tokio::test]
async fn l38_scopes_nested_fires_and_dropped_ones_are_recorded() {
    let hooks = HookRegistry::new();
    for plugin in ["audit", "beta"] {
        hooks.register(on::<Rang>().plugin(plugin).handler(|_: &RangPayload| ())).unwrap();
    }
    let inner = on::<Named>().name("nests");
    hooks
        .register(inner.handler(async |n: &u32, cx: &hooks_runtime::HookContext| {
            cx.hooks().fire_void::<Rang>(&RangPayload { bell: *n }).await.unwrap();
            None
        }))
        .unwrap();
    let stuck = on::<Plain>().name("stuck");
    hooks
        .register(stuck.handler(async |_: &u32| std::future::pending::<Option<u32>>().await))
        .unwrap();
    let lines = recorded(&hooks, full, async || {
        let scoped = hooks.scope(Plugins::only(["audit"]));
        let _ = scoped.fire_claiming::<Named>(&3).await.unwrap();
        hooks
            .scope(Plugins::except(["beta"]))
            .fire_void::<Rang>(&RangPayload { bell: 1 })
            .await
            .unwrap();
        let mut fire = Box::pin(hooks.fire_claiming::<Plain>(&1));
        assert!(support::poll_once(fire.as_mut()).is_pending());
    })
    .await;
    let [inner, outer, except, dropped] = fires(&lines)[..] else { panic!("four fires") };
    assert_eq!((inner.parent, inner.depth), (Some(outer.fire), 1));
    let only = RecordedScope::Only { plugins: vec!["audit".into()] };
    assert_eq!((&inner.scope, &outer.scope), (&only, &only));
    assert_eq!(except.scope, RecordedScope::Except { plugins: vec!["beta".into()] });
    assert_eq!((&*dropped.outcome, &dropped.scope), ("dropped", &RecordedScope::All));
    assert_eq!(call(&lines, "stuck").status, CallStatus::Cancelled);
    let skipped: Vec<_> = calls(&lines).iter().filter_map(|call| call.skipped).collect();
    assert_eq!(skipped, [SkipReason::Scope; 2]);
}

fn headers(lines: &[Line]) -> Vec<&Header> {
    let header = |line| match line {
        &Line { kind: LineKind::Header(ref header), .. } => Some(header),
        _ => None,
    };
    lines.iter().filter_map(header).collect()
}

/// L34: which settings a fire began with can be told from the recording.
#[tokio::test]
async fn l34_settings_breakers_and_changes_of_handlers_are_lines_of_their_own() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Rang>().name("early").handler(|_: &RangPayload| Err("down"))).unwrap();
    let operator = hooks.operator();
    let old = operator.time_limit("rang:early", Duration::from_secs(1)).by("ops").apply().unwrap();
    let lines = recorded(&hooks, full, async || {
        let rang = RangPayload { bell: 1 };
        hooks.fire_void::<Rang>(&rang).await.unwrap();
        let breaker = BreakerSettings::consecutive(1);
        let breaker = operator.breaker("rang:early", breaker).because("flaky").apply().unwrap();
        hooks.fire_void::<Rang>(&rang).await.unwrap();
        hooks.fire_void::<Rang>(&rang).await.unwrap();
        operator.clear(old.id()).unwrap();
        operator.clear(breaker.id()).unwrap();
        let late = on::<Rang>().name("late").priority(-1).pure();
        let handle = hooks.register(late.handler(|_: &RangPayload| ())).unwrap();
        hooks.fire_void::<Rang>(&rang).await.unwrap();
        drop(handle);
        hooks.unregister_handler("early").await;
    })
    .await;
    let header = headers(&lines)[0];
    assert_eq!((&*header.format, header.file, header.settings.len()), ("hooks-record", 0, 1));
    assert_eq!(header.settings[0].by.as_deref(), Some("ops"));
    let early = &header.points[0].handlers[0];
    assert_eq!((&*early.handler, early.pure, early.guard), ("early", false, false));
    let kinds: Vec<_> = lines.iter().map(|line| (line.kind.as_str(), line.generation)).collect();
    assert_eq!(
        kinds,
        [
            ("header", 1),
            ("fire", 1),
            ("call", 1),
            ("setting", 2),
            ("breaker", 2),
            ("fire", 2),
            ("call", 2),
            ("fire", 2),
            ("call", 2),
            ("setting", 3),
            ("setting", 4),
            ("handlers", 4),
            ("fire", 4),
            ("call", 4),
            ("call", 4),
            ("handlers", 4),
            ("end", 4),
        ],
    );
    let LineKind::Setting(began) = &lines[3].kind else { panic!("the breaker's") };
    assert_eq!(
        (&began.change, began.setting.why.as_deref()),
        (&SettingChanged::Began, Some("flaky"))
    );
    let LineKind::Breaker(opened) = &lines[4].kind else { panic!("it opened") };
    assert_eq!(
        (&*opened.handler, opened.from, opened.to, opened.shadow),
        ("rang:early", BreakerState::Closed, BreakerState::Open, false)
    );
    assert_eq!(calls(&lines)[2].failure.as_ref().unwrap().cause, FailureCause::BreakerOpen);
    let LineKind::Setting(ended) = &lines[9].kind else { panic!("the limit's") };
    assert_eq!(ended.change, SettingChanged::Ended { end: SettingEnd::Cleared });
    let handlers = |at: usize| match &lines[at].kind {
        LineKind::Handlers(point) => {
            let names: Vec<_> = point.handlers.iter().map(|it| (&*it.handler, it.pure)).collect();
            names
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(handlers(11), [("late", true), ("early", false)]);
    assert_eq!(handlers(15), [("late", true)]);
}

#[tokio::test]
async fn l38_times_are_of_the_clock_and_the_run_has_its_name() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Rang>().handler(|_: &RangPayload| ())).unwrap();
    let clock = || SystemTime::UNIX_EPOCH + Duration::from_nanos(7);
    let lines = recorded(
        &hooks,
        |it| it.clock(clock).run("night"),
        async || {
            hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await.unwrap();
        },
    )
    .await;
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| (line.at_ns, &*line.run, line.v) == (7, "night", 1)));
}
