//! The contract on the wire, as files for services in other languages: JSON Schemas, and golden
//! vectors that are read and written. `UPDATE=1` writes them anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use hooks_fleet::wire::{
    AnnouncedHandler, AnnouncedPoint, Announcement, RefusalReason, Reply, ReplyOutcome, Request,
    SkippedReason, VERSION,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("contract").join(name)
}

/// The file is that document, or is made to be.
fn check(name: &str, document: &impl Serialize) {
    let text = serde_json::to_string_pretty(document).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file(name), text).unwrap();
    } else {
        let found = fs::read_to_string(file(name)).unwrap_or_default();
        assert!(found == text, "contract/{name} is not current: run this test with UPDATE=1");
    }
}

fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

/// The vectors are what is written, they are read as what was written, and the schema takes them.
fn vectors<T>(name: &str, messages: &[T])
where
    T: JsonSchema + Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let schema = schema::<T>();
    check(&format!("{name}.schema.json"), &schema);
    check(&format!("{name}.vectors.json"), &messages);
    let validator = jsonschema::validator_for(schema.as_value()).unwrap();
    let found: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(file(&format!("{name}.vectors.json"))).unwrap())
            .unwrap();
    assert_eq!(found.len(), messages.len());
    for (found, message) in found.into_iter().zip(messages) {
        assert!(validator.is_valid(&found), "{found}");
        // A key that nobody knows is refused, by the schema and by the type.
        let mut unknown = found.clone();
        unknown["surprise"] = json!(1);
        assert!(!validator.is_valid(&unknown), "{unknown}");
        assert!(serde_json::from_value::<T>(unknown).is_err());
        assert_eq!(serde_json::from_value::<T>(found).unwrap(), *message);
    }
}

fn request() -> Request {
    Request {
        v: VERSION,
        call: "kq2x-17".into(),
        attempt: 1,
        service: "policy".into(),
        handler: "no_rm".into(),
        point: "running".into(),
        model: "gating".into(),
        schema: "5f0c".into(),
        budget_ms: 950,
        depth: 0,
        payload: json!({"line": "rm -r notes"}),
        traceparent: None,
        tracestate: None,
        values: BTreeMap::new(),
        merged: Value::Null,
    }
}

#[test]
fn requests() {
    let nested = Request {
        attempt: 2,
        model: "modifying".into(),
        point: "labelling".into(),
        depth: 1,
        payload: json!({"page": 7}),
        merged: json!({"title": "Lamps"}),
        ..request()
    };
    let traced = Request {
        traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".into()),
        tracestate: Some("vendor=t61rcWkgMzE".into()),
        values: BTreeMap::from([("tenant".into(), json!("north"))]),
        ..request()
    };
    vectors("request", &[request(), nested, traced]);
}

#[test]
fn replies() {
    let reply = |outcome| Reply {
        v: VERSION,
        call: "kq2x-17".into(),
        attempt: 1,
        instance: "aqx7".into(),
        schema: "5f0c".into(),
        took_us: 120,
        outcome,
    };
    let answer = |answer| reply(ReplyOutcome::Answer { answer });
    vectors(
        "reply",
        &[
            answer(json!({"verdict": "pass"})),
            answer(json!({"verdict": "replace", "payload": {"line": "ls"}})),
            answer(json!({"verdict": "reject", "reason": "nothing is deleted here"})),
            answer(json!({"title": "Lamps"})),
            answer(json!({"handled": true, "claim": 4})),
            answer(json!({"handled": false})),
            answer(Value::Null),
            reply(ReplyOutcome::Skipped { reason: SkippedReason::Condition }),
            reply(ReplyOutcome::Failed { cause: "error".into(), message: "no rules".into() }),
            reply(ReplyOutcome::Refused {
                why: RefusalReason::Overloaded,
                message: "as many calls as it takes are under way".into(),
            }),
        ],
    );
}

#[test]
fn announcements() {
    let point = AnnouncedPoint {
        model: "gating".into(),
        schema: "5f0c".into(),
        payload: json!({
            "type": "object",
            "properties": {"line": {"type": "string"}},
            "required": ["line"],
        }),
        result: Value::Null,
        durable: false,
    };
    let handler = AnnouncedHandler {
        point: "running".into(),
        handler: "no_rm".into(),
        priority: 0,
        guard: true,
        fail_closed: true,
        timeout_ms: Some(200),
        pure: true,
        idempotent: true,
    };
    let announcement = Announcement {
        v: VERSION,
        service: "policy".into(),
        instance: "aqx7".into(),
        version: "1.4.0".into(),
        points: BTreeMap::from([("running".to_owned(), point)]),
        handlers: vec![handler],
    };
    vectors("announcement", &[announcement]);
}

/// What may be left out.
#[test]
fn short_forms_are_read() {
    let short = json!({
        "v": 1, "call": "c", "attempt": 1, "instance": "i", "schema": "s",
        "outcome": {"kind": "answer", "answer": {"verdict": "pass"}},
    });
    assert_eq!(serde_json::from_value::<Reply>(short).unwrap().took_us, 0);
    let handler = json!({"point": "running", "handler": "no_rm"});
    let handler: AnnouncedHandler = serde_json::from_value(handler).unwrap();
    assert_eq!((handler.priority, handler.guard, handler.timeout_ms), (0, false, None));
}
