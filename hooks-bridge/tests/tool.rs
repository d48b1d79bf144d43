//! The tool, as it is called.

mod support;

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use support::Scripts;

fn tool(folder: &Path, arguments: &[&str], stdin: &str) -> Output {
    support::tool(folder, arguments, stdin.as_bytes())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn sample() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample")
}

/// A project with a Claude Code file for one command.
fn project(command: &str) -> Scripts {
    let scripts = Scripts::new();
    let settings = json!({ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
        { "type": "command", "command": command } ] } ] } });
    scripts.write(".claude/settings.json", &settings.to_string());
    scripts
}

const FIRE: [&str; 6] =
    ["fire", "PreToolUse", "--config", ".claude/settings.json", "--dialect", "claude-code"];
const CALL: &str = r#"{"tool_name": "Bash", "tool_input": {"command": "ls"}}"#;

/// The exit code and the object of a fire.
fn fire(scripts: &Scripts, more: &[&str], stdin: &str) -> (Option<i32>, Value) {
    let output = tool(scripts.path(), &[&FIRE, more].concat(), stdin);
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 1, "one object: {stdout} {}", text(&output.stderr));
    (output.status.code(), serde_json::from_str(&stdout).unwrap())
}

#[test]
fn check_prints_what_the_readme_shows() {
    let output = tool(&sample(), &["check"], "");
    assert_eq!(output.status.code(), Some(1), "something is suspicious");
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let shown = readme.split("```text\n$ hooks-bridge check\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    assert_eq!(text(&output.stdout), shown, "{}", text(&output.stdout));
}

#[test]
fn check_as_json_has_the_same() {
    let output = tool(&sample(), &["check", "--json"], "");
    let check: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let files = check["files"].as_array().unwrap();
    let dialects: Vec<_> = files.iter().map(|file| file["dialect"].as_str().unwrap()).collect();
    assert_eq!(dialects, ["claude-code", "codex", "gemini", "cursor", "copilot"]);
    assert_eq!(files[0]["read_by"], json!(["claude-code", "cursor", "copilot"]));
    let entry = &files[0]["entries"][1];
    assert_eq!((&entry["line"], &entry["state"]), (&json!(13), &json!("suspicious")));
    let copilot = &entry["dialects"][4];
    assert_eq!((&copilot["exit_1"], &copilot["timeout"]), (&json!("denies"), &json!("goes on")));
}

#[test]
fn check_of_good_files_ends_well() {
    let scripts = project("true");
    let output = tool(scripts.path(), &["check", ".claude/settings.json"], "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("1 handler: 1 loaded"), "{}", text(&output.stdout));
}

#[test]
fn fire_prints_one_object_and_says_it_with_its_exit_code() {
    let trust = ["--trust"];
    let (code, fired) = fire(&project("exit 0"), &trust, CALL);
    assert_eq!((code, &fired["outcome"]), (Some(0), &json!("none")));
    assert_eq!(fired["payload"]["tool_input"]["command"], "ls");

    let (code, fired) = fire(&project("echo no >&2; exit 2"), &trust, CALL);
    assert_eq!(
        (code, &fired["outcome"], &fired["reason"]),
        (Some(2), &json!("rejected"), &json!("no"))
    );
    let handler = &fired["handlers"][0];
    assert_eq!((&handler["status"], &handler["decided_by"]), (&json!("decided"), &json!("exit")));
    assert_eq!((&handler["exit"], &handler["stderr"]), (&json!(2), &json!("no\n")));
    assert!(handler["took_ms"].as_f64().unwrap() > 0.0);
    let keys: Vec<_> = handler.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["command", "decided_by", "exit", "status", "stderr", "took_ms"]);

    let answer = r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"ls -l"}}}"#;
    let (code, fired) = fire(&project(&format!("echo '{answer}'")), &trust, CALL);
    assert_eq!((code, &fired["outcome"]), (Some(0), &json!("replaced")));
    assert_eq!(fired["payload"]["tool_input"]["command"], "ls -l");
    assert_eq!(fired["handlers"][0]["decided_by"], "json");

    let broken = project("exit 1");
    let (code, fired) = fire(&broken, &trust, CALL);
    assert_eq!((code, &fired["outcome"]), (Some(1), &json!("failed")));
    assert_eq!(fired["handlers"][0]["status"], "failed");
    let (code, fired) = fire(&broken, &["--trust", "--faithful"], CALL);
    assert_eq!((code, &fired["outcome"]), (Some(0), &json!("passed")));
    assert_eq!(fired["handlers"][0]["status"], "failed");

    let read = r#"{"tool_name": "Read", "tool_input": {}}"#;
    let (code, fired) = fire(&project("exit 2"), &trust, read);
    assert_eq!((code, &fired["outcome"]), (Some(0), &json!("none")));
    assert_eq!(fired["handlers"][0]["status"], "skipped", "the matcher is not met");
}

