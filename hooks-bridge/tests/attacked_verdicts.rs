//! Answers that could be mistaken for others: a no that is lost, a stop that goes on.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use dialects::Event;
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::runner::Limits;
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect, Mode, Outcome};
use hooks_points::{BeforeToolCall, BeforeToolCallPayload, BeforeToolCallResult};
use hooks_runtime::{Gate, HookPoint, HookRegistry};
use serde_json::{Value, json};
use support::Scripts;

async fn outcome(dialect: Dialect, event: Event, mode: Mode, command: &str) -> Outcome {
    let scripts = Scripts::new();
    let handlers = [(command.to_owned(), Value::Null)];
    dialects::fire(scripts.path(), dialect, event, mode, &handlers).await.outcome
}

#[tokio::test]
async fn stop_everything_is_no_reason_to_go_on() {
    let halt = r#"echo '{"continue": false, "stopReason": "enough"}'"#;
    for dialect in [Dialect::ClaudeCode, Dialect::Codex, Dialect::Gemini] {
        for mode in [Mode::Strict, Mode::Faithful] {
            let outcome = outcome(dialect, Event::Stop, mode, halt).await;
            assert_ne!(outcome, Outcome::Rejected, "{dialect} {mode:?}: the agent must stop");
        }
    }
}

#[tokio::test]
async fn of_two_rulings_in_one_answer_the_no_counts() {
    let cases = [
        (
            Dialect::ClaudeCode,
            r#"{"decision": "block", "reason": "no", "hookSpecificOutput": {"permissionDecision": "allow"}}"#,
        ),
        (
            Dialect::ClaudeCode,
            r#"{"decision": "block", "reason": "no", "hookSpecificOutput": {"decision": {}}}"#,
        ),
        (
            Dialect::ClaudeCode,
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "decision": {"behavior": "allow"}}}"#,
        ),
        (Dialect::Copilot, r#"{"permissionDecision": "allow", "decision": "block"}"#),
        (Dialect::Copilot, r#"{"permissionDecision": "ask", "behavior": "deny"}"#),
        (Dialect::Cursor, r#"{"permission": "allow", "continue": false}"#),
        (Dialect::Gemini, r#"{"decision": "allow", "continue": false}"#),
    ];
    for (dialect, answer) in cases {
        let outcome =
            outcome(dialect, Event::Tool, Mode::Strict, &format!("echo '{answer}'")).await;
        assert_eq!(outcome, Outcome::Rejected, "{dialect} {answer}");
    }
}

/// What a dialect says no with.
fn no(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ClaudeCode | Dialect::Codex => {
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}"#
        }
        Dialect::Gemini => r#"{"decision": "deny", "reason": "no"}"#,
        Dialect::Cursor => r#"{"permission": "deny"}"#,
        _ => r#"{"permissionDecision": "deny"}"#,
    }
}

#[tokio::test]
async fn l37_a_no_with_anything_before_it_is_not_taken_for_no_opinion() {
    for dialect in Dialect::ALL {
        let no = no(dialect);
        for before in [r"banner\n", "banner ", r"loading\r", r"\357\273\277", r"\033[0m", "[", "> "]
        {
            let command = format!("printf '{before}'; echo '{no}'");
            let outcome = outcome(dialect, Event::Tool, Mode::Strict, &command).await;
            assert!(
                matches!(outcome, Outcome::Rejected | Outcome::Failed),
                "{dialect} {before:?}: {outcome:?}"
            );
        }
        // Many things that look like it before it do not hide it.
        let command = format!("for i in $(seq 50); do echo '{{'; done; echo x; echo '{no}'");
        let outcome = outcome(dialect, Event::Tool, Mode::Strict, &command).await;
        assert!(matches!(outcome, Outcome::Rejected | Outcome::Failed), "{dialect}: {outcome:?}");
    }
}

/// Where text is context and nothing can be denied, JSON in it is text too.
#[tokio::test]
async fn text_with_a_line_of_json_is_context_when_a_session_starts() {
    let command = r#"echo 'the config is'; echo '{"permission": "deny", "a": 1}'; echo 'use it'"#;
    let handlers = [(command.to_owned(), Value::Null)];
    for dialect in [Dialect::ClaudeCode, Dialect::Codex] {
        for mode in [Mode::Strict, Mode::Faithful] {
            let scripts = Scripts::new();
            let fired =
                dialects::fire(scripts.path(), dialect, Event::Start, mode, &handlers).await;
            let text = "the config is\n{\"permission\": \"deny\", \"a\": 1}\nuse it";
            assert_eq!(fired.context.as_deref(), Some(text), "{dialect} {mode:?}: {fired:?}");
        }
        // At a gate it is an answer that cannot be read.
        let outcome = outcome(dialect, Event::Prompt, Mode::Strict, command).await;
        assert_eq!(outcome, Outcome::Failed, "{dialect}");
    }
}

