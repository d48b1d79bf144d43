//! Handlers with a condition on the payload (L31).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_runtime::registry::NeverCalledReason;
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{
    BeforeExecute, Claim, FailurePolicy, FlowContext, Gate, HookContext, HookRegistry, Plugins,
    Verdict, handlers, hook_handler, hook_handlers, hook_points, on,
};

hook_points! {
    pub void Opened { drawer: u32 }
    pub modifying Label { text: String } -> { title: String }
    pub claiming Route(u32) -> &'static str;
    pub gating Send(String);
    pub flow Lookup(u32) -> String;
}

type Log = Arc<Mutex<Vec<&'static str>>>;

fn note(log: &Log, what: &'static str) {
    log.lock().unwrap().push(what);
}

fn unmet() -> HandlerStatus {
    HandlerStatus::Filtered(SkipReason::Condition)
}

#[tokio::test]
async fn l31_a_handler_runs_only_where_its_condition_is_met() {
    let hooks = HookRegistry::new();
    let log = Log::default();
    let (first, second) = (log.clone(), log.clone());
    hooks
        .register([
            on::<Opened>()
                .name("low")
                .when(|opened| opened.drawer < 10)
                .handler(move |_: &OpenedPayload| note(&first, "low")),
            on::<Opened>()
                .name("even")
                .when(|opened| opened.drawer % 2 == 0)
                .handler(move |_: &OpenedPayload| note(&second, "even")),
        ])
        .unwrap();

    for drawer in [1, 2, 11, 12] {
        hooks.fire_void::<Opened>(&OpenedPayload { drawer }).await.unwrap();
    }

    assert_eq!(*log.lock().unwrap(), ["low", "low", "even", "even"]);
    let counts: Vec<_> = hooks
        .handlers_at::<Opened>()
        .iter()
        .map(|info| (info.conditional, info.calls, info.skips.of(SkipReason::Condition)))
        .collect();
    assert_eq!(counts, [(true, 2, 2), (true, 2, 2)]);
    assert!(hooks.audit().never_called.is_empty());
}

/// The quickest way, the way with a scope that filters, and the one with a report
/// count and decide alike.
#[tokio::test]
async fn l31_every_way_through_a_fire_asks_it() {
    let hooks = HookRegistry::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    hooks
        .register([
            on::<Opened>().name("other").plugin("other").handler(|_: &OpenedPayload| ()),
            on::<Opened>()
                .name("picky")
                .when(move |opened| {
                    count.fetch_add(1, Ordering::Relaxed);
                    opened.drawer == 7
                })
                .handler(|_: &OpenedPayload| ()),
        ])
        .unwrap();

    let narrow = hooks.scope(Plugins::BuiltIn);
    for drawer in [7, 8] {
        let opened = OpenedPayload { drawer };
        hooks.fire_void::<Opened>(&opened).await.unwrap();
        narrow.fire_void::<Opened>(&opened).await.unwrap();
        let (outcome, report) = hooks.fire_void_reported::<Opened>(&opened).await;
        outcome.unwrap();
        let met = drawer == 7;
        assert_eq!(*report.handler("picky").unwrap().status() == unmet(), !met, "{report}");
    }

    let picky = &hooks.handlers_at::<Opened>()[1];
    assert_eq!((&*picky.name, picky.calls, picky.skips.total()), ("picky", 3, 3));
    assert_eq!(asked.load(Ordering::Relaxed), 6, "asked once in each fire");
}

#[tokio::test]
async fn l31_the_report_and_the_audit_name_the_condition() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Opened>().name("never").when(|_| false).handler(|_: &OpenedPayload| ()))
        .unwrap();

    let (outcome, report) = hooks.fire_void_reported::<Opened>(&OpenedPayload { drawer: 1 }).await;
    outcome.unwrap();
    assert_eq!(
        report.to_string(),
        "opened (void)\n  never  built-in  -  not called: its condition was not met"
    );

    let audit = hooks.audit();
    assert_eq!(audit.never_called[0].why, NeverCalledReason::NeverMet);
    assert_eq!(
        audit.to_string(),
        "`never` (built-in) at `opened` is never called: its condition was never met"
    );
}

