//! Every ready-made point by name, with JSON that is wrong in all sorts of ways
//! (L27): no panic, a typed error, and no handler is called.
//!
//! Each case is a text made from the point's schema and then spoiled; what is
//! still right is read, and a handler is called once. `HOOKS_FUZZ_CASES=10000`
//! runs more for each point, `HOOKS_FUZZ_SEED=7` others.

mod json_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use hooks_runtime::HookRegistry;
use hooks_runtime::catalogue::{Catalogue, PointInfo};
use hooks_runtime::json::JsonError;
use hooks_runtime::point::ModelKind;
use json_support::{Random, anything, catalogues, changed, from_env, valid};
use jsonschema::Validator;
use serde_json::{Value, json};

/// A point with a handler that counts, and an operation that counts as well.
struct Target {
    catalogue: Catalogue,
    name: &'static str,
    model: ModelKind,
    schema: Value,
    reads: Validator,
    output: Value,
    hooks: HookRegistry,
    calls: Arc<AtomicUsize>,
}

impl Target {
    fn new(catalogue: &Catalogue, point: &PointInfo) -> Self {
        let (hooks, calls) = (HookRegistry::new(), Arc::new(AtomicUsize::new(0)));
        let neutral = match point.model() {
            ModelKind::Claiming => json!({"handled": false}),
            ModelKind::Gating => json!({"verdict": "pass"}),
            _ => Value::Null,
        };
        let place = match point.model() {
            ModelKind::Flow => point.stage_names()[0],
            _ => point.name(),
        };
        let counts = calls.clone();
        let handler = catalogue.on(place).unwrap().handler(move |_: Value| {
            counts.fetch_add(1, Ordering::Relaxed);
            neutral.clone()
        });
        hooks.register(handler).unwrap();
        let schema = point.payload().schema().unwrap();
        let result = point.result().map(|result| result.schema().unwrap());
        Self {
            catalogue: catalogue.clone(),
            name: point.name(),
            model: point.model(),
            reads: jsonschema::options().should_validate_formats(true).build(&schema).unwrap(),
            schema,
            output: result.map_or(Value::Null, |schema| valid(&schema, &mut Random::new(1))),
            hooks,
            calls,
        }
    }

    /// Whether the text was taken. Whatever it is, the handler was called once
    /// if it was and not at all if not, and the error is about the text.
    fn takes(&self, text: &[u8]) -> bool {
        let before = self.calls.load(Ordering::Relaxed);
        let json = self.hooks.json(&self.catalogue).max_bytes(64 * 1024);
        let outcome = if self.model == ModelKind::Flow {
            let output = self.output.clone();
            block_on(json.run_flow(self.name, text, async move |_| Ok::<_, String>(output)))
                .map(drop)
        } else {
            block_on(json.fire(self.name, text)).map(drop)
        };
        let called = self.calls.load(Ordering::Relaxed) - before;
        match outcome {
            Ok(()) => assert_eq!(called, 1, "{}: {}", self.name, text.escape_ascii()),
            Err(JsonError::Mismatch(mismatch)) => {
                assert_eq!((mismatch.point, mismatch.what), (self.name, "the payload"));
                assert!(!mismatch.problem.is_empty() && !mismatch.path.is_empty());
                assert_eq!(called, 0, "{}: {}", self.name, text.escape_ascii());
            }
            Err(JsonError::TooLarge { size, .. }) => assert_eq!((size, called), (text.len(), 0)),
            Err(other) => panic!("{}: {other}: {}", self.name, text.escape_ascii()),
        }
        called == 1
    }
}

