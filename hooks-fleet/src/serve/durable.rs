//! Durable deliveries: handled until they are settled.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::request::{read, refused};
use super::{Server, answer};
use crate::carrier::{Deliveries, Delivery, Message, Settled};
use crate::incoming::Incoming;
use crate::log::logged;
use crate::presence::later;
use crate::wire::subject::Route;
use crate::wire::{MAX_DEPTH, RefusalReason, ReplyOutcome};

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
        let outcome = handle(&server, &route, &message, attempt).await;
        drop(permit);
        let settled = settled(&server, attempt, outcome);
        if let Err(error) = settle(settled).await {
            logged(
                || tracing::warn!(%error, "a delivery could not be settled, and will come again"),
            );
        }
    }
}

/// What came of one delivery, in the time that its handler has: one that never ended would
/// keep all that follow it.
async fn handle(server: &Server, route: &Route, message: &Message, attempt: u32) -> ReplyOutcome {
    let request = match read(message) {
        Ok(request) => request,
        Err(error) => return refused(RefusalReason::Malformed, error.to_string()),
    };
    let said = (&*request.service, &*request.point, &*request.handler);
    if said != (&*route.service, &*route.point, &*route.handler) {
        return refused(RefusalReason::Malformed, "it is for another handler");
    }
    if request.depth > MAX_DEPTH {
        let message = format!("fires are nested through {} processes", request.depth);
        return refused(RefusalReason::TooDeep, message);
    }
    let entry = &server.handlers[route];
    let limit = entry.timeout.unwrap_or(server.caller.options.timeout);
    let deadline = later(Instant::now(), limit);
    let incoming =
        Incoming { call: request.call.to_string(), attempt, deadline, depth: request.depth };
    let asked = timeout_at(deadline, answer::ask(server, entry, &request, incoming)).await;
    asked.unwrap_or_else(|_| ReplyOutcome::Failed {
        cause: "timeout".to_owned(),
        message: format!("it did not finish within {limit:?}"),
    })
}

fn settled(server: &Server, attempt: u32, outcome: ReplyOutcome) -> Settled {
    let options = &server.caller.options;
    let (why, is_final) = match outcome {
        ReplyOutcome::Answer { .. } | ReplyOutcome::Skipped { .. } => return Settled::Done,
        ReplyOutcome::Failed { cause, message } => (format!("{cause}: {message}"), false),
        // What cannot be read now cannot be read later; what does not fit this process may fit
        // one of another version.
        ReplyOutcome::Refused { why, message } => {
            let is_final = matches!(why, RefusalReason::Malformed | RefusalReason::TooDeep);
            (format!("{}: {message}", why.as_str()), is_final)
        }
    };
    if is_final || attempt >= options.deliveries {
        Settled::Dead(why)
    } else {
        Settled::Again(options.back_off(attempt))
    }
}
