//! A plugin that fails: the server that it reports to is down.

use hooks_points::{AfterLlmCall, AfterLlmCallPayload, SessionStart, SessionStartPayload};
use hooks_runtime::hook_handler;

/// Fails with a panic.
///
/// # Panics
/// Always.
#[hook_handler(SessionStart, plugin = "analytics")]
pub fn visit(_: &SessionStartPayload) {
    panic!("no connection to the statistics server");
}

/// Fails with an error.
#[hook_handler(AfterLlmCall, plugin = "analytics")]
pub fn round_trip(_: &AfterLlmCallPayload) -> Result<(), &'static str> {
    Err("no connection to the statistics server")
}
