//! What an operator sets while a program runs (L34): which handlers it is for, what
//! counts, by whom, and when it ends.

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hooks_runtime::observe::{ObservedHandler, Observer};
use hooks_runtime::operator::{
    BreakerSettings, BreakerState, Layer, Mode, OperatorError, RateLimit, Setting, SettingEnd,
    SettingId, Transition,
};
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{
    AfterExecute, BeforeExecute, FailurePolicy, FireError, FlowContext, Gate, HookRegistry,
    Judgement, hook_points, on,
};
use support::Log;
use tokio::sync::Notify;

hook_points! {
    pub void Opened { drawer: u32 }
    pub modifying Label { text: String } -> { title: String, footer: String }
    pub gating Send(String);
    #[hook(name = "tools:call")]
    pub flow Call(u32) -> u32;
}

const MINUTE: Duration = Duration::from_secs(60);

fn opened() -> OpenedPayload {
    OpenedPayload { drawer: 1 }
}

/// Three void handlers that note that they were called.
fn three(log: &Log) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Opened>().name("first").handler(log.note("first")),
            on::<Opened>().name("first").plugin("audit").handler(log.note("audit/first")),
            on::<Opened>().name("second").plugin("audit").handler(log.note("audit/second")),
        ])
        .unwrap();
    hooks
}

async fn called(hooks: &HookRegistry, log: &Log) -> Vec<String> {
    hooks.fire_void::<Opened>(&opened()).await.unwrap();
    log.take()
}

#[tokio::test]
async fn l34_a_target_names_handlers_in_one_form() {
    let log = Log::new();
    let hooks = three(&log);
    let operator = hooks.operator();
    for (target, left) in [
        ("opened:first", vec!["audit/first", "audit/second"]),
        ("opened:audit/first", vec!["first", "audit/second"]),
        ("opened:audit/*", vec!["first"]),
        ("*:audit/s*d", vec!["first", "audit/first"]),
        ("*:*/first", vec!["first", "audit/second"]),
        ("*:*", vec![]),
        ("open*:*", vec![]),
        ("*:*/*", vec!["first"]),
        ("opened:built-in/*", vec!["audit/first", "audit/second"]),
        ("opened:f*", vec!["audit/first", "audit/second"]),
    ] {
        let setting = operator.disable(target).apply().unwrap();
        assert_eq!(called(&hooks, &log).await, left, "{target}");
        assert_eq!(operator.clear(setting.id()).unwrap(), setting);
    }
    assert_eq!(called(&hooks, &log).await, ["first", "audit/first", "audit/second"]);
}

#[tokio::test]
async fn l34_points_and_places_with_colons_are_named_too() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<BeforeExecute<Call>>().name("cache").plugin("audit").handler(
                |flow: &mut FlowContext<Call>| {
                    flow.respond(9);
                },
            ),
            on::<AfterExecute<Call>>().handler(|_: &mut FlowContext<Call>| ()),
        ])
        .unwrap();
    let operator = hooks.operator();
    operator
        .disable("tools:call/beforeExecute:audit/cache")
        .break_glass("a stage fails closed")
        .until(MINUTE)
        .apply()
        .unwrap();
    let (output, report) =
        hooks.flow::<Call>().run_reported(1, async |n| Ok::<_, std::io::Error>(n)).await;
    assert_eq!(output.unwrap(), 1);
    let cache = report.stages()[0].handler("cache").unwrap();
    assert_eq!(cache.status(), &HandlerStatus::Filtered(SkipReason::Disabled));

    // A handler that was named after its place in the source.
    let place = hooks.handlers_at::<AfterExecute<Call>>()[0].name.clone();
    assert!(place.contains('/') && place.contains(':'), "{place}");
    let target = format!("tools:call/afterExecute:{place}");
    assert_eq!(operator.explain(&target).unwrap().handler, target);
}

