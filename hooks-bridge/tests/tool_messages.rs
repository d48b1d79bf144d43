//! What the tool says of its input: relative folders, files with mistakes, fires that ask
//! nothing, arguments that do not fit.

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

/// What the tool wrote to stderr.
fn notes(output: &Output) -> String {
    text(&output.stderr)
}

#[test]
fn check_of_a_relative_project_finds_its_scripts() {
    let scripts = Scripts::new();
    let commands = [r#""$CLAUDE_PROJECT_DIR"/hooks/guard.sh"#, "hooks/gone.sh"];
    let handlers = commands.map(|it| json!({ "type": "command", "command": it }));
    let settings = json!({ "hooks": { "PreToolUse": [ { "hooks": handlers } ] } });
    scripts.write("shop/.claude/settings.json", &settings.to_string());
    scripts.script("shop/hooks/guard.sh", "#!/bin/sh\n");
    let output = tool(scripts.path(), &["check", "--project", "shop"], "");
    let printed = text(&output.stdout);
    let odd: Vec<_> = printed.lines().filter(|line| line.contains('!')).collect();
    let expected = "      ! line 1: its script `./shop/hooks/gone.sh` does not exist";
    assert_eq!(odd, [expected], "{printed}");
}

/// One rule for the plan, `preview` and `fire`: a mistake in one event leaves the others.
#[test]
fn a_group_with_a_mistake_leaves_the_rest_of_the_file() {
    let scripts = Scripts::new();
    let broken = r#"{ "hooks": {
        "PreToolUse": [ { "hooks": [ { "type": "command", "command": "true" } ] } ],
        "SubagentStop": [ { "type": "command", "command": "true" } ] } }"#;
    scripts.write(".claude/settings.json", broken);
    let mistake = ".claude/settings.json:3: this group of `SubagentStop` has no list `hooks`: write `{ \"hooks\": [ { \"type\": \"command\", … } ] }`; the rest of the file is read";
    let fire = |event: &str| {
        let arguments =
            ["--config", ".claude/settings.json", "--dialect", "claude-code", "--trust"];
        let output = tool(
            scripts.path(),
            &[&["fire", event], &arguments[..]].concat(),
            r#"{"tool_name": "Bash"}"#,
        );
        let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), fired["outcome"].clone(), fired["reason"].clone(), notes(&output))
    };
    let (code, outcome, _, printed) = fire("PreToolUse");
    assert_eq!((code, outcome), (Some(0), json!("none")));
    assert_eq!(printed, format!("note: {mistake}\n"));
    let (code, outcome, reason, _) = fire("SubagentStop");
    assert_eq!((code, outcome, reason), (Some(1), json!("failed"), json!(mistake)));
    let output = tool(scripts.path(), &["preview", ".claude/settings.json"], "");
    assert_eq!((output.status.code(), notes(&output)), (Some(1), format!("error: {mistake}\n")));
    assert!(text(&output.stdout).contains("trusted  no; this line"), "{}", text(&output.stdout));
}

