// Makes a verdict and does not return it.
#![deny(unused_must_use)]
use hooks_runtime::{Verdict, hook_handler, hook_points};

hook_points! {
    pub gating BeforeToolRun(String);
}

fn check(call: &str) -> Verdict {
    if call == "rm" { Verdict::reject("no") } else { Verdict::Pass }
}

#[hook_handler(BeforeToolRun, guard)]
fn no_rm(call: &String) -> Verdict {
    check(call);
    Verdict::Pass
}

fn main() {}