/// Text that is wrong for certain, whatever the point.
fn surely_wrong(good: &Value, random: &mut Random) -> Vec<u8> {
    let text = good.to_string();
    let fields = good.as_object().unwrap();
    match random.below(9) {
        0 => format!("{text} x").into_bytes(),
        1 => text.as_bytes()[..text.len() - 1].to_vec(),
        2 => format!("{}{text}{}", "[".repeat(200), "]".repeat(200)).into_bytes(),
        3 => Value::from_iter(fields.values().cloned()).to_string().into_bytes(),
        4 => {
            let mut more = fields.clone();
            more.insert("misspelt".to_owned(), anything(random, 2));
            Value::Object(more).to_string().into_bytes()
        }
        // A key twice, or twice a key that does not belong there.
        5 => match fields.iter().next() {
            Some((key, value)) => format!("{{{}:{value},{}", json!(key), &text[1..]).into_bytes(),
            None => br#"{"a":1,"a":1}"#.to_vec(),
        },
        6 => {
            let mut bytes = text.into_bytes();
            bytes.insert(1, 0xff);
            bytes
        }
        7 => format!("{{\"misspelt\": \"{}\"}}", "x".repeat(64 * 1024)).into_bytes(),
        _ => match random.below(4) {
            0 => b"null".to_vec(),
            1 => br#""\ud800""#.to_vec(),
            2 => b"1e999".to_vec(),
            _ => Vec::new(),
        },
    }
}

/// The text with a few bytes changed, put in or taken out.
fn garbled(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(3) {
            0 if at < bytes.len() => bytes[at] = random.next() as u8,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.insert(at, *random.pick(b"{}[]\",:0-e\\\x00\xff \n")),
        }
    }
    bytes
}

/// The value without the keys that are `null`, which mean the same as absent.
/// The schemas do not list those that are no use but as `null`.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, field)| !field.is_null());
            kept.map(|(key, field)| (key.clone(), without_nulls(field))).collect()
        }
        Value::Array(values) => values.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// What the schemas do not say: how large a number may be.
fn has_large_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_i64().is_none_or(|n| i32::try_from(n).is_err()),
        Value::Object(fields) => fields.values().any(has_large_number),
        Value::Array(values) => values.iter().any(has_large_number),
        _ => false,
    }
}

#[derive(Default, Debug)]
struct Tally {
    points: usize,
    texts: usize,
    taken: usize,
    refused: usize,
}

fn fuzz(target: &Target, random: &mut Random, tally: &mut Tally) {
    let good = valid(&target.schema, random);
    assert!(target.takes(good.to_string().as_bytes()), "{}: {good}", target.name);

    let wrong = surely_wrong(&good, random);
    assert!(!target.takes(&wrong), "{} took {}", target.name, wrong.escape_ascii());

    let other = changed(&good, random);
    let taken = target.takes(other.to_string().as_bytes());
    let allowed = target.reads.is_valid(&other);
    if taken != allowed {
        let lax = taken && target.reads.is_valid(&without_nulls(&other));
        let large = !taken && has_large_number(&other);
        assert!(lax || large, "{}: taken {taken}, allowed {allowed}: {other}", target.name);
    }

    let bytes = garbled(&good.to_string(), random);
    let garbled = target.takes(&bytes);
    let noise: Vec<u8> = (0..random.below(64)).map(|_| random.next() as u8).collect();
    let heard = target.takes(&noise);
    tally.texts += 5;
    let all = [true, false, taken, garbled, heard];
    tally.taken += all.iter().filter(|taken| **taken).count();
    tally.refused += all.iter().filter(|taken| !**taken).count();
}

#[test]
fn l27_no_text_panics_and_none_that_is_wrong_reaches_a_handler() {
    let (cases, seed) = (from_env("HOOKS_FUZZ_CASES", 60), from_env("HOOKS_FUZZ_SEED", 1));
    let mut tally = Tally::default();
    for catalogue in &catalogues() {
        for point in catalogue.points() {
            let target = Target::new(catalogue, point);
            for case in 0..cases {
                fuzz(&target, &mut Random::new(seed.wrapping_mul(1_000_003) + case), &mut tally);
            }
            tally.points += 1;
        }
    }
    println!("{tally:?}");
    assert_eq!(tally.points, 37);
    assert!(tally.taken >= tally.texts / 5 && tally.refused >= tally.texts / 5);
}
