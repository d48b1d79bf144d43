//! Schemas: their hash, whether two of them fit, and how a payload is made to fit.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use hooks_runtime::catalogue::{Catalogue, PointInfo};
use hooks_runtime::report::escaped;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::error::FleetError;
use crate::wire::AnnouncedPoint;

/// The schemas of a point, as this process declares it.
pub(crate) fn of_point(
    catalogue: &Catalogue,
    name: &str,
    durable: bool,
) -> Result<AnnouncedPoint, FleetError> {
    let is_it = |point: &&PointInfo| point.name() == name || point.stage_names().contains(&name);
    let point = catalogue.points().iter().find(is_it);
    let point = point.ok_or_else(|| FleetError::UnknownPoint { point: name.to_owned() })?;
    let without = || FleetError::NoSchema { point: name.to_owned() };
    let payload = point.payload().schema().ok_or_else(without)?;
    let result = match point.result() {
        None => Value::Null,
        Some(result) => result.schema().ok_or_else(without)?,
    };
    let model = if point.name() == name { point.model().to_string() } else { "stage".to_owned() };
    let schema = hash(name, &model, &payload, &result);
    Ok(AnnouncedPoint { model, schema, payload, result, durable })
}

/// Sixteen hexadecimal digits that are the same for the same shapes: texts for people do not
/// count.
fn hash(name: &str, model: &str, payload: &Value, result: &Value) -> String {
    let shape = json!([name, model, shape(payload), shape(result)]);
    let digest = Sha256::digest(shape.to_string());
    digest[..8].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A schema without what is only for people. Keys of objects are sorted by `serde_json`.
fn shape(schema: &Value) -> Value {
    let Value::Object(entries) = schema else { return schema.clone() };
    let texts = ["title", "description", "$schema", "examples", "default"];
    let kept = entries.iter().filter(|(key, _)| !texts.contains(&&***key));
    let shaped = kept.map(|(key, value)| {
        let value = match (&**key, value) {
            // Their keys are names, and may be any text.
            (
                "properties" | "patternProperties" | "$defs" | "definitions",
                Value::Object(named),
            ) => named.iter().map(|(name, schema)| (name.clone(), shape(schema))).collect(),
            // The values themselves.
            ("const", value) => value.clone(),
            (_, Value::Array(items)) if items.iter().all(Value::is_string) => {
                // The order of names in `required` and `enum` says nothing.
                let mut items = items.clone();
                items.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
                Value::Array(items)
            }
            ("enum", value) => value.clone(),
            (_, Value::Array(items)) => items.iter().map(shape).collect(),
            (_, value) => shape(value),
        };
        (key.clone(), value)
    });
    Value::Object(shaped.collect())
}

/// How what one side writes is made to fit what the other side knows: the optional fields that
/// only the writer knows are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fit {
    /// The optional fields that only this process knows.
    own: BTreeSet<String>,
    /// The optional fields that only the other process knows.
    other: BTreeSet<String>,
    /// The optional fields of the result that only the other process knows.
    other_result: BTreeSet<String>,
}

/// Whether this process, which declares the point as `own`, and one that declares it as
/// `other` understand each other; or why not.
pub(crate) fn fit(own: &AnnouncedPoint, other: &AnnouncedPoint) -> Result<Fit, String> {
    if own.model != other.model {
        return Err(format!("it is a {} point there, a {} one here", other.model, own.model));
    }
    if own.durable != other.durable {
        let word = |durable| if durable { "durable" } else { "called" };
        return Err(format!("it is {} there, {} here", word(other.durable), word(own.durable)));
    }
    if own.schema == other.schema {
        return Ok(Fit::default());
    }
    if own.model == "stage" {
        return Err("a stage needs the same schema on both sides".to_owned());
    }
    let (own_only, other_only) = added(&shape(&own.payload), &shape(&other.payload))
        .map_err(|why| format!("payload: {why}"))?;
    let (_, other_result) = added(&shape(&own.result), &shape(&other.result))
        .map_err(|why| format!("result: {why}"))?;
    Ok(Fit { own: own_only, other: other_only, other_result })
}

