//! Tracing on demand: which fires a trace sees, what it keeps of them, how it ends.

mod support;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hooks_runtime::json::Value;
use hooks_runtime::operator::{
    Capture, Trace, TraceEnd, TraceFilter, TraceLimit, TracedFire, TracedPayload,
};
use hooks_runtime::{
    BeforeExecute, FlowContext, HookRegistry, Judgement, OnError, Verdict, hook_points, on,
};
use support::poll_once;

hook_points! {
    #![hook(json = "snake_case", catalogue = pub fn points)]
    pub void Opened { drawer: u32 }
    pub modifying Label { text: String } -> { title: String }
    pub claiming Route(u32) -> u32;
    pub gating Sending { to: String }
    #[hook(name = "tools:call")]
    pub flow Call(u32) -> u32;
}

const SECOND: Duration = Duration::from_secs(1);

fn opened(drawer: u32) -> OpenedPayload {
    OpenedPayload { drawer }
}

/// A handler or two at each point.
fn house() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Opened>().name("log").handler(|_: &OpenedPayload| ()),
            on::<Opened>().name("count").plugin("stats").handler(|it: &OpenedPayload| {
                if it.drawer == 13 { Err("no such drawer") } else { Ok(()) }
            }),
            on::<Label>().name("name").handler(|it: &LabelPayload| {
                (!it.text.is_empty()).then(|| LabelResult { title: Some(it.text.clone()) })
            }),
            on::<Route>().name("even").handler(|n: &u32| n.is_multiple_of(2).then_some(*n)),
            on::<Sending>().name("trim").handler(|it: &SendingPayload| {
                Verdict::<SendingPayload>::Replace(SendingPayload { to: it.to.trim().into() })
            }),
            on::<Sending>().name("known").plugin("book").guard(|it: &SendingPayload| {
                if it.to == "desk" { Judgement::Pass } else { Judgement::reject("unknown") }
            }),
            on::<BeforeExecute<Call>>().name("zero").handler(|flow: &mut FlowContext<Call>| {
                if flow.input() == Some(&0) {
                    flow.abort("nothing to call");
                }
            }),
        ])
        .unwrap();
    hooks
}

/// Fires everything, with outcomes of every kind.
async fn day(hooks: &HookRegistry) {
    hooks.fire_void::<Opened>(&opened(1)).await.unwrap();
    hooks.fire_void::<Opened>(&opened(13)).await.unwrap();
    for text in ["", "lamp"] {
        hooks.fire_modifying::<Label>(&LabelPayload { text: text.into() }).await.unwrap();
    }
    for number in [1, 2] {
        let _ = hooks.fire_claiming::<Route>(&number).await.unwrap();
    }
    for to in [" desk ", "moon"] {
        let sent = hooks.fire_gating::<Sending>(SendingPayload { to: to.into() }).await;
        sent.unwrap().into_result().ok();
    }
    for number in [0, 1] {
        let add = async |number: u32| Ok::<_, std::io::Error>(number + 1);
        hooks.flow::<Call>().run(number, add).await.ok();
    }
}

