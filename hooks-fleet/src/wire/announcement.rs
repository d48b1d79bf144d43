//! What a process says of itself when it is ready.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one process of a service serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Announcement {
    /// The version of the contract: 1.
    pub v: u32,
    /// The service: at a process that fires, the plugin that owns its handlers.
    pub service: String,
    /// This process of it; another one for each start.
    pub instance: String,
    /// The version of the service, for people.
    #[serde(default)]
    pub version: String,
    /// The points at which it has handlers, by their wire names.
    pub points: BTreeMap<String, AnnouncedPoint>,
    /// Its handlers.
    pub handlers: Vec<AnnouncedHandler>,
}

/// A point, as the serving process knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnouncedPoint {
    /// Its model, such as `gating`.
    pub model: String,
    /// What requests name: any text that is the same for the same schemas, and another for
    /// others.
    pub schema: String,
    /// The JSON Schema of the payload; of a stage, that of the flow's input.
    pub payload: Value,
    /// The JSON Schema of the result, the claim, the reasons or the flow's output; `null`
    /// where there is none.
    #[serde(default)]
    pub result: Value,
    /// Whether it is taken from a durable stream, and not called.
    #[serde(default)]
    pub durable: bool,
}

/// One handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own about the handler")]
pub struct AnnouncedHandler {
    /// The wire name of its point.
    pub point: String,
    /// Its name in the service.
    pub handler: String,
    /// The lower number first.
    #[serde(default)]
    pub priority: i32,
    /// Whether it is a guard of a gating point.
    #[serde(default)]
    pub guard: bool,
    /// Whether its failure ends the fire; where the point says so, it does anyway.
    #[serde(default)]
    pub fail_closed: bool,
    /// How long a fire waits for it, in milliseconds; nothing leaves that to the process that
    /// fires.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Whether it has no side effects.
    #[serde(default)]
    pub pure: bool,
    /// Whether it may be called again where it is not known whether it ran.
    #[serde(default)]
    pub idempotent: bool,
}
