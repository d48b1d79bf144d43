// Says whether the payload passes with a `bool`.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

#[hook_handler(BeforeSend)]
fn polite(message: &BeforeSendPayload) -> bool {
    !message.text.is_empty()
}

fn main() {}