#[test]
fn l34_a_bad_target_changes_nothing_and_says_what_was_expected() {
    let hooks = three(&Log::new());
    let operator = hooks.operator();
    let form = "a target is `point:plugin/handler`, or `point:handler` for a built-in one, with \
                `*` for any text, and `point:*` for all of a point";
    for (target, said) in [
        ("", format!("`` is no target: it is empty; {form}")),
        (
            "audit",
            format!(
                "`audit` is no target: it has no `:` between the point and the handler; {form}"
            ),
        ),
        ("opened:", format!("`opened:` is no target: a part of it is empty; {form}")),
        ("opened:audit/", format!("`opened:audit/` is no target: a part of it is empty; {form}")),
        (
            "opened:audit/frist",
            "no handler is `opened:audit/frist`; did you mean `opened:audit/first`?".into(),
        ),
        ("opend:first", "no handler is `opend:first`; did you mean `opened:first`?".into()),
        ("opened:audit", "no handler is `opened:audit`; did you mean `opened:audit/*`?".into()),
        ("*:audt/*", "no handler is `*:audt/*`; did you mean `*:audit/*`?".into()),
        (
            "opened:*/third",
            format!(
                "no handler is `opened:*/third`; {form}, and `hooks.handlers()` lists what there is"
            ),
        ),
        (
            "x\u{202e}:\n",
            format!(
                "no handler is `x\\u{{202e}}:\\n`; {form}, and `hooks.handlers()` lists what there is"
            ),
        ),
    ] {
        assert_eq!(operator.disable(target).apply().unwrap_err().to_string(), said, "{target}");
    }
    let several = operator.explain("opened:audit/*").unwrap_err();
    assert_eq!(
        several.to_string(),
        "`opened:audit/*` is more than one handler (`opened:audit/first`, `opened:audit/second`); \
         name one",
    );
    assert_eq!(operator.settings(), []);
}

#[test]
fn l34_a_bad_value_changes_nothing_and_says_what_was_expected() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Opened>().name("slow").timeout(MINUTE).handler(|_: &OpenedPayload| ()))
        .unwrap();
    hooks
        .register(
            on::<hooks_runtime::Finally<Call>>()
                .name("close")
                .handler(|_: &mut FlowContext<Call>| ()),
        )
        .unwrap();
    let operator = hooks.operator();
    let said = |new: hooks_runtime::operator::NewSetting<'_>| new.apply().unwrap_err().to_string();
    assert_eq!(
        said(operator.sample("opened:slow", 1.5)),
        "`sample` was given a value that it cannot have: a fraction is between 0 and 1, not 1.5",
    );
    assert_eq!(
        said(operator.sample("opened:slow", f64::NAN)),
        "`sample` was given a value that it cannot have: a fraction is between 0 and 1, not NaN",
    );
    assert_eq!(
        said(operator.time_limit("opened:slow", MINUTE)),
        "a time limit of 60s changes nothing: `opened:slow` has one of 60s, and an operator only \
         shortens it",
    );
    assert_eq!(
        said(operator.time_limit("opened:slow", Duration::ZERO)),
        "`time_limit` was given a value that it cannot have: a time limit is longer than nothing; \
         to call no handler, disable it",
    );
    assert_eq!(
        said(operator.rate_limit("opened:slow", RateLimit::per_second(0))),
        "`rate_limit` was given a value that it cannot have: a limit of 0 calls would refuse every \
         call: use 1 or more, or disable the handler",
    );
    assert_eq!(
        said(operator.breaker("opened:slow", BreakerSettings::consecutive(0))),
        "`breaker` was given a value that it cannot have: `consecutive(0)` would open before the \
         first failure: use `consecutive(1)` or more",
    );
    assert_eq!(
        said(operator.force_breaker("opened:slow", BreakerState::HalfOpen)),
        "`force_breaker` was given a value that it cannot have: a breaker is forced open or closed; \
         `reset_breaker` lets it decide anew",
    );
    assert_eq!(
        said(operator.disable("opened:slow").until(Duration::ZERO)),
        "the setting would have ended already: `until` takes a time from now on",
    );
    let too_far = "a setting ends within a year: give `until` a time of at most 365 days, or leave \
                   it out where the setting is to hold until it is cleared";
    assert_eq!(said(operator.disable("opened:slow").until(Duration::MAX)), too_far);
    assert_eq!(said(operator.disable("opened:slow").until(366 * 24 * 60 * MINUTE)), too_far);
    assert_eq!(
        said(operator.fail_open("opened:slow").fail_closed()),
        "`fail_open` was given a value that it cannot have: it cannot fail open and closed at once",
    );
    assert_eq!(
        said(operator.sample("opened:slow", 1e-9)),
        "`sample` was given a value that it cannot have: a millionth is the smallest fraction above \
         0, not 0.000000001",
    );
    assert_eq!(
        said(operator.disable("opened:slow").until(std::time::SystemTime::UNIX_EPOCH)),
        "the setting would have ended already: `until` takes a time from now on",
    );
    assert_eq!(
        said(operator.fail_closed("tools:call/finally:close")),
        "`tools:call/finally:close` cannot fail closed: the outcome of a run stands when its \
         `finally` begins",
    );
    let gone = SettingId::from_number(7);
    assert_eq!(operator.clear(gone), Err(OperatorError::NoSetting { id: gone }));
    assert_eq!(
        operator.clear(gone).unwrap_err().to_string(),
        "there is no setting #7: it has ended, was cleared, or never was",
    );
    assert_eq!(operator.settings(), []);
    assert_eq!(hooks.handlers_at::<Opened>()[0].mode, Mode::Enforce);
}

