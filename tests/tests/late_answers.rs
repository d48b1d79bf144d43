//! A limit ends a wait, never an answer (L14), and nothing swallows a rejection
//! (L10): what a handler says after its limit, or beside a panic, counts.

mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hooks_runtime::observe::{ObservedCall, Observer};
use hooks_runtime::report::HandlerStatus;
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{
    BeforeExecute, Claim, FailurePolicy, FireError, FlowContext, Gate, HookRegistry, Verdict,
    hook_points, on,
};
use support::{Log, keep_quiet};

use FailurePolicy::{Closed, Open};

hook_points! {
    /// Tells.
    pub void Tell(u32);
    /// Amends.
    pub modifying Amend(u32) -> { word: &'static str }
    /// Routes.
    pub claiming Route(u32) -> &'static str;
    /// Checks, and lets pass what fails.
    #[hook(on_failure = "open")]
    pub gating Check(String);
    /// Checks, and holds back what fails.
    pub gating Hold(String);
    /// Makes.
    pub flow Make(u32) -> &'static str;
}

const LIMIT: Duration = Duration::from_millis(2);

/// Keeps its thread busy past the limit.
fn block() {
    let since = Instant::now();
    while since.elapsed() <= LIMIT {
        std::hint::spin_loop();
    }
}

/// A clock whose every wait is over at once.
#[derive(Debug)]
struct Hasty;

impl Timer for Hasty {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        Some(Box::pin(std::future::ready(())))
    }
}

/// How a handler arrives at its answer.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In its call.
    Blocks,
    /// In its second turn: when the limit has passed it is asked once more.
    AsLimitPasses,
    /// After it has blocked and waited.
    BlocksAndWaits,
}

const WAYS: [Way; 3] = [Way::Blocks, Way::AsLimitPasses, Way::BlocksAndWaits];

async fn pass_time(way: Way) {
    match way {
        Way::Blocks => block(),
        Way::AsLimitPasses => tokio::task::yield_now().await,
        Way::BlocksAndWaits => {
            block();
            tokio::task::yield_now().await;
        }
    }
}

/// Without observers, with one, and with a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Observed,
    Reported,
}

const FORMS: [Form; 3] = [Form::Plain, Form::Observed, Form::Reported];

/// Notes the overruns it is notified of.
#[derive(Debug)]
struct Overruns(Log);

impl Observer for Overruns {
    fn handler_overran(&self, call: &ObservedCall<'_>, limit: Duration, took: Duration) {
        assert!(took > limit, "{took:?}");
        self.0.push(format!("{} at {} overran {limit:?}", call.handler(), call.fire().point()));
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.0.push(format!("{} ended: {status}", call.handler()));
    }
}

fn registry(form: Form) -> (HookRegistry, Log) {
    let log = Log::new();
    let builder = HookRegistry::builder().timer(Hasty);
    let observed = form == Form::Observed;
    let builder = if observed { builder.observer(Overruns(log.clone())) } else { builder };
    (builder.build(), log)
}

/// Whether the handler blocked, and so took longer than its limit.
fn overruns(way: Way) -> u64 {
    u64::from(!matches!(way, Way::AsLimitPasses))
}

#[tokio::test]
async fn l10_a_late_rejection_rejects() {
    for way in WAYS {
        for form in FORMS {
            let (hooks, log) = registry(form);
            let rejects = async |way: &Way, _: &String| {
                pass_time(*way).await;
                Verdict::<String>::Reject("it is late".into())
            };
            let late = on::<Check>().name("late").plugin("slow").timeout(LIMIT);
            hooks.register(late.handler_with(way, rejects)).unwrap();
            let gate = match form {
                Form::Reported => {
                    let (gate, report) = hooks.fire_gating_reported::<Check>("x".into()).await;
                    let row = &report.handlers()[0];
                    assert_eq!(row.status().to_string(), "rejected: it is late");
                    assert_eq!(row.overrun().is_some(), overruns(way) == 1, "{way:?}");
                    gate
                }
                _ => hooks.fire_gating::<Check>("x".into()).await,
            };
            let Gate::Rejected(rejection) = gate.unwrap() else { panic!("{way:?} {form:?}") };
            assert_eq!(rejection.reason(), "it is late");
            let info = &hooks.handlers_at::<Check>()[0];
            assert_eq!((info.failures, info.overruns), (0, overruns(way)), "{way:?} {form:?}");
            let mut told = vec!["late at check overran 2ms".to_owned(); overruns(way) as usize];
            told.push("late ended: rejected: it is late".to_owned());
            assert_eq!(log.take(), if form == Form::Observed { told } else { Vec::new() });
            assert_eq!(hooks.unregister_plugin("slow").running(), [""; 0]);
        }
    }
}

