//! Answers a question at the gateway, without a turn of the agent.

use hooks_points::{GatewayMessage, GatewayMessagePayload, GatewayReply};
use hooks_runtime::hook_handlers;

/// Knows the answer to `help`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HelpDesk;

#[hook_handlers(plugin = "help-desk")]
impl HelpDesk {
    #[hook_handler(GatewayMessage)]
    fn help(&self, message: &GatewayMessagePayload) -> Option<GatewayReply> {
        let asked = message.text.trim().eq_ignore_ascii_case("help");
        asked.then(|| GatewayReply::text("Tell me what to do, or write /personality NAME."))
    }
}