#[tokio::test]
async fn l34_of_several_the_later_counts_and_all_are_listed() {
    let log = Log::new();
    let hooks = three(&log);
    let operator = hooks.operator();
    let all = operator.disable("opened:audit/*").by("ops").because("noise").apply().unwrap();
    let one = operator.enforce("opened:audit/first").by("dev").apply().unwrap();
    assert_eq!(operator.settings(), [all.clone(), one.clone()]);
    assert_eq!(called(&hooks, &log).await, ["first", "audit/first"]);
    let counting = |id: &str| -> Vec<_> {
        hooks.handlers_of(id).into_iter().map(|handler| handler.settings).collect()
    };
    assert_eq!(counting("audit"), [[one.id()], [all.id()]]);
    assert!(counting("built-in").iter().all(Vec::is_empty));

    let explanation = operator.explain("opened:audit/first").unwrap();
    let modes: Vec<_> = explanation
        .values
        .iter()
        .filter(|value| value.setting == "mode")
        .map(|value| (&*value.value, value.layer, value.id, value.without_effect.as_deref()))
        .collect();
    assert_eq!(
        modes,
        [
            ("enforce", Layer::Live, Some(one.id()), None),
            ("disable", Layer::Live, Some(all.id()), Some("#2 counts")),
            ("enforce", Layer::Declaration, None, Some("#2 counts")),
        ],
    );

    operator.clear(one.id()).unwrap();
    assert_eq!(called(&hooks, &log).await, ["first"]);
    operator.clear(all.id()).unwrap();
    assert_eq!(called(&hooks, &log).await, ["first", "audit/first", "audit/second"]);
    assert_eq!(operator.clear(all.id()), Err(OperatorError::NoSetting { id: all.id() }));
}

#[tokio::test(start_paused = true)]
async fn l34_an_end_restores_what_was_there() {
    let log = Log::new();
    let hooks = three(&log);
    let operator = hooks.operator();
    operator.disable("opened:audit/*").until(3 * MINUTE).apply().unwrap();
    operator.enforce("opened:audit/*").until(2 * MINUTE).apply().unwrap();
    operator.disable("opened:audit/second").until(MINUTE).apply().unwrap();
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push((called(&hooks, &log).await.join(" "), operator.settings().len()));
        tokio::time::advance(MINUTE).await;
    }
    assert_eq!(
        seen,
        [
            ("first audit/first".to_owned(), 3),
            ("first audit/first audit/second".to_owned(), 2),
            ("first".to_owned(), 1),
            ("first audit/first audit/second".to_owned(), 0),
            ("first audit/first audit/second".to_owned(), 0),
        ],
    );
}

/// One nanosecond before its end a setting holds, at its end it does not.
#[tokio::test(start_paused = true)]
async fn l34_an_end_is_exact() {
    let log = Log::new();
    let hooks = three(&log);
    hooks.operator().disable("opened:*/*").until(MINUTE).apply().unwrap();
    tokio::time::advance(MINUTE - Duration::from_nanos(1)).await;
    assert_eq!(called(&hooks, &log).await, ["first"]);
    tokio::time::advance(Duration::from_nanos(1)).await;
    assert_eq!(called(&hooks, &log).await.len(), 3);
}

