//! Requests that come in, one task each.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::{Served, Server, answer};
use crate::carrier::{Inbound, Message, Requests};
use crate::incoming::Incoming;
use crate::log::logged;
use crate::presence::later;
use crate::wire::subject::Route;
use crate::wire::{
    self, MAX_DEPTH, RefusalReason, ReplyOutcome, ReplyRef, RequestRef, Unreadable, VERSION,
};

/// How much of a reason is sent where the whole is more than can be sent.
const LONGEST_REASON: usize = 1_024;

/// What the requests of one route share.
struct Taking {
    server: Arc<Server>,
    route: Route,
    entry: Served,
}

/// Serves the requests of one route until this process leaves.
pub(super) async fn serve(
    server: Arc<Server>,
    route: Route,
    mut requests: Box<dyn Requests>,
    mut leaving: watch::Receiver<bool>,
) {
    let linger = server.caller.options.linger;
    let entry = server.handlers[&route].clone();
    let taking = Arc::new(Taking { server, route, entry });
    let left = async {
        let _ = leaving.wait_for(|leaving| *leaving).await;
        sleep(linger).await;
    };
    let mut left = std::pin::pin!(left);
    loop {
        tokio::select! {
            () = &mut left => break,
            inbound = requests.next() => match inbound {
                Some(inbound) => accept(&taking, inbound),
                None => return,
            },
        }
    }
    requests.drain().await;
    while let Some(inbound) = requests.next().await {
        accept(&taking, inbound);
    }
}

/// Starts a call, where one more may run.
fn accept(taking: &Arc<Taking>, inbound: Inbound) {
    let received = Instant::now();
    let permit = Arc::clone(&taking.server.permits).try_acquire_owned();
    let taking = Arc::clone(taking);
    tokio::spawn(async move {
        let Inbound { message, reply } = inbound;
        let written = handle(&taking, &message, received, permit.is_ok()).await;
        if let Err(error) = reply(written).await {
            logged(|| tracing::warn!(%error, "a reply could not be sent"));
        }
        // Whoever leaves waits for the reply too.
        drop(permit);
    });
}

/// The reply to one request.
async fn handle(
    taking: &Taking,
    message: &Message,
    received: Instant,
    has_permit: bool,
) -> Message {
    let server = &*taking.server;
    let request = match read(message) {
        Ok(request) => request,
        Err(Unreadable(problem)) => {
            // Who asks cannot be known: the reply says what can be.
            let unknown = ("", 0, "");
            let outcome = refused(RefusalReason::Malformed, problem);
            return reply(server, unknown, received, &outcome);
        }
    };
    let about = (&*request.call, request.attempt, &*request.schema);
    let outcome = match check(taking, &request, has_permit) {
        Err(outcome) => outcome,
        Ok(entry) => run(server, entry, &request, received).await,
    };
    let written = reply(server, about, received, &outcome);
    let (size, limit) = (written.size(), server.caller.carrier.max_bytes());
    if size <= limit {
        return written;
    }
    if let Some(rejected) = shortened(&outcome, limit) {
        let written = reply(server, about, received, &rejected);
        if written.size() <= limit {
            return written;
        }
    }
    let message = format!("its answer has {size} bytes, {limit} can be sent");
    let failed = ReplyOutcome::Failed { cause: "too_large".to_owned(), message };
    reply(server, about, received, &failed)
}

/// A rejection with less of its reason, where that is a text: a no is never lost for its length.
fn shortened(outcome: &ReplyOutcome, limit: usize) -> Option<ReplyOutcome> {
    let ReplyOutcome::Answer { answer } = outcome else { return None };
    let reason = answer.get("reason")?.as_str()?;
    let kept = &reason[..reason.floor_char_boundary(LONGEST_REASON.min(limit / 16))];
    let mut answer = answer.clone();
    answer["reason"] = Value::String(format!("{kept}… ({} bytes)", reason.len()));
    Some(ReplyOutcome::Answer { answer })
}

/// Reads a request. A header that contradicts the body was not written by who wrote that.
pub(super) fn read(message: &Message) -> Result<RequestRef<'_>, Unreadable> {
    let request: RequestRef<'_> = wire::read(&message.body)?;
    let contradicts = |(name, value): &&(String, String)| !request.agrees_with(name, value);
    if let Some((name, _)) = message.headers.iter().find(contradicts) {
        return Err(Unreadable(format!("its header `{name}` contradicts its body")));
    }
    Ok(request)
}

