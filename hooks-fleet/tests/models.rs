//! Remote handlers of every model, as entries of the registry that fires.

mod support;

use std::time::Duration;

use hooks_fleet::{Fleet, LocalNetwork, RemoteFailure, note};
use hooks_runtime::error::FailureKind;
use hooks_runtime::operator::BreakerSettings;
use hooks_runtime::report::{Contribution, FireReport, HandlerStatus, RecoveryRefusal, SkipReason};
use hooks_runtime::{
    AfterExecute, BeforeExecute, Claim, Finally, FlowContext, Gate, HookRegistry, Judgement,
    OnError, Plugins, Verdict, on,
};
use support::*;

/// L37: it is in the list of the point, in its order, in the scopes, in the report.
#[tokio::test]
async fn l37_a_remote_handler_is_an_ordinary_entry() {
    let (network, log) = (LocalNetwork::new(), Log::default());
    let remote_hooks = HookRegistry::new();
    let note = |log: &Log, what: &'static str| {
        let log = log.clone();
        move |_: &RunningPayload| -> Verdict<RunningPayload> {
            log.push(what);
            Verdict::Pass
        }
    };
    let remote_no = on::<Running>().name("middle").priority(5).timeout(Duration::from_millis(300));
    remote_hooks.register(remote_no.handler(note(&log, "middle"))).unwrap();
    let serving = serve_running(&network, "policy", &remote_hooks).await;

    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Running>().name("last").priority(9).handler(note(&log, "last")),
            on::<Running>().name("first").priority(1).handler(note(&log, "first")),
        ])
        .unwrap();
    let _sharing = share_running(&network, "policy", &hooks).await;

    let listed = hooks.handlers_at::<Running>();
    assert_eq!(names(&listed), ["built-in/first", "policy/middle", "built-in/last"]);
    assert_eq!(listed[1].timeout, Some(Duration::from_millis(300)));
    assert_eq!(listed[1].address(), "running:policy/middle");

    let (gate, report) = hooks.fire_gating_reported::<Running>(command("ls")).await;
    assert!(matches!(gate.unwrap(), Gate::Passed(_)));
    assert_eq!(log.take(), ["first", "middle", "last"]);
    assert_eq!(report.handlers()[1].status(), &HandlerStatus::Ran(Contribution::Passed));
    let notes: Vec<_> = report.handlers()[1].notes().collect();
    let instance = &*serving.announcement().instance;
    let round_trip = report.handlers()[1].note(note::ROUND_TRIP).unwrap();
    assert_eq!(
        notes,
        [
            ("process", instance),
            ("attempt", "1"),
            ("round_trip", round_trip),
            ("outcome", "answered")
        ]
    );
    assert!(round_trip.ends_with('s'), "{round_trip}");
    assert_eq!(report.handlers()[0].notes().count(), 0);

    // A scope without its plugin leaves it out.
    let alone = hooks.scope(Plugins::BuiltIn);
    let (_, report) = alone.fire_gating_reported::<Running>(command("ls")).await;
    assert_eq!(log.take(), ["first", "last"]);
    assert_eq!(report.handlers()[1].status(), &HandlerStatus::Filtered(SkipReason::Scope));
    assert_eq!(hooks.handlers_at::<Running>()[1].calls, 1);
}

/// L37, L35: an operator's settings and breaker hold for it.
#[tokio::test]
async fn l37_an_operator_has_the_same_hold_on_it() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let fails = |_: &RunningPayload| -> Result<Judgement, &'static str> { Err("no rules") };
    remote_hooks.register(on::<Running>().name("rules").guard(fails)).unwrap();
    let serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let sharing = share_running(&network, "policy", &hooks).await;

    let operator = hooks.operator();
    let breaker = BreakerSettings::consecutive(2);
    operator.breaker("running:policy/rules", breaker).apply().unwrap();
    for _ in 0..2 {
        assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "failed");
    }
    let error = hooks.fire_gating::<Running>(command("ls")).await.unwrap_err();
    let kind = error.failure().unwrap().kind();
    assert!(matches!(kind, FailureKind::BreakerOpen { .. }), "{kind}");

    // Gates are opened by break-glass only.
    assert!(operator.disable("running:policy/rules").apply().is_err());
    let disable = operator.disable("running:policy/rules").break_glass("no rules yet");
    disable.until(Duration::from_mins(1)).apply().unwrap();
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));

    // What is set is shown, and holds for a process that comes back too.
    let limit = Duration::from_millis(700);
    operator.time_limit("running:policy/rules", limit).because("it hangs").apply().unwrap();
    let is_limited = || {
        let explained = operator.explain("running:policy/rules").unwrap().to_string();
        explained.contains("time_limit  700ms") && explained.contains("it hangs")
    };
    assert!(is_limited());
    assert!(serving.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("policy").await;
    assert!(hooks.handlers().is_empty());
    let _serving = serve_running(&network, "policy", &remote_hooks).await;
    sharing.wait_for("policy").await;
    assert!(is_limited());
}

