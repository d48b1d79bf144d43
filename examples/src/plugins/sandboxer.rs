//! Rewrites the paths in a tool's arguments so that they stay in the sandbox.
//!
//! A plugin without state needs no type: a function that names its plugin will
//! do, and `hooks.register(handlers![stay_inside])`.

use hooks_points::{BeforeToolCall, BeforeToolCallPayload, BeforeToolCallResult};
use hooks_runtime::hook_handler;
use serde_json::Value;

/// Puts a path that leads out of the sandbox back into it.
#[hook_handler(BeforeToolCall, plugin = "sandboxer", pure)]
pub fn stay_inside(call: &BeforeToolCallPayload) -> Option<BeforeToolCallResult> {
    let path = call.args.get("path")?.as_str()?;
    let inside = inside(path);
    if inside == path {
        return None;
    }
    let mut args = call.args.clone();
    args["path"] = Value::String(inside);
    Some(BeforeToolCallResult { args: Some(args), ..Default::default() })
}

/// The path without its root and with nothing that climbs out.
fn inside(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
    }
    if kept.is_empty() { ".".to_owned() } else { kept.join("/") }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn paths_stay_inside() {
        for (given, kept) in [
            ("notes.txt", "notes.txt"),
            ("/", "."),
            ("/etc/passwd", "etc/passwd"),
            ("../../etc/passwd", "etc/passwd"),
            ("a/../../b", "b"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("", "."),
        ] {
            assert_eq!(inside(given), kept, "{given}");
        }
    }
}
