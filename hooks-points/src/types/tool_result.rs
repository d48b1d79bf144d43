//! What a tool came back with.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool came back with.
///
/// On the wire `ok` distinguishes the two forms. Keys of the other form are
/// refused: `{"ok": true, "error": "…"}` has no reading that is safe to pick.
///
/// ```
/// use hooks_points::{ToolErrorCode, ToolResult};
///
/// let stale = r#"{ "ok": false, "code": "STALE_WRITE", "error": "the file has changed" }"#;
/// assert_eq!(
///     serde_json::from_str::<ToolResult>(stale)?,
///     ToolResult::failure(ToolErrorCode::StaleWrite, "the file has changed"),
/// );
/// assert!(serde_json::from_str::<ToolResult>(r#"{ "ok": true, "error": "?" }"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub enum ToolResult {
    /// The tool did its work.
    Success {
        /// The answer, as the model reads it.
        value: String,
        /// The answer as data, for programs.
        structured: Option<Value>,
        /// What the call cost, in US dollars.
        cost_usd: Option<f64>,
    },
    /// The tool did not do its work.
    Failure {
        /// What sort of failure it was.
        code: ToolErrorCode,
        /// What went wrong, as the model reads it.
        error: String,
    },
}

/// What sort of failure a tool met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorCode {
    /// The arguments are no good.
    InputInvalid,
    /// The tool cannot be used here or now.
    NotAvailable,
    /// The tool ran and failed.
    ExecutionFailed,
    /// What the tool was to overwrite had changed since it was read.
    #[serde(rename = "STALE_WRITE")]
    StaleWrite,
}

impl ToolResult {
    /// A plain answer.
    pub fn success(value: impl Into<String>) -> Self {
        Self::Success { value: value.into(), structured: None, cost_usd: None }
    }

    /// A failure.
    pub fn failure(code: ToolErrorCode, error: impl Into<String>) -> Self {
        Self::Failure { code, error: error.into() }
    }

    /// Whether the tool did its work.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Success { .. })
    }
}

/// Both forms at once, as the wire could spell them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<ToolErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum Malformed {
    #[error("`ok: true` needs `value`, may have `structured` and `cost_usd`, and nothing else")]
    Success,
    #[error("`ok: false` needs `code` and `error`, and nothing else")]
    Failure,
}

impl TryFrom<Wire> for ToolResult {
    type Error = Malformed;

    fn try_from(wire: Wire) -> Result<Self, Malformed> {
        match wire {
            Wire {
                ok: true,
                value: Some(value),
                structured,
                cost_usd,
                code: None,
                error: None,
            } => Ok(Self::Success { value, structured, cost_usd }),
            Wire {
                ok: false,
                value: None,
                structured: None,
                cost_usd: None,
                code: Some(code),
                error: Some(error),
            } => Ok(Self::Failure { code, error }),
            Wire { ok: true, .. } => Err(Malformed::Success),
            Wire { ok: false, .. } => Err(Malformed::Failure),
        }
    }
}

impl From<ToolResult> for Wire {
    fn from(result: ToolResult) -> Self {
        match result {
            ToolResult::Success { value, structured, cost_usd } => {
                Self { ok: true, value: Some(value), structured, cost_usd, code: None, error: None }
            }
            ToolResult::Failure { code, error } => Self {
                ok: false,
                value: None,
                structured: None,
                cost_usd: None,
                code: Some(code),
                error: Some(error),
            },
        }
    }
}

/// One form or the other, as it is read and written.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for ToolResult {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ToolResult".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What a tool came back with.",
            "oneOf": [
                {
                    "description": "The tool did its work.",
                    "type": "object",
                    "properties": {
                        "ok": { "const": true },
                        "value": {
                            "description": "The answer, as the model reads it.",
                            "type": "string",
                        },
                        "structured": { "description": "The answer as data, for programs." },
                        "cost_usd": {
                            "description": "What the call cost, in US dollars.",
                            "type": ["number", "null"],
                        },
                    },
                    "required": ["ok", "value"],
                    "additionalProperties": false,
                },
                {
                    "description": "The tool did not do its work.",
                    "type": "object",
                    "properties": {
                        "ok": { "const": false },
                        "code": generator.subschema_for::<ToolErrorCode>(),
                        "error": {
                            "description": "What went wrong, as the model reads it.",
                            "type": "string",
                        },
                    },
                    "required": ["ok", "code", "error"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
