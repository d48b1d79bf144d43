//! What a goal has to meet.

use serde::{Deserialize, Serialize};

/// The bar a goal was given when it was taken on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcceptanceSpec {
    /// Conditions that hold or do not.
    pub checks: Vec<AcceptanceCheck>,
    /// Qualities that are scored.
    pub rubric: Vec<AcceptanceRubric>,
    /// The weighted score, between 0 and 1, that counts as reached.
    pub threshold: f64,
}

/// A condition that holds or does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcceptanceCheck {
    /// Names the check in a verdict.
    pub id: String,
    /// What is checked, for people and models to read.
    pub description: String,
    /// The command or pattern that settles the check, if a machine can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A quality that is scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AcceptanceRubric {
    /// Names the quality in a verdict.
    pub id: String,
    /// What is judged, for people and models to read.
    pub description: String,
    /// How much the quality counts against the others.
    pub weight: f64,
}
