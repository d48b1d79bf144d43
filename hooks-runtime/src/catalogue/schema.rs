//! JSON Schemas: made from types, and read for the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::markdown::{cell, table, unlinked};

/// The schema of what a `T` is read from, in the draft of 2020-12.
pub(super) fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

/// The types that the schemas refer to, as the last section of the page.
pub(super) fn definitions(schemas: impl Iterator<Item = Value>) -> Option<String> {
    let mut all = BTreeMap::new();
    for mut schema in schemas {
        if let Some(Value::Object(definitions)) = schema.get_mut("$defs").map(Value::take) {
            all.extend(definitions);
        }
    }
    if all.is_empty() {
        return None;
    }
    let sections = all.iter().map(|(name, schema)| {
        let doc = doc(schema);
        let gap = if doc.is_empty() { "" } else { "\n" };
        format!("### {name}\n{gap}{doc}{gap}{}", shape(schema))
    });
    Some(format!("## Types\n\n{}", sections.collect::<Vec<_>>().join("\n")))
}

/// What a value has to look like: a table of fields, a list of words, or the
/// forms to choose from.
pub(super) fn shape(schema: &Value) -> String {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let (needed, optional): (Vec<_>, Vec<_>) =
            properties.iter().partition(|(name, _)| is_required(schema, name));
        let row = |mark: &str, name: &str, field: &Value| {
            format!("| `{name}`{mark} | {} | {} |\n", cell(&type_of(field)), cell(&doc(field)))
        };
        let needed = needed.into_iter().map(|(name, field)| row("", name, field));
        let optional = optional.into_iter().map(|(name, field)| row("?", name, field));
        return table(needed.chain(optional).collect());
    }
    let Some(forms) = alternatives(schema) else {
        return format!("\nJSON: {}\n", type_of(schema));
    };
    let (words, others): (Vec<_>, Vec<_>) = forms.iter().partition(|form| words(form).is_some());
    let mut text = String::from("\n");
    for word in words {
        let _ = writeln!(text, "- {}: {}", type_of(word), doc(word));
    }
    for form in others {
        let _ = if form.get("properties").is_some() {
            writeln!(text, "{}\n{}", doc(form), shape(form))
        } else {
            writeln!(text, "- {}", type_of(form))
        };
    }
    // Each form ends with a line of its own already.
    text.truncate(text.trim_end().len() + 1);
    text
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|one| one == name))
}

/// The first paragraph: what follows it is for readers of the Rust code.
fn doc(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    unlinked(text.split("\n\n").next().unwrap_or_default())
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)
}

/// The words that a value may be, if it is one of a few.
fn words(schema: &Value) -> Option<String> {
    let list = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(words)), _) => words.clone(),
        (_, Some(word)) => vec![word.clone()],
        _ => return None,
    };
    Some(list.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))
}

fn type_of(schema: &Value) -> String {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let name = target.rsplit('/').next().unwrap_or(target);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(words) = words(schema) {
        return words;
    }
    if let Some(forms) = alternatives(schema) {
        // That a field may be null says no more than that it may be absent.
        let forms = forms.iter().filter(|form| form.get("type") != Some(&"null".into()));
        return forms.map(type_of).collect::<Vec<_>>().join(" or ");
    }
    let word = match schema.get("type") {
        Some(Value::String(word)) => word.as_str(),
        Some(Value::Array(words)) => words.first().and_then(Value::as_str).unwrap_or("any"),
        _ => return "any".to_owned(),
    };
    match (word, schema.get("items"), schema.get("format").and_then(Value::as_str)) {
        ("array", Some(items), _) => format!("array of {}", type_of(items)),
        ("string", _, Some(format)) => format!("string ({format})"),
        _ => word.to_owned(),
    }
}
