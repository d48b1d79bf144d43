//! One call of a remote handler.

use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::HookContext;
use hooks_runtime::json::Value;
use tokio::time::{Instant, sleep};

use super::entry::{RemoteEntry, Routing, Variant};
use super::reply::{self, Answered};
use crate::calls::{RemoteCall, RemoteCalls};
use crate::carrier::{CarrierError, Message};
use crate::failure::RemoteFailure;
use crate::fleet::Caller;
use crate::incoming::Incoming;
use crate::wire::{self, MAX_DEPTH, RefusalReason, Request, VERSION, header};

/// How much earlier than the registry a call gives up, at most: a tenth of its limit where that
/// is less. Many calls that end at once must all end before the registry looks.
const MARGIN: Duration = Duration::from_millis(500);

/// How long a second attempt waits.
const PAUSE: Duration = Duration::from_millis(20);

/// One call, whatever it takes.
struct Call<'c> {
    entry: &'c RemoteEntry,
    id: String,
    deadline: Instant,
    limit: Duration,
    depth: u32,
    calls: Option<&'c RemoteCalls>,
}

impl RemoteEntry {
    /// Asks the service, within the time that there is.
    pub(crate) async fn call(
        self: Arc<Self>,
        payload: Value,
        cx: &HookContext,
        merged: Value,
    ) -> Result<Value, RemoteFailure> {
        let limit = self.routing().limit;
        // A little earlier than the registry, so that the failure is the one that says what is
        // known of the handler.
        let own = Instant::now() + limit.saturating_sub((limit / 10).min(MARGIN));
        let outer = cx.get::<Incoming>();
        let call = Call {
            id: self.caller.next_call(),
            deadline: outer.map_or(own, |outer| outer.deadline.min(own)),
            limit,
            depth: outer.map_or(0, |outer| outer.depth + 1),
            calls: cx.get::<RemoteCalls>(),
            entry: &self,
        };
        if call.depth > MAX_DEPTH {
            let message = format!("fires are nested through {} processes", call.depth);
            return Err(call.refused(RefusalReason::TooDeep, message));
        }
        if self.durable { call.store(payload).await } else { call.ask(payload, merged).await }
    }
}

