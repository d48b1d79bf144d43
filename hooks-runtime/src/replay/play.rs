//! Fires a recorded fire again.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;

use serde_json::Value;

use super::script::Script;
use super::timeline::full;
use crate::handler::target::Target;
use crate::json::{JsonError, JsonHooks};
use crate::plugin::scope::Plugins;
use crate::record::{Captured, RecordedFire, RecordedScope, StepLine, StepOutcome};

/// Why a fire cannot be replayed, whatever its handlers are.
pub(super) fn playable(recorded: &RecordedFire) -> Result<(), String> {
    let is_valid = |step: &StepLine| step.step != "validation" || step.status == StepOutcome::Ran;
    if !recorded.steps.iter().all(is_valid) {
        return Err(
            "its input is judged by the host, whose code is not part of a replay".to_owned()
        );
    }
    if recorded.fire.outcome == "dropped" {
        return Err("it was dropped before its end".to_owned());
    }
    match &recorded.fire.payload {
        Captured::Full { .. } => Ok(()),
        Captured::Redacted { .. } => Err("its payload is redacted".to_owned()),
        Captured::Hash { .. } => Err("of its payload only the digest is recorded".to_owned()),
        Captured::Missing { why } => Err(format!("its payload is {why}")),
    }
}

pub(super) fn plugins(scope: &RecordedScope) -> Plugins {
    match scope {
        RecordedScope::All => Plugins::All,
        RecordedScope::Only { plugins } => Plugins::only(plugins),
        RecordedScope::Except { plugins } => Plugins::except(plugins),
    }
}

/// Fires with the recorded payload, or runs the flow with the recorded input, until the end or
/// until a stand-in has no answer. Why nothing was fired, where that is so.
pub(super) async fn play(
    hooks: &JsonHooks<'_>,
    recorded: &RecordedFire,
    script: &Script,
) -> Option<String> {
    let payload = full(&recorded.fire.payload)?.to_string();
    let hooks = hooks.clone().max_bytes(usize::MAX);
    let point = &*recorded.fire.point;
    if recorded.fire.model != "flow" {
        return refused(until_stuck(hooks.fire(point, payload), script).await);
    }
    let flow = match hooks.flow(point) {
        Ok(flow) => flow.for_targets(targets(&hooks, recorded)),
        Err(error) => return Some(error.to_string()),
    };
    let operation = async |_: Value| match operated(recorded) {
        Ok(output) => output,
        Err(reason) => {
            script.stop(reason);
            pending().await
        }
    };
    refused(until_stuck(flow.run(payload, operation), script).await)
}

/// Polls a fire until its end, or until the replay cannot go on.
async fn until_stuck<T>(fire: impl Future<Output = T>, script: &Script) -> Option<T> {
    let mut fire = pin!(fire);
    poll_fn(|task| match fire.as_mut().poll(task) {
        Poll::Ready(ended) => Poll::Ready(Some(ended)),
        // No stand-in has more to say later: to drop the fire ends it.
        Poll::Pending if script.is_stuck() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Why nothing was fired.
fn refused<T>(ended: Option<Result<T, JsonError>>) -> Option<String> {
    match ended {
        Some(Err(
            error @ (JsonError::UnknownPoint { .. }
            | JsonError::NoJson { .. }
            | JsonError::WrongModel { .. }
            | JsonError::Mismatch(_)),
        )) => Some(error.to_string()),
        _ => None,
    }
}

/// What the operation of a run returned; or why that is not known.
fn operated(recorded: &RecordedFire) -> Result<Result<Value, String>, &'static str> {
    let operation = recorded.steps.iter().find(|step| step.step == "operation");
    let output = operation.and_then(|step| step.output.as_ref()).and_then(full);
    match (operation.map(|step| &step.status), output) {
        (Some(StepOutcome::Ran), Some(output)) => Ok(Ok(output.clone())),
        (Some(StepOutcome::Ran), None) => {
            Err("the output of its operation is not in the recording")
        }
        (Some(StepOutcome::Failed(failure)), _) => Ok(Err(failure.message.clone())),
        _ => Err("its operation is not called, and was not called then"),
    }
}

/// What a run is for: targets of its handlers, and names, are known by their texts.
fn targets(hooks: &JsonHooks<'_>, recorded: &RecordedFire) -> Vec<Target> {
    let entries = hooks.hooks().inner.store().entries();
    let known: Vec<_> = entries.iter().filter_map(|entry| entry.target.clone()).collect();
    let texts = recorded.fire.targets.iter();
    texts.filter_map(|text| known.iter().find(|it| it.to_string() == *text).cloned()).collect()
}