#[tokio::test]
async fn l31_a_condition_that_was_not_the_only_reason_is_not_named_alone() {
    let hooks = HookRegistry::new();
    let never = on::<Opened>().name("never").plugin("shop").when(|_| false);
    hooks.register(never.handler(|_: &OpenedPayload| ())).unwrap();
    let opened = OpenedPayload { drawer: 1 };
    hooks.fire_void::<Opened>(&opened).await.unwrap();
    hooks.scope(Plugins::BuiltIn).fire_void::<Opened>(&opened).await.unwrap();
    assert_eq!(hooks.audit().never_called[0].why, NeverCalledReason::AlwaysFiltered);
    let skips = hooks.handlers_at::<Opened>()[0].skips;
    assert_eq!((skips.of(SkipReason::Scope), skips.of(SkipReason::Condition)), (1, 1));
    assert_eq!(skips.of(SkipReason::AfterClaim), 0);
}

/// A guard's condition sees what the rewriters left, and a rewriter's what those
/// before it left.
#[tokio::test]
async fn l31_the_condition_sees_the_payload_that_the_handler_would_get() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Send>()
                .name("shout")
                .handler(|text: &String| Verdict::Replace(text.to_uppercase())),
            on::<Send>()
                .name("sign")
                .when(|text| text == "HELLO")
                .handler(|text: &String| Verdict::Replace(format!("{text}!"))),
            on::<Send>()
                .name("judge")
                .when(|text| text.ends_with('!'))
                .guard(|_: &String| Verdict::reject("too loud")),
        ])
        .unwrap();

    let Gate::Rejected(rejection) = hooks.fire_gating::<Send>("hello".into()).await.unwrap() else {
        panic!("the guard's condition is met by what `sign` left")
    };
    assert_eq!((rejection.handler(), rejection.reason()), ("judge", "too loud"));
    let passed = hooks.fire_gating::<Send>("goodbye".into()).await.unwrap();
    assert_eq!(passed, Gate::Passed("GOODBYE".to_owned()));
}

#[tokio::test]
async fn l31_a_skipped_handler_contributes_nothing_and_claims_nothing() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Label>()
                .name("a")
                .when(|label| label.text.is_empty())
                .handler(|_: &LabelPayload| LabelResult { title: Some("empty".into()) }),
            on::<Label>()
                .name("b")
                .handler(|_: &LabelPayload| LabelResult { title: Some("full".into()) }),
            on::<Route>().name("a").when(|n| *n > 5).handler(|_: &u32| Some("high")),
            on::<Route>().name("b").handler(|_: &u32| Some("low")),
        ])
        .unwrap();

    let label = LabelPayload { text: "x".into() };
    let labelled = hooks.fire_modifying::<Label>(&label).await.unwrap();
    assert_eq!(labelled.title.as_deref(), Some("full"));
    assert_eq!(hooks.fire_claiming::<Route>(&3).await.unwrap(), Claim::Claimed("low"));
    assert_eq!(hooks.fire_claiming::<Route>(&9).await.unwrap(), Claim::Claimed("high"));
}

