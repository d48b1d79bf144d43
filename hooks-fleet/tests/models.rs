//! Remote handlers of every model, as entries of the registry that fires.

mod support;

use std::time::Duration;

use hooks_fleet::{Fleet, LocalNetwork, RemoteCalls, RemoteFailure};
use hooks_runtime::error::FailureKind;
use hooks_runtime::operator::BreakerSettings;
use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};
use hooks_runtime::{
    BeforeExecute, Claim, FlowContext, Gate, HookRegistry, Judgement, Plugins, Verdict, on,
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
    let _serving = serve_running(&network, "policy", &remote_hooks).await;

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

    let calls = RemoteCalls::new();
    let observed = hooks.with(calls.clone());
    let (gate, report) = observed.fire_gating_reported::<Running>(command("ls")).await;
    assert!(matches!(gate.unwrap(), Gate::Passed(_)));
    assert_eq!(log.take(), ["first", "middle", "last"]);
    assert_eq!(report.handlers()[1].status(), &HandlerStatus::Ran(Contribution::Passed));
    let of_report = calls.of(&report);
    assert_eq!(of_report.len(), 1);
    let call = &of_report[0];
    assert_eq!((call.point, &*call.service, &*call.handler), ("running", "policy", "middle"));
    assert_eq!((call.attempt, call.outcome), (1, "answered"));
    assert_eq!(call.instance.as_ref().map(String::len), Some(16));
    assert!(call.round_trip >= call.took.unwrap());

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
    let _serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let _sharing = share_running(&network, "policy", &hooks).await;

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
    let calls = RemoteCalls::new();
    let observed = hooks.with(calls.clone());
    assert!(matches!(observed.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    assert_eq!(calls.take()[0].outcome, "skipped");
    assert!(matches!(observed.fire_gating::<Running>(command("rm")).await, Ok(Gate::Rejected(_))));
    assert_eq!(calls.take()[0].outcome, "answered");
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