#[tokio::test]
async fn text_with_braces_is_still_text() {
    let command = r#"echo 'fn main() { println!("{}", {"a": 1}) }'"#;
    let outcome = outcome(Dialect::ClaudeCode, Event::Tool, Mode::Strict, command).await;
    assert_eq!(outcome, Outcome::None);
}

#[tokio::test]
async fn what_gemini_itself_takes_for_a_no_is_one_in_strict_too() {
    for command in [
        r#"echo '{"decision": "deny", "reason": "no"}' >&2"#,
        r#"echo '"{\"decision\": \"deny\", \"reason\": \"no\"}"'"#,
    ] {
        for mode in [Mode::Faithful, Mode::Strict] {
            let outcome = outcome(Dialect::Gemini, Event::Tool, mode, command).await;
            assert_eq!(outcome, Outcome::Rejected, "{mode:?} {command}");
        }
    }
}

/// What denies or stops where something is to be done is no reason to go on at a stop.
#[tokio::test]
async fn a_no_of_another_event_has_no_agent_go_on() {
    for (dialect, answer) in [
        (Dialect::ClaudeCode, r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#),
        (Dialect::ClaudeCode, r#"{"hookSpecificOutput": {"decision": {"behavior": "deny"}}}"#),
        (Dialect::Cursor, r#"{"continue": false}"#),
        (Dialect::Cursor, r#"{"permission": "deny", "agent_message": "no"}"#),
        (Dialect::Copilot, r#"{"permissionDecision": "deny", "message": "no"}"#),
        (Dialect::Copilot, r#"{"behavior": "deny"}"#),
    ] {
        for mode in [Mode::Strict, Mode::Faithful] {
            let command = format!("echo '{answer}'");
            let at_stop = outcome(dialect, Event::Stop, mode, &command).await;
            assert_eq!(at_stop, Outcome::None, "{dialect} {mode:?} {answer}");
        }
    }
    let command = r#"echo '{"permission": "deny", "followup_message": "run the tests"}'"#;
    let at_stop = outcome(Dialect::Cursor, Event::Stop, Mode::Strict, command).await;
    assert_eq!(at_stop, Outcome::Rejected);
}

/// L37: what was lost in bytes that are no text is not guessed at, in any dialect.
#[tokio::test]
async fn l37_an_answer_that_is_not_utf_8_is_a_failure_in_strict() {
    for (dialect, answer) in [
        (Dialect::ClaudeCode, r#"{"hookSpecificOutput": {"updatedInput": {"command": "\377"}}}"#),
        (Dialect::Codex, r#"{"systemMessage": "\377"}"#),
        (Dialect::Gemini, r#"{"hookSpecificOutput": {"tool_input": {"command": "\377"}}}"#),
        (Dialect::Cursor, r#"{"permission": "allow", "user_message": "\377"}"#),
        (Dialect::Copilot, r#"{"modifiedArgs": {"command": "\377"}}"#),
    ] {
        let command = format!("printf '{answer}'");
        assert_eq!(
            outcome(dialect, Event::Tool, Mode::Strict, &command).await,
            Outcome::Failed,
            "{dialect}"
        );
    }
}

#[tokio::test]
async fn l37_a_failure_closes_a_modifying_tool_gate_in_strict_and_where_the_handler_says_so() {
    let scripts = Scripts::new();
    let call = BeforeToolCallPayload {
        session_id: "s".into(),
        tool_call_id: "c".into(),
        tool_name: "Bash".into(),
        args: json!({ "command": "ls" }),
    };
    for (mode, more, closed) in [
        (Mode::Strict, json!({}), true),
        (Mode::Strict, json!({ "onFailure": "block" }), true),
        (Mode::Faithful, json!({ "onFailure": "block" }), true),
        (Mode::Faithful, json!({}), false),
    ] {
        let handlers = [("exit 1".to_owned(), more.clone())];
        let text = dialects::configuration(Dialect::ClaudeCode, "PreToolUse", &handlers);
        let plan = dialects::plan(Dialect::ClaudeCode, &text, scripts.path());
        let bridge = Bridge::new(scripts.path(), plan).mode(mode).trust(Trust::everything());
        let hooks = HookRegistry::new();
        hooks.register(bridge.amend::<BeforeToolCall>()).unwrap();
        let fired = hooks.fire_modifying::<BeforeToolCall>(&call).await;
        let stopped = fired.as_ref().map_or(true, |result| result.error.is_some());
        assert_eq!(stopped, closed, "{mode:?} {more}: {fired:?}");
    }
}

fn using(tool: &str, command: &str) -> UsingToolPayload {
    UsingToolPayload {
        session_id: "s".into(),
        cwd: None,
        tool_name: tool.into(),
        input: json!({ "command": command }),
    }
}

#[tokio::test]
async fn cursors_guard_of_servers_is_asked_about_their_tools() {
    let scripts = Scripts::new();
    let text = json!({ "version": 1, "hooks": { "beforeMCPExecution": [
        { "command": "echo no >&2; exit 2" } ] } });
    let plan = dialects::plan(Dialect::Cursor, &text, scripts.path());
    let hooks = HookRegistry::new();
    hooks.register(Bridge::new(scripts.path(), plan).gate::<UsingTool>()).unwrap();
    for tool in ["mcp__forge__merge", "MCP:merge"] {
        let gate = hooks.fire_gating::<UsingTool>(using(tool, "x")).await.unwrap();
        assert!(matches!(gate, Gate::Rejected(_)), "{tool}");
    }
    let gate = hooks.fire_gating::<UsingTool>(using("Bash", "x")).await.unwrap();
    assert!(matches!(gate, Gate::Passed(_)));
}

/// A rule of `if` and a line for which the handler must run.
#[tokio::test]
async fn a_rule_is_not_got_round_by_writing_the_command_otherwise() {
    let scripts = Scripts::new();
    let text = json!({ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
        { "type": "command", "command": "exit 2", "if": "Bash(git push:*)" } ] } ] } });
    let plan = dialects::plan(Dialect::ClaudeCode, &text, scripts.path());
    let hooks = HookRegistry::new();
    hooks.register(Bridge::new(scripts.path(), plan).gate::<UsingTool>()).unwrap();
    for line in [
        "git push",
        "{ git push; }",
        "! git push",
        "if true; then git push; fi",
        "for i in 1; do git push; done",
        "\"git\" push",
        "g\\it push",
        "A=\"b c\" git push",
        ">log git push",
        "git \\\npush",
        "time git push",
    ] {
        let gate = hooks.fire_gating::<UsingTool>(using("Bash", line)).await.unwrap();
        assert!(matches!(gate, Gate::Rejected(_)), "{line}");
    }
    for line in ["git status", "ls && echo git", "A=1 ls"] {
        let gate = hooks.fire_gating::<UsingTool>(using("Bash", line)).await.unwrap();
        assert!(matches!(gate, Gate::Passed(_)), "{line}");
    }
}

#[tokio::test]
async fn what_an_operator_turns_off_is_not_asked_by_another_name() {
    let scripts = Scripts::new();
    let script = scripts.script("guard.sh", "#!/bin/sh\necho asked >> log\nexit 2\n");
    let handlers = [(script.display().to_string(), json!({}))];
    let text = dialects::configuration(Dialect::ClaudeCode, "PreToolUse", &handlers);
    let plan = dialects::plan(Dialect::ClaudeCode, &text, scripts.path());
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan).trust(Trust::everything());
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let target = format!("{}:claude-code/guard.sh", UsingTool::NAME);
    let operator = hooks.operator();
    let setting = operator.disable(target).because("it is wrong").break_glass("it is wrong");
    setting.until(std::time::Duration::from_mins(10)).apply().unwrap();
    let gate = hooks.fire_gating::<UsingTool>(using("Bash", "ls")).await;
    assert!(matches!(gate, Ok(Gate::Passed(_))), "{gate:?}");
    assert!(!scripts.path().join("log").exists());
}

#[tokio::test]
async fn what_is_said_after_a_tool_is_not_lost() {
    let scripts = Scripts::new();
    for dialect in [Dialect::ClaudeCode, Dialect::Codex, Dialect::Gemini] {
        for mode in [Mode::Strict, Mode::Faithful] {
            let command = r#"echo '{"decision": "block", "reason": "run the linter"}'"#;
            let handlers = [(command.to_owned(), Value::Null)];
            let fired =
                dialects::fire(scripts.path(), dialect, Event::After, mode, &handlers).await;
            assert_eq!(fired.outcome, Outcome::Passed);
            assert_eq!(fired.context.as_deref(), Some("run the linter"), "{dialect} {mode:?}");
        }
    }
}

#[tokio::test]
async fn commands_that_nothing_waits_for_hold_up_no_gate() {
    let scripts = Scripts::new();
    let asynchronous = json!({ "type": "command", "command": "sleep 3", "async": true });
    let gate = json!({ "type": "command", "command": "exit 0", "timeout": 1 });
    let text = json!({ "hooks": { "PreToolUse": [
        { "hooks": [asynchronous] }, { "hooks": [gate] } ] } });
    let plan = dialects::plan(Dialect::ClaudeCode, &text, scripts.path());
    let limits = Limits { concurrent: 1, ..Limits::default() };
    let hooks = HookRegistry::new();
    hooks.register(Bridge::new(scripts.path(), plan).limits(limits).gate::<UsingTool>()).unwrap();
    for _ in 0..2 {
        let gate = hooks.fire_gating::<UsingTool>(using("Bash", "ls")).await;
        assert!(matches!(gate, Ok(Gate::Passed(_))), "{gate:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn claude_code_itself_does_not_go_on_without_an_answer_at_two_events() {
    let scripts = Scripts::new();
    for (event, command, expected) in [
        ("WorktreeCreate", "exit 1", Outcome::Rejected),
        ("PreModelSwitch", "sleep 30", Outcome::Rejected),
        ("PreModelSwitch", "exit 1", Outcome::Passed),
        ("PreCompact", "sleep 30", Outcome::Passed),
    ] {
        let handlers = [(command.to_owned(), Value::Null)];
        let fired = dialects::fire_with(
            scripts.path(),
            Dialect::ClaudeCode,
            (event, json!({})),
            Mode::Faithful,
            &handlers,
        );
        assert_eq!(fired.await.outcome, expected, "{event} {command}");
    }
}

/// L37: a rewrite where the user is to be asked for a permission is judged, too.
#[tokio::test]
async fn l37_a_rewrite_at_a_permission_request_is_judged_by_those_before_it() {
    let rewrite = r#"echo '{"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedInput": {"command": "rm x"}}}}'"#;
    let guard = "grep -q 'rm ' && { echo no rm >&2; exit 2; }; exit 0";
    let handlers = [guard, rewrite].map(|command| (command.to_owned(), Value::Null));
    let stdin = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let scripts = Scripts::new();
    let event = ("PermissionRequest", stdin);
    let fired =
        dialects::fire_with(scripts.path(), Dialect::ClaudeCode, event, Mode::Strict, &handlers);
    let fired = fired.await;
    assert_eq!((fired.outcome, fired.reason.as_deref()), (Outcome::Rejected, Some("no rm")));
}

/// What commands make of a call at the modifying gate.
async fn amended(handlers: &[(String, Value)], command: &str) -> BeforeToolCallResult {
    let scripts = Scripts::new();
    let text = dialects::configuration(Dialect::ClaudeCode, "PreToolUse", handlers);
    let plan = dialects::plan(Dialect::ClaudeCode, &text, scripts.path());
    let hooks = HookRegistry::new();
    hooks.register(Bridge::new(scripts.path(), plan).amend::<BeforeToolCall>()).unwrap();
    let call = BeforeToolCallPayload {
        session_id: "s".into(),
        tool_call_id: "c".into(),
        tool_name: "Bash".into(),
        args: json!({ "command": command }),
    };
    hooks.fire_modifying::<BeforeToolCall>(&call).await.unwrap()
}

/// L31: at a modifying point a command is asked about what is left by then, if it is for
/// that.
#[tokio::test]
async fn l31_a_command_is_not_asked_about_a_rewrite_that_it_is_not_for() {
    let rewrite = r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "ls"}}}'"#;
    let handlers = [
        (rewrite.to_owned(), json!({})),
        ("echo no >&2; exit 2".to_owned(), json!({ "if": "Bash(rm *)" })),
    ];
    let amended = amended(&handlers, "rm x").await;
    assert_eq!((amended.args, amended.error), (Some(json!({ "command": "ls" })), None));
}

#[tokio::test]
async fn l37_a_rewrite_at_a_modifying_tool_gate_is_judged_by_those_before_it() {
    let rewrite =
        r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "rm -r x"}}}'"#.to_owned();
    let guard = "grep -q 'rm ' && { echo no rm >&2; exit 2; }; exit 0".to_owned();
    let handlers = [(guard, json!({})), (rewrite, json!({}))];
    let amended = amended(&handlers, "ls").await;
    assert_eq!(amended.error.map(|error| error.to_string()).as_deref(), Some("no rm"));
    // The first value of a field stays; with an error beside it the call is not executed.
    assert_eq!(amended.args, Some(json!({ "command": "rm -r x" })));
}