/// L10: guards judge what will be used, whichever process has the rewriters.
#[tokio::test]
async fn l10_guards_run_after_the_rewriters_of_all_processes() {
    let network = LocalNetwork::new();
    let policy = HookRegistry::new();
    let no_rm = |command: &RunningPayload| {
        if command.line.contains("rm") {
            Judgement::reject("nothing is deleted")
        } else {
            Judgement::Pass
        }
    };
    // The lowest number, and a guard all the same.
    policy.register(on::<Running>().name("no_rm").priority(-9).guard(no_rm)).unwrap();
    let _policy = serve_running(&network, "policy", &policy).await;
    let style = HookRegistry::new();
    let rewrite = |command: &RunningPayload| {
        Verdict::Replace(RunningPayload { line: command.line.replace("delete", "rm") })
    };
    style.register(on::<Running>().name("short").handler(rewrite)).unwrap();
    let _style = serve_running(&network, "style", &style).await;

    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).from("policy").from("style");
    let _sharing = share.start().await.unwrap();
    assert_eq!(names(&hooks.handlers_at::<Running>()), ["style/short", "policy/no_rm"]);

    let Gate::Rejected(rejection) =
        hooks.fire_gating::<Running>(command("delete it")).await.unwrap()
    else {
        panic!("it passed")
    };
    assert_eq!((rejection.owner().as_ref(), rejection.handler()), ("policy", "no_rm"));
    assert_eq!(rejection.reason().to_string(), "nothing is deleted");
    let Gate::Passed(passed) = hooks.fire_gating::<Running>(command("ls")).await.unwrap() else {
        panic!("it was rejected")
    };
    assert_eq!(passed.line, "ls");
}

/// L08, L09, L07: what the other models compose to.
#[tokio::test]
async fn l37_the_other_models_compose_as_they_do_here() {
    let (network, log) = (LocalNetwork::new(), Log::default());
    let remote_hooks = HookRegistry::new();
    remote_hooks
        .register([
            on::<Labelling>().name("both").priority(1).handler(|_: &LabellingPayload| {
                let (title, footer) = (Some("remote".to_owned()), Some("foot".to_owned()));
                LabellingResult { title, footer }
            }),
            on::<Labelling>().name("none").handler(|_: &LabellingPayload| None::<LabellingResult>),
            on::<Routing>()
                .name("desk")
                .handler(|message: &String| (message == "invoice").then_some(4)),
            on::<Printed>().name("count").plugin("meter").handler({
                let log = log.clone();
                move |printed: &PrintedPayload| log.push(format!("printed {}", printed.page))
            }),
        ])
        .unwrap();
    let office = Fleet::local(&network, options("office")).unwrap();
    let serve = office.serve::<Labelling>(&remote_hooks).and::<Routing>().and::<Printed>();
    let _serving = serve.start().await.unwrap();

    let hooks = HookRegistry::new();
    hooks
        .register(on::<Labelling>().name("own").handler(|_: &LabellingPayload| LabellingResult {
            title: Some("own".to_owned()),
            footer: None,
        }))
        .unwrap();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Labelling>(&hooks).and::<Routing>().and::<Printed>().from("office");
    let _sharing = share.start().await.unwrap();

    let (labelled, report) =
        hooks.fire_modifying_reported::<Labelling>(&LabellingPayload { page: 1 }).await;
    let labelled = labelled.unwrap();
    assert_eq!(
        (labelled.title.as_deref(), labelled.footer.as_deref()),
        (Some("own"), Some("foot"))
    );
    let status = |name: &str| report.handler(name).unwrap().status().clone();
    assert_eq!(status("both"), HandlerStatus::Ran(Contribution::Fields(vec!["footer"])));
    assert_eq!(status("none"), HandlerStatus::Ran(Contribution::Nothing));

    let route =
        async |message: &str| hooks.fire_claiming::<Routing>(&message.to_owned()).await.unwrap();
    assert_eq!(route("invoice").await, Claim::Claimed(4));
    assert_eq!(route("letter").await, Claim::Unclaimed);

    hooks.fire_void::<Printed>(&PrintedPayload { page: 7 }).await.unwrap();
    assert_eq!(log.take(), ["printed 7"]);
    // A plugin's handler has the plugin in its name: the service owns it here.
    assert_eq!(names(&hooks.handlers_at::<Printed>()), ["office/meter.count"]);
}