/// A sequential fire waits in its first handler while a setting of its second one ends,
/// and another begins.
#[tokio::test(start_paused = true)]
async fn l34_a_fire_uses_the_settings_that_it_began_with() {
    let (hooks, wait) = (HookRegistry::new(), Arc::new(Notify::new()));
    let gate = wait.clone();
    hooks
        .register_modifying_with::<Label, _>(gate, async |gate, _| {
            gate.notified().await;
            None::<LabelResult>
        })
        .unwrap();
    let titles = || LabelResult { title: Some("t".into()), ..Default::default() };
    let footers = || LabelResult { footer: Some("f".into()), ..Default::default() };
    hooks.register(on::<Label>().name("titles").handler(move |_: &LabelPayload| titles())).unwrap();
    hooks
        .register(on::<Label>().name("footers").handler(move |_: &LabelPayload| footers()))
        .unwrap();
    let operator = hooks.operator();
    operator.disable("label:titles").by("ops").because("night").until(MINUTE).apply().unwrap();

    let label = LabelPayload { text: String::new() };
    let mut fire = Box::pin(hooks.fire_modifying_reported::<Label>(&label));
    assert!(futures::poll!(fire.as_mut()).is_pending());
    tokio::time::advance(2 * MINUTE).await;
    operator.disable("label:footers").apply().unwrap();
    wait.notify_one();
    let (labelled, report) = fire.await;
    let labelled = labelled.unwrap();
    assert_eq!((labelled.title, labelled.footer.as_deref()), (None, Some("f")));
    let titles = report.handler("titles").unwrap();
    assert_eq!(titles.status(), &HandlerStatus::Filtered(SkipReason::Disabled));
    assert_eq!(
        (titles.settings()[0].by(), titles.settings()[0].why()),
        (Some("ops"), Some("night"))
    );
    assert!(report.handler("footers").unwrap().settings().is_empty());

    wait.notify_one();
    let labelled = hooks.fire_modifying::<Label>(&label).await.unwrap();
    assert_eq!((labelled.title.as_deref(), labelled.footer), (Some("t"), None));
}

/// All stages of a run use the settings of its beginning.
#[tokio::test(start_paused = true)]
async fn l34_a_run_uses_the_settings_that_it_began_with() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let (before, after) = (log.clone(), log.clone());
    let stage = |log: Log, what: &'static str| move |_: &mut FlowContext<Call>| log.push(what);
    hooks.register(on::<BeforeExecute<Call>>().name("a").handler(stage(before, "before"))).unwrap();
    hooks.register(on::<AfterExecute<Call>>().name("b").handler(stage(after, "after"))).unwrap();
    let operator = hooks.operator();
    let off = |target: &str| {
        operator.disable(target).break_glass("test").until(MINUTE).apply().unwrap();
    };
    off("tools:call/afterExecute:b");
    let run = hooks.flow::<Call>().run(1, async |n| {
        tokio::time::advance(2 * MINUTE).await;
        off("tools:call/beforeExecute:a");
        Ok::<_, std::io::Error>(n)
    });
    assert_eq!(run.await.unwrap(), 1);
    assert_eq!(log.take(), ["before"]);
    let run = hooks.flow::<Call>().run(1, async |n| Ok::<_, std::io::Error>(n));
    assert_eq!(run.await.unwrap(), 1);
    assert_eq!(log.take(), ["after"]);
}

/// A setting of a file counts before what is declared, and behind every live one.
#[tokio::test]
async fn l34_a_live_setting_counts_before_one_of_a_file() {
    let log = Log::new();
    let hooks = three(&log);
    let operator = hooks.operator();
    let live = operator.enforce("opened:audit/first").by("ops").apply().unwrap();
    let file = operator.disable("opened:audit/*").from_file().by("hooks.toml").apply().unwrap();
    assert_eq!(called(&hooks, &log).await, ["first", "audit/first"]);
    assert_eq!(operator.settings(), [file.clone(), live.clone()]);
    let text = operator.explain("opened:audit/first").unwrap().to_string();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    assert_eq!(lines[1], "mode        enforce    live #1 opened:audit/first by ops");
    assert_eq!(
        lines[2],
        "mode        disable    file #2 opened:audit/* by hooks.toml (without effect: #1 counts)",
    );
    operator.clear(live.id()).unwrap();
    assert_eq!(called(&hooks, &log).await, ["first"]);
}

