//! The tool with input that is no input.

mod support;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use support::Scripts;

fn tool(scripts: &Scripts, arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
        .args(arguments)
        .current_dir(scripts.path())
        .env("XDG_CONFIG_HOME", "/no/configuration")
        .env("HOME", "/no/home")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

fn project(command: &str) -> Scripts {
    let scripts = Scripts::new();
    let settings = json!({ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
        { "type": "command", "command": command } ] } ] } });
    scripts.write(".claude/settings.json", &settings.to_string());
    scripts
}

const FIRE: [&str; 7] = [
    "fire",
    "PreToolUse",
    "--config",
    ".claude/settings.json",
    "--dialect",
    "claude-code",
    "--trust",
];

#[test]
fn stdin_that_is_no_payload_is_a_failure_that_is_printed() {
    let scripts = project("exit 0");
    for stdin in [&b""[..], b"\xff\xfe", b"[1]", b"{} {}", b"{", b"null"] {
        let output = tool(&scripts, &FIRE, stdin);
        assert_eq!(output.status.code(), Some(1), "{stdin:?}");
        let fired: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(fired["outcome"], "failed", "{stdin:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let scripts = project("exit 0");
    for task in ["check", "preview"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
            .arg(task)
            .current_dir(scripts.path())
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{task}: {stderr}");
    }
}

#[test]
fn a_project_that_does_not_exist_is_said() {
    let scripts = project("exit 0");
    let arguments: Vec<_> = FIRE.iter().copied().chain(["--project", "/no/such/folder"]).collect();
    let output = tool(&scripts, &arguments, br#"{"tool_name": "Bash", "tool_input": {}}"#);
    assert_eq!(output.status.code(), Some(1));
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("/no/such/folder"), "{said}");
}
