//! What a reader of the documents alone runs into: points of their own, relative folders,
//! files with mistakes.

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind, Facts, GatePoint, Mode, ToolFacts};
use hooks_runtime::{BoxError, Gate, HookRegistry, hook_points};
use serde_json::{Value, json};
use support::Scripts;

hook_points! {
    /// Before a refund is made.
    pub gating Refunding { order: u32, cents: u32 }
}

impl CommandPoint for Refunding {
    const KIND: EventKind = EventKind::BeforeTool;

    fn facts(refund: &RefundingPayload) -> Facts {
        let input = json!({ "order": refund.order, "cents": refund.cents });
        Facts { tool: Some(ToolFacts::new("Refund", input)), ..Facts::default() }
    }
}

impl GatePoint for Refunding {
    fn rewritten(refund: &RefundingPayload, input: Value) -> Result<RefundingPayload, BoxError> {
        let cents = input["cents"].as_u64().ok_or("`cents` must be a number")?;
        Ok(RefundingPayload { cents: u32::try_from(cents)?, ..refund.clone() })
    }

    fn reason(text: String) -> String {
        text
    }
}

/// The text of a Claude Code file with these commands before every tool.
fn settings(commands: &[&str]) -> String {
    let handlers = commands.iter().map(|it| json!({ "type": "command", "command": it }));
    let handlers: Vec<_> = handlers.collect();
    json!({ "hooks": { "PreToolUse": [ { "hooks": handlers } ] } }).to_string()
}

fn users() -> Source {
    Source::new(Dialect::ClaudeCode, "settings.json", Origin::User)
}

fn rewrite(input: &Value) -> String {
    let answer = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
        "permissionDecision": "allow", "updatedInput": input } });
    format!("echo '{answer}'")
}

/// L37: a command that rewrote is not asked about its own rewrite, whatever the point keeps
/// of it; one that ran before it is.
#[tokio::test]
async fn l37_a_lone_rewriter_is_not_asked_about_what_the_point_made_of_its_answer() {
    for input in [json!({ "cents": 5 }), json!({ "cents": 5, "order": 8 })] {
        let plan = Plan::read_text(&users(), &settings(&[&rewrite(&input)]), "/");
        let hooks = HookRegistry::new();
        hooks.register(Bridge::new("/", plan).gate::<Refunding>()).unwrap();
        let refund = RefundingPayload { order: 7, cents: 900 };
        let (gate, report) = hooks.fire_gating_reported::<Refunding>(refund).await;
        let Ok(Gate::Passed(refund)) = gate else { panic!("{input}: {report}") };
        assert_eq!((refund.order, refund.cents), (7, 5), "{input}");
    }

    let guard = r#"if grep -q '"cents":5'; then echo 'too little' >&2; exit 2; fi"#;
    let text = settings(&[guard, &rewrite(&json!({ "cents": 5 }))]);
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("/", Plan::read_text(&users(), &text, "/"));
    hooks.register(bridge.gate::<Refunding>()).unwrap();
    let refund = RefundingPayload { order: 7, cents: 900 };
    let gate = hooks.fire_gating::<Refunding>(refund).await.unwrap();
    assert_eq!(gate.into_result().unwrap_err().reason(), "too little");
}

