// Returns a guard's verdict without saying `guard`.
use hooks_runtime::{Verdict, hook_handler, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

#[hook_handler(BeforeSend)]
fn polite(_: &BeforeSendPayload) -> Verdict {
    Verdict::Pass
}

fn main() {}
