//! Answers a question at the gateway, without a turn of the agent.

use hooks_points::{GatewayMessage, GatewayMessagePayload, GatewayReply};
use hooks_runtime::hook_handler;

/// Answers `help`.
#[hook_handler(GatewayMessage, plugin = "help-desk", pure)]
pub fn help(message: &GatewayMessagePayload) -> Option<GatewayReply> {
    let asked = message.text.trim().eq_ignore_ascii_case("help");
    asked.then(|| GatewayReply::text("Tell me what to do, or write /personality NAME."))
}