/// The tool, in a folder.
fn tool(directory: &Path, arguments: &[&str], stdin: &str) -> Output {
    use std::io::Write;

    let mut child = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
        .args(arguments)
        .current_dir(directory)
        .env("XDG_CONFIG_HOME", directory.parent().unwrap().join("no-configuration"))
        .env("HOME", directory.parent().unwrap().join("no-home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A tool that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn check_of_a_relative_project_finds_its_scripts() {
    let scripts = Scripts::new();
    let commands = [r#""$CLAUDE_PROJECT_DIR"/hooks/guard.sh"#, "hooks/gone.sh"];
    scripts.write("shop/.claude/settings.json", &settings(&commands));
    scripts.script("shop/hooks/guard.sh", "#!/bin/sh\n");
    let output = tool(scripts.path(), &["check", "--project", "shop"], "");
    let printed = text(&output.stdout);
    let odd: Vec<_> = printed.lines().filter(|line| line.contains('!')).collect();
    let expected = "      ! line 1: its script `./shop/hooks/gone.sh` does not exist";
    assert_eq!(odd, [expected], "{printed}");
}

#[tokio::test]
async fn commands_of_a_relative_project_see_it_as_a_whole_path() {
    // Tests run in the folder of the crate.
    let line =
        r#"test "$CLAUDE_PROJECT_DIR" = "$PWD" && test -x "$CLAUDE_PROJECT_DIR"/hooks/guard.sh"#;
    let line = format!("{line} || {{ echo \"$CLAUDE_PROJECT_DIR in $PWD\" >&2; exit 2; }}");
    let plan = Plan::read_text(&users(), &settings(&[&line]), "tests/guide");
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("tests/guide", plan).trust(Trust::everything());
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let gate = hooks.fire_gating::<UsingTool>(call()).await.unwrap();
    assert_eq!(gate, Gate::Passed(call()));

    let plan = Plan::files(Dialect::ClaudeCode, "tests/guide".as_ref(), None);
    let plan = Plan::read(&plan, "tests/guide");
    assert!(!plan.is_suspicious(), "{plan:?}");
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("tests/guide", plan).trust(Trust::everything());
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let gate = hooks.fire_gating::<UsingTool>(call()).await.unwrap();
    assert_eq!(gate.into_result().unwrap_err().reason(), "delete files one by one");
}

fn call() -> UsingToolPayload {
    UsingToolPayload {
        session_id: "s-1".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": "rm -rf /" }),
    }
}

/// L37: what cannot be read may be a guard, so a gate in `Strict` is closed by it.
#[tokio::test]
async fn l37_a_guard_that_cannot_be_read_closes_its_gate() {
    let guard = r#""type": "command", "command": "exit 2""#;
    let group = |matcher: &str, more: &str| {
        format!(
            r#"{{ "hooks": {{ "PreToolUse": [ {{ "matcher": "{matcher}", "hooks": [ {{ {guard}{more} }} ] }} ] }} }}"#
        )
    };
    let texts = [
        (
            group("Bash", r#", "timeout": "5""#),
            "`timeout` must be a number that is not negative, and is text",
        ),
        (group("Bash(", ""), "the matcher `Bash(`"),
        (
            format!(r#"{{ "hooks": {{ "PreToolUse": [ {{ {guard} }} ] }} }}"#),
            "this group of `PreToolUse` has no list `hooks`",
        ),
        (r#"{ "hooks": { "PreToolUse": {} } }"#.into(), "`PreToolUse` must be a list"),
        (r#"{ "hooks": { "PreToolUse": [ "#.into(), ""),
    ];
    for (text, expected) in texts {
        let hooks = HookRegistry::new();
        let bridge = Bridge::new("/", Plan::read_text(&users(), &text, "/"));
        hooks.register(bridge.gate::<UsingTool>()).unwrap();
        let error = hooks.fire_gating::<UsingTool>(call()).await.unwrap_err().to_string();
        assert!(error.contains("cannot be read: settings.json:1: "), "{text}: {error}");
        assert!(error.contains(expected), "{text}: {error}");

        // The product goes on without it.
        let hooks = HookRegistry::new();
        hooks.register(bridge.mode(Mode::Faithful).gate::<UsingTool>()).unwrap();
        assert_eq!(hooks.fire_gating::<UsingTool>(call()).await.unwrap(), Gate::Passed(call()));

        // What nobody trusts closes nothing, unless the host trusts all of it.
        let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::Project);
        let bridge = Bridge::new("/", Plan::read_text(&source, &text, "/"));
        let hooks = HookRegistry::new();
        hooks.register(bridge.gate::<UsingTool>()).unwrap();
        assert_eq!(hooks.fire_gating::<UsingTool>(call()).await.unwrap(), Gate::Passed(call()));
        let hooks = HookRegistry::new();
        hooks.register(bridge.trust(Trust::everything()).gate::<UsingTool>()).unwrap();
        assert!(hooks.fire_gating::<UsingTool>(call()).await.is_err());
    }
}

#[tokio::test]
async fn what_cannot_be_read_closes_no_other_gate_and_nothing_that_is_turned_off() {
    let passes = async |text: &str| {
        let hooks = HookRegistry::new();
        let bridge = Bridge::new("/", Plan::read_text(&users(), text, "/"));
        hooks.register(bridge.gate::<UsingTool>()).unwrap();
        assert_eq!(hooks.fire_gating::<UsingTool>(call()).await.unwrap(), Gate::Passed(call()));
    };
    let broken = r#"{ "type": "command", "command": "exit 2", "timeout": "5" }"#;
    let group = |matcher: &str| format!(r#"{{ "matcher": "{matcher}", "hooks": [ {broken} ] }}"#);
    passes(&format!(r#"{{ "hooks": {{ "PreToolUse": [ {} ] }} }}"#, group("Write"))).await;
    passes(&format!(r#"{{ "hooks": {{ "SubagentStop": [ {broken} ] }} }}"#)).await;
    let off = format!(
        r#"{{ "disableAllHooks": true, "hooks": {{ "PreToolUse": [ {} ] }} }}"#,
        group("Bash")
    );
    passes(&off).await;

    // A file that is not there has no guards.
    let source = Source::new(Dialect::ClaudeCode, "/no/such/settings.json", Origin::User);
    let plan = Plan::read(&[source], "/");
    assert_eq!(plan.errors.len(), 1);
    let hooks = HookRegistry::new();
    hooks.register(Bridge::new("/", plan).gate::<UsingTool>()).unwrap();
    assert_eq!(hooks.fire_gating::<UsingTool>(call()).await.unwrap(), Gate::Passed(call()));

    // An operator turns off what keeps the gate closed.
    let hooks = HookRegistry::new();
    let bridge = Bridge::new("/", Plan::read_text(&users(), "{", "/"));
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let target = "using_tool:claude-code/settings.json";
    hooks
        .operator()
        .disable(target)
        .break_glass("the file is being written")
        .by("ops")
        .until(Duration::from_mins(1))
        .apply()
        .unwrap();
    assert_eq!(hooks.fire_gating::<UsingTool>(call()).await.unwrap(), Gate::Passed(call()));
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
        (output.status.code(), fired["outcome"].clone(), fired["reason"].clone(), text_of(&output))
    };
    let (code, outcome, _, printed) = fire("PreToolUse");
    assert_eq!((code, outcome), (Some(0), json!("none")));
    assert_eq!(printed, format!("note: {mistake}\n"));
    let (code, outcome, reason, _) = fire("SubagentStop");
    assert_eq!((code, outcome, reason), (Some(1), json!("failed"), json!(mistake)));
    let output = tool(scripts.path(), &["preview", ".claude/settings.json"], "");
    assert_eq!((output.status.code(), text_of(&output)), (Some(1), format!("error: {mistake}\n")));
    assert!(text(&output.stdout).contains("trusted  no; this line"), "{}", text(&output.stdout));
}

/// A fire that asks nobody says so, and of each command why.
#[test]
fn a_fire_that_asks_nothing_says_why() {
    let scripts = Scripts::new();
    let config = ".claude/settings.json";
    let group = r#"{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "true" } ] }"#;
    scripts.write(config, &format!(r#"{{ "hooks": {{ "PreToolUse": [ {group} ] }} }}"#));
    let fire = |event: &str, dialect: &str, stdin: &str| {
        let arguments = ["fire", event, "--trust", "--config", config, "--dialect", dialect];
        let output = tool(scripts.path(), &arguments, stdin);
        let fired: Value = serde_json::from_slice(&output.stdout).unwrap();
        (fired["handlers"].clone(), text_of(&output))
    };
    let (handlers, printed) = fire("preToolUse", "cursor", "{}");
    let note = "has no command for `preToolUse` as Cursor reads it; nothing was asked";
    assert_eq!((handlers, printed), (json!([]), format!("note: `{config}` {note}\n")));

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
    let says = |arguments: &[&str], stdin: &str| text_of(&tool(scripts.path(), arguments, stdin));
    let fire = ["fire", "PreToolUse", "--trust", "--config", ".claude/settings.json"];
    let expected = "error: `fire` needs `--dialect NAME`, which is one of claude-code, codex, gemini, cursor, copilot\n";
    assert_eq!(says(&fire, ""), expected);
    let fire = [&fire[..], &["--dialect", "claude-code"]].concat();
    let expected = "note: the payload has no `tool_name`, so every matcher is met\n";
    assert_eq!(says(&fire, "{}"), expected);
    let expected = "error: `--grants` is not for `check`, which runs nothing; see `--help`\n";
    assert_eq!(says(&["check", "--grants", "g"], ""), expected);
    // Of a file that is not there yet too.
    let expected = "error: `./g` is inside of the project, which must not write its own grants: keep it elsewhere\n";
    assert_eq!(says(&["preview", "--grants", "./g"], ""), expected);
}

/// What a tool wrote to stderr.
fn text_of(output: &Output) -> String {
    text(&output.stderr)
}