#[tokio::test]
async fn l34_a_handler_that_comes_later_is_named_too() {
    let log = Log::new();
    let hooks = three(&log);
    let operator = hooks.operator();
    operator.disable("opened:audit/*").apply().unwrap();
    hooks
        .register(on::<Opened>().name("third").plugin("audit").handler(log.note("audit/third")))
        .unwrap();
    assert_eq!(called(&hooks, &log).await, ["first"]);
    // Also where a whole plugin leaves and comes back.
    hooks.unregister_plugin("audit").await;
    assert_eq!(called(&hooks, &log).await, ["first"]);
    hooks
        .register(on::<Opened>().name("first").plugin("audit").handler(log.note("again")))
        .unwrap();
    assert_eq!(called(&hooks, &log).await, ["first"]);
}

#[tokio::test]
async fn l34_the_report_says_by_whom_and_why() {
    let log = Log::new();
    let hooks = three(&log);
    let operator = hooks.operator();
    operator.disable("opened:audit/first").by("ops").because("too slow").apply().unwrap();
    operator.time_limit("opened:audit/second", MINUTE).by("ops").apply().unwrap();
    let (_, report) = hooks.fire_void_reported::<Opened>(&opened()).await;
    let rows: Vec<_> = report
        .to_string()
        .lines()
        .skip(1)
        .map(|line| {
            let line = line.trim().split("  ").filter(|part| !part.is_empty()).map(str::trim);
            let parts: Vec<_> = line.collect();
            (parts[0].to_owned(), parts[1].to_owned(), parts.last().unwrap().to_string())
        })
        .collect();
    assert_eq!(
        rows.iter().map(|(one, two, last)| (&**one, &**two, &**last)).collect::<Vec<_>>(),
        [
            ("first", "built-in", "ran"),
            (
                "first",
                "plugin `audit`",
                "not called: disabled [disable opened:audit/first by ops: too slow]"
            ),
            ("second", "plugin `audit`", "ran [time limit 60s opened:audit/second by ops]"),
        ],
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(
        json["handlers"][1]["status"],
        serde_json::json!({"kind": "filtered", "by": "disabled"})
    );
    assert_eq!(
        json["handlers"][1]["settings"][0],
        serde_json::json!({
            "id": 1, "target": "opened:audit/first", "setting": "disable", "value": "disable",
            "fail_closed": false, "by": "ops", "why": "too slow", "ends_in_ns": null,
            "layer": "live", "break_glass": false,
        }),
    );
    assert_eq!(json["break_glass"], serde_json::json!([]));
}

#[tokio::test(start_paused = true)]
async fn l34_a_time_limit_is_shortened_and_comes_back() {
    let hooks = HookRegistry::new();
    let slow = on::<Opened>().name("slow").timeout(MINUTE).on_failure(FailurePolicy::Closed);
    hooks
        .register(slow.handler(async |_: &OpenedPayload| tokio::time::sleep(MINUTE / 2).await))
        .unwrap();
    assert!(hooks.fire_void::<Opened>(&opened()).await.is_ok());
    let operator = hooks.operator();
    let limit = operator.time_limit("opened:slow", MINUTE / 4).apply().unwrap();
    let since = tokio::time::Instant::now();
    let error = hooks.fire_void::<Opened>(&opened()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler `slow` (built-in) at `opened`: did not finish within 15s"
    );
    assert_eq!(since.elapsed(), MINUTE / 4);
    operator.clear(limit.id()).unwrap();
    assert!(hooks.fire_void::<Opened>(&opened()).await.is_ok());
    // A handler's own limit that is shorter stays.
    let quick = on::<Opened>().name("quick").plugin("p").timeout(Duration::from_secs(1));
    hooks
        .register(quick.handler(async |_: &OpenedPayload| std::future::pending::<()>().await))
        .unwrap();
    operator.time_limit("opened:*/*", MINUTE / 4).apply().unwrap_err();
    operator.time_limit("opened:slow", MINUTE / 4).apply().unwrap();
    assert_eq!(hooks.handlers_at::<Opened>()[1].timeout, Some(Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn l34_a_rate_limit_lets_so_many_calls_start() {
    let log = Log::new();
    let hooks = three(&log);
    let rate = RateLimit::new(2, MINUTE).burst(2);
    hooks.operator().rate_limit("opened:audit/first", rate).apply().unwrap();
    let mut counts = Vec::new();
    for _ in 0..4 {
        for _ in 0..3 {
            hooks.fire_void::<Opened>(&opened()).await.unwrap();
        }
        counts.push(log.take().iter().filter(|call| *call == "audit/first").count());
        tokio::time::advance(MINUTE / 2).await;
    }
    assert_eq!(counts, [2, 1, 1, 1]);
    let limited = &hooks.handlers_at::<Opened>()[1];
    assert_eq!((limited.calls, limited.failures), (5, 7));
    let (_, report) = hooks.fire_void_reported::<Opened>(&opened()).await;
    assert_eq!(report.handlers()[1].status().as_str(), "ran");
    let (_, report) = hooks.fire_void_reported::<Opened>(&opened()).await;
    assert_eq!(
        report.handlers()[1].status().to_string(),
        "rate_limited, fail-open: not called: past its rate limit of 2 in 60s, at most 2 at once, \
         for another 30s",
    );
}

/// Which fires are in a sample depends on their number and the handler's name alone.
#[tokio::test]
async fn l34_a_sample_is_a_part_of_the_fires() {
    let log = Log::new();
    let hooks = three(&log);
    hooks.operator().sample("opened:audit/first", 0.25).apply().unwrap();
    for _ in 0..1_000 {
        hooks.fire_void::<Opened>(&opened()).await.unwrap();
    }
    let calls = log.take();
    let count = |what: &str| calls.iter().filter(|call| *call == what).count();
    assert_eq!((count("first"), count("audit/second")), (1_000, 1_000));
    let sampled = count("audit/first");
    assert!((180..320).contains(&sampled), "{sampled}");
    let info = &hooks.handlers_at::<Opened>()[1];
    assert_eq!(info.calls as usize, sampled);
    assert_eq!(info.skips.of(SkipReason::SampledOut) as usize, 1_000 - sampled);
}

/// An observer that notes what is set, and what breakers do.
#[derive(Debug, Default, Clone)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Observer for Notes {
    fn setting_began(&self, setting: &Setting) {
        self.0.lock().unwrap().push(format!("began {setting}"));
    }

    fn setting_ended(&self, setting: &Setting, end: SettingEnd) {
        self.0.lock().unwrap().push(format!("{end:?} {setting}"));
    }

    fn setting_withheld(&self, setting: &Setting, handler: &ObservedHandler<'_>) {
        self.0.lock().unwrap().push(format!("withheld {setting} from {}", handler.address()));
    }

    fn breaker_changed(&self, handler: &ObservedHandler<'_>, transition: Transition) {
        self.0.lock().unwrap().push(format!("{} {transition}", handler.handler()));
        panic!("an observer that panics");
    }
}

#[tokio::test(start_paused = true)]
async fn l34_observers_are_notified_of_each_beginning_and_end() {
    let notes = Notes::default();
    let hooks = HookRegistry::builder().observer(notes.clone()).build();
    hooks.register(on::<Opened>().name("one").handler(|_: &OpenedPayload| Err("no"))).unwrap();
    let operator = hooks.operator();
    let take = || std::mem::take(&mut *notes.0.lock().unwrap());
    let cleared = operator.disable("opened:one").apply().unwrap();
    operator.clear(cleared.id()).unwrap();
    operator.disable("opened:one").by("ops").until(MINUTE).apply().unwrap();
    assert_eq!(
        take(),
        [
            "began disable opened:one",
            "Cleared disable opened:one",
            "began disable opened:one by ops"
        ]
    );
    tokio::time::advance(MINUTE).await;
    hooks.fire_void::<Opened>(&opened()).await.unwrap();
    assert_eq!(take(), ["Passed disable opened:one by ops"]);
    operator.breaker("opened:one", BreakerSettings::consecutive(1)).apply().unwrap();
    hooks.fire_void::<Opened>(&opened()).await.unwrap();
    assert_eq!(take()[1..], ["one closed to open"]);
    operator.disable("*:late/*").even_if_none().apply().unwrap();
    let late = on::<Send>().name("guard").plugin("late");
    hooks.register(late.guard(|_: &String| Judgement::Pass)).unwrap();
    assert_eq!(take()[1..], ["withheld disable *:late/* from send:late/guard"]);
}

/// A clock of the host that panics now and then, and is asked under no lock.
#[derive(Debug)]
struct Hostile(std::sync::OnceLock<HookRegistry>);

impl Timer for &'static Hostile {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        None
    }

    fn now(&self) -> Instant {
        if let Some(hooks) = self.0.get() {
            // Would deadlock under the registry's lock.
            let _ = hooks.plugins();
        }
        panic!("no clock today");
    }
}

#[tokio::test]
async fn l24_a_clock_that_panics_or_asks_the_registry_is_harmless() {
    let clock: &'static Hostile = Box::leak(Box::new(Hostile(std::sync::OnceLock::new())));
    let hooks = HookRegistry::builder().timer(clock).build();
    clock.0.set(hooks.clone()).ok();
    hooks.register(on::<Opened>().name("one").handler(|_: &OpenedPayload| ())).unwrap();
    let operator = hooks.operator();
    operator.rate_limit("opened:one", RateLimit::per_second(1)).until(MINUTE).apply().unwrap();
    hooks.fire_void::<Opened>(&opened()).await.unwrap();
    hooks.register(on::<Opened>().name("two").handler(|_: &OpenedPayload| ())).unwrap();
    assert_eq!(hooks.handlers().len(), 2);
    assert_eq!(operator.settings().len(), 1);
    operator.explain("opened:one").unwrap();
}

/// Counts how often it is asked.
#[derive(Debug, Default)]
struct Asked(std::sync::atomic::AtomicUsize);

impl Timer for &'static Asked {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        None
    }

    fn now(&self) -> Instant {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Instant::now()
    }
}