#[test]
fn bad_input_is_an_outcome_that_says_what_was_expected() {
    let scripts = project("exit 0");
    let expected = "one JSON object is expected on stdin, such as the event has it: ";
    for (stdin, reason) in [
        ("", format!("{expected}there is no payload")),
        ("not json", format!("{expected}expected ident at line 1 column 2")),
        ("{} {}", format!("{expected}trailing characters at line 1 column 4")),
        ("[]", "stdin must be one JSON object, as the event has it, and is a list".into()),
        ("null", "stdin must be one JSON object, as the event has it, and is null".into()),
    ] {
        let (code, fired) = fire(&scripts, &["--trust"], stdin);
        assert_eq!((code, &fired["outcome"]), (Some(1), &json!("failed")), "{stdin}");
        assert_eq!(fired["reason"], reason);
    }
    let run = |arguments: &[&str]| {
        let output = tool(scripts.path(), arguments, "{}");
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, said) =
        run(&["fire", "PreTool", "--config", ".claude/settings.json", "--dialect", "claude-code"]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("Claude Code has no event `PreTool`; did you mean `PreToolUse`?"),
        "{said}"
    );
    let (code, said) = run(&["fire", "PreToolUse", "--config", "gone.json", "--dialect", "codex"]);
    assert!(code == Some(1) && said.contains("gone.json:1: it cannot be read"), "{said}");
    for (arguments, message) in [
        (&["fier"][..], "error: `fier` is no task: write check, preview or fire; see `--help`\n"),
        (&["fire"], "error: `fire` needs the name of an event, as its dialect writes it\n"),
        (&["fire", "Stop"], "error: `fire` needs `--config FILE`\n"),
        (
            &["fire", "Stop", "--config", "x"],
            "error: `fire` needs `--dialect NAME`, which is one of claude-code, codex, gemini, cursor, copilot\n",
        ),
        (
            &["fire", "Stop", "--config", "x", "--dialect", "emacs"],
            "error: `emacs` is no dialect: write one of claude-code, codex, gemini, cursor, copilot\n",
        ),
        (&["check", "--trust"], "error: `--trust` is not for this task; see `--help`\n"),
        (
            &["preview", "--dialect", "codex"],
            "error: `--config` and `--dialect` are for `fire`; name the files as they are\n",
        ),
    ] {
        assert_eq!(run(arguments), (Some(1), message.to_owned()));
    }
    let version = concat!("hooks-bridge ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(run(&["--version"]), (Some(0), version.to_owned()));
    assert!(run(&["--help"]).1.starts_with("The hook scripts of coding agents"));
}

#[test]
fn nothing_of_a_project_runs_without_a_grant() {
    let scripts = project("./guard.sh");
    let ran = scripts.path().join("ran");
    scripts.script("guard.sh", &format!("#!/bin/sh\ntouch {}\n", ran.display()));
    let (code, fired) = fire(&scripts, &[], CALL);
    assert_eq!((code, &fired["outcome"]), (Some(1), &json!("failed")), "no verdict is no pass");
    assert_eq!(fired["handlers"][0]["status"], "untrusted");
    assert!(!ran.exists());

    // The line that `preview` prints is the grant.
    let elsewhere = Scripts::new();
    let grants = elsewhere.path().join("grants");
    let with_grants = ["--grants", grants.to_str().unwrap()];
    let preview =
        || text(&tool(scripts.path(), &[&["preview"], &with_grants[..]].concat(), "").stdout);
    let shown = preview();
    let line = shown.lines().last().unwrap();
    assert!(line.ends_with(" claude-code PreToolUse [Bash] ./guard.sh"), "{shown}");
    std::fs::write(&grants, format!("# by ops\n{line}\n")).unwrap();
    assert!(preview().ends_with("  trusted  yes\n"), "{}", preview());
    let (code, fired) = fire(&scripts, &with_grants, CALL);
    assert_eq!((code, &fired["outcome"]), (Some(0), &json!("none")), "{fired}");
    assert!(ran.exists());

    // Other bytes are not what was granted.
    scripts.script("guard.sh", "#!/bin/sh\necho changed\n");
    let (code, fired) = fire(&scripts, &with_grants, CALL);
    assert_eq!((code, &fired["handlers"][0]["status"]), (Some(1), &json!("untrusted")));

    // A project does not grant itself anything.
    scripts.write("grants", line);
    let output = tool(scripts.path(), &["preview", "--grants", "grants"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("inside of the project"), "{}", text(&output.stderr));
}