/// It is a failure of the handler under its policy, as if the handler had panicked,
/// and is contained.
#[tokio::test]
async fn l31_a_condition_that_panics_is_a_failure_of_its_handler() {
    for policy in [FailurePolicy::Open, FailurePolicy::Closed] {
        let hooks = HookRegistry::new();
        let ran = Arc::new(AtomicUsize::new(0));
        let after = ran.clone();
        hooks
            .register([
                on::<Route>()
                    .name("broken")
                    .on_failure(policy)
                    .when(|_| panic!("no condition"))
                    .handler(|_: &u32| Some("broken")),
                on::<Route>().name("after").handler(move |_: &u32| {
                    after.fetch_add(1, Ordering::Relaxed);
                    None
                }),
            ])
            .unwrap();

        let plain = hooks.fire_claiming::<Route>(&1).await;
        let (reported, report) = hooks.fire_claiming_reported::<Route>(&1).await;
        let failed = HandlerStatus::Failed {
            kind: "panic",
            message: "panicked: no condition".to_owned(),
            policy,
        };
        assert_eq!(*report.handler("broken").unwrap().status(), failed);
        let info = &hooks.handlers_at::<Route>()[0];
        assert_eq!((info.calls, info.failures, info.skips.total()), (2, 2, 0));
        if policy == FailurePolicy::Open {
            assert_eq!(plain.unwrap(), Claim::Unclaimed);
            assert_eq!(reported.unwrap(), Claim::Unclaimed);
            assert_eq!(ran.load(Ordering::Relaxed), 2);
        } else {
            let says = "handler `broken` (built-in) at `route`: panicked: no condition";
            assert_eq!(plain.unwrap_err().to_string(), says);
            assert_eq!(reported.unwrap_err().to_string(), says);
            assert_eq!(ran.load(Ordering::Relaxed), 0);
        }
    }
}

#[tokio::test]
async fn l31_of_several_conditions_all_are_asked_in_turn() {
    let hooks = HookRegistry::new();
    let log = Log::default();
    let (one, two, ran) = (log.clone(), log.clone(), log.clone());
    hooks
        .register(
            on::<Route>()
                .when(move |n| {
                    note(&one, "one");
                    *n > 1
                })
                .when(move |n| {
                    note(&two, "two");
                    *n > 2
                })
                .handler(move |_: &u32| {
                    note(&ran, "ran");
                    None
                }),
        )
        .unwrap();
    for n in [1, 2, 3] {
        assert_eq!(hooks.fire_claiming::<Route>(&n).await.unwrap(), Claim::Unclaimed);
    }
    assert_eq!(*log.lock().unwrap(), ["one", "one", "two", "one", "two", "ran"]);
}

/// With a limit, a target or `async`, the condition is asked first all the same.
#[tokio::test]
async fn l31_conditions_go_with_every_other_option() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Route>()
                .name("limited")
                .timeout(Duration::from_secs(5))
                .when(|n| *n == 1)
                .handler(|_: &u32| Some("limited")),
            on::<Route>().name("later").when(|n| *n == 2).handler(async |_: &u32| {
                tokio::task::yield_now().await;
                Some("later")
            }),
            on::<Route>()
                .name("stateful")
                .when(|n| *n == 3)
                .handler_with("state", |state: &&'static str, _: &u32, _: &HookContext| {
                    Some(*state)
                }),
        ])
        .unwrap();
    for (n, claimed) in [(1, "limited"), (2, "later"), (3, "state")] {
        assert_eq!(hooks.fire_claiming::<Route>(&n).await.unwrap(), Claim::Claimed(claimed));
    }
    assert_eq!(hooks.fire_claiming::<Route>(&4).await.unwrap(), Claim::Unclaimed);
}

/// A run in which a plugin's only stage was skipped is not one that it has begun.
#[tokio::test]
async fn l31_a_stage_may_have_a_condition_on_its_context() {
    let hooks = HookRegistry::new();
    hooks
        .register(
            on::<BeforeExecute<Lookup>>()
                .name("cache")
                .plugin("cache")
                .when(|flow| flow.input() == Some(&7))
                .handler(|flow: &mut FlowContext<Lookup>| {
                    flow.respond("cached".to_owned());
                }),
        )
        .unwrap();
    for (key, found) in [(7, "cached"), (8, "looked up 8")] {
        let run = hooks.flow::<Lookup>();
        let output = run.run(key, async |key| Ok::<_, String>(format!("looked up {key}"))).await;
        assert_eq!(output.unwrap(), found);
    }
    let cache = &hooks.handlers_at::<BeforeExecute<Lookup>>()[0];
    assert_eq!((cache.calls, cache.skips.of(SkipReason::Condition)), (1, 1));
}

#[hook_handler(Route, when = |n| *n == 1)]
fn one(_: &u32) -> Option<&'static str> {
    Some("one")
}

fn is_two(n: &u32) -> bool {
    *n == 2
}

