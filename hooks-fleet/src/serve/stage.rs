//! One handler of a stage, asked for a run of another process.
//!
//! A run of the flow is made here for that handler alone. Its operation is elsewhere: what it
//! would be given is what the handler made of the input.

use std::sync::{Arc, Mutex, PoisonError};

use hooks_runtime::flow::StageKind;
use hooks_runtime::json::Value;
use hooks_runtime::report::Contribution;
use serde_json::Map;

use super::answer::{not_called, row_of, unknown, without_effect};
use super::request::refused;
use super::{Served, Server};
use crate::incoming::Incoming;
use crate::wire::{RefusalReason, ReplyOutcome, Request};

/// After the operation the input is gone, without which no run can be made.
pub(super) fn can_be_served(stage: StageKind) -> bool {
    matches!(
        stage,
        StageKind::BeforeValidation | StageKind::AfterValidation | StageKind::BeforeExecute
    )
}

pub(super) async fn ask(
    server: &Server,
    entry: &Served,
    (flow, kind): (&'static str, StageKind),
    request: &Request,
    incoming: Incoming,
) -> ReplyOutcome {
    let Some(input) = request.payload.get("input") else {
        return refused(RefusalReason::Malformed, format!("`{}` needs its input", entry.point));
    };
    let hooks = server.hooks.only_handler(&entry.owner, &entry.name).with(incoming);
    let text = input.to_string();
    let json = hooks.json(&server.caller.options.catalogue).max_bytes(text.len());
    let run = match json.flow(flow) {
        Ok(run) => run,
        Err(error) => return not_called(&error),
    };
    let given = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&given);
    let operation = move |input: Value| async move {
        *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(input);
        Err::<Value, _>("the operation is elsewhere")
    };
    let (output, report) = run.run_reported(text, operation).await;
    let stage = report
        .as_ref()
        .and_then(|report| report.stages().iter().find(|stage| stage.stage() == Some(kind)));
    let Some(row) = stage.and_then(|stage| row_of(stage, entry)) else {
        return output
            .as_ref()
            .err()
            .filter(|_| report.is_none())
            .map_or_else(|| unknown(entry), not_called);
    };
    let contribution = match without_effect(row) {
        Ok(outcome) => return outcome,
        Err(contribution) => contribution,
    };
    let mut answer = Map::new();
    let given = given.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (given, output) {
        (Some(given), _) if given != *input => drop(answer.insert("input".to_owned(), given)),
        (None, Ok(output)) => drop(answer.insert("output".to_owned(), output)),
        _ => {}
    }
    match contribution {
        Contribution::Skipped => drop(answer.insert("skip".to_owned(), Value::Bool(true))),
        Contribution::Aborted(reason) => {
            answer.insert("abort".to_owned(), Value::String(reason.clone()));
        }
        _ => {}
    }
    let answer = if answer.is_empty() { Value::Null } else { Value::Object(answer) };
    ReplyOutcome::Answer { answer }
}