/// A fire that asks nobody says so, and of each command why.
#[test]
fn a_fire_that_asks_nothing_says_why() {
    let scripts = Scripts::new();
    let config = ".claude/settings.json";
    let group = r#"{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "true" } ] }"#;
    let text = format!(r#"{{ "hooks": {{ "PreToolUse": [ {group} ] }} }}"#);
    scripts.write(config, &text);
    scripts.write("hooks.json", &text);
    let fire_in = |config: &str, event: &str, dialect: &str, stdin: &str| {
        let arguments = ["fire", event, "--trust", "--config", config, "--dialect", dialect];
        let output = tool(scripts.path(), &arguments, stdin);
        let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
        (fired["handlers"].clone(), notes(&output))
    };
    let fire = |event: &str, dialect: &str, stdin: &str| fire_in(config, event, dialect, stdin);
    let (handlers, printed) = fire_in("hooks.json", "stop", "cursor", "{}");
    let note = "has no command for `stop` as Cursor reads it; nothing was asked";
    assert_eq!((handlers, printed), (json!([]), format!("note: `hooks.json` {note}\n")));

    let (handlers, printed) = fire("PreToolUse", "claude-code", r#"{"tool_name": "Read"}"#);
    assert_eq!(handlers[0]["why"], "not called: its condition was not met");
    assert_eq!(printed, format!("note: `{config}` has no command for this; nothing was asked\n"));

    let (handlers, printed) = fire("PreToolUse", "claude-code", r#"{"tool_name": "Bash"}"#);
    assert_eq!((handlers[0].get("why"), printed.as_str()), (None, ""));
}

#[test]
fn the_tool_says_what_was_expected() {
    let scripts = Scripts::new();
    let group = r#"{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "true" } ] }"#;
    let config = format!(r#"{{ "hooks": {{ "PreToolUse": [ {group} ] }} }}"#);
    scripts.write(".claude/settings.json", &config);
    let says = |arguments: &[&str], stdin: &str| notes(&tool(scripts.path(), arguments, stdin));
    let fire = ["fire", "PreToolUse", "--trust", "--config", ".claude/settings.json"];
    let expected = "error: `fire` needs `--dialect NAME`, which is one of claude-code, codex, gemini, cursor, copilot\n";
    assert_eq!(says(&fire, ""), expected);
    let fire = [&fire[..], &["--dialect", "claude-code"]].concat();
    let expected = "note: the payload has no `tool_name`, so every matcher is met\n";
    assert_eq!(says(&fire, "{}"), expected);
    let expected = "note: `tool_name` of the payload is no text, so every matcher is met\n";
    assert_eq!(says(&fire, r#"{"tool_name": 5}"#), expected);
    let twice = [&fire[..], &["--config", "other.json"]].concat();
    assert_eq!(says(&twice, "{}"), "error: `--config` is written twice; see `--help`\n");
    let absent = says(&["preview", "--grants", "/no/such/grants"], "");
    assert_eq!(absent, "note: there is no file `/no/such/grants`, so nothing is granted\n");
    let expected = "error: `--grants` is not for `check`, which runs nothing; see `--help`\n";
    assert_eq!(says(&["check", "--grants", "g"], ""), expected);
    // Of a file that is not there yet too.
    let expected = "error: `./g` is inside of the project, which must not write its own grants: keep it elsewhere\n";
    assert_eq!(says(&["preview", "--grants", "./g"], ""), expected);
}

/// Of the files of Claude Code that Cursor and Copilot CLI read too, a fire says which it has
/// left out, and does not read one as what it is not.
#[test]
fn a_fire_says_which_files_of_the_product_it_leaves_out() {
    let scripts = Scripts::new();
    let handler = r#"{ "type": "command", "command": "exit 2" }"#;
    scripts.write(
        ".claude/settings.json",
        &format!(
            r#"{{ "hooks": {{ "PreToolUse": [ {{ "hooks": [ {handler}, {handler} ] }} ] }} }}"#
        ),
    );
    let flat = r#"{ "version": 1, "hooks": { "preToolUse": [ { "command": "exit 0" } ], "stop": [ { "command": "exit 0" } ] } }"#;
    scripts.write(".cursor/hooks.json", flat);
    scripts.write(".github/hooks/a.json", flat);
    let folder = scripts.path().canonicalize().unwrap();
    for (dialect, config, product) in [
        ("cursor", ".cursor/hooks.json", "Cursor"),
        ("copilot", ".github/hooks/a.json", "Copilot CLI"),
    ] {
        let fire = |event: &str, config: &str, stdin: &str| {
            let arguments = ["fire", event, "--trust", "--config", config, "--dialect", dialect];
            let output = tool(scripts.path(), &arguments, stdin);
            let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
            (fired["outcome"].clone(), fired["reason"].clone(), notes(&output))
        };
        let stdin = r#"{"tool_name": "Shell", "toolName": "bash"}"#;
        let (outcome, _, printed) = fire("preToolUse", config, stdin);
        assert_eq!(outcome, "none");
        let expected = format!(
            "note: {product} reads `.claude/settings.json` too, which has a command for `PreToolUse`; only `{config}` was read here: for that one write `fire PreToolUse --dialect claude-code --config {}`\n",
            folder.join(".claude/settings.json").display()
        );
        assert_eq!(printed, expected);
        let stop = if dialect == "cursor" { "stop" } else { "agentStop" };
        let (_, _, printed) = fire(stop, config, "{}");
        assert!(!printed.contains("too, which has"), "no command for it there: {printed}");

        let (outcome, reason, printed) = fire("preToolUse", ".claude/settings.json", stdin);
        let expected = format!(
            "`.claude/settings.json` is a file of Claude Code. {product} reads it too, in a way that is not known well enough to be done here; what its commands do, `fire PreToolUse --dialect claude-code` shows"
        );
        assert_eq!((outcome, reason, printed), (json!("failed"), json!(expected), String::new()));
    }
}

/// A grant that is of other bytes is told from none, in the preview and in the fire.
#[test]
fn a_grant_that_no_longer_fits_is_said_with_what_may_have_changed() {
    let scripts = Scripts::new();
    let guard = scripts.script("guard.sh", "#!/bin/sh\n").canonicalize().unwrap();
    let group =
        r#"{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "./guard.sh" } ] }"#;
    scripts.write(
        ".claude/settings.json",
        &format!(r#"{{ "hooks": {{ "PreToolUse": [ {group} ] }} }}"#),
    );
    let elsewhere = Scripts::new();
    let grants = elsewhere.path().join("grants");
    let with = ["--grants", grants.to_str().unwrap()];
    let preview = || text(&tool(scripts.path(), &[&["preview"], &with[..]].concat(), "").stdout);
    let line =
        |shown: &str| shown.lines().find(|line| line.starts_with("  changed")).map(str::to_owned);
    let shown = preview();
    assert_eq!(line(&shown), None);
    std::fs::write(&grants, shown.lines().last().unwrap()).unwrap();
    assert!(preview().ends_with("  trusted  yes\n"));
    scripts.script("guard.sh", "#!/bin/sh\nexit 2\n");
    let expected = format!(
        "  changed  a grant for this command is there, and not of what is there now: {}, or its folder, rule or variables changed since it was granted, or it was granted in another project",
        guard.display()
    );
    assert_eq!(line(&preview()), Some(expected));
    let fire =
        ["fire", "PreToolUse", "--config", ".claude/settings.json", "--dialect", "claude-code"];
    let output = tool(scripts.path(), &[&fire, &with[..]].concat(), r#"{"tool_name": "Bash"}"#);
    let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
    let why = "it is not what was granted: it has changed since, or is of another project";
    assert_eq!(fired["handlers"][0]["why"], why);

    // A bad line is said with its file.
    std::fs::write(&grants, "# ops\ntrust me\n").unwrap();
    let said = notes(&tool(scripts.path(), &[&["preview"], &with[..]].concat(), ""));
    let expected = format!(
        "error: `{}`: line 2 is no grant: a digest is 64 hexadecimal digits; none of the file counts\n",
        grants.display()
    );
    assert_eq!(said, expected);
}

/// What fails is said with the command, and without the names of this crate's own points.
#[test]
fn a_failure_is_that_of_the_command() {
    let scripts = Scripts::new();
    let command = |event: &str, line: &str| json!({ event: [ { "hooks": [ { "type": "command", "command": line } ] } ] });
    let reason = |event: &str, hooks: &Value, config: &str, dialect: &str| {
        scripts.write(config, &json!({ "version": 1, "hooks": hooks }).to_string());
        let arguments = ["fire", event, "--trust", "--config", config, "--dialect", dialect];
        let output = tool(scripts.path(), &arguments, "{}");
        let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
        fired["reason"].as_str().unwrap_or_default().to_owned()
    };
    let hooks = command("PreToolUse", "echo a/b >&2; exit 1");
    let said = reason("PreToolUse", &hooks, "settings.json", "claude-code");
    assert_eq!(said, "`echo a-b >&2; exit 1` failed: exit code 1; stderr ends: a/b");
    let hooks = command("PreToolUs", "exit 2");
    let said = reason("PreToolUse", &hooks, "settings.json", "claude-code");
    let expected = "`settings.json` failed: cannot be read: settings.json:1: Claude Code has no event `PreToolUs`; did you mean `PreToolUse`?";
    assert_eq!(said, expected);
    let hooks = json!({ "preToolUse": [ { "bash": "exit 0", "cwd": "nowhere" } ] });
    let said = reason("preToolUse", &hooks, "a.json", "copilot");
    let folder = scripts.path().canonicalize().unwrap().join("nowhere");
    let expected = format!(
        "`exit 0` failed: could not be started: its folder `{}` does not exist: make it, or correct `cwd` in its file",
        folder.display()
    );
    assert_eq!(said, expected);
    let checked = text(&tool(scripts.path(), &["check", "a.json"], "").stdout);
    let odd: Vec<_> = checked.lines().filter(|line| line.contains('!')).collect();
    assert_eq!(odd, ["      ! line 1: the folder `./nowhere` of its `cwd` does not exist"]);
}

/// A check knows the host's own tools, what other products call a tool, and which addresses may
/// be posted to.
#[test]
fn a_check_knows_tools_and_addresses() {
    let scripts = Scripts::new();
    let odd = |config: &str, text_of: &Value, arguments: &[&str]| {
        scripts.write(config, &text_of.to_string());
        let output = tool(scripts.path(), &[&["check", config], arguments].concat(), "");
        let printed = text(&output.stdout);
        let said = printed.lines().filter(|it| it.contains("! line") || it.contains("- line"));
        (output.status.code(), said.map(|it| it.trim().to_owned()).collect::<Vec<_>>())
    };
    let of = |matcher: &str, handler: &Value| json!({ "hooks": { "PreToolUse": [ { "matcher": matcher, "hooks": [ handler ] } ] } });
    let run = json!({ "type": "command", "command": "exit 0" });
    let refund = of("Refund|Deploy", &run);
    let (code, said) = odd("settings.json", &refund, &["--tool", "Refund"]);
    assert_eq!((code, said), (Some(1), vec!["! line 1: Claude Code has no tool `Deploy`".into()]));
    let known = ["--tool", "Refund", "--tool", "Deploy"];
    assert_eq!(odd("settings.json", &refund, &known), (Some(0), vec![]));
    assert_eq!(odd("settings.json", &of("^Ref.*", &run), &known), (Some(0), vec![]));

    let cursor = json!({ "version": 1, "hooks": { "preToolUse": [ { "command": "exit 0", "matcher": "Bash|Edit" } ] } });
    let said = odd("hooks.json", &cursor, &[]).1;
    let expected = "! line 1: the matcher `Bash|Edit` matches no tool of Cursor: Cursor calls `Bash` `Shell`, `Edit` `Write`";
    assert_eq!(said, [expected]);

    let post = |url: &str| of("Bash", &json!({ "type": "http", "url": url }));
    let said = odd("settings.json", &post("localhost:9000"), &[]);
    let expected = "! line 1: `localhost:9000` is no address: write one such as `https://hooks.example.com/gate/`";
    assert_eq!(said, (Some(1), vec![expected.into()]));
    let said = odd("settings.json", &post("http://localhost:9000/gate"), &[]);
    let expected = "- line 1: it posts to `http://localhost:9000/gate` only where the host allows that, as `fire` does by `--allow-url`";
    assert_eq!(said, (Some(0), vec![expected.into()]));
    if cfg!(feature = "http") {
        let gate = post("http://localhost:9000/gate");
        let allowed = ["--allow-url", "http://localhost:9000/"];
        assert_eq!(odd("settings.json", &gate, &allowed), (Some(0), vec![]));
        let said = odd("settings.json", &gate, &["--allow-url", "http://localhost:8000/"]);
        let expected =
            "! line 1: `http://localhost:9000/gate` is not among the addresses that are allowed";
        assert_eq!(said, (Some(1), vec![expected.into()]));
    }
    let nothing = text(&tool(scripts.path(), &["check", "gone.json"], "").stdout);
    assert!(
        nothing.starts_with("gone.json (of no known dialect; read as claude-code)\n"),
        "{nothing}"
    );
}

/// L37: what is odd about an answer is said, so that a no with a misspelt key is not taken for
/// a script that has no opinion; the object on stdout is the same as ever.
#[test]
fn l37_what_is_odd_about_an_answer_is_said_on_stderr() {
    let scripts = Scripts::new();
    let fire = |command: &str| {
        let hooks = json!({ "version": 1, "hooks": { "preToolUse": [ { "bash": command } ] } });
        scripts.write("hooks.json", &hooks.to_string());
        let arguments =
            ["fire", "preToolUse", "--config", "hooks.json", "--dialect", "copilot", "--trust"];
        let output = tool(scripts.path(), &arguments, r#"{"toolName": "bash", "toolArgs": {}}"#);
        let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
        let handler = fired["handlers"][0].as_object().unwrap();
        let mut keys: Vec<_> = handler.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["command", "decided_by", "exit", "status", "stderr", "took_ms"]);
        (fired["outcome"].clone(), notes(&output))
    };
    let (outcome, said) = fire(r#"echo '{"permissionDecison": "deny"}'"#);
    assert_eq!(outcome, "none");
    assert_eq!(
        said,
        "note: `echo '{\"permissionDecison\": \"deny\"}'`: its answer has keys that mean nothing here: `permissionDecison`, did you mean `permissionDecision`?\n"
    );
    let (outcome, said) = fire("echo hello");
    assert_eq!(outcome, "none");
    assert_eq!(said, "note: `echo hello`: text on stdout is ignored here\n");
    assert_eq!(fire("exit 0"), (json!("none"), String::new()));
}

/// A payload may have the keys of another product beside its own, which then count.
#[test]
fn of_two_inputs_in_a_payload_that_of_the_event_is_rewritten() {
    let scripts = Scripts::new();
    let rewrite = r#"echo '{"permissionDecision": "allow", "modifiedArgs": {"command": "pwd"}}'"#;
    let hooks = json!({ "version": 1, "hooks": { "preToolUse": [
        { "bash": "grep -q pwd && exit 2; exit 0" }, { "bash": rewrite, "matcher": "bash" } ] } });
    scripts.write("hooks.json", &hooks.to_string());
    let payload = json!({ "tool_name": "Other", "tool_input": { "command": "ls" },
        "toolName": "bash", "toolArgs": { "command": "ls" } });
    let fire = |more: &[&str]| {
        let arguments =
            ["fire", "preToolUse", "--config", "hooks.json", "--dialect", "copilot", "--trust"];
        let arguments = [&arguments[..], more].concat();
        let output = tool(scripts.path(), &arguments, &payload.to_string());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let fired = fire(&["--faithful"]);
    assert_eq!(fired["outcome"], "replaced");
    assert_eq!(fired["payload"]["toolArgs"], json!({ "command": "pwd" }));
    assert_eq!(fired["payload"]["tool_input"], json!({ "command": "ls" }));
    assert_eq!(fire(&[])["outcome"], "rejected", "the first is asked again");
}

/// The name of another product is told as that, also where an event is fired.
#[test]
fn an_event_of_another_product_is_named_as_it_is_here() {
    let scripts = Scripts::new();
    let reason = |event: &str, dialect: &str, file: &str, text: &str| {
        scripts.write(file, text);
        let arguments = ["fire", event, "--trust", "--config", file, "--dialect", dialect];
        let output = tool(scripts.path(), &arguments, "{}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["reason"].clone()
    };
    let nested = r#"{ "hooks": {} }"#;
    let gemini = reason("PreToolUse", "gemini", ".gemini/settings.json", nested);
    assert_eq!(gemini, "Gemini CLI has no event `PreToolUse`; there it is `BeforeTool`");
    let claude = reason("PreToolUs", "claude-code", ".claude/settings.json", nested);
    assert_eq!(claude, "Claude Code has no event `PreToolUs`; did you mean `PreToolUse`?");
}

/// Two entries of one event that differ in what a failure means are not one row that says both.
#[test]
fn an_entry_whose_failure_blocks_is_a_difference_of_its_own() {
    let scripts = Scripts::new();
    let handler = |more: Value| {
        let mut handler = json!({ "type": "command", "command": "true" });
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        handler
    };
    let hooks = [handler(json!({})), handler(json!({ "onFailure": "block", "timeout": 5 }))];
    let settings = json!({ "hooks": { "PreToolUse": [ { "hooks": hooks } ] } });
    scripts.write(".claude/settings.json", &settings.to_string());
    let printed = text(&tool(scripts.path(), &["check"], "").stdout);
    let rows: Vec<_> = printed.lines().skip_while(|line| !line.starts_with("where")).collect();
    let of = |ending: &str| -> Vec<&str> {
        let ends = rows.windows(2).filter(|two| two[1].trim_start().starts_with(ending));
        ends.map(|two| two[0]).collect()
    };
    assert_eq!(of("exit code 1 denies in Copilot CLI;"), ["  ~ `PreToolUse`:"], "{printed}");
    let blocks = ["  ~ `PreToolUse` where a failure blocks:"];
    assert_eq!(of("exit code 1 denies in Claude Code, Copilot CLI;"), blocks, "{printed}");
    assert_eq!(of("no answer in time denies in Claude Code;"), blocks, "{printed}");
}

/// A version that no product has is said, as one that is missing is.
#[test]
fn a_version_of_hook_files_that_is_not_1_is_said() {
    let scripts = Scripts::new();
    for (version, line) in [("2", true), ("\"1\"", true), ("1", false)] {
        let file = format!(r#"{{ "version": {version}, "hooks": {{ "stop": [] }} }}"#);
        scripts.write(".cursor/hooks.json", &file);
        let printed = text(&tool(scripts.path(), &["check"], "").stdout);
        let said = printed.contains("  - line 1: its `version` is not 1\n");
        assert_eq!(said, line, "{printed}");
    }
}
