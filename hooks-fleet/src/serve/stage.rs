//! One handler of a stage, asked for a run of another process.

use hooks_runtime::ScopedHooks;

use super::answer::{discard, failed, not_called, row_of, unknown, without_effect};
use super::{Served, Server};
use crate::wire::{ReplyOutcome, RequestRef};

pub(super) async fn ask(
    server: &Server,
    entry: &Served,
    request: &RequestRef<'_>,
    hooks: &ScopedHooks,
) -> ReplyOutcome {
    let run = request.payload.get();
    let json = hooks.json(&server.caller.options.catalogue).max_bytes(run.len());
    let (answer, report) = json.fire_stage(entry.point, run).await;
    let row = report.as_ref().and_then(|report| row_of(report, entry));
    if let Some(outcome) = row.and_then(|row| without_effect(row).ok()) {
        discard(answer);
        return outcome;
    }
    match (row, answer) {
        (Some(_), Ok(answer)) => ReplyOutcome::Answer { answer },
        (Some(_), Err(error)) => failed(error),
        (None, Err(error)) => not_called(error),
        (None, Ok(_)) => unknown(entry),
    }
}
