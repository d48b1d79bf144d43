//! A plugin in a crate of its own. A program that links it has its handler, and
//! knows no name in it.

#![forbid(unsafe_code)]

use hooks_points::{SessionStart, SessionStartPayload};
use hooks_runtime::hook_handler;

/// Greets each session.
#[hook_handler(SessionStart, plugin = "greeter")]
fn welcome(start: &SessionStartPayload) {
    println!("greeter: welcome, {}", start.session_id);
}