/// A fire at a point with a setting that ends looks at the clock once, others never.
#[tokio::test]
async fn l34_only_a_setting_that_ends_costs_a_look_at_the_clock() {
    let clock: &'static Asked = Box::leak(Box::default());
    let hooks = HookRegistry::builder().timer(clock).build();
    for name in ["a", "b", "c"] {
        hooks.register(on::<Opened>().name(name).handler(|_: &OpenedPayload| ())).unwrap();
    }
    let asked = |text: &str| on::<Send>().name(text.to_owned()).guard(|_: &String| Judgement::Pass);
    hooks.register(asked("guard")).unwrap();
    let looks = async || {
        clock.0.store(0, std::sync::atomic::Ordering::Relaxed);
        hooks.fire_void::<Opened>(&opened()).await.unwrap();
        let opened = clock.0.swap(0, std::sync::atomic::Ordering::Relaxed);
        assert!(hooks.fire_gating::<Send>(String::new()).await.is_ok());
        (opened, clock.0.load(std::sync::atomic::Ordering::Relaxed))
    };
    let operator = hooks.operator();
    assert_eq!(looks().await, (0, 0));
    operator.disable("opened:a").apply().unwrap();
    operator.sample("opened:c", 0.5).apply().unwrap();
    assert_eq!(looks().await, (0, 0));
    operator.disable("opened:b").until(MINUTE).apply().unwrap();
    operator.fail_closed("opened:c").until(2 * MINUTE).apply().unwrap();
    assert_eq!(looks().await, (1, 0));
}

/// What is left out, failed or in shadow is told apart by the outcome's types (L15).
#[tokio::test]
async fn l34_settings_reach_every_model_and_the_nested_fires() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Send>().name("inner").guard(|_: &String| Judgement::reject("no"))).unwrap();
    hooks
        .register(on::<Opened>().name("outer").handler(
            async |_: &OpenedPayload, cx: &hooks_runtime::HookContext| -> Result<(), FireError> {
                let gate = cx.hooks().fire_gating::<Send>(String::new()).await?;
                assert!(matches!(gate, Gate::Passed(_)));
                Ok(())
            },
        ))
        .unwrap();
    hooks.operator().disable("send:inner").break_glass("test").until(MINUTE).apply().unwrap();
    let (_, report) = hooks.fire_void_reported::<Opened>(&opened()).await;
    assert_eq!(report.handlers()[0].status().to_string(), "ran");
    assert_eq!(report.break_glass().len(), 1);
}
