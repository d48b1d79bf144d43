//! How the five dialects differ: the rows of the comparison that are about answers, as each
//! product has it (`Faithful`), and as `Strict` has it for all of them. `table_rows.rs` has
//! the rows that are about files, stdin and processes.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use Dialect::{ClaudeCode, Codex, Copilot, Cursor, Gemini};
use Outcome::{Failed, None as Nothing, Passed, Rejected, Replaced};
use dialects::{Event, fire};
use hooks_bridge::{Dialect, Fired, Mode, Outcome};
use serde_json::{Value, json};
use support::Scripts;

/// A row: what a command does, what comes of it in Claude Code, Codex, Gemini, Cursor and
/// Copilot, and in all of them in `Strict`.
struct Row {
    what: &'static str,
    event: Event,
    command: String,
    faithful: [Outcome; 5],
    strict: [Outcome; 5],
}

fn row(
    what: &'static str,
    event: Event,
    command: impl Into<String>,
    faithful: [Outcome; 5],
    strict: Outcome,
) -> Row {
    Row { what, event, command: command.into(), faithful, strict: [strict; 5] }
}

async fn outcome(dialect: Dialect, event: Event, mode: Mode, command: &str) -> Fired {
    let scripts = Scripts::new();
    fire(scripts.path(), dialect, event, mode, &[(command.to_owned(), json!({}))]).await
}

async fn check(rows: Vec<Row>) {
    for row in rows {
        for (index, dialect) in Dialect::ALL.into_iter().enumerate() {
            let fired = outcome(dialect, row.event, Mode::Faithful, &row.command).await;
            assert_eq!(fired.outcome, row.faithful[index], "{}, {dialect}: {fired:?}", row.what);
            let fired = outcome(dialect, row.event, Mode::Strict, &row.command).await;
            assert_eq!(
                fired.outcome, row.strict[index],
                "{}, strict {dialect}: {fired:?}",
                row.what
            );
        }
    }
}

/// What denies in every dialect, and what allows.
fn json_of(dialect: Dialect, denies: bool) -> String {
    let decision = if denies { "deny" } else { "allow" };
    match dialect {
        ClaudeCode | Codex => {
            let mut output =
                json!({ "permissionDecision": decision, "permissionDecisionReason": "because" });
            if !denies {
                output["updatedInput"] = json!({ "command": "ls -l" });
            }
            json!({ "hookSpecificOutput": output })
        }
        Gemini => json!({ "decision": decision, "reason": "because" }),
        Cursor => json!({ "permission": decision, "agent_message": "because" }),
        Copilot => json!({ "permissionDecision": decision, "permissionDecisionReason": "because" }),
        _ => unreachable!("five dialects"),
    }
    .to_string()
}

/// Rows "exit 2", "other non-zero" and "timeout".
#[tokio::test]
async fn exit_codes_before_a_tool() {
    // A failure that the product goes on after is "passed": it is no opinion, and no verdict.
    check(vec![
        row("exit 0, silent", Event::Tool, "exit 0", [Nothing; 5], Nothing),
        row("exit 2 with a reason", Event::Tool, "echo no >&2; exit 2", [Rejected; 5], Rejected),
        row(
            "exit 2, silent",
            Event::Tool,
            "exit 2",
            [Rejected, Passed, Nothing, Rejected, Rejected],
            Rejected,
        ),
        row(
            "exit 1, silent",
            Event::Tool,
            "exit 1",
            [Passed, Passed, Nothing, Passed, Rejected],
            Failed,
        ),
        row(
            "exit 1 with text",
            Event::Tool,
            "echo warm; exit 1",
            [Passed, Passed, Passed, Passed, Rejected],
            Failed,
        ),
        row(
            "exit 3 with text",
            Event::Tool,
            "echo no; exit 3",
            [Passed, Passed, Rejected, Passed, Rejected],
            Failed,
        ),
        row(
            "killed",
            Event::Tool,
            "kill -9 $$",
            [Passed, Passed, Passed, Passed, Rejected],
            Failed,
        ),
        row("too slow", Event::Tool, "sleep 5", [Passed; 5], Failed),
        row(
            "not there",
            Event::Tool,
            "/no/such/guard.sh",
            [Passed, Passed, Rejected, Passed, Rejected],
            Failed,
        ),
    ])
    .await;
}

