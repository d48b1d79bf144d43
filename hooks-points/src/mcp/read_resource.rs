//! Reading a resource.

use serde::{Deserialize, Serialize};

use super::{Meta, ResourceContents};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// One read of a resource.
    #[hook(name = "resources:read-resource")]
    pub flow ReadResource(ReadResourceRequest) -> ReadResourceResponse;
}

/// A read of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadResourceRequest {
    /// Where the resource is.
    pub uri: String,
    /// What client and server attach for each other.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// What is in a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadResourceResponse {
    /// The contents, in one part or several.
    pub contents: Vec<ResourceContents>,
    /// What client and server attach for each other.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}
