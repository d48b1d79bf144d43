//! `GET api/schema`: the JSON Schemas of every request and response.

use axum::Json;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::ApiError;
use super::audit::AuditResponse;
use super::explain::{ExplainQuery, ExplainResponse};
use super::settings::{ResetRequest, ResetResponse, SettingRequest};
use super::state::{SettingRow, StateResponse};
use crate::timeline::FireEvent;

/// The data of the events `fires`.
#[derive(serde::Serialize, JsonSchema)]
#[allow(dead_code, reason = "for its schema: the fires are written once for all pages")]
struct FiresEvent {
    /// In the order in which they ended.
    fires: Vec<FireEvent>,
    /// How many more there were, which this page did not see.
    missed: u64,
    /// Why there will be no more, where that is so.
    ended: Option<String>,
}

pub(super) async fn schema() -> Json<Value> {
    let mut calls = Map::new();
    let mut add = |call: &str, schemas: Value| drop(calls.insert(call.to_owned(), schemas));
    add("GET api/state", json!({ "response": response::<StateResponse>() }));
    add("GET api/fires", json!({ "event": response::<FiresEvent>() }));
    add(
        "GET api/explain",
        json!({ "query": request::<ExplainQuery>(), "response": response::<ExplainResponse>() }),
    );
    add("GET api/audit", json!({ "response": response::<AuditResponse>() }));
    add("GET api/schema", json!({ "response": { "type": "object" } }));
    add(
        "POST api/settings",
        json!({ "request": request::<SettingRequest>(), "response": response::<SettingRow>() }),
    );
    add("DELETE api/settings/{id}", json!({ "response": response::<SettingRow>() }));
    add(
        "POST api/breakers/reset",
        json!({ "request": request::<ResetRequest>(), "response": response::<ResetResponse>() }),
    );
    Json(json!({ "calls": calls, "error": response::<ApiError>() }))
}

fn request<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>()
}

/// Closed: a response has nothing that its schema does not name.
fn response<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let closed = schemars::transform::RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    });
    settings.with_transform(closed).into_generator().into_root_schema_for::<T>()
}
