//! What handlers say is printed with care, and kept as it was said (L20, L21).

mod support;

use hooks_runtime::error::FailureKind;
use hooks_runtime::report::{Contribution, HandlerStatus};
use hooks_runtime::{
    BeforeExecute, FlowContext, FlowError, Gate, HookRegistry, Verdict, hook_points, on,
};
use support::keep_quiet;

hook_points! {
    #[hook(on_failure = "closed")]
    pub void Ask { n: u32 }
    pub gating Check(u32);
    pub flow Brew(u32) -> u32;
}

/// Clears the screen, forges a line, turns the rest around and hides a letter.
const NASTY: &str = "no\u{1b}[2J\nINFO granted\u{202e}\u{2028}\u{200b}.";
const SHOWN: &str = r"no\u{1b}[2J\nINFO granted\u{202e}\u{2028}\u{200b}.";

#[tokio::test]
async fn l21_a_failure_is_one_row_and_its_message_is_kept_as_it_was() {
    let hooks = HookRegistry::new();
    let fails = |_: &AskPayload| Err::<(), _>(NASTY);
    hooks.register(on::<Ask>().name("fails").handler(fails)).unwrap();
    let (outcome, report) = hooks.fire_void_reported::<Ask>(&AskPayload { n: 1 }).await;

    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), format!("handler `fails` (built-in) at `ask`: {SHOWN}"));
    let FailureKind::Error(raw) = error.failure().unwrap().kind() else { panic!("{error}") };
    assert_eq!(raw.to_string(), NASTY);

    let rows = report.to_string();
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(rows.ends_with(&format!("  error, fail-closed: {SHOWN}")), "{rows}");
    let HandlerStatus::Failed { message, .. } = report.handlers()[0].status() else {
        panic!("{report}")
    };
    assert_eq!(message, NASTY);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["handlers"][0]["status"]["message"], NASTY);
}

#[tokio::test]
async fn l10_a_rejection_is_printed_in_one_line_and_its_reason_kept_as_it_was() {
    let hooks = HookRegistry::new();
    let rejects = on::<Check>().name("no").guard(|_: &u32| Verdict::reject(NASTY));
    hooks.register(rejects).unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<Check>(1).await;

    let Gate::Rejected(rejection) = outcome.unwrap() else { panic!("it passed") };
    let text = format!("rejected at `check` by `no` (built-in): {SHOWN}");
    assert_eq!((rejection.to_string(), rejection.reason()), (text, NASTY));
    assert!(report.to_string().ends_with(&format!("  rejected: {SHOWN}")), "{report}");
    let kept = HandlerStatus::Ran(Contribution::Rejected(NASTY.to_owned()));
    assert_eq!(report.handlers()[0].status(), &kept);
}

#[tokio::test]
async fn l21_the_errors_of_a_flow_are_printed_in_one_line() {
    keep_quiet(&[NASTY]);
    let hooks = HookRegistry::new();
    let run = |_: u32| async { Err::<u32, _>(NASTY.to_owned()) };
    let error = hooks.run_flow::<Brew, _>(1, run).await.unwrap_err();
    assert_eq!(error.to_string(), SHOWN);
    let FlowError::Operation(raw) = error else { panic!("{error}") };
    assert_eq!(raw.to_string(), NASTY);
    let (_, report) = hooks.flow::<Brew>().run_reported(1, run).await;
    let rows = report.to_string();
    assert!(rows.contains(&format!("error: {SHOWN}")) && !rows.contains(NASTY), "{rows}");

    let invalid = hooks.flow::<Brew>().validate(|_: &u32| Err(NASTY)).run(1, run).await;
    let text = format!("the input of `brew` is not valid: {SHOWN}");
    assert_eq!(invalid.unwrap_err().to_string(), text);

    let panics = |_: u32| async { if true { panic!("{NASTY}") } else { Ok::<_, String>(1) } };
    let text = format!("the operation of `brew` panicked: {SHOWN}");
    assert_eq!(hooks.run_flow::<Brew, _>(1, panics).await.unwrap_err().to_string(), text);

    let aborts = |flow: &mut FlowContext<Brew>| flow.abort(NASTY);
    hooks.register(on::<BeforeExecute<Brew>>().name("stop").handler(aborts)).unwrap();
    let (outcome, report) = hooks.flow::<Brew>().run_reported(1, run).await;
    let text = format!("`brew` was aborted in beforeExecute by `stop` (built-in): {SHOWN}");
    assert_eq!(outcome.unwrap_err().to_string(), text);
    let rows = report.to_string();
    assert!(rows.contains(&format!("  aborted: {SHOWN}")) && !rows.contains(NASTY), "{rows}");
}