/// The optional fields that only one of the two has, if that is all in which they differ.
fn added(own: &Value, other: &Value) -> Result<(BTreeSet<String>, BTreeSet<String>), String> {
    if own == other {
        return Ok(Default::default());
    }
    let (Value::Object(own), Value::Object(other)) = (own, other) else {
        return Err("one side has none".to_owned());
    };
    let properties = |schema: &Map<String, Value>| -> Map<String, Value> {
        schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let required = |schema: &Map<String, Value>, name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    let (own_fields, other_fields) = (properties(own), properties(other));
    let mut only = (BTreeSet::new(), BTreeSet::new());
    for (name, field) in &own_fields {
        match other_fields.get(name) {
            Some(theirs) if theirs != field => {
                let (theirs, own) = (text(theirs), text(field));
                return Err(format!("`{name}` has another type: {theirs} there, {own} here"));
            }
            Some(_) if required(own, name) != required(other, name) => {
                return Err(format!("`{name}` is required by one side only"));
            }
            Some(_) => {}
            None if required(own, name) => return Err(format!("`{name}` is not known there")),
            None => drop(only.0.insert(name.clone())),
        }
    }
    for name in other_fields.keys().filter(|name| !own_fields.contains_key(*name)) {
        if required(other, name) {
            return Err(format!("`{name}` is required there and not known here"));
        }
        only.1.insert(name.clone());
    }
    let rest = |schema: &Map<String, Value>| -> Map<String, Value> {
        let own = ["properties", "required", "$defs"];
        schema.iter().filter(|(key, _)| !own.contains(&&***key)).map(clone_pair).collect()
    };
    if rest(own) != rest(other) {
        return Err("it has another shape".to_owned());
    }
    // Types that both sides name are the same; one that only one side names is behind a field
    // that only it has.
    let definitions = |schema: &Map<String, Value>| properties_of(schema, "$defs");
    let theirs = definitions(other);
    for (name, definition) in definitions(own) {
        if theirs.get(&name).is_some_and(|it| *it != definition) {
            return Err(format!("the type `{name}` differs"));
        }
    }
    Ok(only)
}

/// A schema as one line of a message, cut where it is long.
fn text(schema: &Value) -> String {
    const LONGEST: usize = 120;
    let text = escaped(&schema.to_string()).to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

fn clone_pair((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

fn properties_of(schema: &Map<String, Value>, key: &str) -> Map<String, Value> {
    schema.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

impl Fit {
    /// A payload as it is sent, and what is left out of it: to be put back where the payload
    /// comes back.
    pub(crate) fn outward<'p>(&self, payload: &'p Value) -> (Cow<'p, Value>, Map<String, Value>) {
        if self.own.is_empty() {
            return (Cow::Borrowed(payload), Map::new());
        }
        let mut sent = payload.clone();
        let left_out = match &mut sent {
            Value::Object(fields) => {
                self.own.iter().filter_map(|name| fields.remove_entry(name)).collect()
            }
            _ => Map::new(),
        };
        (Cow::Owned(sent), left_out)
    }

    /// Makes a payload that came back one of this process.
    pub(crate) fn inward(
        &self,
        payload: &mut Value,
        left_out: Map<String, Value>,
    ) -> Result<(), String> {
        known(payload, &self.other)?;
        if let Value::Object(fields) = payload {
            fields.extend(left_out);
        }
        Ok(())
    }

    /// Makes the reason of a rejection one of this process. A no counts whatever else it says.
    pub(crate) fn reason(&self, reason: &mut Value) {
        if let Value::Object(fields) = reason {
            fields.retain(|name, _| !self.other_result.contains(name));
        }
    }

    /// Makes a result one of this process.
    pub(crate) fn result(&self, result: &mut Value) -> Result<(), String> {
        known(result, &self.other_result)
    }
}

/// Leaves out the fields that are not known here, where they say nothing. One that says
/// something would be lost without a word.
fn known(value: &mut Value, unknown: &BTreeSet<String>) -> Result<(), String> {
    let Value::Object(fields) = value else { return Ok(()) };
    for name in unknown {
        if fields.remove(name).is_some_and(|value| !value.is_null()) {
            return Err(format!("it sets `{name}`, which this process does not know"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Fit, fit, hash, of_point, shape};
    use crate::wire::AnnouncedPoint;
    use serde_json::{Value, json};

    fn point(payload: Value) -> AnnouncedPoint {
        let schema = hash("p", "gating", &payload, &Value::Null);
        AnnouncedPoint {
            model: "gating".into(),
            schema,
            payload,
            result: Value::Null,
            durable: false,
        }
    }

    fn object(properties: &Value, required: &Value) -> Value {
        json!({"type": "object", "properties": properties, "required": required})
    }

    #[test]
    fn texts_for_people_are_no_part_of_a_schema() {
        let one = json!({"title": "A", "properties": {"title": {"type": "string"}}});
        let other = json!({"description": "b", "properties": {"title": {"type": "string", "description": "c"}}});
        assert_eq!(shape(&one), shape(&other));
        assert_ne!(shape(&one), shape(&json!({"properties": {}})));
        // A field of such a name, whatever it may be, and a value that has one.
        let any = json!({"properties": {"title": true, "default": {}}});
        assert_eq!(shape(&any), any);
        let constant = json!({"const": {"title": 1}, "enum": [{"title": 1}]});
        assert_eq!(shape(&constant), constant);
        assert_eq!(shape(&json!({"default": {"a": 1}})), json!({}));
    }

    #[test]
    fn added_optional_fields_fit_and_nothing_else_does() {
        let text = json!({"type": "string"});
        let old = point(object(&json!({"a": text}), &json!(["a"])));
        let new = point(object(&json!({"a": text, "b": text}), &json!(["a"])));
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let newer = Fit { other: names(&["b"]), ..Fit::default() };
        assert_eq!(fit(&old, &new), Ok(newer));
        assert_eq!(fit(&new, &old), Ok(Fit { own: names(&["b"]), ..Fit::default() }));
        assert_eq!(fit(&old, &old), Ok(Fit::default()));
        let error = |other: AnnouncedPoint| fit(&old, &other).unwrap_err();
        let required = object(&json!({"a": text, "b": text}), &json!(["a", "b"]));
        assert_eq!(error(point(required)), "payload: `b` is required there and not known here");
        assert_eq!(error(point(object(&json!({}), &json!([])))), "payload: `a` is not known there");
        let other = object(&json!({"a": {"type": "number"}}), &json!(["a"]));
        assert_eq!(
            error(point(other)),
            r#"payload: `a` has another type: `{"type":"number"}` there, `{"type":"string"}` here"#
        );
        let optional = object(&json!({"a": text}), &json!([]));
        assert_eq!(error(point(optional)), "payload: `a` is required by one side only");
        assert_eq!(
            error(AnnouncedPoint { model: "void".into(), ..old.clone() }),
            "it is a void point there, a gating one here"
        );
        assert_eq!(
            error(AnnouncedPoint { durable: true, ..old.clone() }),
            "it is durable there, called here"
        );
    }

    #[test]
    fn what_is_left_out_is_put_back_and_what_is_unknown_is_refused() {
        let text = json!({"type": ["string", "null"]});
        let old = point(object(&json!({"a": text}), &json!([])));
        let new = point(object(&json!({"a": text, "b": text}), &json!([])));
        let payload = json!({"a": "1", "b": "2"});
        let fit_new = fit(&new, &old).unwrap();
        let (sent, left_out) = fit_new.outward(&payload);
        assert_eq!(*sent, json!({"a": "1"}));
        let mut replaced = json!({"a": "3"});
        fit_new.inward(&mut replaced, left_out).unwrap();
        assert_eq!(replaced, json!({"a": "3", "b": "2"}));

        let fit_old = fit(&old, &new).unwrap();
        let mut silent = json!({"a": "3", "b": null});
        fit_old.inward(&mut silent, serde_json::Map::new()).unwrap();
        assert_eq!(silent, json!({"a": "3"}));
        let error = fit_old.inward(&mut json!({"b": "!"}), serde_json::Map::new()).unwrap_err();
        assert_eq!(error, "it sets `b`, which this process does not know");
    }

    #[test]
    fn a_point_without_schemas_is_an_error_that_says_what_to_add() {
        let error = of_point(&hooks_runtime::catalogue::Catalogue::default(), "p", false);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the catalogue of this fleet has no point `p`: give `FleetOptions::new` the catalogue of \
             its block, put together with others by `Catalogue::merge`"
        );
    }
}
