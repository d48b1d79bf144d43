//! A plugin that fails: what it counts with is not there.

use hooks_points::{AfterLlmCall, AfterLlmCallPayload, SessionStart, SessionStartPayload};
use hooks_runtime::hook_handlers;

/// Wants to report to a server that is down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Analytics;

#[hook_handlers(plugin = "analytics")]
impl Analytics {
    #[hook_handler(SessionStart)]
    async fn visit(&self, _: &SessionStartPayload) {
        panic!("no connection to the statistics server");
    }

    #[hook_handler(AfterLlmCall)]
    async fn round_trip(&self, _: &AfterLlmCallPayload) -> Result<(), &'static str> {
        Err("no connection to the statistics server")
    }
}
