//! What a stand-in answers: what was recorded of the handler, or why that is not known.

use serde_json::{Value, json};

use super::history::History;
use super::played::Instead;
use super::timeline::full;
use crate::error::FailureCause;
use crate::point::ModelKind;
use crate::record::{CallLine, CallStatus, Decision};
use crate::report::SkipReason;

/// What a stand-in does.
pub(super) enum Answer {
    With(Value),
    Fails(FailureCause, String),
    /// Of a stage: what it did to the run, and how it failed then.
    FailsWith(FailureCause, Value),
    /// What changes nothing, and what is said of it.
    Neutral(Instead),
}

impl History {
    /// What was recorded of a handler, as an answer to that payload, or to whichever it was; or
    /// why there is none.
    pub(super) fn recorded_answer(
        &self,
        at: usize,
        handler: &str,
        model: ModelKind,
        (payload, is_recompose): (&Value, bool),
    ) -> Result<Answer, String> {
        let Some(call) = self.call(at, handler) else {
            return if self.knows(at, handler) {
                Ok(Answer::Neutral(Instead::Absent))
            } else {
                Err("it is not in the recording".to_owned())
            };
        };
        if model == ModelKind::Stage && call.skipped.is_none() {
            return self.did(at, call, payload, is_recompose);
        }
        if let Some(failure) = &call.failure {
            return Ok(Answer::Fails(failure.cause, failure.message.clone()));
        }
        let answered = match (call.status, call.skipped) {
            (CallStatus::Ran | CallStatus::Shadowed, _) => Ok(call),
            (_, Some(reason)) => Err(reason),
            _ => return Err("the fire was dropped before it answered".to_owned()),
        };
        if !is_recompose && matches!(answered, Ok(_) | Err(SkipReason::Condition)) {
            self.check_payload(at, call, payload)?;
        }
        match answered {
            Ok(call) => value(call, model).map(Answer::With),
            Err(
                reason @ (SkipReason::Condition
                | SkipReason::Once
                | SkipReason::Target
                | SkipReason::Unregistered),
            ) => Ok(Answer::Neutral(Instead::Skipped(reason))),
            Err(reason) => Err(format!("it was not called then ({})", reason.as_str())),
        }
    }

    /// Whether a handler is asked about what it was asked about when it was recorded.
    fn check_payload(&self, at: usize, call: &CallLine, payload: &Value) -> Result<(), String> {
        let recorded = &self.fires[at];
        let mut asked = full(&recorded.fire.payload);
        for before in recorded.calls.iter().take_while(|before| before.place < call.place) {
            if before.effect == Some(Decision::Replaced) {
                asked = before.answer.as_ref().and_then(full).and_then(|it| it.get("payload"));
            }
        }
        match asked {
            Some(asked) if asked != payload => {
                Err("what was recorded of it is an answer to another payload".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// The answer of a call that ended well, where it was recorded or needs no value.
fn value(call: &CallLine, model: ModelKind) -> Result<Value, String> {
    if let Some(value) = call.answer.as_ref().and_then(full) {
        return Ok(value.clone());
    }
    match (model, &call.decision) {
        (ModelKind::Void, _) => Ok(Value::Null),
        (ModelKind::Claiming, Some(Decision::Nothing))
        | (ModelKind::Gating, Some(Decision::Passed)) => Ok(neutral(model)),
        _ => Err(match call.answer.as_ref().and_then(|answer| answer.missing()) {
            Some(why) => format!("its answer is not in the recording ({why})"),
            None => "its answer is not in the recording as it was".to_owned(),
        }),
    }
}

/// The answer that changes nothing.
pub(super) fn neutral(model: ModelKind) -> Value {
    match model {
        ModelKind::Claiming => json!({"handled": false}),
        ModelKind::Gating => json!({"verdict": "pass"}),
        _ => Value::Null,
    }
}