/// L11: the stages before the operation; a handler rewrites, answers, skips or aborts.
#[tokio::test]
async fn l37_stages_before_the_operation_are_served() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let steer = |flow: &mut FlowContext<Sum>| match flow.input().copied() {
        Some(1) => drop(flow.respond(100)),
        Some(2) => flow.abort("two is too many"),
        Some(3) => flow.skip(),
        Some(4) => *flow.input_mut().unwrap() = 40,
        _ => {}
    };
    remote_hooks.register(on::<BeforeExecute<Sum>>().name("steer").handler(steer)).unwrap();
    let office = Fleet::local(&network, options("office")).unwrap();
    let _serving = office.serve::<BeforeExecute<Sum>>(&remote_hooks).start().await.unwrap();

    let (hooks, log) = (HookRegistry::new(), Log::default());
    let after = on::<BeforeExecute<Sum>>().name("after").priority(9);
    hooks
        .register(after.handler({
            let log = log.clone();
            move |flow: &mut FlowContext<Sum>| log.push(format!("{:?}", flow.input()))
        }))
        .unwrap();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let _sharing = fleet.share::<BeforeExecute<Sum>>(&hooks).from("office").start().await.unwrap();
    let run = async |n: u32| {
        let sum = async |n: u32| Ok::<_, std::io::Error>(n + 1);
        hooks.flow::<Sum>().run(n, sum).await.map_err(|error| error.to_string())
    };
    assert_eq!(run(0).await, Ok(1));
    assert_eq!(run(1).await, Ok(100));
    let aborted = run(2).await.unwrap_err();
    assert!(aborted.contains("two is too many") && aborted.contains("steer"), "{aborted}");
    log.take();
    assert_eq!(run(3).await, Ok(4));
    assert_eq!(log.take(), [""; 0]);
    assert_eq!(run(4).await, Ok(41));
    assert_eq!(log.take(), ["Some(40)"]);
}

/// L11: the stages after it: a handler elsewhere sees the output or the error, changes the one
/// and recovers from the other, and an abort counts where it counts here.
#[tokio::test]
async fn l37_stages_after_the_operation_are_served() {
    let (network, log) = (LocalNetwork::new(), Log::default());
    let remote_hooks = HookRegistry::new();
    let seen = |log: &Log, flow: &FlowContext<Sum>| {
        let (input, output, error) = (flow.input(), flow.output(), flow.error());
        let recovered = if flow.is_recovered() { ", recovered" } else { "" };
        let error = error.map(ToString::to_string);
        log.push(format!("{}: {input:?} {output:?} {error:?}{recovered}", flow.stage()));
    };
    let after = {
        let log = log.clone();
        move |flow: &mut FlowContext<Sum>| {
            seen(&log, flow);
            match flow.output().copied() {
                Some(2) => *flow.output_mut().unwrap() = 20,
                Some(3) => drop(flow.respond(30)),
                Some(4) => flow.abort("four is unlucky"),
                _ => {}
            }
        }
    };
    let on_error = {
        let log = log.clone();
        move |flow: &mut FlowContext<Sum>| {
            seen(&log, flow);
            if flow.error().is_some_and(|error| error.to_string() == "no more paper") {
                flow.recover(100);
            }
        }
    };
    let finally = {
        let log = log.clone();
        move |flow: &mut FlowContext<Sum>| seen(&log, flow)
    };
    remote_hooks
        .register([
            on::<AfterExecute<Sum>>().name("after").handler(after),
            on::<OnError<Sum>>().name("rescue").handler(on_error),
            on::<Finally<Sum>>().name("close").handler(finally),
        ])
        .unwrap();
    let office = Fleet::local(&network, options("office")).unwrap();
    let serve = office.serve::<AfterExecute<Sum>>(&remote_hooks);
    let _serving = serve.and::<OnError<Sum>>().and::<Finally<Sum>>().start().await.unwrap();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<AfterExecute<Sum>>(&hooks).and::<OnError<Sum>>();
    let _sharing = share.and::<Finally<Sum>>().from("office").start().await.unwrap();

    let run = async |n: u32| {
        let sum = async |n: u32| if n < 9 { Ok(n + 1) } else { Err("no more paper") };
        hooks.flow::<Sum>().run(n, sum).await.map_err(|error| error.to_string())
    };
    assert_eq!(run(0).await, Ok(1));
    assert_eq!(log.take(), ["afterExecute: None Some(1) None", "finally: None Some(1) None"]);
    assert_eq!(run(1).await, Ok(20));
    assert_eq!(log.take(), ["afterExecute: None Some(2) None", "finally: None Some(20) None"]);
    assert_eq!(run(2).await, Ok(30));
    log.take();
    let aborted = "`sum` was aborted in afterExecute by `after` (plugin `office`): four is unlucky";
    assert_eq!(run(3).await, Err(aborted.to_owned()));
    // What was aborted is nothing to recover from, which is judged here.
    assert_eq!(
        log.take(),
        [
            "afterExecute: None Some(4) None".to_owned(),
            format!("onError: None Some(4) Some({aborted:?})"),
            format!("finally: None Some(4) Some({aborted:?})"),
        ]
    );
    assert_eq!(run(9).await, Ok(100));
    assert_eq!(
        log.take(),
        [
            "onError: None None Some(\"no more paper\")",
            "finally: None Some(100) Some(\"no more paper\"), recovered",
        ]
    );
}