#[tokio::test]
async fn l10_a_late_redaction_redacts() {
    for way in WAYS {
        let (hooks, _) = registry(Form::Plain);
        let redacts = async |way: &Way, text: &String| {
            pass_time(*way).await;
            Verdict::Replace(text.replace("secret", "…"))
        };
        hooks.register(on::<Check>().timeout(LIMIT).handler_with(way, redacts)).unwrap();
        let gate = hooks.fire_gating::<Check>("a secret".into()).await.unwrap();
        assert_eq!(gate, Gate::Passed("a …".to_owned()), "{way:?}");
    }
}

/// The rule is one for all models and policies.
#[tokio::test]
async fn l14_a_late_answer_counts_in_every_model() {
    for way in WAYS {
        for policy in [Open, Closed] {
            let (hooks, log) = registry(Form::Plain);
            let tell = async |(way, log): &(Way, Log), _: &u32| {
                pass_time(*way).await;
                log.push("told");
            };
            let amend = async |way: &Way, _: &u32| {
                pass_time(*way).await;
                AmendResult { word: Some("late") }
            };
            let route = async |way: &Way, _: &u32| {
                pass_time(*way).await;
                Some("late")
            };
            let answer = async |way: &Way, flow: &mut FlowContext<Make>| {
                pass_time(*way).await;
                flow.respond("late");
            };
            hooks
                .register([
                    on::<Tell>()
                        .on_failure(policy)
                        .timeout(LIMIT)
                        .handler_with((way, log.clone()), tell),
                    on::<Amend>().on_failure(policy).timeout(LIMIT).handler_with(way, amend),
                    on::<Route>().on_failure(policy).timeout(LIMIT).handler_with(way, route),
                    on::<Hold>()
                        .timeout(LIMIT)
                        .handler(async |_: &String| Verdict::Replace("late".to_owned())),
                    on::<BeforeExecute<Make>>().timeout(LIMIT).handler_with(way, answer),
                ])
                .unwrap();
            hooks.fire_void::<Tell>(&1).await.unwrap();
            assert_eq!(log.take(), ["told"]);
            assert_eq!(hooks.fire_modifying::<Amend>(&1).await.unwrap().word, Some("late"));
            let claim = hooks.fire_claiming::<Route>(&1).await.unwrap();
            assert_eq!(claim, Claim::Claimed("late"));
            let gate = hooks.fire_gating::<Hold>("x".into()).await.unwrap();
            assert_eq!(gate, Gate::Passed("late".to_owned()));
            let operation = async |_: u32| Ok::<_, std::io::Error>("operated");
            let made = hooks.run_flow::<Make, _>(1, operation).await.unwrap();
            assert_eq!(made, "late");
        }
    }
}

/// An answer is there or not: where it is not, the limit holds.
#[tokio::test]
async fn l14_a_handler_without_an_answer_has_one_more_turn_and_fails() {
    let (hooks, log) = registry(Form::Plain);
    let counts = async |log: &Log, _: &u32| {
        std::future::poll_fn(|_| {
            log.push("polled");
            Poll::<()>::Pending
        })
        .await;
        Some("never")
    };
    let late = on::<Route>().name("late").timeout(LIMIT).on_failure(Closed);
    hooks.register(late.handler_with(log.clone(), counts)).unwrap();
    let error = hooks.fire_claiming::<Route>(&1).await.unwrap_err();
    let text = "handler `late` (built-in) at `route`: did not finish within 2ms";
    assert_eq!(error.to_string(), text);
    assert_eq!(log.take(), ["polled", "polled"], "its turn, and the one when the limit passed");
    assert_eq!(hooks.handlers_at::<Route>()[0].overruns, 0, "it never answered");
}

