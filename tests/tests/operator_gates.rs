//! No setting opens a gate by the way (L35): what loosens a gate or a fail-closed handler
//! takes the break-glass form, with a reason and an end.

mod support;

use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::operator::{
    BreakerSettings, BreakerState, Mode, NewSetting, Operator, OperatorError, RateLimit,
};
use hooks_runtime::report::SkipReason;
use hooks_runtime::{
    FailurePolicy, Gate, HookRegistry, Judgement, Registration, Verdict, hook_points, on,
};
use proptest::prelude::*;
use support::Log;
use support::events::Lines;

hook_points! {
    /// Fails closed, as gates do.
    pub gating Closed(u32);
    /// A gate that fails open.
    #[hook(on_failure = "open")]
    pub gating Open(u32);
    pub void Noted { n: u32 }
    #[hook(on_failure = "closed")]
    pub void Kept { n: u32 }
    pub claiming Route(u32) -> u32;
}

const HOUR: Duration = Duration::from_secs(3_600);

fn hooks() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Closed>().name("rewrite").handler(|n: &u32| Verdict::Replace(n + 1)),
            on::<Closed>().name("guard").guard(|_: &u32| Judgement::reject("no")),
            on::<Open>().name("guard").guard(|_: &u32| Judgement::reject("no")),
            on::<Noted>().name("open").pure().handler(|_: &NotedPayload| ()),
            on::<Noted>()
                .name("closed")
                .pure()
                .on_failure(FailurePolicy::Closed)
                .handler(|_: &NotedPayload| ()),
            on::<Kept>().name("record").pure().handler(|_: &KeptPayload| ()),
            on::<Route>().name("desk").handler(|n: &u32| Some(*n)),
        ])
        .unwrap();
    hooks
}

/// Every setting that there is, for a target.
fn every<'o>(operator: &'o Operator, target: &str) -> Vec<(&'static str, NewSetting<'o>)> {
    let second = Duration::from_secs(1);
    vec![
        ("enforce", operator.enforce(target)),
        ("disable", operator.disable(target)),
        ("shadow", operator.shadow(target)),
        ("warn", operator.warn(target)),
        ("time_limit", operator.time_limit(target, second)),
        ("fail_closed", operator.fail_closed(target)),
        ("fail_open", operator.fail_open(target)),
        ("sample", operator.sample(target, 0.5)),
        ("rate_limit", operator.rate_limit(target, RateLimit::per_second(1))),
        ("breaker", operator.breaker(target, BreakerSettings::consecutive(1))),
        ("shadow breaker", operator.breaker(target, BreakerSettings::consecutive(1).shadow())),
        ("force open", operator.force_breaker(target, BreakerState::Open)),
        ("force closed", operator.force_breaker(target, BreakerState::Closed)),
    ]
}

/// What needs the break-glass form, and what can never be.
fn judged(
    operator: &Operator,
    target: &str,
    closes: bool,
) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut glass, mut never) = (Vec::new(), Vec::new());
    for (name, setting) in every(operator, target) {
        let setting = if closes { setting.fail_closed() } else { setting };
        match setting.apply() {
            Ok(setting) => drop(operator.clear(setting.id()).unwrap()),
            Err(OperatorError::NeedsBreakGlass { .. }) => glass.push(name),
            Err(_) => never.push(name),
        }
    }
    (glass, never)
}

#[test]
fn l35_what_loosens_a_gate_takes_the_break_glass_form() {
    let hooks = hooks();
    let operator = hooks.operator();
    let loosening = ["disable", "shadow", "fail_open", "sample"];
    assert_eq!(judged(&operator, "closed:rewrite", false), (loosening.into(), vec!["warn"]));
    let with_warn = vec!["disable", "shadow", "warn", "fail_open", "sample"];
    assert_eq!(judged(&operator, "closed:guard", false), (with_warn.clone(), vec![]));
    // Of a gate that fails open, a limit lets payloads pass too.
    let limits = ["time_limit", "rate_limit", "breaker", "force open"];
    let mut all: Vec<_> =
        every(&operator, "open:guard").into_iter().map(|(name, _)| name).collect();
    all.retain(|name| with_warn.contains(name) || limits.contains(name));
    assert_eq!(judged(&operator, "open:guard", false), (all, vec![]));
    // Unless it is set to fail closed with it.
    let mut still = with_warn;
    still.retain(|name| *name != "fail_open");
    assert_eq!(judged(&operator, "open:guard", true), (still, vec!["fail_open"]));
    assert_eq!(operator.settings(), []);
}

#[test]
fn l35_what_loosens_a_fail_closed_handler_does_too() {
    let hooks = hooks();
    let operator = hooks.operator();
    let loosening = vec!["disable", "shadow", "fail_open", "sample"];
    assert_eq!(judged(&operator, "noted:open", false), (vec![], vec!["warn"]));
    assert_eq!(judged(&operator, "route:desk", false), (vec![], vec!["warn"]));
    assert_eq!(judged(&operator, "noted:closed", false), (loosening.clone(), vec!["warn"]));
    assert_eq!(judged(&operator, "kept:record", false), (loosening, vec!["warn"]));
}

