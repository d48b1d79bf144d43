//! The tool with input that is no input.

mod support;

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use support::Scripts;

fn tool(scripts: &Scripts, arguments: &[&str], stdin: &[u8]) -> Output {
    support::tool(scripts.path(), arguments, stdin)
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
    for task in [&["check"][..], &["preview"], &["--help"], &FIRE] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
            .args(task)
            .stdin(Stdio::null())
            .current_dir(scripts.path())
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{task:?}: {stderr}");
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

/// What is printed to stderr, and the exit code.
fn said(scripts: &Scripts, arguments: &[&str], stdin: &[u8]) -> (Option<i32>, String) {
    let output = tool(scripts, arguments, stdin);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn files_that_are_none_are_said_with_what_is_expected() {
    let scripts = project("exit 0");
    scripts.write("empty.json", " \n");
    scripts.write("folder/file", "");
    std::fs::write(scripts.path().join("binary.json"), [0xff, 0, 0xfe]).unwrap();
    for (file, what) in [
        ("gone.json", "it cannot be read: there is no such file"),
        ("folder", "it cannot be read: it is a folder, and a file is expected"),
        ("empty.json", "it is empty: an object with `hooks` is expected"),
        ("binary.json", "it is not UTF-8: a text file with JSON or TOML is expected"),
        ("/dev/null", "it cannot be read: it is a device or a pipe, and a file is expected"),
    ] {
        let fire = ["fire", "Stop", "--config", file, "--dialect", "claude-code"];
        let fired = tool(&scripts, &fire, b"{}");
        let fired: Value = serde_json::from_slice(&fired.stdout).unwrap();
        assert_eq!(
            (&fired["outcome"], &fired["reason"]),
            (&json!("failed"), &json!(format!("{file}:1: {what}")))
        );
        // With another one: a folder alone is looked through.
        let check = tool(&scripts, &["check", file, ".claude/settings.json"], b"");
        let shown = String::from_utf8_lossy(&check.stdout).into_owned();
        assert!(check.status.code() == Some(1) && shown.contains(what), "{shown}");
        let preview = said(&scripts, &["preview", file, ".claude/settings.json"], b"");
        assert_eq!(preview, (Some(1), format!("error: {file}:1: {what}\n")));
    }
}

#[test]
fn a_folder_without_files_says_what_was_looked_for() {
    let scripts = Scripts::new();
    scripts.write("folder/file", "");
    let (code, note) = said(&scripts, &["check", "folder"], b"");
    assert_eq!(code, Some(0));
    let places = ".claude/settings.json, .codex/hooks.json, .gemini/settings.json, \
                  .cursor/hooks.json, .github/hooks/";
    assert_eq!(note, format!("note: `folder` has none of these files: {places}\n"));
    let missing = "error: `gone` is no folder: write that of the project\n".to_owned();
    for task in ["check", "preview"] {
        assert_eq!(said(&scripts, &[task, "--project", "gone"], b""), (Some(1), missing.clone()));
    }
}

#[test]
fn arguments_that_are_none_lead_to_the_help() {
    let scripts = project("exit 0");
    for (arguments, message) in [
        (&["check", "--halp"][..], "error: invalid option '--halp'; see `--help`\n"),
        (&["check", "--project"], "error: missing argument for option '--project'; see `--help`\n"),
        (
            &["preview", "--allow-url", "http://localhost/"],
            "error: `--allow-url` is for `fire` and `check`; see `--help`\n",
        ),
        (
            &["check", "--allow-variable", "HOME"],
            "error: `--allow-variable` is for `fire`; see `--help`\n",
        ),
        (&["preview", "--tool", "Refund"], "error: `--tool` is for `check`; see `--help`\n"),
        (&["fire", "Stop", "Stop"], "error: `fire` takes one event, and `Stop` is too many\n"),
    ] {
        assert_eq!(said(&scripts, arguments, b""), (Some(1), message.to_owned()));
    }
    let help = tool(&scripts, &["--help"], b"");
    let bare = tool(&scripts, &[], b"");
    assert_eq!((help.status.code(), &help.stdout), (Some(0), &bare.stdout));
}

#[test]
fn a_payload_of_twenty_megabytes_is_one() {
    let scripts = project("wc -c >&2; exit 2");
    let payload = json!({ "tool_name": "Bash", "tool_input": { "text": "x".repeat(20 << 20) } });
    let output = tool(&scripts, &FIRE, payload.to_string().as_bytes());
    assert_eq!(output.status.code(), Some(2));
    let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
    let read: usize = fired["reason"].as_str().unwrap().trim().parse().unwrap();
    assert!(read > 20 << 20, "{read}");
}

#[test]
fn no_payload_is_said_to_a_person_too() {
    let scripts = project("exit 0");
    let expected = "error: one JSON object is expected on stdin, such as the event has it: ";
    assert_eq!(said(&scripts, &FIRE, b"").1, format!("{expected}there is no payload\n"));
    let (code, text) = said(&scripts, &FIRE, b"{ deny }");
    assert_eq!(code, Some(1));
    assert!(text.starts_with(expected) && text.contains("line 1 column 3"), "{text}");
}

#[test]
fn stdout_that_is_full_is_no_success() {
    let scripts = project("exit 0");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
        .arg("check")
        .current_dir(scripts.path())
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("error: stdout cannot be written: "), "{said}");
}

/// The usual grants are in the home folder: where that is the project, it could write them.
#[test]
fn the_home_folder_as_a_project_is_shown_and_grants_itself_nothing() {
    let home = project("./guard.sh");
    home.script("guard.sh", "#!/bin/sh\n");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
            .args(arguments)
            .current_dir(home.path())
            .env("HOME", home.path())
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, shown, note) = run(&["preview"]);
    assert_eq!(code, Some(0), "{note}");
    let line = shown.lines().last().unwrap().to_owned();
    assert!(line.ends_with(" claude-code PreToolUse [Bash] ./guard.sh"), "{shown}");

    home.write(".config/hooks-bridge/grants", &line);
    assert_eq!(run(&["preview"]), (code, shown.clone(), note.clone()));
    assert!(note.starts_with("note: `") && note.contains("is inside of the project"), "{note}");
    assert!(
        note.ends_with("and name it with `--grants FILE`; nothing is granted here\n"),
        "{note}"
    );

    let elsewhere = Scripts::new();
    let grants = elsewhere.write("grants", &line);
    let (_, granted, note) = run(&["preview", "--grants", grants.to_str().unwrap()]);
    assert!(granted.ends_with("  trusted  yes\n") && note.is_empty(), "{granted}{note}");
}