impl Call<'_> {
    fn caller(&self) -> &Caller {
        &self.entry.caller
    }

    fn refused(&self, why: RefusalReason, message: impl Into<String>) -> RemoteFailure {
        let service = self.entry.service.clone();
        RemoteFailure::Refused { service, why, message: message.into() }
    }

    fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    async fn ask(&self, payload: Value, merged: Value) -> Result<Value, RemoteFailure> {
        let mut attempt = 1;
        loop {
            let routing = self.entry.routing();
            let began = Instant::now();
            let answered = self.attempt(&routing, attempt, &payload, &merged).await;
            let failure = match answered {
                Ok(answered) => {
                    self.record(attempt, began, Ok(&answered));
                    return Ok(answered.answer);
                }
                Err(failure) => failure,
            };
            self.record(attempt, began, Err(&failure));
            let idempotent = routing.variants.iter().all(|it| it.idempotent);
            let is_known = !routing.variants.is_empty();
            if !is_known
                || attempt >= self.caller().options.attempts
                || !failure.may_be_retried(idempotent)
                || self.remaining() <= PAUSE
            {
                return Err(failure);
            }
            sleep(PAUSE * attempt).await;
            attempt += 1;
        }
    }

    /// One attempt, with whoever serves it now.
    async fn attempt(
        &self,
        routing: &Routing,
        attempt: u32,
        payload: &Value,
        merged: &Value,
    ) -> Result<Answered, RemoteFailure> {
        // Where nothing ran, the processes of another schema that fits may be there.
        let next = (attempt as usize - 1) % routing.variants.len().max(1);
        let variant = match (routing.variants.get(next), &routing.incompatible) {
            (Some(variant), _) => variant,
            (None, Some(why)) => return Err(self.refused(RefusalReason::Incompatible, why)),
            (None, None) => return Err(RemoteFailure::Absent { service: self.service() }),
        };
        let mut payload = payload.clone();
        let left_out = variant.fit.outward(&mut payload);
        let message = self.message(variant, attempt, payload, merged.clone())?;
        let mut cancel = Cancel { call: self, armed: true };
        let answered =
            self.caller().carrier.request(&variant.route, message, self.remaining()).await;
        // One that may still run is not waited for any more.
        cancel.armed = matches!(answered, Err(CarrierError::TimedOut | CarrierError::Lost));
        drop(cancel);
        let message = answered.map_err(|error| self.failure(error))?;
        reply::read(self.entry, variant, (&self.id, attempt), &message, left_out, self.deadline)
            .await
    }

    fn service(&self) -> String {
        self.entry.service.clone()
    }

    /// The request, if there is time and it is not too large.
    fn message(
        &self,
        variant: &Variant,
        attempt: u32,
        payload: Value,
        merged: Value,
    ) -> Result<Message, RemoteFailure> {
        let budget = self.remaining();
        let Ok(budget_ms @ 1..) = u64::try_from(budget.as_millis()) else {
            return Err(self.refused(RefusalReason::Expired, "no time was left to ask"));
        };
        let request = Request {
            v: VERSION,
            call: self.id.clone(),
            attempt,
            service: self.service(),
            handler: self.entry.handler.clone(),
            point: self.entry.point.to_owned(),
            model: self.entry.model.to_string(),
            schema: variant.route.schema.clone(),
            budget_ms,
            depth: self.depth,
            payload,
            merged,
        };
        let message = message(&request);
        let (size, limit) = (message.size(), self.caller().carrier.max_bytes());
        if size > limit { Err(RemoteFailure::TooLarge { size, limit }) } else { Ok(message) }
    }

    fn failure(&self, error: CarrierError) -> RemoteFailure {
        let service = self.service();
        match error {
            CarrierError::Absent => RemoteFailure::Absent { service },
            CarrierError::Unreachable => RemoteFailure::Unreachable { service },
            CarrierError::TimedOut => RemoteFailure::TimedOut { service, limit: self.limit },
            CarrierError::Lost => RemoteFailure::Lost { service },
            CarrierError::TooLarge { size, limit } => RemoteFailure::TooLarge { size, limit },
            CarrierError::Other(problem) => RemoteFailure::BadReply { service, problem },
        }
    }

    /// Hands the payload to the durable stream. It is written for the own schema: who handles
    /// it may not be there yet.
    async fn store(&self, payload: Value) -> Result<Value, RemoteFailure> {
        let began = Instant::now();
        let variant = Variant {
            route: wire::subject::Route {
                service: self.service(),
                point: self.entry.point.to_owned(),
                handler: self.entry.handler.clone(),
                schema: String::new(),
            },
            fit: crate::schema::Fit::default(),
            instances: std::collections::BTreeSet::new(),
            idempotent: true,
        };
        let message = self.message(&variant, 1, payload, Value::Null)?;
        let mut attempt = 1;
        loop {
            let carrier = &self.caller().carrier;
            let stored =
                carrier.store(&variant.route, &self.id, message.clone(), self.remaining()).await;
            let failure = match stored {
                Ok(()) => {
                    self.note(attempt, began, None, None, "stored");
                    return Ok(Value::Null);
                }
                Err(CarrierError::TooLarge { size, limit }) => {
                    RemoteFailure::TooLarge { size, limit }
                }
                Err(CarrierError::Unreachable) => {
                    RemoteFailure::Unreachable { service: self.service() }
                }
                Err(error) => {
                    RemoteFailure::NotStored { service: self.service(), problem: error.to_string() }
                }
            };
            self.note(attempt, began, None, None, failure.as_str());
            // The id makes a second one the first one: storing it again is always safe.
            let last = attempt >= self.caller().options.attempts || self.remaining() <= PAUSE;
            if last || matches!(failure, RemoteFailure::TooLarge { .. }) {
                return Err(failure);
            }
            sleep(PAUSE * attempt).await;
            attempt += 1;
        }
    }

    fn record(&self, attempt: u32, began: Instant, came: Result<&Answered, &RemoteFailure>) {
        match came {
            Ok(answered) => {
                let word = if answered.skipped { "skipped" } else { "answered" };
                let instance = Some(answered.instance.clone());
                self.note(attempt, began, instance, Some(answered.took), word);
            }
            Err(failure) => {
                let instance = match failure {
                    RemoteFailure::Failed { instance, .. } => Some(instance.clone()),
                    _ => None,
                };
                self.note(attempt, began, instance, None, failure.as_str());
            }
        }
    }

    fn note(
        &self,
        attempt: u32,
        began: Instant,
        instance: Option<String>,
        took: Option<Duration>,
        outcome: &'static str,
    ) {
        let observer = self.caller().options.observer.as_ref();
        if self.calls.is_none() && observer.is_none() {
            return;
        }
        let call = RemoteCall {
            point: self.entry.point,
            service: self.service(),
            handler: self.entry.handler.clone(),
            call: self.id.clone(),
            attempt,
            instance,
            round_trip: began.elapsed(),
            took,
            outcome,
        };
        if let Some(observer) = observer {
            observer(&call);
        }
        if let Some(calls) = self.calls {
            calls.push(call);
        }
    }
}

/// A request with the headers that repeat it.
pub(crate) fn message(request: &Request) -> Message {
    let headers = [
        (header::CALL, request.call.clone()),
        (header::POINT, request.point.clone()),
        (header::SCHEMA, request.schema.clone()),
        (header::ATTEMPT, request.attempt.to_string()),
        (header::BUDGET, request.budget_ms.to_string()),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value)).into();
    Message { headers, body: wire::write(request) }
}

/// A call that is under way. Dropped with its fire, it says so.
struct Cancel<'c> {
    call: &'c Call<'c>,
    armed: bool,
}

impl Drop for Cancel<'_> {
    fn drop(&mut self) {
        if self.armed {
            let Call { entry, id, .. } = self.call;
            entry.caller.carrier.cancel(&entry.service, id);
        }
    }
}
