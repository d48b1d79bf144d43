//! What a reader of the documents alone runs into: points of their own, relative folders,
//! files with mistakes.

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind, Facts, GatePoint, ToolFacts};
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
        .env("XDG_CONFIG_HOME", directory.join("no-configuration"))
        .env("HOME", directory.join("no-home"))
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
