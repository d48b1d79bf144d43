//! What a stand-in does to a run: what was recorded of the handler, where it is asked about the
//! same.

use serde_json::{Map, Value};

use super::answer::Answer;
use super::history::History;
use super::timeline::full;
use crate::flow::StageKind;
use crate::record::{CallLine, CallStatus, Captured, StepOutcome};

/// What is known of a run at one place in it.
#[derive(Clone, Copy, Default)]
struct Known<'h> {
    input: Option<&'h Value>,
    output: Option<&'h Value>,
    is_recovered: bool,
}

impl History {
    /// What was recorded of a handler of a stage: what it did to its run.
    pub(super) fn did(
        &self,
        at: usize,
        call: &CallLine,
        seen: &Value,
        is_recompose: bool,
    ) -> Result<Answer, String> {
        if !matches!(call.status, CallStatus::Ran | CallStatus::Failed) {
            return Err("the run was dropped before it answered".to_owned());
        }
        let did = match &call.answer {
            None => return Err("what it did to the run is not recorded".to_owned()),
            Some(answer) => match (full(answer), answer) {
                (Some(did), _) => did,
                (None, Captured::Missing { why }) => {
                    return Err(format!("what it did to the run is {why}"));
                }
                (None, _) => {
                    return Err("what it did to the run is not recorded as it was".to_owned());
                }
            },
        };
        if !is_recompose {
            self.check_run(at, call, seen)?;
        }
        check_fits(did, seen)?;
        let Some(failure) = &call.failure else { return Ok(Answer::With(did.clone())) };
        let mut did = did.as_object().cloned().unwrap_or_else(Map::new);
        did.insert("fails".to_owned(), failure.message.clone().into());
        Ok(Answer::FailsWith(failure.cause, Value::Object(did)))
    }

    /// Whether a handler finds the run as it found it when it was recorded, as far as that is
    /// known.
    fn check_run(&self, at: usize, call: &CallLine, seen: &Value) -> Result<(), String> {
        let Some(known) = self.before(at, call) else { return Ok(()) };
        let is_other = |known: Option<&Value>, key| known.is_some_and(|it| *it != seen[key]);
        if is_other(known.input, "input") || is_other(known.output, "output") {
            return Err("what was recorded of it is about another input or output".to_owned());
        }
        if seen["recovered"] != known.is_recovered {
            return Err("what was recorded of it is about a run with another end".to_owned());
        }
        Ok(())
    }

    /// How the run was before that call.
    fn before(&self, at: usize, call: &CallLine) -> Option<Known<'_>> {
        let run = self.run(at)?;
        let recorded = &self.fires[run];
        let mut known = Known {
            input: full(&recorded.fire.payload),
            output: Some(&Value::Null),
            is_recovered: false,
        };
        let mut has_operated = false;
        for stage in self.stages(run) {
            let point = &*self.fires[*stage].fire.point;
            if !has_operated && is_behind_the_operation(point) {
                has_operated = true;
                let operation = recorded.steps.iter().find(|step| step.step == "operation");
                match operation.map(|step| &step.status) {
                    Some(StepOutcome::Ran) => {
                        let output = operation.and_then(|step| full(step.output.as_ref()?));
                        known = Known { input: Some(&Value::Null), output, ..known };
                    }
                    Some(StepOutcome::Failed(_)) => known.input = Some(&Value::Null),
                    _ => {}
                }
            }
            let calls = self.fires[*stage].calls.iter();
            let before = calls.take_while(|before| *stage != at || before.place < call.place);
            for before in before.filter(|before| before.skipped.is_none()) {
                known.after(before);
            }
            if *stage == at {
                return Some(known);
            }
        }
        None
    }
}

impl<'h> Known<'h> {
    fn after(&mut self, call: &'h CallLine) {
        let Some(did) = call.answer.as_ref().and_then(full) else {
            (self.input, self.output) = (None, None);
            return;
        };
        if let Some(input) = did.get("input") {
            self.input = Some(input);
        }
        for key in ["changed", "output", "recover"] {
            if let Some(output) = did.get(key) {
                self.output = Some(output);
            }
        }
        self.is_recovered |= did.get("recover").is_some();
    }
}

/// Whether the stage of that name comes after the operation.
fn is_behind_the_operation(point: &str) -> bool {
    let stage = point.rsplit_once('/').map(|(_, stage)| stage);
    [StageKind::AfterExecute, StageKind::OnError, StageKind::Finally]
        .iter()
        .any(|behind| stage == Some(behind.name()))
}

/// Whether it can be done to the run as it is now.
fn check_fits(did: &Value, seen: &Value) -> Result<(), String> {
    let is_among = |all: &str, key: &str| {
        seen[all].as_array().is_some_and(|all| all.iter().any(|it| it == key))
    };
    if did.get("input").is_some() && !is_among("has", "input") {
        return Err("it rewrote the input, which the operation has taken now".to_owned());
    }
    if did.get("changed").is_some() && !is_among("has", "output") {
        return Err("it changed the output, and now there is none".to_owned());
    }
    if let Some(refused) = did.get("refused").and_then(Value::as_str)
        && !is_among("refuses", refused)
        && did.get("output").is_none()
        && did.get("recover").is_none()
    {
        return Err("its answer was refused then, is not recorded, and would count now".to_owned());
    }
    Ok(())
}
