//! One stage, fired by name for a run that is elsewhere.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::containment::shown;
use crate::flow::{FlowContext, FlowError, FlowPoint, RunElsewhere, Stage, StageEnd, StageKind};
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::point::{Boxed, StageOutcome};
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;

/// A run, as a handler that speaks JSON sees it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seen {
    flow: String,
    stage: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    recovered: bool,
}

const WHAT: &str = "the run";

pub(super) fn fire<'a, S, F>(
    hooks: &'a ScopedHooks,
    stage: StageKind,
    text: &'a [u8],
) -> Boxed<'a, StageOutcome>
where
    S: HookPoint<Model = Stage, Payload = FlowContext<F>>,
    F: FlowPoint,
    F::Payload: Serialize + DeserializeOwned,
    F::Result: Serialize + DeserializeOwned,
{
    Box::pin(async move {
        let read = decode::document::<Seen>(S::NAME, WHAT, text);
        let run = match read.and_then(|seen| run::<S, F>(stage, seen)) {
            Ok(run) => run,
            Err(error) => return (Err(error), None),
        };
        let before = match written::<S, F>(run.input.as_ref(), run.output.as_ref()) {
            Ok(before) => before,
            Err(error) => return (Err(error), None),
        };
        let was_recovered = run.recovered;
        let mut context = FlowContext::of_run_elsewhere(run, hooks.clone());
        let (end, report) = hooks.fire_reported::<Stage, S>(&mut context).await;
        let answer = end.map_err(JsonError::from).and_then(|end| {
            let after = written::<S, F>(context.input.as_ref(), context.output.as_ref())?;
            let recovered = context.is_recovered() && !was_recovered;
            Ok(answer(before, after, recovered, end))
        });
        (answer, Some(report))
    })
}

/// The run, where what its handlers may count on is there.
fn run<S: HookPoint, F: FlowPoint>(
    stage: StageKind,
    seen: Seen,
) -> Result<RunElsewhere<F>, JsonError>
where
    F::Payload: DeserializeOwned,
    F::Result: DeserializeOwned,
{
    let Seen { flow, stage: named, input, output, error, recovered } = seen;
    let refuse = |problem: String| Err(decode::whole(S::NAME, WHAT, &problem).into());
    if (&*flow, &*named) != (F::NAME, stage.name()) {
        return refuse(format!("it is at `{flow}/{named}`"));
    }
    let (has_input, has_output) = match stage {
        StageKind::BeforeValidation | StageKind::AfterValidation | StageKind::BeforeExecute => {
            (true, false)
        }
        StageKind::AfterExecute => (false, true),
        StageKind::OnError => (false, recovered),
        StageKind::Finally => (false, recovered || error.is_none()),
    };
    let may_fail = matches!(stage, StageKind::OnError | StageKind::Finally);
    if error.is_some() && !may_fail || error.is_none() && stage == StageKind::OnError {
        return refuse("an error is what there is in `onError`, and in `finally` after it".into());
    }
    if recovered && error.is_none() {
        return refuse("it is recovered from no error".into());
    }
    let is_there = |value: &Value, is_sure: bool| is_sure || !value.is_null();
    let input = is_there(&input, has_input)
        .then(|| decode::part(S::NAME, "the input", input))
        .transpose()?;
    let output = is_there(&output, has_output)
        .then(|| decode::part(S::NAME, "the output", output))
        .transpose()?;
    // Its type has not come along: it is known by its text.
    let error = error.map(|text| FlowError::Operation(text.into()));
    Ok(RunElsewhere { stage, input, output, error, recovered })
}

type Written = (Option<Value>, Option<Value>);

fn written<S, F>(
    input: Option<&F::Payload>,
    output: Option<&F::Result>,
) -> Result<Written, JsonError>
where
    S: HookPoint,
    F: FlowPoint<Payload: Serialize, Result: Serialize>,
{
    let input = input.map(decode::outcome::<S, _>).transpose()?;
    Ok((input, output.map(decode::outcome::<S, _>).transpose()?))
}

/// What the handlers asked for, as one that speaks JSON does.
fn answer(before: Written, after: Written, recovered: bool, end: StageEnd) -> Value {
    let mut answer = Map::new();
    let is_output = if recovered { "recover" } else { "output" };
    for (key, before, after) in [("input", before.0, after.0), (is_output, before.1, after.1)] {
        // A recovery is one whatever there was before.
        let is_asked = before != after || key == "recover";
        answer.extend(after.filter(|_| is_asked).map(|value| (key.to_owned(), value)));
    }
    match end {
        StageEnd::Complete => {}
        StageEnd::Skipped => drop(answer.insert("skip".to_owned(), Value::Bool(true))),
        StageEnd::Aborted(_, _, error) => {
            answer.insert("abort".to_owned(), Value::String(shown(&*error)));
        }
    }
    if answer.is_empty() { Value::Null } else { Value::Object(answer) }
}
