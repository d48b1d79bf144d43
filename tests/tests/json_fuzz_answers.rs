//! Handlers that speak JSON at every ready-made point, with answers that are wrong
//! in all sorts of ways (L27): no panic, and what does not fit is a failure of the
//! handler. For the payloads, and for more cases, see `json_fuzz.rs`.

mod json_support;

use std::sync::Arc;

use futures::executor::block_on;
use hooks_runtime::catalogue::{Catalogue, PointInfo, TypeInfo};
use hooks_runtime::json::JsonError;
use hooks_runtime::point::ModelKind;
use hooks_runtime::{FailurePolicy, FlowError, HookRegistry};
use json_support::{Random, catalogues, changed, from_env, valid};
use serde_json::{Value, json};

/// What a point takes and gives.
struct Schemas {
    payload: Value,
    result: Option<Value>,
}

impl Schemas {
    fn of(point: &PointInfo) -> Arc<Self> {
        let result = point.result().and_then(TypeInfo::schema);
        Arc::new(Self { payload: point.payload().schema().unwrap(), result })
    }
}

/// A good answer of a handler at this point; nothing where none is heard.
fn good_answer(schemas: &Schemas, model: ModelKind, random: &mut Random) -> Option<Value> {
    match (model, &schemas.result) {
        (ModelKind::Modifying, Some(result)) => Some(valid(result, random)),
        (ModelKind::Claiming, Some(result)) => {
            let mut claim = valid(result, random);
            claim["handled"] = true.into();
            Some(claim)
        }
        (ModelKind::Gating, _) => {
            Some(json!({"verdict": "replace", "payload": valid(&schemas.payload, random)}))
        }
        (ModelKind::Flow, Some(result)) => Some(json!({"output": valid(result, random)})),
        _ => None,
    }
}

/// What a fire comes to when its only handler, fail-closed, answers so.
fn answered(
    catalogue: &Catalogue,
    point: &PointInfo,
    text: &str,
    answer: Value,
) -> Result<(), JsonError> {
    let (hooks, flow) = (HookRegistry::new(), point.model() == ModelKind::Flow);
    let place = if flow { point.stage_names()[2] } else { point.name() };
    let handler = catalogue.on(place).unwrap().on_failure(FailurePolicy::Closed);
    hooks.register(handler.handler(move |_: Value| answer.clone())).unwrap();
    let json = hooks.json(catalogue);
    if flow {
        let operation = async |_| Err::<Value, _>("not answered");
        block_on(json.run_flow(point.name(), text, operation)).map(drop)
    } else {
        block_on(json.fire(point.name(), text)).map(drop)
    }
}

#[test]
fn l27_no_answer_panics_and_what_does_not_fit_is_a_failure_of_its_handler() {
    let (cases, seed) = (from_env("HOOKS_FUZZ_CASES", 60), from_env("HOOKS_FUZZ_SEED", 1));
    let (mut taken, mut failed) = (0, 0);
    for catalogue in &catalogues() {
        let points = catalogue.points().iter().map(|point| (point, Schemas::of(point)));
        let cases = points.flat_map(|with| (0..cases).map(move |case| (with.clone(), case)));
        for ((point, schemas), case) in cases {
            let mut random = Random::new(seed.wrapping_mul(7_000_003) + case);
            let text = valid(&schemas.payload, &mut random).to_string();
            let Some(good) = good_answer(&schemas, point.model(), &mut random) else { continue };
            answered(catalogue, point, &text, good.clone()).unwrap();
            let other = changed(&good, &mut random);
            match answered(catalogue, point, &text, other.clone()) {
                // An answer that asks for nothing leaves the flow to its operation.
                Ok(())
                | Err(JsonError::Flow(FlowError::Operation(_) | FlowError::Aborted { .. })) => {
                    taken += 1;
                }
                Err(JsonError::Fire(error) | JsonError::Flow(FlowError::Fire(error))) => {
                    let failure = error.failure().expect("a handler failed");
                    assert_eq!(failure.kind().as_str(), "error", "{failure}: {other}");
                    assert!(failure.to_string().contains("does not fit"), "{failure}: {other}");
                    failed += 1;
                }
                Err(other) => panic!("{}: {other}", point.name()),
            }
        }
    }
    println!("answers spoiled: {taken} still fit, {failed} failed");
    assert!(taken > 0 && failed > taken);
}
