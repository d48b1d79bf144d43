//! One handler of the registry, asked for another process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;
use hooks_runtime::error::FireError;
use hooks_runtime::json::{JsonError, Outcome, Value, json};
use hooks_runtime::point::ModelKind;
use hooks_runtime::report::{Contribution, FireReport, HandlerReport, HandlerStatus, SkipReason};
use hooks_runtime::{Claim, Gate};

use super::request::refused;
use super::{Served, Server, stage};
use crate::incoming::Incoming;
use crate::log::logged;
use crate::wire::{RefusalReason, ReplyOutcome, RequestRef, SkippedReason};

/// Asks it, with all that holds for a handler of its registry. What breaks beside that is a
/// failure of it.
pub(super) async fn ask(
    server: &Server,
    entry: &Served,
    request: &RequestRef<'_>,
    incoming: Incoming,
) -> ReplyOutcome {
    let asked = AssertUnwindSafe(asked(server, entry, request, incoming)).catch_unwind();
    asked.await.unwrap_or_else(|panic| {
        // What it carries may break when it is dropped.
        std::mem::forget(panic);
        let message = "it panicked while it ended".to_owned();
        ReplyOutcome::Failed { cause: "panic".to_owned(), message }
    })
}

async fn asked(
    server: &Server,
    entry: &Served,
    request: &RequestRef<'_>,
    incoming: Incoming,
) -> ReplyOutcome {
    let hooks = server.hooks.only_handler(&entry.owner, &entry.name).with(incoming);
    let hooks = match server.caller.options.values.scoped(&hooks, request) {
        Ok(hooks) => hooks,
        Err(why) => return refused(RefusalReason::Malformed, why),
    };
    if entry.model == ModelKind::Stage {
        return stage::ask(server, entry, request, &hooks).await;
    }
    let catalogue = &server.caller.options.catalogue;
    let payload = request.payload.get();
    // Its size was checked by the carrier already.
    let json = hooks.json(catalogue).max_bytes(payload.len());
    let (outcome, report) = json.fire_reported(entry.point, payload).await;
    let row = report.as_ref().and_then(|report| row_of(report, entry));
    match (row, outcome) {
        (Some(row), outcome) => settled(entry.model, row, outcome),
        (None, Err(error)) => not_called(error),
        (None, Ok(_)) => unknown(entry),
    }
}

/// The row of the handler.
pub(super) fn row_of<'r>(report: &'r FireReport, entry: &Served) -> Option<&'r HandlerReport> {
    let is_it = |row: &&HandlerReport| row.handler() == &*entry.name && *row.owner() == entry.owner;
    report.handlers().iter().find(is_it)
}

/// The handler was not called, nor could it be.
pub(super) fn not_called(error: JsonError) -> ReplyOutcome {
    let why = match &error {
        JsonError::Fire(FireError::Nesting(_)) => RefusalReason::TooDeep,
        // What does not fit the type was written for another one.
        JsonError::Mismatch(_) => RefusalReason::Incompatible,
        _ => RefusalReason::Malformed,
    };
    let refused = refused(why, error.to_string());
    discard(error);
    refused
}

/// Drops what may hold an error of the handler: its panic is no part of what is known by then.
pub(super) fn discard<T>(held: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(held))) {
        std::mem::forget(panic);
        logged(|| tracing::error!("an error of a handler panicked when it was dropped"));
    }
}

pub(super) fn unknown(entry: &Served) -> ReplyOutcome {
    let message = format!("it has no handler `{}` at `{}` any more", entry.name, entry.point);
    refused(RefusalReason::UnknownHandler, message)
}

/// It has answered, and the answer cannot be passed on.
pub(super) fn failed(error: JsonError) -> ReplyOutcome {
    let message = error.to_string();
    discard(error);
    ReplyOutcome::Failed { cause: "error".to_owned(), message }
}

/// What is said of a handler that did not run to its end with an effect; `Err` with what it
/// contributed where it did.
pub(super) fn without_effect(row: &HandlerReport) -> Result<ReplyOutcome, &Contribution> {
    let skipped = |reason| Ok(ReplyOutcome::Skipped { reason });
    let failed = |cause: &str, message: &str| {
        Ok(ReplyOutcome::Failed { cause: cause.to_owned(), message: message.to_owned() })
    };
    match row.status() {
        HandlerStatus::Ran(contribution) => Err(contribution),
        HandlerStatus::Failed { kind, message, .. } => failed(kind, message),
        HandlerStatus::Shadowed { .. } | HandlerStatus::ShadowFailed { .. } => {
            skipped(SkippedReason::Shadow)
        }
        HandlerStatus::Filtered(reason) => match reason {
            SkipReason::Condition => skipped(SkippedReason::Condition),
            SkipReason::Once => skipped(SkippedReason::Once),
            SkipReason::Disabled => skipped(SkippedReason::Disabled),
            SkipReason::SampledOut => skipped(SkippedReason::SampledOut),
            SkipReason::Target => skipped(SkippedReason::Target),
            other => Ok(refused(
                RefusalReason::UnknownHandler,
                format!("it could not be called: {}", other.as_str()),
            )),
        },
        other => failed("error", &other.to_string()),
    }
}

/// What the handler answered, from what its fire came to.
fn settled(
    model: ModelKind,
    row: &HandlerReport,
    outcome: Result<Outcome, JsonError>,
) -> ReplyOutcome {
    let contribution = match without_effect(row) {
        Ok(known) => {
            discard(outcome);
            return known;
        }
        Err(contribution) => contribution,
    };
    let answer = match (model, outcome) {
        (_, Err(error)) => {
            return failed(error);
        }
        (_, Ok(Outcome::Gate(Gate::Rejected(rejection)))) => {
            json!({"verdict": "reject", "reason": rejection.reason().json()})
        }
        (_, Ok(Outcome::Gate(Gate::Passed(payload)))) => match contribution {
            Contribution::Replaced => json!({"verdict": "replace", "payload": payload}),
            _ => json!({"verdict": "pass"}),
        },
        (_, Ok(Outcome::Claim(Claim::Claimed(claim)))) => claim,
        (_, Ok(Outcome::Claim(Claim::Unclaimed))) => json!({"handled": false}),
        (_, Ok(Outcome::Result(result))) => match contribution {
            Contribution::Nothing => Value::Null,
            _ => result,
        },
        (_, Ok(_)) => Value::Null,
    };
    ReplyOutcome::Answer { answer }
}
