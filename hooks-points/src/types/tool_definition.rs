//! Tools as they are described to a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool as it is described to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolDefinition {
    /// The name the model calls it by.
    pub name: String,
    /// What it does, for the model to read.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Map<String, Value>,
}
