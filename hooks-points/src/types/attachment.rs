//! Files that travel with a message.

use serde::{Deserialize, Serialize};

/// A file that travels with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attachment {
    /// What sort of file it is.
    #[serde(rename = "type")]
    pub kind: AttachmentKind,
    /// The platform's own handle for the file.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Where the bytes can be fetched.
    pub url: String,
    /// The media type, such as `image/png`.
    pub mime_type: String,
    /// The name the sender gave the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The size, where the platform reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// What sort of file an [`Attachment`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A picture.
    Image,
    /// Any other file.
    File,
    /// A recording.
    Audio,
}
