//! Durable deliveries: handled until they are settled.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::Instant;

use super::request::read;
use super::{Server, answer};
use crate::carrier::{Deliveries, Delivery, Settled};
use crate::incoming::Incoming;
use crate::wire::subject::Route;
use crate::wire::{RefusalReason, ReplyOutcome};

/// Handles the deliveries of one route, one after another, until this process leaves. One that
/// is under way then ends first.
pub(super) async fn consume(
    server: Arc<Server>,
    route: Route,
    mut deliveries: Box<dyn Deliveries>,
    mut leaving: watch::Receiver<bool>,
) {
    loop {
        let delivery = tokio::select! {
            _ = leaving.wait_for(|leaving| *leaving) => return,
            delivery = deliveries.next() => delivery,
        };
        let Some(Delivery { message, attempt, settle }) = delivery else { return };
        // Deliveries wait where calls are refused.
        let Ok(permit) = server.permits.acquire().await else { return };
        let outcome = match read(&message) {
            Ok(request) => {
                let incoming = Incoming {
                    call: request.call.clone(),
                    attempt,
                    // Nobody waits for it: the handler has the time of its own limit.
                    deadline: Instant::now() + server.caller.options.timeout,
                    depth: request.depth,
                };
                let entry = &server.handlers[&route];
                answer::ask(&server, entry, &request, incoming).await
            }
            Err(error) => {
                ReplyOutcome::Refused { why: RefusalReason::Malformed, message: error.to_string() }
            }
        };
        drop(permit);
        let settled = settled(&server, attempt, outcome);
        if let Err(error) = settle(settled).await {
            tracing::warn!(%error, "a delivery could not be settled, and will come again");
        }
    }
}

fn settled(server: &Server, attempt: u32, outcome: ReplyOutcome) -> Settled {
    let options = &server.caller.options;
    let (why, is_final) = match outcome {
        ReplyOutcome::Answer { .. } | ReplyOutcome::Skipped { .. } => return Settled::Done,
        ReplyOutcome::Failed { cause, message } => (format!("{cause}: {message}"), false),
        // What does not fit now does not fit later.
        ReplyOutcome::Refused { why, message } => {
            let is_final = matches!(why, RefusalReason::Incompatible | RefusalReason::Malformed);
            (format!("{}: {message}", why.as_str()), is_final)
        }
    };
    if is_final || attempt >= options.deliveries {
        Settled::Dead(why)
    } else {
        Settled::Again(options.back_off(attempt))
    }
}
