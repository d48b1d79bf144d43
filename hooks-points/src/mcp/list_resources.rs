//! Listing resources.

use serde::{Deserialize, Serialize};

use super::{Meta, Resource};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// One listing of resources, or one page of it.
    #[hook(name = "resources:list-resources")]
    pub flow ListResources(ListResourcesRequest) -> ListResourcesResponse;
}

/// A listing of resources.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListResourcesRequest {
    /// The page to go on with, from the answer before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// What client and server attach for each other.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// A page of resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListResourcesResponse {
    /// The resources.
    pub resources: Vec<Resource>,
    /// Where the next page begins. Absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What client and server attach for each other.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}