/// A fire that waits after its first poll.
fn begun<'f, T: 'f>(fire: impl Future<Output = T> + 'f) -> Pin<Box<dyn Future<Output = T> + 'f>> {
    let mut fire = Box::pin(fire);
    assert!(poll_once(fire.as_mut()).is_pending());
    fire
}

fn taken(trace: &mut Trace) -> Vec<TracedFire> {
    std::iter::from_fn(|| trace.try_next()).collect()
}

/// Point and outcome of each.
fn words(fires: &[TracedFire]) -> Vec<(&'static str, &'static str)> {
    fires.iter().map(|fire| (fire.point(), fire.outcome())).collect()
}

#[tokio::test]
async fn a_trace_of_all_sees_every_fire_in_order() {
    let hooks = house();
    let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(100)).unwrap();
    day(&hooks).await;
    let fires = taken(&mut trace);
    let expected = [
        ("opened", "notified"),
        ("opened", "notified"),
        ("label", "unchanged"),
        ("label", "amended"),
        ("route", "unclaimed"),
        ("route", "claimed"),
        ("sending", "passed"),
        ("sending", "rejected"),
        ("tools:call/beforeValidation", "ran"),
        ("tools:call/afterValidation", "ran"),
        ("tools:call/beforeExecute", "aborted"),
        ("tools:call/onError", "ran"),
        ("tools:call/finally", "ran"),
        ("tools:call", "failed"),
        ("tools:call/beforeValidation", "ran"),
        ("tools:call/afterValidation", "ran"),
        ("tools:call/beforeExecute", "ran"),
        ("tools:call/afterExecute", "ran"),
        ("tools:call/finally", "ran"),
        ("tools:call", "ran"),
    ];
    assert_eq!(words(&fires), expected);
    let texts: Vec<_> = fires.iter().map(ToString::to_string).collect();
    let texts: Vec<_> = texts.iter().map(|text| text.rsplit_once(" (").unwrap().0).collect();
    assert_eq!(texts[5], "route claimed by even");
    assert_eq!(texts[7], "sending rejected by book/known: unknown");
    assert_eq!(
        texts[13],
        "tools:call failed: `tools:call` was aborted in beforeExecute by `zero` (built-in): \
         nothing to call",
    );
    // A report of each, in the order of the walk.
    let rows = |fire: &TracedFire| -> Vec<String> {
        let rows = fire.report().handlers().iter();
        rows.map(|row| format!("{} {}", row.handler(), row.status())).collect()
    };
    assert_eq!(rows(&fires[1]), ["log ran", "count error, fail-open: no such drawer"]);
    assert_eq!(rows(&fires[6]), ["trim replaced the payload", "known passed"]);
    // Stages are in their run.
    let run = fires[13].id();
    assert!(
        fires[8..13].iter().all(|stage| (stage.run(), stage.parent()) == (Some(run), Some(run)))
    );
    assert_eq!((fires[13].run(), fires[13].parent()), (None, None));
    assert_eq!((trace.seen(), trace.dropped(), trace.ended()), (20, 0, None));
}

#[tokio::test]
async fn a_trace_sees_the_fires_of_its_points_only() {
    let hooks = house();
    let operator = hooks.operator();
    day(&hooks).await;
    for (name, expected) in [
        ("label", vec![("label", "unchanged"), ("label", "amended")]),
        ("rou*", vec![("route", "unclaimed"), ("route", "claimed")]),
        ("tools:call", vec![("tools:call", "failed"), ("tools:call", "ran")]),
        (
            "*/beforeExecute",
            vec![("tools:call/beforeExecute", "aborted"), ("tools:call/beforeExecute", "ran")],
        ),
    ] {
        let mut trace = operator.trace(TraceFilter::point(name), TraceLimit::count(100)).unwrap();
        day(&hooks).await;
        assert_eq!(words(&taken(&mut trace)), expected, "{name}");
    }
}

#[tokio::test]
async fn a_target_is_the_fires_that_have_such_a_handler() {
    let hooks = house();
    let operator = hooks.operator();
    for (target, outcome, expected) in [
        ("*:stats/*", None, vec!["opened", "opened"]),
        ("*:stats/*", Some("failed"), vec!["opened"]),
        ("*:stats/*", Some("error"), vec!["opened"]),
        ("*:stats/*", Some("panic"), vec![]),
        ("sending:book/known", Some("rejected"), vec!["sending"]),
        ("sending:*", Some("replaced"), vec!["sending", "sending"]),
        ("*:*", Some("aborted"), vec!["tools:call/beforeExecute"]),
        ("tools:call/beforeExecute:zero", None, vec!["tools:call/beforeExecute"; 2]),
    ] {
        let filter = TraceFilter::target(target);
        let filter = match outcome {
            Some(outcome) => filter.outcome(outcome),
            None => filter,
        };
        let mut trace = operator.trace(filter, TraceLimit::count(100)).unwrap();
        day(&hooks).await;
        let points: Vec<_> = taken(&mut trace).iter().map(TracedFire::point).collect();
        assert_eq!(points, expected, "{target} {outcome:?}");
    }
    operator.disable("opened:stats/count").apply().unwrap();
    let disabled = TraceFilter::target("opened:stats/*").outcome("disabled");
    let mut trace = operator.trace(disabled, TraceLimit::count(1)).unwrap();
    hooks.fire_void::<Opened>(&opened(1)).await.unwrap();
    let fire = trace.try_next().unwrap();
    assert_eq!(
        fire.report().handler("count").unwrap().status().to_string(),
        "not called: disabled"
    );
}