#[test]
fn l35_one_handler_that_needs_the_form_refuses_the_whole_setting() {
    let hooks = hooks();
    let operator = hooks.operator();
    let refused = operator.disable("noted:*").by("ops").apply().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`disable` of `noted:closed` would let fires of `noted` go on without a handler that fails \
         closed: if that is meant, write \
         `operator.disable(\"noted:*\").break_glass(\"why\").until(…).apply()`",
    );
    let refused = operator.disable("*:*").apply().unwrap_err();
    assert!(
        refused.to_string().starts_with(
            "`disable` of `closed:rewrite`, and of 4 more that need it, would open the gate `closed`:"
        ),
        "{refused}",
    );
    let refused = operator.rate_limit("open:*", RateLimit::per_second(1)).apply().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`rate_limit` of `open:guard` would let payloads pass `open`, which fails open: if that is \
         meant, write `operator.rate_limit(\"open:*\", …).break_glass(\"why\").until(…).apply()`, or \
         make the handler fail closed with it: `.fail_closed()`",
    );
    assert!(hooks.handlers_at::<Noted>().iter().all(|handler| handler.mode == Mode::Enforce));
}

#[test]
fn l35_the_form_needs_a_reason_and_an_end() {
    let hooks = hooks();
    let operator = hooks.operator();
    let disable = || operator.disable("closed:guard");
    assert_eq!(disable().break_glass("down").apply(), Err(OperatorError::NoEnd));
    assert_eq!(
        disable().break_glass(" \t\u{200b}").until(HOUR).apply(),
        Err(OperatorError::NoReason)
    );
    assert_eq!(
        disable().break_glass("down").apply().unwrap_err().to_string(),
        "a break-glass setting has an end: add `.until(…)`, as `Duration::from_secs(600)`",
    );
    assert_eq!(
        disable().break_glass("down").until(Duration::MAX).apply(),
        Err(OperatorError::TooFar),
    );
    assert_eq!(operator.settings(), []);
    assert!(disable().break_glass("down").until(HOUR).apply().unwrap().is_break_glass());
}

#[tokio::test(start_paused = true)]
async fn l35_the_form_is_in_every_report_counted_and_logged_at_both_ends() {
    let lines = Log::new();
    let _guard = tracing::subscriber::set_default(Lines(lines.clone()));
    let hooks = hooks();
    let operator = hooks.operator();
    let setting = operator
        .disable("closed:guard")
        .break_glass("the list is wrong")
        .by("ops")
        .until(HOUR)
        .apply()
        .unwrap();
    for expected in 1..4 {
        let (gate, report) = hooks.fire_gating_reported::<Closed>(1).await;
        assert!(matches!(gate.unwrap(), Gate::Passed(2)));
        assert_eq!(report.break_glass(), std::slice::from_ref(&setting));
        assert!(
            report
                .to_string()
                .ends_with("break-glass disable closed:guard by ops: the list is wrong")
        );
        assert_eq!(setting.applied(), expected);
    }
    // Also of a fire that it does not touch.
    let (_, report) = hooks.fire_claiming_reported::<Route>(&1).await;
    assert_eq!(report.break_glass(), std::slice::from_ref(&setting));

    tokio::time::advance(HOUR).await;
    let (_, report) = hooks.fire_claiming_reported::<Route>(&1).await;
    assert_eq!(report.break_glass(), []);
    assert!(matches!(hooks.fire_gating::<Closed>(1).await.unwrap(), Gate::Rejected(_)));
    assert_eq!(setting.applied(), 3);
    let said: Vec<_> = lines.take().into_iter().filter(|line| line.contains("setting")).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains("an operator's setting begins: break-glass disable closed:guard by ops"),
        "{said:?}"
    );
    assert!(
        said[1]
            .contains("an operator's setting has ended: break-glass disable closed:guard by ops"),
        "{said:?}"
    );
}

/// A setting does not apply to a handler that comes later and would need the form.
#[tokio::test]
async fn l35_a_gate_that_comes_later_is_not_opened() {
    let hooks = HookRegistry::new();
    let plugin = |name: &'static str| on::<Noted>().name(name).plugin("stats").pure();
    hooks.register(plugin("count").handler(|_: &NotedPayload| ())).unwrap();
    let operator = hooks.operator();
    for setting in [
        operator.disable("*:stats/*"),
        operator.sample("*:stats/*", 0.0),
        operator.fail_open("*:stats/*"),
        operator.rate_limit("*:stats/*", RateLimit::new(1, HOUR)),
    ] {
        setting.by("ops").apply().unwrap();
    }
    hooks
        .register(
            on::<Closed>().name("no").plugin("stats").guard(|_: &u32| Judgement::reject("no")),
        )
        .unwrap();
    hooks
        .register(on::<Open>().name("no").plugin("stats").guard(|_: &u32| Judgement::reject("no")))
        .unwrap();
    hooks
        .register(
            plugin("strict")
                .on_failure(FailurePolicy::Closed)
                .handler(|_: &NotedPayload| Err("no")),
        )
        .unwrap();
    for _ in 0..3 {
        assert!(matches!(hooks.fire_gating::<Open>(1).await.unwrap(), Gate::Rejected(_)));
        assert!(hooks.fire_void::<Noted>(&NotedPayload { n: 1 }).await.is_err());
    }
    // The limit applies to a handler that fails closed.
    assert!(matches!(hooks.fire_gating::<Closed>(1).await.unwrap(), Gate::Rejected(_)));
    assert!(hooks.fire_gating::<Closed>(1).await.is_err());
    assert_eq!(hooks.handlers_at::<Noted>()[0].skips.of(SkipReason::Disabled), 3);
    let explanation = operator.explain("closed:stats/no").unwrap();
    assert_eq!(
        explanation
            .values
            .iter()
            .find(|value| value.value == "disable")
            .unwrap()
            .without_effect
            .as_deref(),
        Some("withheld: it would open the gate `closed`, and is no break-glass setting"),
    );
}

