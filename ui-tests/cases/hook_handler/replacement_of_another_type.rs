// Replaces the payload with a value of another type.
use hooks_runtime::{Verdict, hook_handler, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

#[hook_handler(BeforeSend)]
fn shorten(message: &BeforeSendPayload) -> Verdict<String> {
    Verdict::Replace(message.text.clone())
}

fn main() {}
