//! Flows and their stages by name.

#[cfg(feature = "record")]
mod recorded;

#[cfg(feature = "replay")]
use recorded::stand_in;
#[cfg(feature = "record")]
use recorded::{begun, left};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::engine::raw::HookContext;
use crate::error::BoxError;
use crate::flow::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    FlowPoint, OnError, Stage, StageKind,
};
use crate::handler::forms::{Sent, StateAsync2};
use crate::handler::on::On;
use crate::handler::options::Options;
use crate::handler::registration::Registration;
use crate::json::answers::StageAnswer;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::handler::JsonHandler;
use crate::json::models::stage::fire;
use crate::json::point::{
    Boxed, ErasedPoint, Operation, Run, RunByName, RunOutcome, StageOutcome, payload_of,
    with_payload,
};
use crate::operator::trace::Payload;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;

/// Calls a function with the type of a stage of the flow `F`.
macro_rules! with_stage {
    ($stage:expr, $F:ident, $call:ident($($argument:expr),*)) => {
        match $stage {
            StageKind::BeforeValidation => $call::<BeforeValidation<$F>, $F>($($argument),*),
            StageKind::AfterValidation => $call::<AfterValidation<$F>, $F>($($argument),*),
            StageKind::BeforeExecute => $call::<BeforeExecute<$F>, $F>($($argument),*),
            StageKind::AfterExecute => $call::<AfterExecute<$F>, $F>($($argument),*),
            StageKind::OnError => $call::<OnError<$F>, $F>($($argument),*),
            StageKind::Finally => $call::<Finally<$F>, $F>($($argument),*),
        }
    };
}

impl<F> RunByName for ErasedPoint<F>
where
    F: FlowPoint,
    F::Payload: Serialize + DeserializeOwned,
    F::Result: Serialize + DeserializeOwned,
{
    fn run<'a>(
        &self,
        hooks: &'a ScopedHooks,
        text: &'a [u8],
        run: Run<'a>,
    ) -> Boxed<'a, RunOutcome> {
        with_payload::<F, _, _>(text, |input| {
            Box::pin(async move {
                let Run { targets, operation, reported } = run;
                let flow = hooks.flow::<F>().for_targets(targets);
                let operation = move |input| operate::<F>(operation, input);
                let (output, report) = if reported {
                    let (output, report) = flow.run_reported(input, operation).await;
                    (output, Some(report))
                } else {
                    (flow.run(input, operation).await, None)
                };
                (output.map_err(JsonError::from).and_then(decode::outcome::<F, _>), report)
            })
        })
    }

    fn register(
        &self,
        stage: StageKind,
        options: Box<Options>,
        handler: JsonHandler,
    ) -> Registration {
        with_stage!(stage, F, at(options, handler))
    }

    fn fire_stage<'a>(
        &self,
        hooks: &'a ScopedHooks,
        stage: StageKind,
        text: &'a [u8],
    ) -> Boxed<'a, StageOutcome> {
        with_stage!(stage, F, fire(hooks, stage, text))
    }

    fn payload(&self, payload: &mut Payload<'_>) -> Option<Result<Value, String>> {
        payload_of::<F>(payload)
    }

    #[cfg(feature = "record")]
    fn left(&self, context: &dyn std::any::Any) -> Option<Result<Value, String>> {
        context.downcast_ref::<FlowContext<F>>().map(left)
    }

    #[cfg(feature = "record")]
    fn begun(&self, stage: StageKind, payload: &mut Payload<'_>) -> Option<Result<Value, String>> {
        with_stage!(stage, F, begun(payload))
    }

    #[cfg(feature = "replay")]
    fn stand_in(
        &self,
        stage: StageKind,
        options: Box<Options>,
        handler: JsonHandler,
    ) -> Registration {
        with_stage!(stage, F, stand_in(options, handler))
    }

    #[cfg(feature = "record")]
    fn output(&self, output: &dyn std::any::Any) -> Option<Result<Value, String>> {
        let output = output.downcast_ref::<F::Result>()?;
        Some(serde_json::to_value(output).map_err(|error| error.to_string()))
    }
}

async fn operate<F>(operation: Operation<'_>, input: F::Payload) -> Result<F::Result, BoxError>
where
    F: FlowPoint,
    F::Payload: Serialize,
    F::Result: DeserializeOwned,
{
    let output = operation(serde_json::to_value(input)?).await?;
    Ok(decode::value(F::NAME, "the operation's output", output)?)
}

fn at<S, F>(options: Box<Options>, handler: JsonHandler) -> Registration
where
    S: HookPoint<Model = Stage, Payload = FlowContext<F>>,
    F: FlowPoint,
    F::Payload: Serialize + DeserializeOwned,
    F::Result: Serialize + DeserializeOwned,
{
    On::<S>::with_options(options).finish(StateAsync2::handler(steer::<S, F>, handler))
}

/// A run, as a handler that speaks JSON sees it.
#[derive(Serialize)]
struct Seen<'f, I, O> {
    flow: &'static str,
    stage: StageKind,
    input: Option<&'f I>,
    output: Option<&'f O>,
    error: Option<String>,
    recovered: bool,
}

fn seen<F: FlowPoint>(flow: &FlowContext<F>) -> Seen<'_, F::Payload, F::Result> {
    Seen {
        flow: F::NAME,
        stage: flow.stage(),
        input: flow.input(),
        output: flow.output(),
        error: flow.error().map(ToString::to_string),
        recovered: flow.is_recovered(),
    }
}

async fn steer<S, F>(
    handler: &JsonHandler,
    flow: &mut FlowContext<F>,
    cx: &HookContext,
) -> Result<(), BoxError>
where
    S: HookPoint<Model = Stage, Payload = FlowContext<F>>,
    F: FlowPoint,
    F::Payload: Serialize + DeserializeOwned,
    F::Result: Serialize + DeserializeOwned,
{
    let event = serde_json::to_value(seen(flow))?;
    let answer = match handler.ask(&event, cx, |_| Ok(Value::Null)).await? {
        Value::Null => return Ok(()),
        answer => answer,
    };
    let StageAnswer { input, output, recover, skip, abort } =
        decode::answer::<S, StageAnswer<F::Payload, F::Result>>(answer)?;
    // All of it or nothing: what cannot be done is found before anything is.
    if input.is_some() && flow.input().is_none() {
        return Err(format!("`{}` has no input to rewrite: the operation took it", S::NAME).into());
    }
    if output.is_some() && matches!(flow.stage(), StageKind::OnError | StageKind::Finally) {
        return Err(format!("`{}` cannot answer: the outcome stands already", S::NAME).into());
    }
    if recover.is_some() && flow.stage() != StageKind::OnError {
        return Err(format!("`{}` cannot recover: only a handler of onError can", S::NAME).into());
    }
    if let (Some(new), Some(input)) = (input, flow.input_mut()) {
        *input = new;
    }
    if let Some(output) = output {
        // A refusal, where another handler was first, is in its report row.
        flow.respond(output);
    }
    if let Some(output) = recover {
        // So is a refusal where it is not the operation that failed.
        flow.recover(output);
    }
    if skip {
        flow.skip();
    }
    if let Some(reason) = abort {
        flow.abort(reason);
    }
    Ok(())
}
