//! One call of a remote handler.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::HookContext;
use hooks_runtime::json::Value;
use serde_json::value::to_raw_value;
use tokio::time::{Instant, sleep};

use super::entry::{RemoteEntry, Routing, Variant};
use super::reply::{self, Answered};
use crate::calls::{RemoteCall, note};
use crate::carrier::{CarrierError, Message};
use crate::failure::RemoteFailure;
use crate::fleet::Caller;
use crate::incoming::Incoming;
use crate::log::logged;
use crate::presence::later;
use crate::trace::TraceContext;
use crate::wire::{self, MAX_DEPTH, RefusalReason, RequestRef, VERSION};

/// How much earlier than the registry a call gives up, at most: a tenth of its time where that
/// is less. Many calls that end at once must all end before the registry looks.
const MARGIN: Duration = Duration::from_millis(500);

/// How long a second attempt waits; a later one does so longer.
const PAUSE: Duration = Duration::from_millis(20);

/// One call, whatever it takes.
struct Call<'c> {
    entry: &'c RemoteEntry,
    id: String,
    deadline: Instant,
    limit: Duration,
    depth: u32,
    cx: &'c HookContext,
}

impl RemoteEntry {
    /// Asks the service, within the time that there is.
    pub(crate) async fn call(
        self: Arc<Self>,
        payload: Value,
        cx: &HookContext,
        merged: Value,
    ) -> Result<Value, RemoteFailure> {
        // Also a shorter one that an operator has set.
        let limit = cx.time_limit().unwrap_or(self.caller.options.timeout);
        let outer = cx.get::<Incoming>();
        // A little earlier than the registry, and than the process that asked this one, so that
        // the failure is the one that says what is known of the handler.
        let left = outer.map_or(limit, |outer| outer.remaining().min(limit));
        let deadline = later(Instant::now(), left.saturating_sub((left / 10).min(MARGIN)));
        let call = Call {
            id: self.caller.next_call(),
            deadline,
            limit,
            depth: outer.map_or(0, |outer| outer.depth.saturating_add(1)),
            cx,
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

    /// Waits before the next attempt, unless no time would be left for it: the failure that is
    /// known says more than that.
    async fn pause(&self, attempt: u32) -> bool {
        let pause = PAUSE.saturating_mul(attempt);
        let is_time = self.remaining() > pause.saturating_add(Duration::from_millis(1));
        if is_time {
            sleep(pause).await;
        }
        is_time
    }

    async fn ask(&self, payload: Value, merged: Value) -> Result<Value, RemoteFailure> {
        let mut attempt = 1;
        loop {
            let routing = self.entry.routing();
            let began = Instant::now();
            let mut ends = Ends { call: self, attempt, began, ended: false };
            let answered = self.attempt(&routing, attempt, &payload, &merged).await;
            ends.ended = true;
            drop(ends);
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
                || !self.pause(attempt).await
            {
                return Err(failure);
            }
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
            (None, None) if routing.is_closed => {
                return Err(RemoteFailure::Unreachable { service: self.service() });
            }
            (None, None) => return Err(RemoteFailure::Absent { service: self.service() }),
        };
        let (payload, left_out) = variant.fit.outward(payload);
        let message = self.message(variant, attempt, &payload, merged)?;
        let mut cancel = Cancel { call: self, attempt, armed: true };
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
        payload: &Value,
        merged: &Value,
    ) -> Result<Message, RemoteFailure> {
        let budget = self.remaining();
        let budget_ms = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
        if budget_ms == 0 {
            return Err(self.refused(RefusalReason::Expired, "no time was left to ask"));
        }
        let (trace, values) =
            (self.cx.get::<TraceContext>(), self.caller().options.values.written(self.cx));
        let values = values.map_err(|why| self.refused(RefusalReason::Malformed, why))?;
        let entry = self.entry;
        let text = |value: &Value| to_raw_value(value).expect("a JSON value is JSON");
        let (payload, merged) = (text(payload), (!merged.is_null()).then(|| text(merged)));
        let request = RequestRef {
            v: VERSION,
            call: (&*self.id).into(),
            attempt,
            service: (&*entry.service).into(),
            handler: (&*entry.handler).into(),
            point: entry.point.into(),
            model: (&*entry.model_name).into(),
            schema: (&*variant.route.schema).into(),
            budget_ms,
            depth: self.depth,
            payload: &payload,
            traceparent: trace.map(|trace| trace.traceparent().into()),
            tracestate: trace.and_then(TraceContext::tracestate).map(Into::into),
            values,
            merged: merged.as_deref(),
        };
        // What is stored is also read where it is kept.
        let headers = request.headers(entry.durable || self.caller().options.headers);
        let message = Message { headers, body: wire::write(&request) };
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
            fit: Arc::default(),
            instances: std::collections::BTreeSet::new(),
            idempotent: true,
        };
        let message = self.message(&variant, 1, &payload, &Value::Null)?;
        let mut attempt = 1;
        loop {
            let carrier = &self.caller().carrier;
            let mut ends = Ends { call: self, attempt, began, ended: false };
            let stored =
                carrier.store(&variant.route, &self.id, message.clone(), self.remaining()).await;
            ends.ended = true;
            drop(ends);
            let failure = match stored {
                Ok(()) => {
                    self.ended(attempt, began, None, None, ("stored", "stored"));
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
            self.ended(attempt, began, None, None, (failure.as_str(), failure.as_str()));
            // The id makes a second one the first one: storing it again is always safe.
            let is_last = attempt >= self.caller().options.attempts
                || matches!(failure, RemoteFailure::TooLarge { .. });
            if is_last || !self.pause(attempt).await {
                return Err(failure);
            }
            attempt += 1;
        }
    }

    fn record(&self, attempt: u32, began: Instant, came: Result<&Answered, &RemoteFailure>) {
        match came {
            Ok(answered) => {
                let skipped = answered.skipped.map(|why| format!("skipped ({})", why.as_str()));
                let outcome = match &skipped {
                    Some(why) => ("skipped", &**why),
                    None => ("answered", "answered"),
                };
                self.ended(attempt, began, Some(&answered.instance), Some(answered.took), outcome);
            }
            Err(failure) => {
                let instance = match failure {
                    RemoteFailure::Failed { instance, .. } => Some(&**instance),
                    _ => None,
                };
                self.ended(attempt, began, instance, None, (failure.as_str(), failure.as_str()));
            }
        }
    }

    /// Notes how an attempt ended, in the row of the report and for the host's observer: its
    /// outcome by one word, and as it is noted. Only the last attempt knows a process.
    fn ended(
        &self,
        attempt: u32,
        began: Instant,
        instance: Option<&str>,
        took: Option<Duration>,
        (outcome, noted): (&'static str, &str),
    ) {
        let round_trip = began.elapsed();
        if let Some(instance) = instance {
            self.cx.note(note::PROCESS, instance);
        }
        self.cx.note(note::ATTEMPT, Text(attempt));
        self.cx.note(note::ROUND_TRIP, Text(format_args!("{round_trip:.1?}")));
        self.cx.note(note::OUTCOME, noted);
        self.observe(attempt, round_trip, instance, took, outcome);
    }

    /// Tells the host's observer of an attempt that has ended.
    fn observe(
        &self,
        attempt: u32,
        round_trip: Duration,
        instance: Option<&str>,
        took: Option<Duration>,
        outcome: &'static str,
    ) {
        let Some(observer) = self.caller().options.observer.as_ref() else { return };
        let call = RemoteCall {
            point: self.entry.point,
            service: self.service(),
            handler: self.entry.handler.clone(),
            call: self.id.clone(),
            attempt,
            instance: instance.map(str::to_owned),
            round_trip,
            took,
            outcome,
        };
        // It is the host's code, and no part of the call: its panic is not the handler's.
        if catch_unwind(AssertUnwindSafe(|| observer(&call))).is_err() {
            logged(|| tracing::error!(%call, "who observes calls panicked"));
        }
    }
}

/// Made into text only where there is a row for it.
struct Text<T>(T);

impl<T: fmt::Display> From<Text<T>> for String {
    fn from(text: Text<T>) -> Self {
        text.0.to_string()
    }
}

/// An attempt that is under way. Dropped with its fire, it has ended too.
struct Ends<'c> {
    call: &'c Call<'c>,
    attempt: u32,
    began: Instant,
    ended: bool,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.call.observe(self.attempt, self.began.elapsed(), None, None, "dropped");
        }
    }
}

/// A call that is under way. Dropped with its fire, it says so.
struct Cancel<'c> {
    call: &'c Call<'c>,
    attempt: u32,
    armed: bool,
}

impl Drop for Cancel<'_> {
    fn drop(&mut self) {
        if self.armed {
            let Call { entry, id, .. } = self.call;
            let attempt = wire::cancellation(id, self.attempt);
            entry.caller.carrier.cancel(&entry.service, &attempt);
        }
    }
}
