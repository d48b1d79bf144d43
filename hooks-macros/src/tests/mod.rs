//! Tests of the macros as functions over tokens: no compiler runs.

mod any_tokens;
mod case;
mod duration;
mod handler_messages;
mod list_messages;
mod merge_messages;
mod plugin_messages;
mod point_messages;
mod robustness;
mod snapshots;
mod suggest;
mod support;
