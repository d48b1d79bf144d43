// Replaces the payload in a verdict that has no replacement.
use hooks_runtime::{Verdict, hook_handler, hook_points};

hook_points! {
    pub gating BeforeToolRun(String);
}

#[hook_handler(BeforeToolRun, guard)]
fn shorten(_: &String) -> Verdict {
    Verdict::Replace(String::new())
}

fn main() {}