#[hook_handler(Route, when = is_two, priority = 1)]
async fn two(_: &u32) -> Option<&'static str> {
    Some("two")
}

struct Shop;

#[hook_handlers(plugin = "shop")]
impl Shop {
    #[hook_handler(Route, when = |n| (3..5).contains(n), priority = 2)]
    fn few(&self, _: &u32) -> Option<&'static str> {
        Some("few")
    }

    #[hook_handler(Send, guard, when = |text: &String| text.is_empty())]
    fn empty(&self, _: &String) -> Verdict {
        Verdict::reject("empty")
    }
}

#[tokio::test]
async fn l31_annotated_handlers_have_conditions() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![one, two]).unwrap();
    hooks.install(Shop).unwrap();
    for (n, claim) in [
        (0, Claim::Unclaimed),
        (1, Claim::Claimed("one")),
        (2, Claim::Claimed("two")),
        (3, Claim::Claimed("few")),
    ] {
        assert_eq!(hooks.fire_claiming::<Route>(&n).await.unwrap(), claim);
    }
    let empty = hooks.fire_gating::<Send>(String::new()).await.unwrap();
    assert!(matches!(empty, Gate::Rejected(_)));
    let passed = hooks.fire_gating::<Send>("x".into()).await.unwrap();
    assert_eq!(passed, Gate::Passed("x".to_owned()));
}

/// What a condition captured is dropped by the removal of its handler.
#[tokio::test]
async fn l19_what_a_condition_captured_is_released_with_its_handler() {
    let hooks = HookRegistry::new();
    let captured = Arc::new(());
    let kept = captured.clone();
    let handle = hooks
        .register(
            on::<Opened>()
                .plugin("shop")
                .when(move |_| Arc::strong_count(&kept) > 0)
                .handler(async |_: &OpenedPayload| std::future::pending::<()>().await),
        )
        .unwrap();
    let opened = OpenedPayload { drawer: 1 };
    let mut fire = Box::pin(hooks.fire_void::<Opened>(&opened));
    assert!(futures::poll!(&mut fire).is_pending());
    drop(fire);
    handle.unregister().await;
    assert_eq!(Arc::strong_count(&captured), 1);
}

/// A condition takes its time: where its handler is removed meanwhile, here by itself,
/// no call of it starts, in every way through a fire.
#[tokio::test]
async fn l19_a_handler_that_is_removed_while_its_condition_is_asked_is_not_called() {
    for way in ["quick", "scoped", "reported", "once"] {
        let hooks = Arc::new(HookRegistry::new());
        let calls = Arc::new(AtomicUsize::new(0));
        let (own, count) = (Arc::downgrade(&hooks), calls.clone());
        let leaving = on::<Opened>()
            .name("leaving")
            .plugin("shop")
            .when(move |_| own.upgrade().unwrap().unregister_plugin("shop").removed() == 1);
        let leaving = if way == "once" { leaving.once() } else { leaving };
        let other = on::<Opened>().name("other").plugin("other");
        let leaving = leaving.handler(move |_: &OpenedPayload| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        hooks.register([leaving, other.handler(|_: &OpenedPayload| ())]).unwrap();

        let opened = OpenedPayload { drawer: 1 };
        match way {
            "scoped" => {
                let scoped = hooks.scope(Plugins::only(["shop"]));
                scoped.fire_void::<Opened>(&opened).await.unwrap();
            }
            "reported" => {
                let (outcome, report) = hooks.fire_void_reported::<Opened>(&opened).await;
                outcome.unwrap();
                let status = report.handler("leaving").unwrap().status();
                assert_eq!(*status, HandlerStatus::Filtered(SkipReason::Unregistered));
            }
            _ => hooks.fire_void::<Opened>(&opened).await.unwrap(),
        }
        assert_eq!(calls.load(Ordering::SeqCst), 0, "{way}");
        assert_eq!(Arc::strong_count(&calls), 1, "{way}: released with the fire");
        assert_eq!(hooks.handlers_at::<Opened>()[0].calls, u64::from(way != "scoped"), "{way}");
    }
}
