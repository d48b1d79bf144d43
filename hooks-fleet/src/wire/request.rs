//! What the process that fires asks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call of one handler in another process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The version of the contract: 1.
    pub v: u32,
    /// Tells this call from all others, also of other processes. The reply repeats it; a
    /// cancellation names it; a durable delivery is deduplicated by it.
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
    pub payload: Value,
    /// What the handlers before it have merged, at a modifying point.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub merged: Value,
}