/// An error that comes late is that error, and late.
#[tokio::test]
async fn l14_a_late_error_is_reported_as_the_error() {
    let (hooks, log) = registry(Form::Observed);
    let fails = on::<Tell>().name("late").timeout(LIMIT).on_failure(Closed);
    let fails = fails.handler(|_: &u32| {
        block();
        Err::<(), _>("no luck")
    });
    hooks.register(fails).unwrap();
    let FireError::Failed(failure) = hooks.fire_void::<Tell>(&1).await.unwrap_err() else {
        panic!("it fails")
    };
    assert_eq!(failure.to_string(), "handler `late` (built-in) at `tell`: no luck");
    assert!(failure.elapsed().is_some_and(|took| took > LIMIT));
    let told = ["late at tell overran 2ms", "late ended: error, fail-closed: no luck"];
    assert_eq!(log.take(), told);
}

/// Answers, at once or in its second turn, and panics when it is dropped.
struct SharpAnswer<T> {
    answer: Option<T>,
    waits: bool,
}

impl<T: Unpin> Future for SharpAnswer<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        if std::mem::take(&mut self.waits) {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.answer.take().expect("it answers once"))
    }
}

impl<T> Drop for SharpAnswer<T> {
    fn drop(&mut self) {
        panic!("in the drop");
    }
}

type Answer = Arc<dyn Fn() -> Verdict<String> + Send + Sync>;

async fn gate_with(
    form: Form,
    limit: bool,
    waits: bool,
    answer: &Answer,
    closed: bool,
) -> (Result<Gate<String>, FireError>, Vec<String>) {
    let (hooks, log) = registry(form);
    let (answer, next) = (Arc::clone(answer), log.clone());
    let on = |name| on::<Check>().name(name).plugin("shed");
    let sharp = if closed { on("sharp").on_failure(Closed) } else { on("sharp") };
    let sharp = if limit { sharp.timeout(Duration::from_secs(60)) } else { sharp };
    hooks
        .register([
            sharp.handler(move |_: &String| SharpAnswer { answer: Some(answer()), waits }),
            on("next").handler(move |_: &String| {
                next.push("next is called");
                Verdict::<String>::Pass
            }),
        ])
        .unwrap();
    let gate = match form {
        Form::Reported => hooks.fire_gating_reported::<Check>("in".into()).await.0,
        _ => hooks.fire_gating::<Check>("in".into()).await,
    };
    assert_eq!(hooks.unregister_plugin("shed").running(), [""; 0]);
    let called = log.take().into_iter().filter(|line| line == "next is called").collect();
    (gate, called)
}

#[tokio::test]
async fn l10_a_panic_in_the_drop_swallows_no_rejection_and_no_redaction() {
    keep_quiet(&["in the drop"]);
    for form in FORMS {
        for (limit, waits) in [(false, false), (false, true), (true, false), (true, true)] {
            let which = format!("{form:?}, limit {limit}, waits {waits}");
            let rejects: Answer = Arc::new(|| Verdict::Reject("no".into()));
            for closed in [false, true] {
                let (gate, called) = gate_with(form, limit, waits, &rejects, closed).await;
                let Gate::Rejected(rejection) = gate.unwrap() else { panic!("{which}") };
                assert_eq!((rejection.reason(), called), ("no", Vec::new()), "{which}");
            }
            let redacts: Answer = Arc::new(|| Verdict::Replace("out".into()));
            let (gate, called) = gate_with(form, limit, waits, &redacts, false).await;
            assert_eq!(gate.unwrap(), Gate::Passed("out".into()), "{which}");
            assert_eq!(called, ["next is called"], "{which}");
            // Fail-closed stops: neither the old payload nor the new one passes.
            for answer in [redacts, Arc::new(|| Verdict::Pass)] {
                let (gate, called) = gate_with(form, limit, waits, &answer, true).await;
                let text = "handler `sharp` (plugin `shed`) at `check`: panicked: in the drop";
                assert_eq!(gate.unwrap_err().to_string(), text, "{which}");
                assert_eq!(called, [""; 0], "{which}");
            }
        }
    }
}
