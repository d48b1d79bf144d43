// A point by its wire name, words without quotes, a timeout without its unit.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler("session_start")]
fn by_wire_name(_: &SessionStartPayload) {}

#[hook_handler(SessionStart, on_failure = open, name = audit, timeout = 30, before = log)]
fn without_quotes(_: &SessionStartPayload) {}

#[hook_handler(SessionStart, timeout = "200 millis")]
fn with_a_long_unit(_: &SessionStartPayload) {}

fn main() {}