#[tokio::test]
async fn a_filter_looks_at_the_typed_payload_of_every_model() {
    let hooks = house();
    let operator = hooks.operator();
    let limit = TraceLimit::count(100);
    let mut traces = [
        operator.trace(TraceFilter::at::<Opened>().when(|it| it.drawer == 13), limit).unwrap(),
        operator.trace(TraceFilter::at::<Label>().when(|it| it.text.is_empty()), limit).unwrap(),
        operator.trace(TraceFilter::at::<Route>().when(|it| *it == 2), limit).unwrap(),
        // As it is when the fire begins, before it is rewritten.
        operator.trace(TraceFilter::at::<Sending>().when(|it| it.to == " desk "), limit).unwrap(),
        operator.trace(TraceFilter::at::<Call>().when(|it| *it == 0), limit).unwrap(),
        operator
            .trace(
                TraceFilter::at::<BeforeExecute<Call>>().when(|it| it.input() == Some(&1)),
                limit,
            )
            .unwrap(),
        operator
            .trace(
                TraceFilter::at::<Opened>().when(|it| it.drawer > 1).when(|it| it.drawer < 13),
                limit,
            )
            .unwrap(),
    ];
    day(&hooks).await;
    let seen: Vec<_> = traces.iter_mut().map(|trace| words(&taken(trace))).collect();
    let expected = vec![
        vec![("opened", "notified")],
        vec![("label", "unchanged")],
        vec![("route", "claimed")],
        vec![("sending", "passed")],
        vec![("tools:call", "failed")],
        vec![("tools:call/beforeExecute", "ran")],
        vec![],
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn payloads_are_kept_as_the_filter_says() {
    let hooks = house();
    let operator = hooks.operator();
    let shown = TraceFilter::at::<Sending>().show(|it| format!("→{}", it.to)).payload_bytes(5);
    let mut shown = operator.trace(shown, TraceLimit::count(100)).unwrap();
    let capture = Capture::json(&points()).redact(|point, payload| {
        if point == "sending" {
            payload["to"] = "…".into();
        }
    });
    let captured = TraceFilter::all().capture(capture);
    let mut captured = operator.trace(captured, TraceLimit::count(100)).unwrap();
    day(&hooks).await;
    let payloads: Vec<_> = taken(&mut shown).iter().map(|it| it.payload().cloned()).collect();
    // Whole characters, and the bytes that are missing.
    let kept = |text: &str, left_out| Some(TracedPayload::Shown { text: text.into(), left_out });
    assert_eq!(payloads, [kept("→ d", 4), kept("→mo", 2)]);
    let fires = taken(&mut captured);
    let texts = fires.iter().map(|fire| fire.payload().and_then(TracedPayload::text));
    let texts: Vec<_> = texts.collect();
    let hidden = Some(r#"{"to":"…"}"#);
    let labels = [Some(r#"{"text":""}"#), Some(r#"{"text":"lamp"}"#)];
    assert_eq!(texts[..2], [Some(r#"{"drawer":1}"#), Some(r#"{"drawer":13}"#)]);
    assert_eq!(texts[2..8], [labels[0], labels[1], Some("1"), Some("2"), hidden, hidden]);
    // A run has its input; the context of a stage is no data.
    assert_eq!((texts[13], texts[8]), (Some("0"), None));
    let value: Value = serde_json::to_value(&fires[7]).unwrap();
    assert_eq!(
        value["payload"],
        serde_json::json!({"kind": "shown", "text": hidden, "left_out": 0})
    );
    assert_eq!((&value["point"], &value["outcome"]), (&"sending".into(), &"rejected".into()));
    assert_eq!(value["report"]["handlers"][1]["status"]["contribution"]["reason"], "unknown");
}

#[tokio::test(start_paused = true)]
async fn a_trace_ends_by_its_count() {
    let hooks = house();
    let mut trace =
        hooks.operator().trace(TraceFilter::at::<Opened>(), TraceLimit::count(2)).unwrap();
    for drawer in 0..5 {
        hooks.fire_void::<Opened>(&opened(drawer)).await.unwrap();
    }
    assert_eq!((trace.seen(), trace.ended()), (2, Some(TraceEnd::Limit)));
    assert!(hooks.operator().traces().is_empty());
    assert!(trace.next().await.is_some());
    assert!(trace.next().await.is_some());
    assert!(trace.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_trace_ends_when_its_rate_is_passed() {
    let hooks = house();
    let rate = TraceLimit::rate(2, SECOND);
    let mut trace = hooks.operator().trace(TraceFilter::at::<Opened>(), rate).unwrap();
    for _ in 0..3 {
        for drawer in 0..2 {
            hooks.fire_void::<Opened>(&opened(drawer)).await.unwrap();
        }
        assert_eq!(trace.ended(), None);
        tokio::time::advance(SECOND).await;
    }
    for drawer in 0..3 {
        hooks.fire_void::<Opened>(&opened(drawer)).await.unwrap();
    }
    assert_eq!(trace.ended(), Some(TraceEnd::Rate));
    assert_eq!((taken(&mut trace).len(), trace.seen(), trace.passed_over()), (8, 9, 1));
}

#[tokio::test(start_paused = true)]
async fn a_throttle_passes_over_what_is_more() {
    let hooks = house();
    let throttle = TraceLimit::throttle(2, SECOND);
    let mut trace = hooks.operator().trace(TraceFilter::at::<Opened>(), throttle).unwrap();
    for _ in 0..3 {
        for drawer in 0..5 {
            hooks.fire_void::<Opened>(&opened(drawer)).await.unwrap();
        }
        tokio::time::advance(SECOND).await;
    }
    assert_eq!((taken(&mut trace).len(), trace.seen(), trace.passed_over()), (6, 15, 9));
    assert_eq!(trace.ended(), None);
}

#[tokio::test(start_paused = true)]
async fn a_trace_ends_by_its_time_also_while_it_is_waited_for() {
    let hooks = house();
    let operator = hooks.operator();
    let minute = || TraceFilter::at::<Opened>().until(60 * SECOND);
    let mut waited = operator.trace(minute(), TraceLimit::count(100)).unwrap();
    let mut left = operator.trace(minute(), TraceLimit::count(100)).unwrap();
    hooks.fire_void::<Opened>(&opened(1)).await.unwrap();
    assert!(waited.next().await.is_some());
    let before = tokio::time::Instant::now();
    assert!(waited.next().await.is_none());
    assert_eq!(before.elapsed().as_secs(), 60);
    assert_eq!(waited.ended(), Some(TraceEnd::Time));
    // The next fire ends the other one, and is not part of it.
    assert_eq!(left.ended(), None);
    hooks.fire_void::<Opened>(&opened(2)).await.unwrap();
    assert_eq!((left.ended(), left.seen()), (Some(TraceEnd::Time), 1));
    assert_eq!(taken(&mut left).len(), 1);
}

#[tokio::test]
async fn a_full_buffer_drops_and_counts() {
    let hooks = house();
    let filter = TraceFilter::at::<Opened>().show(|it| it.drawer.to_string()).buffer(2);
    let mut trace = hooks.operator().trace(filter, TraceLimit::count(6)).unwrap();
    for drawer in 0..4 {
        hooks.fire_void::<Opened>(&opened(drawer)).await.unwrap();
    }
    let text = |fire: TracedFire| fire.payload().unwrap().text().unwrap().to_owned();
    assert_eq!(trace.try_next().map(text).as_deref(), Some("0"));
    for drawer in 4..9 {
        hooks.fire_void::<Opened>(&opened(drawer)).await.unwrap();
    }
    // Dropped ones count: the trace ends however slowly it is read.
    assert_eq!((trace.seen(), trace.dropped()), (6, 3));
    assert_eq!(trace.ended(), Some(TraceEnd::Limit));
    let texts: Vec<_> = taken(&mut trace).into_iter().map(text).collect();
    assert_eq!(texts, ["1", "4"]);
}

#[tokio::test]
async fn many_traces_are_apart_from_each_other() {
    let hooks = house();
    let operator = hooks.operator();
    let trace = || operator.trace(TraceFilter::at::<Opened>(), TraceLimit::count(100)).unwrap();
    let (mut one, mut two) = (trace(), trace());
    hooks.fire_void::<Opened>(&opened(1)).await.unwrap();
    drop(trace());
    hooks.fire_void::<Opened>(&opened(2)).await.unwrap();
    assert_eq!(taken(&mut one).len(), 2);
    let ids: Vec<_> = operator.traces().iter().map(|info| info.id.number()).collect();
    assert_eq!(ids, [1, 2]);
    drop(one);
    hooks.fire_void::<Opened>(&opened(3)).await.unwrap();
    assert_eq!(taken(&mut two).len(), 3);
    drop(two);
    let most: Vec<_> = (0..64).map(|_| trace()).collect();
    let refused = operator.trace(TraceFilter::all(), TraceLimit::count(1)).unwrap_err();
    assert_eq!(refused.to_string(), "there are 64 traces, which is the most: drop one");
    drop(most);
    assert!(operator.trace(TraceFilter::all(), TraceLimit::count(1)).is_ok());
}

#[tokio::test]
async fn points_that_come_after_the_trace_are_seen_from_their_first_fire() {
    let hooks = HookRegistry::new();
    let operator = hooks.operator();
    let mut all = operator.trace(TraceFilter::all(), TraceLimit::count(100)).unwrap();
    let mut one = operator.trace(TraceFilter::at::<Opened>(), TraceLimit::count(100)).unwrap();
    let later = TraceFilter::point("rou*").even_if_none();
    let mut later = operator.trace(later, TraceLimit::count(100)).unwrap();
    hooks.fire_void::<Opened>(&opened(1)).await.unwrap();
    hooks.register(on::<Route>().name("none").handler(|_: &u32| None)).unwrap();
    let _ = hooks.fire_claiming::<Route>(&1).await.unwrap();
    assert_eq!(words(&taken(&mut all)), [("opened", "notified"), ("route", "unclaimed")]);
    assert_eq!(words(&taken(&mut one)), [("opened", "notified")]);
    assert_eq!(words(&taken(&mut later)), [("route", "unclaimed")]);
}

#[tokio::test]
async fn a_fire_that_is_dropped_is_traced_as_that() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Opened>().name("stuck").handler(async |_: &OpenedPayload| {
            std::future::pending::<()>().await;
        }))
        .unwrap();
    let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(9)).unwrap();
    let payload = opened(1);
    drop(begun(hooks.fire_void::<Opened>(&payload)));
    let fire = trace.try_next().unwrap();
    assert_eq!((fire.outcome(), fire.error()), ("dropped", None));
    assert_eq!(fire.report().handlers()[0].status().as_str(), "cancelled");
}

#[tokio::test]
async fn fires_under_way_when_a_trace_begins_or_ends_are_not_part_of_it() {
    let hooks = HookRegistry::new();
    let open = Arc::new(tokio::sync::Notify::new());
    let wait = Arc::clone(&open);
    hooks
        .register(on::<Opened>().name("wait").handler_with(
            wait,
            async |wait: &Arc<tokio::sync::Notify>, _: &OpenedPayload| {
                wait.notified().await;
            },
        ))
        .unwrap();
    let payload = opened(1);
    let before = begun(hooks.fire_void::<Opened>(&payload));
    let trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(9)).unwrap();
    let within = begun(hooks.fire_void::<Opened>(&payload));
    open.notify_waiters();
    before.await.unwrap();
    assert_eq!(trace.seen(), 0);
    drop(trace);
    within.await.unwrap();
    assert_eq!(hooks.handlers()[0].calls, 2);
}

#[tokio::test]
async fn a_nested_fire_names_the_fire_that_it_is_nested_in() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Route>().name("knock").handler(
            async |_: &u32, cx: &hooks_runtime::HookContext| {
                cx.hooks().fire_void::<Opened>(&opened(1)).await.unwrap();
                None
            },
        ))
        .unwrap();
    let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(9)).unwrap();
    let _ = hooks.fire_claiming::<Route>(&1).await.unwrap();
    let [inner, outer] = &taken(&mut trace)[..] else { panic!("two fires") };
    assert_eq!((inner.point(), inner.parent(), inner.depth()), ("opened", Some(outer.id()), 1));
    assert_eq!((outer.point(), outer.parent(), outer.depth()), ("route", None, 0));
}

#[tokio::test]
async fn a_trace_ends_with_its_registry() {
    let hooks = house();
    let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(9)).unwrap();
    let waiting = tokio::spawn(async move { (trace.next().await.is_none(), trace.ended()) });
    tokio::task::yield_now().await;
    drop(hooks);
    assert_eq!(waiting.await.unwrap(), (true, Some(TraceEnd::RegistryDropped)));
}

#[tokio::test]
async fn what_cannot_be_traced_says_why() {
    let hooks = house();
    day(&hooks).await;
    let operator = hooks.operator();
    let refused =
        |filter: TraceFilter, limit| operator.trace(filter, limit).unwrap_err().to_string();
    let (all, one) = (TraceFilter::all, TraceLimit::count(1));
    for (filter, limit, expected) in [
        (
            all(),
            TraceLimit::count(0),
            "this cannot be traced: a limit of 0 fires would show nothing; use 1 or more",
        ),
        (
            all(),
            TraceLimit::rate(0, SECOND),
            "this cannot be traced: a limit of 0 fires would show nothing; use 1 or more",
        ),
        (
            all(),
            TraceLimit::throttle(5, Duration::ZERO),
            "this cannot be traced: fires are counted in a time above zero, such as a second",
        ),
        (
            all().buffer(0),
            one,
            "this cannot be traced: a buffer of 0 fires, or a time of nothing, would show nothing",
        ),
        (
            all().until(Duration::ZERO),
            one,
            "this cannot be traced: a buffer of 0 fires, or a time of nothing, would show nothing",
        ),
        (
            all().outcome("filtred"),
            one,
            "this cannot be traced: no fire comes to `filtred`; expected one of notified, amended, unchanged, claimed, unclaimed, passed, rejected, ran, recovered, skipped, aborted, failed, dropped",
        ),
        (
            TraceFilter::target("*:*").outcome("filtred"),
            one,
            "this cannot be traced: no handler comes to `filtred`; did you mean `filtered`?",
        ),
        (
            TraceFilter::point("lable"),
            one,
            "no hook point is `lable`; did you mean `label`?; to trace one that comes later, say `even_if_none()`",
        ),
        (
            TraceFilter::point("a\nb"),
            one,
            "no hook point is `a\\nb` so far; to trace one that comes later, say `even_if_none()`",
        ),
        (
            TraceFilter::target("sending:bok/known"),
            one,
            "no handler is `sending:bok/known`; did you mean `sending:book/known`?",
        ),
        (
            TraceFilter::target("nothing"),
            one,
            "`nothing` is no target: it has no `:` between the point and the handler; a target is `point:plugin/handler`, or `point:handler` for a built-in one, with `*` for any text, and `point:*` for all of a point",
        ),
    ] {
        assert_eq!(refused(filter, limit), expected);
    }
    assert!(operator.traces().is_empty());
}

/// Recovers, so that the run ends well: what a trace sees is not an error then.
#[tokio::test]
async fn a_run_that_is_recovered_is_traced_as_that() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<OnError<Call>>().name("fall_back").handler(
            |flow: &mut FlowContext<Call>| {
                flow.recover(7);
            },
        ))
        .unwrap();
    let filter = TraceFilter::at::<Call>().outcome("recovered");
    let mut trace = hooks.operator().trace(filter, TraceLimit::count(9)).unwrap();
    let fails = async |_: u32| Err::<u32, _>("no line");
    assert_eq!(hooks.flow::<Call>().run(1, fails).await.unwrap(), 7);
    assert_eq!(words(&taken(&mut trace)), [("tools:call", "recovered")]);
}

#[test]
fn threads_that_fire_are_all_seen_and_counts_are_exact() {
    const THREADS: u32 = 4;
    const FIRES: u32 = 500;
    let hooks = house();
    let mut trace = hooks
        .operator()
        .trace(TraceFilter::at::<Route>().buffer(usize::MAX), TraceLimit::count(u64::MAX))
        .unwrap();
    let done = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for number in 0..FIRES {
                    let _ =
                        futures::executor::block_on(hooks.fire_claiming::<Route>(&number)).unwrap();
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        // Others come and go meanwhile.
        while done.load(Ordering::Relaxed) < THREADS {
            drop(hooks.operator().trace(TraceFilter::all(), TraceLimit::count(3)).unwrap());
        }
    });
    let fires = taken(&mut trace);
    assert_eq!((fires.len() as u32, trace.seen()), (THREADS * FIRES, u64::from(THREADS * FIRES)));
    let mut ids: Vec<_> = fires.iter().map(TracedFire::id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), fires.len());
}
