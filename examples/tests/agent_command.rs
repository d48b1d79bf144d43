//! The command itself: what its options write, and what it says to bad ones.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use hooks_runtime::record::Reader;
use serde_json::Value;
use support::workspace;
use tempfile::TempDir;

fn agent(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "agent", "--"])
        .args(arguments)
        .env_remove("MODEL_API_KEY")
        .current_dir(workspace())
        .output()
        .expect("cargo starts")
}

#[test]
fn the_trace_the_page_and_the_picture_are_written() {
    let folder = TempDir::new().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (trace, page, picture) = (file("trace.jsonl"), file("page.html"), file("day.svg"));
    let output = agent(&["--trace", &trace, "--html", &page, "--svg", &picture]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said,
        format!(
            "the trace is in `{trace}`\nthe page is in `{page}`\nthe picture is in `{picture}`\n"
        )
    );

    let trace = std::fs::read_to_string(trace).expect("a trace");
    let points: Vec<_> = trace
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"))
        .map(|line| {
            let report = &line["report"];
            report["point"].as_str().or(report["flow"].as_str()).expect("a point").to_owned()
        })
        .collect();
    let first = ["before_inbound", "message_received", "inbound_claim", "before_inbound"];
    assert_eq!(points[..4], first);
    assert!(points.iter().any(|point| point == "tools:call-tool"), "flows are in it too");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("<!doctype html>"));
    assert_eq!(page.matches("<li class=\"fire ").count(), points.len());
    let picture = std::fs::read_to_string(picture).expect("a picture");
    assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
}

