//! Keeps secrets out of the conversation: masks keys, and turns away what asks for
//! passwords.

use hooks_points::lifecycle::{BeforeInbound, BeforeInboundPayload};
use hooks_runtime::{Verdict, hook_handler};

/// A rewriter: what is used from here on has no key in it.
#[hook_handler(BeforeInbound, plugin = "privacy", pure)]
pub fn mask_keys(inbound: &BeforeInboundPayload) -> Verdict<BeforeInboundPayload> {
    let words = inbound.content.split(' ');
    let masked = words.map(|word| if word.starts_with("sk-") { "[masked]" } else { word });
    let content = masked.collect::<Vec<_>>().join(" ");
    if content == inbound.content {
        return Verdict::Pass;
    }
    Verdict::Replace(BeforeInboundPayload { content, ..inbound.clone() })
}

/// A guard: it judges what all rewriters have left.
#[hook_handler(BeforeInbound, plugin = "privacy", guard, pure)]
pub fn no_passwords(inbound: &BeforeInboundPayload) -> Verdict {
    if inbound.content.contains("password") {
        Verdict::reject("it speaks of a password")
    } else {
        Verdict::Pass
    }
}
