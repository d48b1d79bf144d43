// Declares a guard that returns a replacement.
use hooks_runtime::{Verdict, hook_handlers, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(BeforeSend, guard)]
    fn shorten(&self, _: &BeforeSendPayload) -> Verdict<BeforeSendPayload> {
        Verdict::Replace(BeforeSendPayload { text: String::new() })
    }
}

fn main() {}
