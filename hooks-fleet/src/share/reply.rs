//! Reading a reply: what is not certainly the answer to this call is refused.

use std::time::Duration;

use hooks_runtime::json::{Value, json};
use hooks_runtime::point::ModelKind;
use serde_json::Map;
use tokio::time::{Instant, sleep};

use super::entry::{RemoteEntry, Variant};
use crate::carrier::Message;
use crate::failure::RemoteFailure;
use crate::presence::excerpt;
use crate::wire::{self, ReplyOutcome, ReplyRef, SkippedReason};

/// How long is waited for the announcement of a process that has answered before it.
const GRACE: Duration = Duration::from_millis(250);

/// What a service answered.
pub(crate) struct Answered {
    pub(crate) answer: Value,
    /// Why it had no opinion without being called, where it was not.
    pub(crate) skipped: Option<SkippedReason>,
    pub(crate) instance: String,
    pub(crate) took: Duration,
}

pub(crate) async fn read(
    entry: &RemoteEntry,
    variant: &Variant,
    (call, attempt): (&str, u32),
    message: &Message,
    left_out: Map<String, Value>,
    deadline: Instant,
) -> Result<Answered, RemoteFailure> {
    let bad = |problem: String| RemoteFailure::BadReply { service: entry.service.clone(), problem };
    let limit = entry.caller.options.max_reply;
    if message.size() > limit {
        return Err(bad(format!("it has {} bytes, {limit} are read", message.size())));
    }
    // A service of another make says so in its headers, with nothing in the body.
    if let Some(code) = message.header("Nats-Service-Error-Code") {
        return Err(RemoteFailure::Failed {
            service: entry.service.clone(),
            instance: "?".to_owned(),
            cause: excerpt(code),
            message: message.header("Nats-Service-Error").map(excerpt).unwrap_or_default(),
        });
    }
    let reply: ReplyRef<'_> = wire::read(&message.body).map_err(|error| bad(error.to_string()))?;
    let contradicts = |(name, value): &&(String, String)| !reply.agrees_with(name, value);
    if let Some((name, _)) = message.headers.iter().find(contradicts) {
        return Err(bad(format!("its header `{name}` contradicts its body")));
    }
    if (&*reply.call, reply.attempt) != (call, attempt) {
        return Err(bad("it answers another call".to_owned()));
    }
    if reply.schema != variant.route.schema {
        return Err(bad("it was written for another schema".to_owned()));
    }
    if !is_announced(entry, variant, &reply.instance, deadline).await {
        let instance = excerpt(&reply.instance);
        let why = "it answered without having been announced";
        entry.caller.strangers.note(&entry.service, &instance, why);
        return Err(bad(format!("`{instance}` answered, which has not been announced")));
    }
    let (instance, took) = (reply.instance.into_owned(), Duration::from_micros(reply.took_us));
    match reply.outcome.into_owned() {
        ReplyOutcome::Answer { mut answer } => {
            fitted(entry.model, variant, &mut answer, left_out).map_err(bad)?;
            Ok(Answered { answer, skipped: None, instance, took })
        }
        ReplyOutcome::Skipped { reason } => {
            let skipped = Some(reason);
            Ok(Answered { answer: no_opinion(entry.model), skipped, instance, took })
        }
        ReplyOutcome::Failed { cause, message } => {
            Err(RemoteFailure::Failed { service: entry.service.clone(), instance, cause, message })
        }
        ReplyOutcome::Refused { why, message } => {
            Err(RemoteFailure::Refused { service: entry.service.clone(), why, message })
        }
    }
}

/// Whether that process was announced when it was asked, or is by now: requests may reach a
/// process that has just begun before its announcement reaches this one.
async fn is_announced(
    entry: &RemoteEntry,
    variant: &Variant,
    instance: &str,
    deadline: Instant,
) -> bool {
    let until = deadline.min(Instant::now() + GRACE);
    let schema = &variant.route.schema;
    let is_known = |variants: &[Variant]| {
        variants.iter().any(|it| it.route.schema == *schema && it.instances.contains(instance))
    };
    while !variant.instances.contains(instance) && !is_known(&entry.routing().variants) {
        if Instant::now() >= until {
            return false;
        }
        sleep(Duration::from_millis(5)).await;
    }
    true
}

/// Makes an answer one of this process, whose schemas may be newer or older.
fn fitted(
    model: ModelKind,
    variant: &Variant,
    answer: &mut Value,
    left_out: Map<String, Value>,
) -> Result<(), String> {
    match model {
        ModelKind::Gating => {
            if let Some(payload) = answer.get_mut("payload") {
                variant.fit.inward(payload, left_out)?;
            }
            if let Some(reason) = answer.get_mut("reason") {
                variant.fit.reason(reason);
            }
            Ok(())
        }
        _ => variant.fit.result(answer),
    }
}

/// What a handler answers that has no opinion.
fn no_opinion(model: ModelKind) -> Value {
    match model {
        ModelKind::Gating => json!({"verdict": "pass"}),
        ModelKind::Claiming => json!({"handled": false}),
        _ => Value::Null,
    }
}
