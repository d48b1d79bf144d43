//! The ready-made points, and JSON made from their schemas, right and spoiled: the
//! same for the same seed.

#![allow(dead_code, reason = "each test program uses its part")]

use hooks_points::catalogue;
use hooks_runtime::catalogue::Catalogue;
use serde_json::{Map, Value, json};

/// The catalogues of all ready-made points.
pub fn catalogues() -> [Catalogue; 4] {
    [catalogue::agent(), catalogue::gateway(), catalogue::lifecycle(), catalogue::mcp()]
}

/// A number from the environment.
pub fn from_env(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |number| number.parse().expect(name))
}

/// A small generator of numbers: what matters is that a seed says it all.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const TEXTS: [&str; 7] =
    ["", "a", "two words", "line\nbreak \"quoted\" \\", "żółw 🐢", "\u{0}", "null"];

/// A value that the schema allows.
pub fn valid(schema: &Value, random: &mut Random) -> Value {
    made(schema, schema, random)
}

fn made(schema: &Value, root: &Value, random: &mut Random) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return made(&root["$defs"][name], root, random);
    }
    if let Some(word) = schema.get("const") {
        return word.clone();
    }
    for choice in ["enum", "oneOf", "anyOf"] {
        if let Some(forms) = schema[choice].as_array() {
            let form = random.pick(forms);
            return if choice == "enum" { form.clone() } else { made(form, root, random) };
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => random.pick(kinds).as_str().unwrap(),
        Value::String(kind) => kind,
        _ => return anything(random, 3),
    };
    match kind {
        "null" => Value::Null,
        "boolean" => Value::Bool(random.coin()),
        "integer" if schema["format"] == "int32" => json!(random.next() as i32),
        "integer" => json!(random.next() >> random.below(64)),
        "number" => json!((random.next() >> 11) as f64 / 1024.0),
        "string" if schema["format"] == "uuid" => json!("67e55044-10b1-426f-9247-bb680e5fe0c8"),
        "string" if schema.get("pattern").is_some() => json!("because"),
        "string" => json!(random.pick(&TEXTS)),
        "array" => (0..random.below(3)).map(|_| made(&schema["items"], root, random)).collect(),
        "object" => object(schema, root, random),
        other => panic!("a schema of type {other}"),
    }
}

fn object(schema: &Value, root: &Value, random: &mut Random) -> Value {
    let mut fields = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let required = schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
        if required || random.coin() {
            fields.insert(name.clone(), made(field, root, random));
        }
    }
    match &schema["additionalProperties"] {
        Value::Bool(false) => {}
        Value::Object(_) => {
            for n in 0..random.below(3) {
                fields.insert(
                    format!("key {n}"),
                    made(&schema["additionalProperties"], root, random),
                );
            }
        }
        _ => {
            for n in 0..random.below(3) {
                fields.insert(format!("key {n}"), anything(random, 2));
            }
        }
    }
    Value::Object(fields)
}

/// Any value, this deep at most.
pub fn anything(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(random.coin()),
        2 => json!(random.next() as i64),
        3 => json!((random.next() >> 11) as f64 / -3.0),
        4 => json!(random.pick(&TEXTS)),
        5 => (0..random.below(3)).map(|_| anything(random, depth - 1)).collect(),
        _ => {
            let keys = 0..random.below(3);
            keys.map(|n| (format!("k{n}"), anything(random, depth - 1)))
                .collect::<Map<_, _>>()
                .into()
        }
    }
}

/// A value like this one with one place changed.
pub fn changed(value: &Value, random: &mut Random) -> Value {
    let inside = !random.coin();
    match value {
        Value::Object(fields) if inside && !fields.is_empty() => {
            let mut fields = fields.clone();
            let keys: Vec<_> = fields.keys().cloned().collect();
            let key = random.pick(&keys).clone();
            match random.below(4) {
                0 => drop(fields.remove(&key)),
                1 => {
                    let value = fields.remove(&key).unwrap();
                    fields.insert(key.to_uppercase(), value);
                }
                _ => {
                    let value = changed(&fields[&key], random);
                    fields.insert(key, value);
                }
            }
            Value::Object(fields)
        }
        Value::Array(values) if inside && !values.is_empty() => {
            let mut values = values.clone();
            let at = random.below(values.len());
            values[at] = changed(&values[at], random);
            Value::Array(values)
        }
        // What a struct could be read from, were it not for its name.
        Value::Object(fields) if random.coin() => fields.values().cloned().collect(),
        _ => anything(random, 3),
    }
}
