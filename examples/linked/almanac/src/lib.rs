//! A plugin in a crate of its own. A program that links it has its handlers, and
//! knows no name in it.

#![forbid(unsafe_code)]

use hooks_points::{BeforePromptBuild, BeforePromptBuildPayload, BeforePromptBuildResult};
use hooks_runtime::hook_handler;

/// Puts the season before the prompt.
#[hook_handler(BeforePromptBuild, plugin = "almanac")]
fn season(_: &BeforePromptBuildPayload) -> BeforePromptBuildResult {
    BeforePromptBuildResult {
        prepend_system: Some("It is spring.".to_owned()),
        ..Default::default()
    }
}

/// Puts a saying behind it.
#[hook_handler(BeforePromptBuild, plugin = "almanac")]
fn saying(_: &BeforePromptBuildPayload) -> BeforePromptBuildResult {
    let append_system = Some("April showers bring May flowers.".to_owned());
    BeforePromptBuildResult { append_system, ..Default::default() }
}
