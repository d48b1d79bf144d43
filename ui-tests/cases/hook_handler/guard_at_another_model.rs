// Declares a guard at a point that is not gating.
use hooks_runtime::{Verdict, hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart, guard)]
fn check(_: &SessionStartPayload) -> Verdict {
    Verdict::Pass
}

fn main() {}