/// L11: only a failure of the operation is recovered from, whatever a handler elsewhere says.
#[tokio::test]
async fn l37_a_recovery_from_another_failure_is_refused_here() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let rescue = |flow: &mut FlowContext<Sum>| {
        flow.recover(100);
    };
    remote_hooks.register(on::<OnError<Sum>>().name("rescue").handler(rescue)).unwrap();
    let office = Fleet::local(&network, options("office")).unwrap();
    let _serving = office.serve::<OnError<Sum>>(&remote_hooks).start().await.unwrap();
    let hooks = HookRegistry::new();
    let no = on::<BeforeExecute<Sum>>().name("no");
    hooks.register(no.handler(|flow: &mut FlowContext<Sum>| flow.abort("no sums today"))).unwrap();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let _sharing = fleet.share::<OnError<Sum>>(&hooks).from("office").start().await.unwrap();
    let sum = async |n: u32| Ok::<_, std::io::Error>(n + 1);
    let (outcome, report) = hooks.flow::<Sum>().run_reported(1, sum).await;
    assert!(outcome.unwrap_err().to_string().ends_with("no sums today"));
    let stage = report.stages().last().unwrap();
    let refused = Contribution::RecoveryRefused(RecoveryRefusal::OtherFailure);
    assert_eq!(stage.handler("rescue").unwrap().status(), &HandlerStatus::Ran(refused));
}

/// L31: a condition is asked where the handler is; not met, it has no opinion.
#[tokio::test]
async fn l31_a_condition_is_asked_in_the_serving_process() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let rm = on::<Running>().name("rm").when(|command: &RunningPayload| command.line == "rm");
    remote_hooks.register(rm.guard(|_: &RunningPayload| Judgement::reject("no"))).unwrap();
    let _serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    let (gate, report) = hooks.fire_gating_reported::<Running>(command("ls")).await;
    assert!(matches!(gate, Ok(Gate::Passed(_))));
    let outcome = |report: &FireReport| report.handlers()[0].note(note::OUTCOME).map(str::to_owned);
    assert_eq!(outcome(&report).as_deref(), Some("skipped (condition)"));
    let (gate, report) = hooks.fire_gating_reported::<Running>(command("rm")).await;
    assert!(matches!(gate, Ok(Gate::Rejected(_))));
    assert_eq!(outcome(&report).as_deref(), Some("answered"));
}

/// L13, L37: a handler that fails open here failed there; that is not read as no opinion.
#[tokio::test]
async fn l37_failed_is_never_no_opinion() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let fails =
        |_: &LabellingPayload| -> Result<Option<LabellingResult>, &'static str> { Err("no ink") };
    remote_hooks.register(on::<Labelling>().name("ink").handler(fails)).unwrap();
    let office = Fleet::local(&network, options("office")).unwrap();
    let _serving = office.serve::<Labelling>(&remote_hooks).start().await.unwrap();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let _sharing = fleet.share::<Labelling>(&hooks).from("office").start().await.unwrap();
    let (labelled, report) =
        hooks.fire_modifying_reported::<Labelling>(&LabellingPayload { page: 1 }).await;
    assert_eq!(labelled.unwrap().title, None);
    let HandlerStatus::Failed { kind, message, .. } = report.handlers()[0].status() else {
        panic!("{report}")
    };
    assert_eq!(*kind, "error");
    assert!(message.contains("no ink") && message.contains("office"), "{message}");
}

/// The error of a fire leads to the failure, which says whether the handler may have run.
#[tokio::test]
async fn l37_a_panic_there_is_a_failure_here() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let panics = |_: &RunningPayload| -> Verdict<RunningPayload> { panic!("planned") };
    remote_hooks.register(on::<Running>().name("bad").handler(panics)).unwrap();
    let serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    let RemoteFailure::Failed { cause, instance, message, .. } = &failure else {
        panic!("{failure}")
    };
    assert_eq!(cause, "panic");
    assert_eq!(*instance, serving.announcement().instance);
    assert!(message.contains("planned"), "{message}");
}
