//! What is in a resource.

use serde::{Deserialize, Serialize};

use super::Meta;

/// What is in a resource, or in a part of one.
///
/// On the wire the key says whether it is `text` or a `blob`. Neither or both
/// is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct ResourceContents {
    /// Where it is.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// What is in it.
    pub body: ResourceBody,
    /// What client and server attach for each other.
    pub meta: Option<Meta>,
}

/// What is in a resource: text, or anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, encoded in Base64.
    Blob(String),
}

impl ResourceContents {
    /// Text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(uri.into(), ResourceBody::Text(text.into()))
    }

    /// Bytes, which the caller has encoded in Base64.
    pub fn blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::new(uri.into(), ResourceBody::Blob(base64.into()))
    }

    const fn new(uri: String, body: ResourceBody) -> Self {
        Self { uri, mime_type: None, body, meta: None }
    }
}

/// Both forms at once, as the wire could spell them.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wire {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

#[derive(Debug, thiserror::Error)]
#[error("resource contents need either `text` or `blob`")]
struct NeitherOrBoth;

impl TryFrom<Wire> for ResourceContents {
    type Error = NeitherOrBoth;

    fn try_from(wire: Wire) -> Result<Self, NeitherOrBoth> {
        let body = match (wire.text, wire.blob) {
            (Some(text), None) => ResourceBody::Text(text),
            (None, Some(blob)) => ResourceBody::Blob(blob),
            _ => return Err(NeitherOrBoth),
        };
        Ok(Self { uri: wire.uri, mime_type: wire.mime_type, body, meta: wire.meta })
    }
}

impl From<ResourceContents> for Wire {
    fn from(contents: ResourceContents) -> Self {
        let (text, blob) = match contents.body {
            ResourceBody::Text(text) => (Some(text), None),
            ResourceBody::Blob(blob) => (None, Some(blob)),
        };
        Self { uri: contents.uri, mime_type: contents.mime_type, text, blob, meta: contents.meta }
    }
}

/// Text or a blob, as it is read and written.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for ResourceContents {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ResourceContents".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let form = |key: &str, description: &str| {
            schemars::json_schema!({
                "description": description,
                "type": "object",
                "properties": {
                    "uri": { "description": "Where it is.", "type": "string" },
                    "mimeType": { "description": "Its media type.", "type": ["string", "null"] },
                    key: { "type": "string" },
                    "_meta": {
                        "description": "What client and server attach for each other.",
                        "type": ["object", "null"],
                        "additionalProperties": true,
                    },
                },
                "required": ["uri", key],
                "additionalProperties": false,
            })
        };
        schemars::json_schema!({
            "description": "What is in a resource, or in a part of one.",
            "oneOf": [
                form("text", "Text."),
                form("blob", "Bytes, encoded in Base64."),
            ],
        })
    }
}