/// A limit on a gate that fails open, which is allowed with `fail_closed`, stays closed
/// whatever else is set, cleared or ends.
#[tokio::test(start_paused = true)]
async fn l35_what_fails_closed_with_a_limit_does_so_as_long_as_that_holds() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Open>().name("guard").guard(|_: &u32| Judgement::Pass)).unwrap();
    let operator = hooks.operator();
    let tight = operator.fail_closed("open:guard").apply().unwrap();
    operator.rate_limit("open:guard", RateLimit::new(1, HOUR)).apply().unwrap_err();
    let open = BreakerState::Open;
    let forced =
        operator.force_breaker("open:guard", open).fail_closed().until(HOUR).apply().unwrap();
    operator.clear(tight.id()).unwrap();
    assert!(hooks.fire_gating::<Open>(1).await.is_err());
    // A later one of its kind is one of its own.
    operator.force_breaker("open:guard", open).apply().unwrap_err();
    operator.fail_open("open:guard").apply().unwrap_err();
    tokio::time::advance(HOUR).await;
    assert!(hooks.fire_gating::<Open>(1).await.is_ok());
    assert_eq!(operator.settings(), []);
    assert_eq!(forced.ends_in(), Some(Duration::ZERO));
}

/// A handler of a gate, with what it says and how it fails.
#[derive(Clone, Debug)]
enum Says {
    Pass,
    Reject,
    Fail,
}

fn registration(index: usize, says: Says, guard: bool, plugin: bool) -> Registration {
    let mut place = on::<Open>().name(format!("h{index}"));
    if plugin {
        place = place.plugin("p");
    }
    let answer = move |_: &u32| match says {
        Says::Pass => Ok(Judgement::Pass),
        Says::Reject => Ok(Judgement::reject("no")),
        Says::Fail => Err("down"),
    };
    if guard {
        return place.guard(answer);
    }
    place.handler(move |n: &u32| match answer(n) {
        Ok(Judgement::Reject(reason)) => Ok(Verdict::Reject(reason)),
        Ok(_) => Ok(Verdict::<u32>::Pass),
        Err(error) => Err(error),
    })
}

proptest! {
    /// Whatever is set without the break-glass form, in whatever order, and whatever of it
    /// is cleared again: what is rejected without settings never passes.
    #[test]
    fn l35_no_sequence_of_settings_lets_a_rejected_payload_pass(
        handlers in prop::collection::vec((0..3u8, any::<bool>(), any::<bool>()), 1..5),
        late in prop::collection::vec((0..3u8, any::<bool>(), any::<bool>()), 0..3),
        steps in prop::collection::vec((0..13usize, 0..6usize, any::<bool>(), any::<bool>()), 0..10),
    ) {
        let says = |code| match code { 0 => Says::Pass, 1 => Says::Reject, _ => Says::Fail };
        let bare = HookRegistry::new();
        let set = HookRegistry::new();
        let register = |(index, (code, guard, plugin)): (usize, &(u8, bool, bool))| {
            for hooks in [&bare, &set] {
                hooks.register(registration(index, says(*code), *guard, *plugin)).unwrap();
            }
        };
        handlers.iter().enumerate().for_each(register);
        let operator = set.operator();
        let targets = ["open:*", "*:p/*", "open:h0", "open:p/h1", "*:*", "*:*/*"];
        for (setting, target, closes, clears) in steps {
            let (_, new) = every(&operator, targets[target]).swap_remove(setting);
            let new = if closes { new.fail_closed() } else { new };
            let applied = new.apply();
            if let (Ok(applied), true) = (applied, clears) {
                operator.clear(applied.id()).unwrap();
            }
        }
        late.iter().enumerate().map(|(index, it)| (index + 10, it)).for_each(register);
        for _ in 0..3 {
            let without = block_on(bare.fire_gating::<Open>(1)).unwrap();
            let with = block_on(set.fire_gating::<Open>(1));
            if matches!(without, Gate::Rejected(_)) {
                prop_assert!(!matches!(with, Ok(Gate::Passed(_))), "{:?}", operator.settings());
            }
        }
    }
}
