//! How an attempt at a goal was judged.

use serde::{Deserialize, Serialize};

/// How an attempt at a goal was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GoalVerdict {
    /// The overall score, between 0 and 1.
    pub score: f64,
    /// The judgement of each criterion.
    pub per_criterion: Vec<CriterionResult>,
}

/// How one criterion of a goal was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CriterionResult {
    /// The check or quality that was judged.
    pub id: String,
    /// Whether a check holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<bool>,
    /// The score of a quality, between 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What the judgement rests on.
    pub evidence: String,
    /// What is still missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}