/// Row "malformed stdout".
#[tokio::test]
async fn stdout_before_a_tool() {
    check(vec![
        row("an empty object", Event::Tool, "echo '{}'", [Nothing; 5], Nothing),
        row("text", Event::Tool, "echo hello", [Nothing, Nothing, Passed, Passed, Passed], Nothing),
        row("JSON that is none", Event::Tool, "echo '{ deny'", [Passed; 5], Failed),
        row(
            "a banner before JSON",
            Event::Tool,
            "echo banner; echo '{\"decision\": \"block\", \"reason\": \"no\"}'",
            [Nothing, Nothing, Passed, Passed, Passed],
            Failed,
        ),
        row("eleven megabytes", Event::Tool, "yes | head -c 11000000", [Passed; 5], Failed),
        row("two documents", Event::Tool, "echo '{} {}'", [Passed; 5], Failed),
        row(
            "bytes that are no text",
            Event::Tool,
            "printf '\\377\\376'",
            [Nothing, Nothing, Passed, Passed, Passed],
            Failed,
        ),
        row(
            "its own stdin",
            Event::Tool,
            "cat",
            [Nothing, Passed, Nothing, Nothing, Nothing],
            Nothing,
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_denial_by_json_denies_everywhere() {
    for dialect in Dialect::ALL {
        for mode in [Mode::Faithful, Mode::Strict] {
            let command = format!("echo '{}'", json_of(dialect, true));
            let fired = outcome(dialect, Event::Tool, mode, &command).await;
            assert_eq!(
                (fired.outcome, fired.reason.as_deref()),
                (Rejected, Some("because")),
                "{dialect}"
            );
            assert_eq!(fired.handlers[0].decided_by, Some("json"), "{dialect}");
        }
    }
}

/// Rows "exit 2" and "other non-zero", where there is JSON as well.
#[tokio::test]
async fn json_and_the_exit_code_contradict() {
    // Which of them wins, where the code is 2 and the object allows.
    let faithful = [Rejected, Rejected, Passed, Rejected, Rejected];
    for (dialect, expected) in Dialect::ALL.into_iter().zip(faithful) {
        let command = format!("echo '{}'; echo no >&2; exit 2", json_of(dialect, false));
        let fired = outcome(dialect, Event::Tool, Mode::Faithful, &command).await;
        assert_eq!(fired.outcome, expected, "{dialect}: {fired:?}");
        let fired = outcome(dialect, Event::Tool, Mode::Strict, &command).await;
        assert_eq!(fired.outcome, Rejected, "strict {dialect}: {fired:?}");
        assert_eq!(fired.handlers[0].decided_by, Some("exit"));
    }
    // And where the code is 3 and the object denies: a no is never lost in `Strict`.
    let faithful = [Rejected, Passed, Rejected, Passed, Rejected];
    for (dialect, expected) in Dialect::ALL.into_iter().zip(faithful) {
        let command = format!("echo '{}'; exit 3", json_of(dialect, true));
        let fired = outcome(dialect, Event::Tool, Mode::Faithful, &command).await;
        assert_eq!(fired.outcome, expected, "{dialect}: {fired:?}");
        let fired = outcome(dialect, Event::Tool, Mode::Strict, &command).await;
        assert_eq!(fired.outcome, Rejected, "strict {dialect}: {fired:?}");
        // And a yes of a command that failed is no yes.
        let command = format!("echo '{}'; exit 3", json_of(dialect, false));
        let fired = outcome(dialect, Event::Tool, Mode::Strict, &command).await;
        assert_eq!(fired.outcome, Failed, "strict {dialect}: {fired:?}");
    }
}

/// Row "rewrite field".
#[tokio::test]
async fn rewrites_replace_or_merge() {
    let input = json!({ "command": "ls -l" });
    let answers = [
        json!({ "hookSpecificOutput": { "permissionDecision": "allow", "updatedInput": input } }),
        json!({ "hookSpecificOutput": { "permissionDecision": "allow", "updatedInput": input } }),
        json!({ "hookSpecificOutput": { "tool_input": input } }),
        json!({ "permission": "allow", "updated_input": input }),
        json!({ "permissionDecision": "allow", "modifiedArgs": input }),
    ];
    for (dialect, answer) in Dialect::ALL.into_iter().zip(answers) {
        for mode in [Mode::Faithful, Mode::Strict] {
            let fired = outcome(dialect, Event::Tool, mode, &format!("echo '{answer}'")).await;
            assert_eq!(fired.outcome, Replaced, "{dialect}: {fired:?}");
            let payload = fired.payload.unwrap();
            let rewritten = payload.get("tool_input").or(payload.get("toolArgs")).unwrap();
            let merged = json!({ "command": "ls -l", "keep": 1 });
            let expected = if dialect == Gemini { &merged } else { &input };
            assert_eq!(rewritten, expected, "{dialect}");
        }
    }
}

/// Rows "timeout" and "malformed stdout", where a key says that it blocks.
#[tokio::test]
async fn keys_that_tighten() {
    let tighter =
        [(ClaudeCode, json!({ "onFailure": "block" })), (Cursor, json!({ "failClosed": true }))];
    for (dialect, key) in tighter {
        for command in ["exit 1", "sleep 5", "echo '{ no'"] {
            let scripts = Scripts::new();
            let handlers = [(command.to_owned(), key.clone())];
            let fired = fire(scripts.path(), dialect, Event::Tool, Mode::Faithful, &handlers).await;
            assert_eq!(fired.outcome, Rejected, "{dialect}, {command}: {fired:?}");
        }
        // It is for failures only.
        let scripts = Scripts::new();
        let handlers = [("exit 0".to_owned(), key.clone())];
        let fired = fire(scripts.path(), dialect, Event::Tool, Mode::Faithful, &handlers).await;
        assert_eq!(fired.outcome, Nothing, "{dialect}");
    }
}

/// A1.7: at four events a failure never blocks, whatever the handler says; nor where
/// nothing waits for it.
#[tokio::test]
async fn keys_that_tighten_have_no_effect_at_four_events() {
    let block = json!({ "onFailure": "block" });
    let scripts = Scripts::new();
    let at = async |event: &str, command: &str, more: Value| {
        let handlers = [(command.to_owned(), more)];
        let fired = (event, json!({}));
        dialects::fire_with(scripts.path(), ClaudeCode, fired, Mode::Faithful, &handlers).await
    };
    for event in ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"] {
        for command in ["exit 1", "sleep 5", "echo '{ no'"] {
            let fired = at(event, command, block.clone()).await;
            assert_eq!(fired.outcome, Passed, "{event}, {command}: {fired:?}");
        }
        // What it decides counts all the same.
        let fired = at(event, "echo no >&2; exit 2", block.clone()).await;
        assert_eq!(fired.outcome, Rejected, "{event}: {fired:?}");
    }
    for event in ["TaskCreated", "PreCompact", "PermissionRequest", "UserPromptSubmit"] {
        let fired = at(event, "exit 1", block.clone()).await;
        assert_eq!(fired.outcome, Rejected, "{event}: {fired:?}");
    }
    let fired = at("PreToolUse", "exit 1", json!({ "onFailure": "block", "async": true })).await;
    assert_eq!(fired.outcome, Nothing, "{fired:?}");
}

/// A9.10: how often in a row an agent is made to go on.
#[tokio::test]
async fn loops_end() {
    let scripts = Scripts::new();
    let goes_on = async |dialect: Dialect, mode: Mode, count: u32, more: Value| {
        let answer = match dialect {
            Cursor => r#"{"followup_message": "test first"}"#,
            _ => r#"{"decision": "block", "reason": "test first"}"#,
        };
        let handlers = [(format!("echo '{answer}'"), more)];
        let event = dialects::event_name(dialect, Event::Stop);
        let stdin = json!({ "stop_hook_active": count > 0, "loop_count": count });
        let fired =
            dialects::fire_with(scripts.path(), dialect, (event, stdin), mode, &handlers).await;
        fired.outcome == Rejected
    };
    for mode in [Mode::Faithful, Mode::Strict] {
        for dialect in [ClaudeCode, Copilot] {
            assert!(goes_on(dialect, mode, 7, json!({})).await, "{dialect} {mode:?}");
            assert!(!goes_on(dialect, mode, 8, json!({})).await, "{dialect} {mode:?}");
        }
        assert!(goes_on(Cursor, mode, 4, json!({})).await, "{mode:?}");
        assert!(!goes_on(Cursor, mode, 5, json!({})).await, "{mode:?}");
        assert!(goes_on(Cursor, mode, 11, json!({ "loop_limit": 12 })).await, "{mode:?}");
        assert!(!goes_on(Cursor, mode, 12, json!({ "loop_limit": 12 })).await, "{mode:?}");
    }
    // Without a limit, but never in `Strict`.
    let unlimited = json!({ "loop_limit": null });
    assert!(goes_on(Cursor, Mode::Faithful, 1_000, unlimited.clone()).await);
    assert!(goes_on(Cursor, Mode::Strict, 7, unlimited.clone()).await);
    assert!(!goes_on(Cursor, Mode::Strict, 8, unlimited).await);
}

#[tokio::test]
async fn prompts() {
    check(vec![
        row(
            "exit 2",
            Event::Prompt,
            "echo no >&2; exit 2",
            [Rejected, Rejected, Rejected, Rejected, Nothing],
            Rejected,
        ),
        row("exit 1", Event::Prompt, "exit 1", [Passed, Passed, Nothing, Passed, Passed], Failed),
    ])
    .await;
    for dialect in [ClaudeCode, Codex] {
        for mode in [Mode::Faithful, Mode::Strict] {
            let fired = outcome(dialect, Event::Prompt, mode, "echo the branch is main").await;
            assert_eq!(fired.context.as_deref(), Some("the branch is main"), "{dialect}");
            assert_eq!(fired.outcome, Passed);
        }
    }
}

#[tokio::test]
async fn stops() {
    check(vec![
        row(
            "exit 2",
            Event::Stop,
            "echo test first >&2; exit 2",
            [Rejected, Rejected, Rejected, Rejected, Nothing],
            Rejected,
        ),
        row("silent", Event::Stop, "exit 0", [Nothing; 5], Nothing),
        // A failure is no reason to go on.
        row("exit 1", Event::Stop, "exit 1", [Passed, Passed, Nothing, Passed, Passed], Passed),
    ])
    .await;
    let answers = [
        json!({ "decision": "block", "reason": "test first" }),
        json!({ "decision": "block", "reason": "test first" }),
        json!({ "decision": "block", "reason": "test first" }),
        json!({ "followup_message": "test first" }),
        json!({ "decision": "block", "reason": "test first" }),
    ];
    for (dialect, answer) in Dialect::ALL.into_iter().zip(answers) {
        for mode in [Mode::Faithful, Mode::Strict] {
            let fired = outcome(dialect, Event::Stop, mode, &format!("echo '{answer}'")).await;
            assert_eq!(
                (fired.outcome, fired.reason.as_deref()),
                (Rejected, Some("test first")),
                "{dialect}"
            );
        }
    }
}

#[tokio::test]
async fn starts_of_sessions() {
    let answers = [
        json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": "be brief" } }),
        json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": "be brief" } }),
        json!({ "hookSpecificOutput": { "additionalContext": "be brief" } }),
        json!({ "additional_context": "be brief" }),
        json!({ "additionalContext": "be brief" }),
    ];
    for (dialect, answer) in Dialect::ALL.into_iter().zip(answers) {
        for mode in [Mode::Faithful, Mode::Strict] {
            let fired = outcome(dialect, Event::Start, mode, &format!("echo '{answer}'")).await;
            assert_eq!(fired.context.as_deref(), Some("be brief"), "{dialect}");
        }
    }
}

#[tokio::test]
async fn several_contexts_are_kept_in_order() {
    let scripts = Scripts::new();
    let handlers = ["one", "two"].map(|word| (format!("echo {word}"), Value::Null));
    let fired = fire(scripts.path(), ClaudeCode, Event::Start, Mode::Strict, &handlers).await;
    assert_eq!(fired.context.as_deref(), Some("one\ntwo"));
}
