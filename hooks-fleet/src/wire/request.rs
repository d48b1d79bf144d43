//! What the process that fires asks.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::header;

/// One call of one handler in another process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The version of the contract: 1.
    pub v: u32,
    /// Tells this call from all others, also of other processes. The reply repeats it; a
    /// cancellation names it and the attempt; a durable delivery is deduplicated by it.
    pub call: String,
    /// Which attempt of the call this is, from 1.
    pub attempt: u32,
    /// The service that is asked.
    pub service: String,
    /// The handler that is asked, by its name in the service.
    pub handler: String,
    /// The wire name of the point, or of the stage of a flow.
    pub point: String,
    /// The model of the point, such as `gating`.
    pub model: String,
    /// The schema that the payload was written for: the one that the service announced.
    pub schema: String,
    /// How much time is left for the answer when this is sent, in milliseconds. Clocks need
    /// not agree.
    pub budget_ms: u64,
    /// How many fires of other processes this one is nested in.
    #[serde(default)]
    pub depth: u32,
    /// What the handler receives.
    #[serde(deserialize_with = "super::unique::value")]
    #[schemars(with = "Value")]
    pub payload: Value,
    /// Where the fire belongs in a trace, as W3C Trace Context has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// What vendors say of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// Values of the scope that the process that fires lets travel, by names that both sides
    /// know: one that is not known is ignored, one that cannot be read is refused.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "super::unique::map"
    )]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub values: BTreeMap<String, Value>,
    /// What the handlers before it have merged, at a modifying point.
    #[serde(
        default,
        skip_serializing_if = "Value::is_null",
        deserialize_with = "super::unique::value"
    )]
    #[schemars(with = "Value")]
    pub merged: Value,
}

/// A request as it is written, without copies of what others keep. Its fields are those of
/// [`Request`], in their order.
#[derive(Debug, Serialize)]
pub(crate) struct Asking<'a> {
    pub(crate) v: u32,
    pub(crate) call: &'a str,
    pub(crate) attempt: u32,
    pub(crate) service: &'a str,
    pub(crate) handler: &'a str,
    pub(crate) point: &'a str,
    pub(crate) model: &'a str,
    pub(crate) schema: &'a str,
    pub(crate) budget_ms: u64,
    pub(crate) depth: u32,
    pub(crate) payload: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) traceparent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tracestate: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) values: &'a BTreeMap<String, Value>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) merged: &'a Value,
}

impl Asking<'_> {
    /// Its headers: those of its trace, if it has one, and on demand all that repeat it.
    pub(crate) fn headers(&self, all: bool) -> Vec<(String, String)> {
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        let trace =
            [(header::TRACEPARENT, self.traceparent), (header::TRACESTATE, self.tracestate)];
        let mut headers = Vec::new();
        if all {
            let about = [
                (header::CALL, self.call.to_owned()),
                (header::POINT, self.point.to_owned()),
                (header::SCHEMA, self.schema.to_owned()),
                (header::ATTEMPT, self.attempt.to_string()),
                (header::BUDGET, self.budget_ms.to_string()),
            ];
            headers.extend(about.into_iter().map(named));
        }
        let trace = trace.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned())));
        headers.extend(trace.map(named));
        headers
    }
}

impl Request {
    /// Whether a header says what this does, where it is one that repeats it.
    pub(crate) fn agrees_with(&self, name: &str, value: &str) -> bool {
        match name {
            header::CALL => value == self.call,
            header::POINT => value == self.point,
            header::SCHEMA => value == self.schema,
            header::ATTEMPT => value == self.attempt.to_string(),
            header::BUDGET => value == self.budget_ms.to_string(),
            header::TRACEPARENT => Some(value) == self.traceparent.as_deref(),
            header::TRACESTATE => Some(value) == self.tracestate.as_deref(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::{Asking, Request};
    use crate::wire;

    #[test]
    fn what_is_written_is_a_request() {
        let values = BTreeMap::from([("tenant".to_owned(), json!("north"))]);
        for (values, merged) in
            [(values, json!({"title": "Lamps"})), (BTreeMap::new(), Value::Null)]
        {
            let traced = !values.is_empty();
            let asking = Asking {
                v: wire::VERSION,
                call: "kq2x-17",
                attempt: 2,
                service: "policy",
                handler: "no_rm",
                point: "running",
                model: "gating",
                schema: "5f0c",
                budget_ms: 950,
                depth: 1,
                payload: &json!({"line": "rm"}),
                traceparent: traced.then_some("00-1-2-01"),
                tracestate: traced.then_some("vendor=1"),
                values: &values,
                merged: &merged,
            };
            let written = wire::write(&asking);
            let request: Request = wire::read(&written).unwrap();
            assert_eq!(wire::write(&request), written);
            let headers = asking.headers(true);
            assert_eq!(headers.len(), if traced { 7 } else { 5 });
            assert!(headers.iter().all(|(name, value)| request.agrees_with(name, value)));
            assert!(!headers.iter().any(|(name, _)| request.agrees_with(name, "other")));
            assert_eq!(asking.headers(false), headers[5..]);
        }
    }
}
