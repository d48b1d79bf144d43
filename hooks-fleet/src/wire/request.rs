//! What the process that fires asks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

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

/// A request as this crate writes and reads it, without copies of what others keep. Its fields
/// are those of [`Request`], in their order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestRef<'a> {
    pub(crate) v: u32,
    #[serde(borrow)]
    pub(crate) call: Cow<'a, str>,
    pub(crate) attempt: u32,
    #[serde(borrow)]
    pub(crate) service: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) handler: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) point: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) model: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) schema: Cow<'a, str>,
    pub(crate) budget_ms: u64,
    #[serde(default)]
    pub(crate) depth: u32,
    /// As text, which the registry reads into the type of the point.
    #[serde(borrow, deserialize_with = "super::unique::text")]
    pub(crate) payload: &'a RawValue,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) traceparent: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) tracestate: Option<Cow<'a, str>>,
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "super::unique::map"
    )]
    pub(crate) values: BTreeMap<String, Value>,
    /// Of use to services of another make only.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) merged: Option<&'a RawValue>,
}

impl RequestRef<'_> {
    /// Its headers: those of its trace, if it has one, and on demand all that repeat it.
    pub(crate) fn headers(&self, all: bool) -> Vec<(String, String)> {
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        let trace =
            [(header::TRACEPARENT, &self.traceparent), (header::TRACESTATE, &self.tracestate)];
        let mut headers = Vec::new();
        if all {
            let about = [
                (header::CALL, self.call.to_string()),
                (header::POINT, self.point.to_string()),
                (header::SCHEMA, self.schema.to_string()),
                (header::ATTEMPT, self.attempt.to_string()),
                (header::BUDGET, self.budget_ms.to_string()),
            ];
            headers.extend(about.into_iter().map(named));
        }
        let trace =
            trace.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?.to_string())));
        headers.extend(trace.map(named));
        headers
    }

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

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::{Request, RequestRef};
    use crate::wire;

    #[test]
    fn what_is_written_is_a_request() {
        let values = BTreeMap::from([("tenant".to_owned(), json!("north"))]);
        let payload = to_raw_value(&json!({"line": "rm"})).unwrap();
        let title = to_raw_value(&json!({"title": "Lamps"})).unwrap();
        for (values, merged) in [(values, Some(&*title)), (BTreeMap::new(), None)] {
            let traced = !values.is_empty();
            let asking = RequestRef {
                v: wire::VERSION,
                call: "kq2x-17".into(),
                attempt: 2,
                service: "policy".into(),
                handler: "no_rm".into(),
                point: "running".into(),
                model: "gating".into(),
                schema: "5f0c".into(),
                budget_ms: 950,
                depth: 1,
                payload: &payload,
                traceparent: traced.then_some("00-1-2-01".into()),
                tracestate: traced.then_some("vendor=1".into()),
                values,
                merged,
            };
            let written = wire::write(&asking);
            let request: Request = serde_json::from_slice(&written).unwrap();
            assert_eq!(wire::write(&request), written);
            let read: RequestRef<'_> = wire::read(&written).unwrap();
            assert_eq!(wire::write(&read), written);
            let headers = asking.headers(true);
            assert_eq!(headers.len(), if traced { 7 } else { 5 });
            assert!(headers.iter().all(|(name, value)| read.agrees_with(name, value)));
            assert!(!headers.iter().any(|(name, _)| read.agrees_with(name, "other")));
            assert_eq!(asking.headers(false), headers[5..]);
        }
    }

    #[test]
    fn no_object_of_a_payload_names_a_key_twice() {
        let request = |payload: &str| {
            format!(
                r#"{{"v":1,"call":"a-1","attempt":1,"service":"s","handler":"h","point":"p",
                "model":"void","schema":"0","budget_ms":1,"payload":{payload}}}"#
            )
        };
        for payload in [
            r#"{"a":1,"a":2}"#,
            r#"[{"b":[{"a":1,"\u0061":2}]}]"#,
            &format!(
                "{{{},\"k3\":0}}",
                (0..40).map(|n| format!("\"k{n}\":{{}}")).collect::<Vec<_>>().join(",")
            ),
        ] {
            let text = request(payload);
            let error = wire::read::<RequestRef<'_>>(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("an object names a key twice"), "{error}");
            let error = serde_json::from_str::<Request>(&text).unwrap_err().to_string();
            assert!(error.starts_with("an object names a key twice"), "{error}");
        }
        for payload in ["null", "-1.5e9", r#"{"a":{"a":[true,"a"]},"b":{"a":1}}"#] {
            let text = request(payload);
            let read: RequestRef<'_> = wire::read(text.as_bytes()).unwrap();
            assert_eq!(read.payload.get(), payload);
        }
    }
}
