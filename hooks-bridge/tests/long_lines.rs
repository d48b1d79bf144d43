//! Lines that are long, or that lead from one program to the next: the tool reads each file
//! in a moment.

use std::process::Command;

use serde_json::{Value, json};

fn check(commands: &[String]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let hooks: Vec<_> =
        commands.iter().map(|line| json!({ "type": "command", "command": line })).collect();
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": hooks } ] } });
    let file = folder.path().join("settings.json");
    std::fs::write(&file, text.to_string()).unwrap();
    let mut tool = Command::new("timeout");
    tool.args(["60", env!("CARGO_BIN_EXE_hooks-bridge"), "check", "--json"]).arg(&file);
    let output = tool.current_dir(folder.path()).output().unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

#[test]
fn lines_without_an_end_are_read_in_a_moment() {
    let lines = ["cd a && ", "timeout 5 bash ", "timeout ", "(", "deno ", "bun run ", "{ ", "\\'"];
    for line in lines {
        for count in [1_000, 100_000] {
            let (code, read) = check(&[line.repeat(count) + "./x"]);
            assert!(matches!(code, Some(0 | 1)), "{line}: {code:?}");
            assert_ne!(read, Value::Null, "{line}");
        }
    }
}

#[test]
fn many_lines_are_read_in_a_moment() {
    let (code, read) = check(&(0..10_000).map(|n| format!("./{n}.sh")).collect::<Vec<_>>());
    assert_eq!(code, Some(1));
    assert_ne!(read, Value::Null);
}