#[cfg(not(feature = "http"))]
#[test]
fn requests_need_a_tool_that_was_built_with_them() {
    let arguments = [&FIRE[..], &["--allow-url", "http://localhost/"]].concat();
    let message =
        "error: this tool was built without requests: install it with `--features http`\n";
    assert_eq!(said(&project("true"), &arguments, b"{}"), (Some(1), message.to_owned()));
}

#[cfg(feature = "http")]
#[test]
fn an_address_and_its_variables_are_allowed_one_by_one() {
    use std::io::{Read, Write};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/gate/", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, mut request) = (listener.accept().unwrap().0, [0; 4096]);
        let read = stream.read(&mut request).unwrap();
        let deny = r#"{"decision": "block", "reason": "not today"}"#;
        let length = deny.len();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{deny}").unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let scripts = Scripts::new();
    let settings = json!({ "hooks": { "PreToolUse": [ { "hooks": [ {
        "type": "http", "url": format!("{address}tools"), "timeout": 20,
        "headers": { "x-home": "$HOME", "x-path": "$PATH" }, "allowedEnvVars": ["HOME", "PATH"],
    } ] } ] } });
    scripts.write(".claude/settings.json", &settings.to_string());
    let call = br#"{"tool_name": "Bash", "tool_input": {}}"#;
    let fire = |more: &[&str]| {
        let output = tool(&scripts, &[&FIRE[..], more].concat(), call);
        let fired: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), fired, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, fired, _) = fire(&[]);
    assert_eq!(code, Some(1));
    assert!(fired["reason"].as_str().unwrap().contains("allow it with"), "{fired}");
    let (code, _, error) = fire(&["--allow-url", "localhost"]);
    assert_eq!(code, Some(1));
    assert!(error.starts_with("error: `localhost` is no address: write one such as"), "{error}");

    let (code, fired, _) = fire(&["--allow-url", &address, "--allow-variable", "HOME"]);
    assert_eq!((code, &fired["reason"]), (Some(2), &json!("not today")), "{fired}");
    let request = asked.join().unwrap().to_lowercase();
    assert!(request.contains("x-home: /no/home\r\n"), "{request}");
    assert!(request.contains("x-path: \r\n"), "not allowed, so empty: {request}");
}
