//! Requests that come in, one task each.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::{Served, Server, answer};
use crate::carrier::{Cancellations, Inbound, Message, Requests};
use crate::incoming::Incoming;
use crate::wire::subject::Route;
use crate::wire::{
    self, MAX_DEPTH, RefusalReason, Reply, ReplyOutcome, Request, Unreadable, VERSION, header,
};

/// Serves the requests of one route until this process leaves.
pub(super) async fn serve(
    server: Arc<Server>,
    mut requests: Box<dyn Requests>,
    mut leaving: watch::Receiver<bool>,
) {
    let linger = server.caller.options.linger;
    let left = async {
        let _ = leaving.wait_for(|leaving| *leaving).await;
        sleep(linger).await;
    };
    let mut left = std::pin::pin!(left);
    loop {
        tokio::select! {
            () = &mut left => break,
            inbound = requests.next() => match inbound {
                Some(inbound) => accept(&server, inbound),
                None => return,
            },
        }
    }
    requests.drain().await;
    while let Some(inbound) = requests.next().await {
        accept(&server, inbound);
    }
}

/// Starts a call, where one more may run.
fn accept(server: &Arc<Server>, inbound: Inbound) {
    let received = Instant::now();
    let (server, permit) = (Arc::clone(server), Arc::clone(&server.permits).try_acquire_owned());
    tokio::spawn(async move {
        let Inbound { message, reply } = inbound;
        let written = handle(&server, &message, received, permit.ok()).await;
        if let Err(error) = reply(written).await {
            tracing::warn!(%error, "a reply could not be sent");
        }
    });
}

/// The reply to one request.
async fn handle(
    server: &Server,
    message: &Message,
    received: Instant,
    permit: Option<OwnedSemaphorePermit>,
) -> Message {
    let request = match read(message) {
        Ok(request) => request,
        Err(Unreadable(problem)) => {
            // Who asks cannot be known: the reply says what can be.
            let nobody = ("", 0, "");
            return reply(server, nobody, received, refused(RefusalReason::Malformed, problem));
        }
    };
    let about = (&*request.call, request.attempt, &*request.schema);
    let outcome = match check(server, &request, permit.is_some()) {
        Err(outcome) => outcome,
        Ok(entry) => run(server, entry, &request, received).await,
    };
    drop(permit);
    let written = reply(server, about, received, outcome);
    let (size, limit) = (written.size(), server.caller.carrier.max_bytes());
    if size <= limit {
        return written;
    }
    let message = format!("its answer has {size} bytes, {limit} can be sent");
    let failed = ReplyOutcome::Failed { cause: "too_large".to_owned(), message };
    reply(server, about, received, failed)
}

/// Reads a request. A header that contradicts the body was not written by who wrote that.
pub(super) fn read(message: &Message) -> Result<Request, Unreadable> {
    let request: Request = wire::read(&message.body)?;
    let said = [
        (header::CALL, request.call.clone()),
        (header::POINT, request.point.clone()),
        (header::SCHEMA, request.schema.clone()),
        (header::ATTEMPT, request.attempt.to_string()),
        (header::BUDGET, request.budget_ms.to_string()),
    ];
    for (name, value) in said {
        if message.header(name).is_some_and(|header| header != value) {
            return Err(Unreadable(format!("its header `{name}` contradicts its body")));
        }
    }
    Ok(request)
}

/// Finds the handler, or says why nothing runs.
fn check<'s>(
    server: &'s Server,
    request: &Request,
    has_permit: bool,
) -> Result<&'s Served, ReplyOutcome> {
    let Request { service, point, handler, schema, .. } = request;
    let route = Route {
        service: service.clone(),
        point: point.clone(),
        handler: handler.clone(),
        schema: schema.clone(),
    };
    let own = server.announcement.points.get(point).map(|point| &point.schema);
    let why = if own.is_some_and(|own| own != schema) {
        let message = format!("the payload is written for schema `{schema}` of `{point}`");
        (RefusalReason::Incompatible, message)
    } else if request.depth > MAX_DEPTH {
        (RefusalReason::TooDeep, format!("fires are nested through {} processes", request.depth))
    } else if request.budget_ms == 0 {
        (RefusalReason::Expired, "no time is left".to_owned())
    } else if !has_permit {
        (RefusalReason::Overloaded, "as many calls as it takes are under way".to_owned())
    } else if let Some(entry) = server.handlers.get(&route) {
        return Ok(entry);
    } else {
        (RefusalReason::UnknownHandler, format!("it has no handler `{handler}` at `{point}`"))
    };
    Err(refused(why.0, why.1))
}

/// Calls the handler, until it has answered, the time is over, or nobody waits any more.
async fn run(
    server: &Server,
    entry: &Served,
    request: &Request,
    received: Instant,
) -> ReplyOutcome {
    let deadline = received + Duration::from_millis(request.budget_ms);
    if Instant::now() >= deadline {
        return refused(RefusalReason::Expired, "its time was over before it began");
    }
    let incoming = Incoming {
        call: request.call.clone(),
        attempt: request.attempt,
        deadline,
        depth: request.depth,
    };
    let (cancel, cancelled) = oneshot::channel();
    let _cancelling = Cancelling::enter(server, &request.call, cancel);
    tokio::select! {
        outcome = answer::ask(server, entry, request, incoming) => outcome,
        () = sleep_until(deadline) => ReplyOutcome::Failed {
            cause: "timeout".to_owned(),
            message: format!("it had no answer within {} ms", request.budget_ms),
        },
        // The sender is dropped only where another attempt of the call has come here.
        _ = cancelled => ReplyOutcome::Failed {
            cause: "cancelled".to_owned(),
            message: "nobody waits for the answer any more".to_owned(),
        },
    }
}

/// A call that can be cancelled, as long as it runs.
struct Cancelling<'s> {
    server: &'s Server,
    call: &'s str,
}

impl<'s> Cancelling<'s> {
    fn enter(server: &'s Server, call: &'s str, cancel: oneshot::Sender<()>) -> Self {
        server.cancels().insert(call.to_owned(), cancel);
        Self { server, call }
    }
}

impl Drop for Cancelling<'_> {
    fn drop(&mut self) {
        self.server.cancels().remove(self.call);
    }
}

/// Ends calls for which nobody waits any more.
pub(super) async fn follow_cancellations(
    server: Arc<Server>,
    mut cancellations: Box<dyn Cancellations>,
) {
    while let Some(call) = cancellations.next().await {
        if let Some(cancel) = server.cancels().remove(&call) {
            let _ = cancel.send(());
        }
    }
}

pub(super) fn refused(why: RefusalReason, message: impl Into<String>) -> ReplyOutcome {
    ReplyOutcome::Refused { why, message: message.into() }
}

fn reply(
    server: &Server,
    (call, attempt, schema): (&str, u32, &str),
    received: Instant,
    outcome: ReplyOutcome,
) -> Message {
    let reply = Reply {
        v: VERSION,
        call: call.to_owned(),
        attempt,
        instance: server.caller.instance.clone(),
        schema: schema.to_owned(),
        took_us: u64::try_from(received.elapsed().as_micros()).unwrap_or(u64::MAX),
        outcome,
    };
    Message { headers: Vec::new(), body: wire::write(&reply) }
}