/// Finds the handler, or says why nothing runs.
fn check<'s>(
    taking: &'s Taking,
    request: &RequestRef<'_>,
    has_permit: bool,
) -> Result<&'s Served, ReplyOutcome> {
    let server = &*taking.server;
    let RequestRef { point, handler, schema, .. } = request;
    let own = server.announcement.points.get(&**point).map(|point| &point.schema);
    let why = if own.is_some_and(|own| own != &**schema) {
        let message = format!("the payload is written for schema `{schema}` of `{point}`");
        (RefusalReason::Incompatible, message)
    } else if request.depth > MAX_DEPTH {
        (RefusalReason::TooDeep, format!("fires are nested through {} processes", request.depth))
    } else if request.budget_ms == 0 {
        (RefusalReason::Expired, "no time is left".to_owned())
    } else if !has_permit {
        (RefusalReason::Overloaded, "as many calls as it takes are under way".to_owned())
    } else if let Some(entry) = asked(taking, request) {
        let model = &server.announcement.points[&**point].model;
        if **model == *request.model {
            return Ok(entry);
        }
        (RefusalReason::Malformed, format!("`{point}` is a {model} point"))
    } else {
        (RefusalReason::UnknownHandler, format!("it has no handler `{handler}` at `{point}`"))
    };
    Err(refused(why.0, why.1))
}

/// The handler that a request names: as a rule that of the route by which it came.
fn asked<'s>(taking: &'s Taking, request: &RequestRef<'_>) -> Option<&'s Served> {
    let Taking { server, route, entry } = taking;
    let RequestRef { service, point, handler, schema, .. } = request;
    if (&**service, &**point, &**handler, &**schema)
        == (&*route.service, &*route.point, &*route.handler, &*route.schema)
    {
        return Some(entry);
    }
    let [service, point, handler, schema] =
        [service, point, handler, schema].map(ToString::to_string);
    server.handlers.get(&Route { service, point, handler, schema })
}

/// Calls the handler, until it has answered, the time is over, or the call is cancelled.
async fn run(
    server: &Server,
    entry: &Served,
    request: &RequestRef<'_>,
    received: Instant,
) -> ReplyOutcome {
    let deadline = later(received, Duration::from_millis(request.budget_ms));
    if Instant::now() >= deadline {
        return refused(RefusalReason::Expired, "its time was over before it began");
    }
    let incoming = Incoming {
        call: request.call.to_string(),
        attempt: request.attempt,
        deadline,
        depth: request.depth,
    };
    let attempt = wire::cancellation(&request.call, request.attempt);
    let (_under_way, cancelled) = match server.cancels.enter(attempt) {
        Ok(entered) => entered,
        Err(outcome) => return outcome,
    };
    tokio::select! {
        // An answer that is there counts, also where the time is over at the same instant.
        biased;
        outcome = answer::ask(server, entry, request, incoming) => outcome,
        () = sleep_until(deadline) => ReplyOutcome::Failed {
            cause: "timeout".to_owned(),
            message: format!("it had no answer within {} ms", request.budget_ms),
        },
        why = cancelled => ReplyOutcome::Failed {
            cause: "cancelled".to_owned(),
            message: why.unwrap_or("the call was cancelled").to_owned(),
        },
    }
}

pub(super) fn refused(why: RefusalReason, message: impl Into<String>) -> ReplyOutcome {
    ReplyOutcome::Refused { why, message: message.into() }
}

fn reply(
    server: &Server,
    (call, attempt, schema): (&str, u32, &str),
    received: Instant,
    outcome: &ReplyOutcome,
) -> Message {
    let reply = ReplyRef {
        v: VERSION,
        call: call.into(),
        attempt,
        instance: (&*server.announcement.instance).into(),
        schema: schema.into(),
        took_us: u64::try_from(received.elapsed().as_micros()).unwrap_or(u64::MAX),
        outcome: Cow::Borrowed(outcome),
    };
    Message { headers: Vec::new(), body: wire::write(&reply) }
}
