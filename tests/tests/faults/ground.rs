//! One point of every model, `bad` and `next` at it, and a fire.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hooks_runtime::handler::On;
use hooks_runtime::model::Stage;
use hooks_runtime::report::FireReport;
use hooks_runtime::{
    BeforeExecute, Claim, FailurePolicy, Finally, FireError, FlowContext, FlowError, Gate,
    HookPoint, Registration, ScopedHooks, Verdict, hook_points, on,
};

use crate::fault::Fault;
use crate::shed::{ReadyBomb, Shed, bad, huge};

hook_points! {
    /// Void.
    pub void Tell(u32);
    /// Modifying.
    pub modifying Amend(u32) -> { word: &'static str }
    /// Claiming.
    pub claiming Route(u32) -> &'static str;
    /// Gating; open, so that a handler can be tried with either policy.
    #[hook(on_failure = "open")]
    pub gating Check(u32);
    /// A flow: `finally` is its open stage, `beforeExecute` a closed one.
    pub flow Make(u32) -> u32;
    /// What a handler fires beside its own point.
    pub void Aside(u32);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Model {
    Void,
    Modifying,
    Claiming,
    Gating,
    Flow,
}

impl Model {
    pub const ALL: [Self; 5] =
        [Self::Void, Self::Modifying, Self::Claiming, Self::Gating, Self::Flow];
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Void => "void",
            Self::Modifying => "modifying",
            Self::Claiming => "claiming",
            Self::Gating => "gating",
            Self::Flow => "flow",
        })
    }
}

/// The options of `bad`.
fn options<P: HookPoint>(shed: &Shed) -> On<P> {
    let mut on = on::<P>().name("bad").plugin("shed");
    // The stages of a flow have the policy that is wanted already.
    if shed.closed && shed.model != Model::Flow {
        on = on.on_failure(FailurePolicy::Closed);
    }
    match shed.fault.limit() {
        Some(limit) if shed.active.load(Ordering::SeqCst) => on.timeout(limit),
        Some(_) => on.replace(),
        None => on,
    }
}

/// `bad` at `$point`, with the future that its fault needs; where it comes to
/// its end it answers `$answer`.
macro_rules! bad_at {
    ($point:ty, $shed:expr, $input:ty, $answer:expr) => {{
        let (on, shed) = (options::<$point>(&$shed), Arc::clone(&$shed));
        match shed.fault {
            Fault::HugeFuture => on.handler(move |_: $input| {
                let future = huge(shed.call());
                async move { future.await.map(|()| $answer) }
            }),
            Fault::PanicInTheDrop => {
                on.handler(move |_: $input| ReadyBomb::new(shed.call(), $answer))
            }
            _ => on.handler(move |_: $input| {
                let future = bad(shed.call());
                async move { future.await.map(|()| $answer) }
            }),
        }
    }};
}

fn bad_stage<S>(shed: &Arc<Shed>) -> Registration
where
    S: HookPoint<Payload = FlowContext<Make>, Model = Stage>,
{
    bad_at!(S, shed, &mut FlowContext<Make>, ())
}

/// `bad`.
pub fn bad_handler(shed: &Arc<Shed>) -> Registration {
    match (shed.model, shed.closed) {
        (Model::Void, _) => bad_at!(Tell, shed, &u32, ()),
        (Model::Modifying, _) => bad_at!(Amend, shed, &u32, AmendResult { word: Some("bad") }),
        (Model::Claiming, _) => bad_at!(Route, shed, &u32, Some("bad")),
        (Model::Gating, _) => bad_at!(Check, shed, &u32, Verdict::Replace(7_u32)),
        (Model::Flow, true) => bad_stage::<BeforeExecute<Make>>(shed),
        (Model::Flow, false) => bad_stage::<Finally<Make>>(shed),
    }
}

/// A handler that notes its name, and has no opinion.
pub fn noting(model: Model, closed: bool, name: &'static str, shed: &Arc<Shed>) -> Registration {
    fn stage<S>(name: &'static str, log: crate::support::Log) -> Registration
    where
        S: HookPoint<Payload = FlowContext<Make>, Model = Stage>,
    {
        on::<S>().name(name).handler(move |_: &mut FlowContext<Make>| log.push(name))
    }
    let log = shed.log.clone();
    match (model, closed) {
        (Model::Void, _) => on::<Tell>().name(name).handler(move |_: &u32| log.push(name)),
        (Model::Modifying, _) => on::<Amend>().name(name).handler(move |_: &u32| {
            log.push(name);
            None::<AmendResult>
        }),
        (Model::Claiming, _) => on::<Route>().name(name).handler(move |_: &u32| {
            log.push(name);
            None
        }),
        (Model::Gating, _) => on::<Check>().name(name).handler(move |_: &u32| {
            log.push(name);
            Verdict::<u32>::Pass
        }),
        (Model::Flow, true) => stage::<BeforeExecute<Make>>(name, log),
        (Model::Flow, false) => stage::<Finally<Make>>(name, log),
    }
}

/// The outcome in words, and the rows of the report.
pub type Came = (String, Vec<String>);

/// Fires the point of that model, with a report.
pub fn fire(model: Model, hooks: ScopedHooks) -> Pin<Box<dyn Future<Output = Came> + Send>> {
    Box::pin(async move {
        match model {
            Model::Void => {
                let (outcome, report) = hooks.fire_void_reported::<Tell>(&1).await;
                came(outcome, &report, |()| "told".into())
            }
            Model::Modifying => {
                let (outcome, report) = hooks.fire_modifying_reported::<Amend>(&1).await;
                came(outcome, &report, |amended| format!("word: {:?}", amended.word))
            }
            Model::Claiming => {
                let (outcome, report) = hooks.fire_claiming_reported::<Route>(&1).await;
                came(outcome, &report, |claim| match claim {
                    Claim::Claimed(by) => format!("claimed: {by}"),
                    Claim::Unclaimed => "unclaimed".into(),
                })
            }
            Model::Gating => {
                let (outcome, report) = hooks.fire_gating_reported::<Check>(1).await;
                came(outcome, &report, |gate| match gate {
                    Gate::Passed(payload) => format!("passed: {payload}"),
                    Gate::Rejected(rejection) => rejection.to_string(),
                })
            }
            Model::Flow => {
                let flow = hooks.flow::<Make>();
                let operation = async |n: u32| Ok::<_, std::convert::Infallible>(n + 1);
                let (outcome, report) = flow.run_reported(1, operation).await;
                let stages = report.stages().iter().flat_map(rows).collect();
                let outcome = match outcome {
                    Ok(output) => format!("made: {output}"),
                    Err(FlowError::Fire(error)) => shown(error),
                    Err(error) => error.to_string(),
                };
                (outcome, stages)
            }
        }
    })
}

fn came<T>(
    outcome: Result<T, FireError>,
    report: &FireReport,
    tell: impl FnOnce(T) -> String,
) -> Came {
    (outcome.map_or_else(shown, tell), rows(report))
}

/// An error of the handler's own is the host's now, to print and to drop with
/// care.
fn shown(error: FireError) -> String {
    let print = std::panic::AssertUnwindSafe(|| error.to_string());
    let text = std::panic::catch_unwind(print).unwrap_or_else(|_| "an error without words".into());
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(error)));
    text
}

fn rows(report: &FireReport) -> Vec<String> {
    let rows = report.handlers().iter();
    rows.map(|row| format!("{}: {}", row.handler(), row.status())).collect()
}