#[test]
fn a_recording_of_the_day_is_written_and_can_be_read() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("day.jsonl");
    std::fs::write(&file, "before").expect("a file");
    let path = file.display().to_string();
    let output = agent(&["--record", &path]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut reader = Reader::open(&file).expect("a recording").fires();
    let fires: Vec<_> = reader.by_ref().map(|fire| fire.expect("a fire")).collect();
    assert!(reader.torn().is_empty());
    assert_eq!(said, format!("the recording is in `{path}`: {} fires\n", fires.len()));
    let refused: Vec<_> = fires
        .iter()
        .flat_map(|fire| &fire.calls)
        .filter(|call| {
            call.handler.contains("allowlist") || call.plugin.as_deref() == Some("allowlist")
        })
        .filter_map(|call| call.decision.as_ref())
        .collect();
    assert!(!refused.is_empty(), "what the allowlist decided is in it");
    // All that was given and answered is there, but where a stage shares its run's context.
    for fire in &fires {
        let is_stage = fire.fire.model == "stage";
        assert_eq!(fire.fire.payload.value().is_none(), is_stage, "{:?}", fire.fire);
        for call in &fire.calls {
            let is_missing = call.answer.as_ref().is_some_and(|answer| answer.value().is_none());
            assert!(!is_missing, "{call:?}");
        }
    }
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let folder = TempDir::new().expect("a folder");
    let page = folder.path().join("page.html");
    std::fs::write(&page, "before ".repeat(1_000_000)).expect("a file");
    let output = agent(&["--html", &page.display().to_string()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
}

#[test]
fn two_outputs_are_not_written_to_one_file() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("day").display().to_string();
    let output = agent(&["--html", &path, "--record", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!("error: `--html` and `--record` cannot both write to `{path}`\n")
    );
    assert!(output.stdout.is_empty() && !folder.path().join("day").exists());
    let null = agent(&["--html", "/dev/null", "--trace", "/dev/null"]);
    assert!(null.status.success(), "{}", String::from_utf8_lossy(&null.stderr));
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_the_run() {
    for (option, what) in [("--trace", "trace"), ("--html", "page"), ("--svg", "picture")] {
        let output = agent(&[option, "/there/is/no/such/folder/file"]);
        assert_eq!(output.status.code(), Some(1), "{option}");
        assert!(output.stdout.is_empty(), "{option}: it ran");
        let said = String::from_utf8_lossy(&output.stderr);
        let expected = format!(
            "error: cannot write the {what} to `/there/is/no/such/folder/file`: \
             No such file or directory"
        );
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn the_inspected_agent_says_where_its_page_is_and_ends_when_interrupted() {
    // What cargo runs is built by now, and is the process itself here, to be interrupted.
    assert!(agent(&["--help"]).status.success());
    let mut program = std::env::current_exe().expect("a path");
    program.pop();
    program.pop();
    let mut running = Command::new(program.join("examples/agent"))
        .arg("--inspect")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut said = BufReader::new(running.stdout.take().expect("it writes")).lines();
    let first = said.next().expect("a line").expect("text");
    let address = first.strip_prefix("watch and change the agent at ").expect("an address");
    let (page, token) = address.split_once("#token=").expect("a token");
    assert_eq!(token.len(), 32);
    assert_eq!(said.next().expect("a line").expect("text"), "until Ctrl-C");
    let mut answer = ureq::get(format!("{page}api/state")).call().expect("it answers");
    let state: Value =
        serde_json::from_str(&answer.body_mut().read_to_string().expect("text")).expect("JSON");
    assert_eq!((&state["title"], &state["writable"]), (&"agent".into(), &true.into()));
    let interrupted = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(interrupted.expect("kill starts").success());
    assert!(running.wait().expect("it ends").success());
}

#[test]
fn a_port_that_is_none_is_refused() {
    let output = agent(&["--inspect=door"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("door"), "{said}");
}

#[test]
fn a_message_without_a_model_is_refused() {
    let output = agent(&["hello"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "error: messages need both `--model-url` and `--model`; see `--help`\n");
}

#[test]
fn an_unknown_option_is_refused_and_help_is_given() {
    let output = agent(&["--colour"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--colour"));
    let help = agent(&["--help"]);
    assert!(help.status.success());
    let said = String::from_utf8_lossy(&help.stdout);
    for option in [
        "--all",
        "--no-pager",
        "--html FILE",
        "--svg FILE",
        "--trace FILE",
        "--record FILE",
        "--shadow HANDLER",
        "--model-url URL",
        "--model NAME",
        "--inspect[=PORT]",
        "--help",
        "NO_COLOR",
        "PAGER",
    ] {
        assert!(said.contains(option), "{option}");
    }
}

#[test]
fn hook_scripts_take_part_as_handlers() {
    let folder = TempDir::new().expect("a folder");
    let settings = r#"{ "hooks": {
      "PreToolUse": [ { "matcher": "Bash", "hooks": [
        { "type": "command", "command": "cat >/dev/null; echo commands rest today >&2; exit 2" } ] } ],
      "PostToolUse": [ { "matcher": "Read|Writ", "hooks": [
        { "type": "command", "command": "cat > last.json" } ] } ],
      "PreCompact": [ { "hooks": [ { "type": "command", "command": "exit 0" } ] } ],
      "Stop": [ { "hooks": [ { "type": "prompt", "prompt": "done?" } ] } ] } }"#;
    std::fs::create_dir(folder.path().join(".claude")).expect("a folder");
    std::fs::write(folder.path().join(".claude/settings.json"), settings).expect("a file");
    let trace = folder.path().join("trace.jsonl");
    let (hooks, to) = (folder.path().display().to_string(), trace.display().to_string());
    let output = agent(&["--hooks", &hooks, "--trace", &to]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("settings.json:5, line 4: Claude Code has no tool `Writ`"), "{said}");
    let unasked: Vec<_> =
        said.lines().filter_map(|line| line.split_once("settings.json:")).collect();
    let unasked: Vec<_> = unasked.iter().map(|(_, said)| *said).skip(1).collect();
    let expected = [
        "6: the agent has no point for `PreCompact`, so it never runs",
        "7: handlers of the type `prompt` need the product's own model or servers, so it never runs",
    ];
    assert_eq!(unasked, expected, "{said}");
    let trace = std::fs::read_to_string(trace).expect("a trace");
    assert!(trace.contains(r#""owner":{"kind":"plugin","id":"claude-code"}"#), "{trace}");
    let timeline = String::from_utf8_lossy(&output.stdout);
    assert!(timeline.contains("commands rest today"), "{timeline}");
    let last = std::fs::read_to_string(folder.path().join("last.json")).expect("it ran");
    assert_eq!(serde_json::from_str::<Value>(&last).expect("JSON")["tool_name"], "Read");

    let output = agent(&["--hooks", "/no/such/folder"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no hooks in `/no/such/folder`"), "{said}");
}
