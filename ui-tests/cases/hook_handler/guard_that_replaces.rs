// Declares a guard that returns a replacement.
use hooks_runtime::{Verdict, hook_handler, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

#[hook_handler(BeforeSend, guard)]
fn shorten(_: &BeforeSendPayload) -> Verdict<BeforeSendPayload> {
    Verdict::Replace(BeforeSendPayload { text: String::new() })
}

fn main() {}
