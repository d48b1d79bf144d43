//! The schemas of the ready-made points say what the points read and write
//! (L28): values made from a schema are taken, and what comes out fits it.

mod json_support;

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use hooks_points::{ClaimWire, CompletionRejected, catalogue};
use hooks_runtime::catalogue::{Catalogue, PointInfo};
use hooks_runtime::json::Outcome;
use hooks_runtime::point::ModelKind;
use hooks_runtime::{Claim, Gate, HookRegistry, Verdict};
use json_support::{Random, valid};
use jsonschema::Validator;
use serde_json::{Value, json};

const SEEDS: std::ops::Range<u64> = 0..40;

fn all() -> [Catalogue; 4] {
    [catalogue::agent(), catalogue::gateway(), catalogue::lifecycle(), catalogue::mcp()]
}

#[track_caller]
fn assert_fits(validator: &Validator, value: &Value, what: &str) {
    if let Err(error) = validator.validate(value) {
        panic!("{what} does not fit at {}: {error}\n{value:#}", error.instance_path());
    }
}

/// The answer of a handler of this model, made of a result.
fn answer(model: ModelKind, result: Option<&Value>, payload: &Value) -> Value {
    match model {
        ModelKind::Modifying => result.unwrap().clone(),
        ModelKind::Claiming => {
            let mut claim = result.unwrap().clone();
            claim["handled"] = true.into();
            claim
        }
        ModelKind::Gating => json!({"verdict": "replace", "payload": payload}),
        _ => Value::Null,
    }
}

fn check(catalogue: &Catalogue, point: &PointInfo) {
    let name = point.name();
    let payloads = point.payload().schema().unwrap();
    let results = point.result().map(|result| result.schema().unwrap());
    let reads = jsonschema::validator_for(&payloads).unwrap();
    let composes = results.as_ref().map(|schema| jsonschema::validator_for(schema).unwrap());
    for seed in SEEDS {
        let mut random = Random::new(seed);
        let payload = valid(&payloads, &mut random);
        assert_fits(&reads, &payload, name);
        let result = results.as_ref().map(|schema| valid(schema, &mut random));
        let hooks = HookRegistry::new();
        let seen = Arc::new(Mutex::new(None));
        let (told, said) = (seen.clone(), answer(point.model(), result.as_ref(), &payload));
        let place = if point.model() == ModelKind::Flow {
            format!("{name}/beforeValidation")
        } else {
            name.to_owned()
        };
        let handler =
            catalogue.on(&place).unwrap().on_failure(hooks_runtime::FailurePolicy::Closed);
        hooks
            .register(handler.handler(move |payload: Value| {
                *told.lock().unwrap() = Some(payload);
                said.clone()
            }))
            .unwrap();
        let by_name = hooks.json(catalogue);
        let text = payload.to_string();
        let written = if point.model() == ModelKind::Flow {
            let output = result.clone().unwrap();
            let operation = async move |_| Ok::<_, String>(output);
            block_on(by_name.run_flow(name, &text, operation)).unwrap()
        } else {
            match block_on(by_name.fire(name, &text))
                .unwrap_or_else(|error| panic!("{error}\n{text}"))
            {
                Outcome::Notified => Value::Null,
                Outcome::Result(result) => result,
                Outcome::Gate(Gate::Passed(payload)) => payload,
                Outcome::Claim(Claim::Claimed(mut claim)) => {
                    assert_eq!(claim.as_object_mut().unwrap().remove("handled"), Some(json!(true)));
                    claim
                }
                other => panic!("{other:?}"),
            }
        };
        let seen = seen.lock().unwrap().take().expect("the handler was called");
        let seen = if point.model() == ModelKind::Flow { &seen["input"] } else { &seen };
        assert_fits(&reads, seen, name);
        let fits =
            if point.model() == ModelKind::Gating { Some(&reads) } else { composes.as_ref() };
        if let Some(fits) = fits {
            assert_fits(fits, &written, name);
        }
    }
}

#[test]
fn l28_what_a_schema_allows_is_read_and_what_is_written_fits_it() {
    let mut points = 0;
    for catalogue in &all() {
        for point in catalogue.points() {
            check(catalogue, point);
            points += 1;
        }
    }
    assert_eq!(points, 37);
}

#[test]
fn l28_what_a_point_refuses_its_schema_refuses() {
    let refused = [
        ("before_tool_call", "result", json!({"error": " \n"})),
        ("after_tool_call", "payload", after_tool_call(json!({"ok": true, "error": "?"}))),
        ("after_tool_call", "payload", after_tool_call(json!({"ok": false, "error": "?"}))),
        ("after_tool_call", "payload", after_tool_call(json!({"ok": true}))),
        ("before_ticket_complete", "result", json!({})),
        ("inbound_claim", "result", json!({"reply": "?"})),
        ("session_start", "payload", json!({"sessionId": "s"})),
        ("resources:read-resource", "result", json!({"contents": [{"uri": "u"}]})),
        (
            "resources:read-resource",
            "result",
            json!({"contents": [{"uri": "u", "text": "t", "blob": "b"}]}),
        ),
        ("tools:call-tool", "result", json!({"content": [{"type": "text", "data": "?"}]})),
        ("tools:call-tool", "result", json!({"content": [{"type": "film", "text": "?"}]})),
    ];
    let all = all();
    for (name, side, value) in refused {
        let point = all.iter().find_map(|catalogue| catalogue.get(name)).unwrap();
        let ty = if side == "payload" { Some(point.payload()) } else { point.result() };
        let schema = ty.unwrap().schema().unwrap();
        assert!(!jsonschema::is_valid(&schema, &value), "{name} allows {value}");
    }
}

fn after_tool_call(result: Value) -> Value {
    json!({"sessionId": "s", "toolName": "ls", "durationMs": 1, "result": result})
}

#[test]
fn l27_claims_by_name_are_spelled_as_on_the_wire() {
    let (hooks, agent) = (HookRegistry::new(), catalogue::agent());
    let wire = ClaimWire(Some(CompletionRejected::new("no tests").unwrap()));
    let wire = serde_json::to_value(wire).unwrap();
    let said = wire.clone();
    let handler = agent.on("before_ticket_complete").unwrap().handler(move |_: Value| said.clone());
    hooks.register(handler).unwrap();
    let ticket = r#"{"taskId": "t", "summary": "done"}"#;
    let outcome = block_on(hooks.json(&agent).fire("before_ticket_complete", ticket)).unwrap();
    assert_eq!(outcome.to_json(), wire);
}

#[test]
fn l27_a_guard_by_name_rejects() {
    let hooks = HookRegistry::new();
    let lifecycle = catalogue::lifecycle();
    let guard = lifecycle.on("on_session_start").unwrap().guard(|_: Value| {
        Verdict::<hooks_runtime::model::NoReplacement>::reject("no more sessions")
    });
    hooks.register(guard.unwrap()).unwrap();
    let text = r#"{"user_id": "u", "session_id": "s"}"#;
    let outcome = block_on(hooks.json(&lifecycle).fire("on_session_start", text)).unwrap();
    let Outcome::Gate(Gate::Rejected(rejection)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(rejection.reason(), "no more sessions");
}
