//! The published scripts, each in all five dialects: what comes of the same behaviour as
//! each product has it, and in `Strict`. `published.rs` has more of each script's own
//! dialect.
//!
//! A cell is one row in one dialect; where a script is written for another product, what
//! it prints means nothing, and that is the verdict.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use Dialect::{ClaudeCode, Codex, Copilot, Cursor, Gemini};
use Event::{After, Prompt, Start, Stop, Tool};
use Mode::{Faithful, Strict};
use Outcome::{Failed, None as Nothing, Passed, Rejected, Replaced};
use dialects::{Event, event_name, fire_with};
use hooks_bridge::{Dialect, Fired, Mode, Outcome};
use serde_json::{Value, json};
use support::Scripts;

/// One script in one situation: the row of the list, and what comes of it in Claude Code,
/// Codex, Gemini, Cursor and Copilot.
struct Case {
    row: u32,
    event: Event,
    /// The command that the tool is called with.
    call: &'static str,
    script: &'static str,
    /// Files that the project has.
    files: &'static [&'static str],
    faithful: [Outcome; 5],
    strict: [Outcome; 5],
}

impl Case {
    const fn new(row: u32, event: Event, script: &'static str, faithful: [Outcome; 5]) -> Self {
        let (call, files) = ("ls", [].as_slice());
        Self { row, event, call, script, files, faithful, strict: faithful }
    }

    const fn call(self, call: &'static str) -> Self {
        Self { call, ..self }
    }

    const fn files(self, files: &'static [&'static str]) -> Self {
        Self { files, ..self }
    }

    const fn strict(self, strict: [Outcome; 5]) -> Self {
        Self { strict, ..self }
    }

    async fn fire(&self, dialect: Dialect, mode: Mode) -> Fired {
        let scripts = Scripts::new();
        for file in self.files {
            scripts.script(file, "write the tests");
        }
        let mut stdin = dialects::stdin(dialect, self.event);
        for key in ["tool_input", "toolArgs"] {
            if let Some(input) = stdin.get_mut(key) {
                input["command"] = json!(self.call);
            }
        }
        if self.row == 19 {
            stdin["toolInput"] = json!("rm -rf /");
        }
        let handlers = [(command(self.script), Value::Null)];
        let event = event_name(dialect, self.event);
        fire_with(scripts.path(), dialect, (event, stdin), mode, &handlers).await
    }
}

/// A fixture by its name, or a line as it is.
fn command(script: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(script);
    match path.extension().and_then(|it| it.to_str()) {
        Some("py") if path.exists() => format!("python3 {}", path.display()),
        Some("sh") if path.exists() => path.display().to_string(),
        _ => script.to_owned(),
    }
}

const ALL_NOTHING: [Outcome; 5] = [Nothing; 5];
const ALL_REJECTED: [Outcome; 5] = [Rejected; 5];

/// Rows 1 to 24. Some have several situations.
fn cases() -> Vec<Case> {
    vec![
        // A denial without a reason.
        Case::new(1, Tool, "rules.py", [Rejected, Passed, Nothing, Nothing, Nothing])
            .call("rm -rf /")
            .strict([Rejected, Rejected, Nothing, Nothing, Nothing]),
        Case::new(2, Tool, "rules.py", ALL_NOTHING),
        Case::new(3, Tool, "echo '{\"systemMessage\": \"rules: no JSON\"}'", ALL_NOTHING),
        Case::new(4, Stop, "rules.py", ALL_NOTHING),
        Case::new(4, Prompt, "rules.py", ALL_NOTHING),
        // Cursor has another key for it.
        Case::new(5, Stop, "loop.sh", [Rejected, Rejected, Rejected, Nothing, Rejected])
            .files(&["loop.state"]),
        Case::new(6, Stop, "loop.sh", ALL_NOTHING),
        // Rows 7 and 8 depend on the variables: below.
        // Without the keys that it reads, the script dies, which denies in one product.
        Case::new(9, Tool, "secrets.py", [Rejected, Rejected, Nothing, Nothing, Rejected])
            .call("git push --force")
            .strict([Rejected, Rejected, Nothing, Nothing, Failed]),
        Case::new(10, Tool, "secrets.py", [Nothing, Nothing, Nothing, Nothing, Rejected])
            .strict([Nothing, Nothing, Nothing, Nothing, Failed]),
        // In Copilot it does not find the command, and echoes its stdin.
        Case::new(11, Tool, "no_verify.py", [Rejected, Rejected, Rejected, Rejected, Nothing])
            .call("git commit --no-verify"),
        Case::new(11, Tool, "echo no >&2; exit 2", ALL_REJECTED),
        Case::new(12, Tool, "no_verify.py", [Nothing, Passed, Nothing, Nothing, Nothing])
            .strict(ALL_NOTHING),
        Case::new(13, Tool, "protected.sh", ALL_REJECTED).files(&[".eslintrc"]),
        Case::new(13, Tool, "protected.sh", ALL_NOTHING),
        Case::new(14, Tool, "shell_gate.sh", ALL_REJECTED).call("npm run dev"),
        Case::new(15, Tool, "shell_gate.sh", [Nothing, Passed, Nothing, Rejected, Nothing])
            .call("git push")
            .strict([Nothing, Nothing, Nothing, Rejected, Nothing]),
        Case::new(15, Tool, "shell_gate.sh", [Nothing, Passed, Nothing, Passed, Nothing])
            .strict([Nothing, Nothing, Nothing, Passed, Nothing]),
        // Its keys are Cursor's. That JSON decides in Claude Code is below.
        Case::new(16, Tool, "redact.sh", [Nothing, Passed, Nothing, Passed, Rejected])
            .strict([Failed, Failed, Failed, Rejected, Failed]),
        Case::new(17, After, "true", ALL_NOTHING),
        // The same script is a wall or nothing.
        Case::new(18, Tool, "guardian.sh", [Passed, Passed, Nothing, Passed, Rejected])
            .strict([Failed; 5]),
        Case::new(19, Tool, "guardian.sh", [Passed, Passed, Passed, Passed, Rejected])
            .strict([Failed; 5]),
        Case::new(20, Prompt, "broken.sh", [Passed; 5]).strict([Failed; 5]),
        // Plain text is context, a message to the user, or nothing.
        Case::new(21, Start, "echo '🚀 logged'", [Passed, Passed, Passed, Nothing, Nothing])
            .strict([Passed, Passed, Nothing, Nothing, Nothing]),
        Case::new(21, Prompt, "echo '🚀 logged'", [Passed, Passed, Passed, Passed, Nothing])
            .strict([Passed, Passed, Nothing, Nothing, Nothing]),
        Case::new(22, Start, "echo hello", [Passed, Passed, Passed, Nothing, Nothing])
            .strict([Passed, Passed, Nothing, Nothing, Nothing]),
        Case::new(23, Tool, "rewrite.sh", ALL_NOTHING).call("git status"),
        Case::new(23, Tool, "rewrite.sh", [Replaced, Replaced, Nothing, Nothing, Nothing])
            .call("git status")
            .files(&["wrap"]),
        Case::new(24, Tool, "manager.sh", ALL_REJECTED)
            .call("npm install")
            .files(&["pnpm-lock.yaml"]),
        Case::new(24, Tool, "manager.sh", ALL_NOTHING).call("npm install"),
    ]
}

#[tokio::test]
async fn rows_1_to_24_in_every_dialect() {
    for case in cases() {
        for (mode, expected) in [(Faithful, case.faithful), (Strict, case.strict)] {
            for (dialect, expected) in Dialect::ALL.into_iter().zip(expected) {
                let fired = case.fire(dialect, mode).await;
                let what = format!("row {}, {dialect}, {mode:?}", case.row);
                assert_eq!(fired.outcome, expected, "{what}: {fired:?}");
            }
        }
    }
}

/// Rows 7 and 8: the answer has the shape of the product whose variables it finds. In
/// Gemini there are none of these, and that shape means nothing there.
#[tokio::test]
async fn rows_7_and_8_in_every_dialect() {
    use hooks_bridge::config::{Origin, Plan, Source};
    use hooks_bridge::{Bridge, trust::Trust};
    let contexts = [Some("advice"), Some("advice"), None, Some("advice"), Some("advice")];
    for (dialect, expected) in Dialect::ALL.into_iter().zip(contexts) {
        for mode in [Faithful, Strict] {
            let scripts = Scripts::new();
            let event = event_name(dialect, Start);
            let handlers = [(command("advice.sh"), Value::Null)];
            let text = dialects::configuration(dialect, event, &handlers);
            let origin = Origin::Plugin(scripts.path().to_owned());
            let source = Source::new(dialect, "hooks.json", origin);
            let plan = Plan::read_text(&source, &text.to_string(), scripts.path());
            let bridge =
                |plan| Bridge::new(scripts.path(), plan).mode(mode).trust(Trust::everything());
            // It never reads its stdin, which has more than a pipe holds.
            let stdin = json!({ "source": "startup", "padding": "x".repeat(1 << 20) });
            let fired = Fired::fire(dialect, event, stdin, plan, bridge).await;
            assert_eq!(fired.context.as_deref(), expected, "rows 7 and 8, {dialect}: {fired:?}");
        }
    }
}

/// Row 16: a no of a command that failed, in the keys of each dialect.
#[tokio::test]
async fn row_16_in_the_keys_of_every_dialect() {
    let hook = r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}"#;
    let cases = [
        (ClaudeCode, hook, Rejected),
        (Codex, hook, Passed),
        (Gemini, r#"{"decision": "deny", "reason": "no"}"#, Rejected),
        (Cursor, r#"{"permission": "deny", "user_message": "no"}"#, Passed),
        (Copilot, r#"{"permissionDecision": "deny"}"#, Rejected),
    ];
    for (dialect, answer, faithful) in cases {
        let scripts = Scripts::new();
        let handlers = [(format!("echo '{answer}'; exit 3"), Value::Null)];
        for (mode, expected) in [(Faithful, faithful), (Strict, Rejected)] {
            let fired = dialects::fire(scripts.path(), dialect, Tool, mode, &handlers).await;
            assert_eq!(fired.outcome, expected, "row 16, {dialect}, {mode:?}: {fired:?}");
        }
    }
}

/// Rows 21 and 22: which text is context.
#[tokio::test]
async fn rows_21_and_22_text_is_context_or_not() {
    let contexts = [Some("hello"), Some("hello"), None, None, None];
    for (dialect, expected) in Dialect::ALL.into_iter().zip(contexts) {
        for mode in [Faithful, Strict] {
            let scripts = Scripts::new();
            let handlers = [("echo hello".to_owned(), Value::Null)];
            let fired = dialects::fire(scripts.path(), dialect, Start, mode, &handlers).await;
            assert_eq!(fired.context.as_deref(), expected, "row 22, {dialect}, {mode:?}");
        }
    }
}

/// All events, as the products' pages list them.
const EVENTS: [(Dialect, &str); 5] = [
    (
        ClaudeCode,
        "SessionStart Setup UserPromptSubmit UserPromptExpansion PreToolUse PermissionRequest \
         PermissionDenied PostToolUse PostToolUseFailure PostToolBatch Notification MessageDisplay \
         SubagentStart SubagentStop Stop StopFailure TaskCreated TaskCompleted TeammateIdle \
         InstructionsLoaded DirectoryAdded WorktreeRemove PostCompact SessionEnd CwdChanged \
         FileChanged ConfigChange WorktreeCreate PreCompact PreModelSwitch PostModelSwitch \
         Elicitation ElicitationResult",
    ),
    (
        Codex,
        "PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart SessionEnd \
         UserPromptSubmit SubagentStart SubagentStop Stop Interrupt",
    ),
    (
        Gemini,
        "BeforeTool AfterTool BeforeAgent AfterAgent SessionStart SessionEnd PreCompress \
         Notification BeforeModel AfterModel BeforeToolSelection",
    ),
    (
        Cursor,
        "preToolUse postToolUse postToolUseFailure beforeShellExecution afterShellExecution \
         beforeMCPExecution afterMCPExecution beforeReadFile afterFileEdit beforeTabFileRead \
         afterTabFileEdit beforeSubmitPrompt sessionStart sessionEnd subagentStart subagentStop \
         stop preCompact afterAgentResponse afterAgentThought workspaceOpen",
    ),
    (
        Copilot,
        "sessionStart sessionEnd userPromptSubmitted userPromptTransformed preToolUse postToolUse \
         postToolUseFailure permissionRequest agentStop subagentStop subagentStart errorOccurred \
         preCompact notification",
    ),
];

/// Row 25: a script at every event of every dialect.
#[tokio::test]
async fn row_25_every_event_of_every_dialect() {
    let counts = [33, 12, 11, 21, 14];
    for ((dialect, events), count) in EVENTS.into_iter().zip(counts) {
        let scripts = Scripts::new();
        let events: Vec<_> = events.split_whitespace().collect();
        assert_eq!(events.len(), count, "{dialect}");
        let mut expected = String::new();
        for event in events {
            let line = format!("{} {event}", command("every_event.sh"));
            let stdin = json!({ "mark": event });
            let handlers = [(line, Value::Null)];
            let fired = fire_with(scripts.path(), dialect, (event, stdin), Strict, &handlers).await;
            assert_eq!(fired.outcome, Nothing, "row 25, {dialect} {event}: {fired:?}");
            let _ = writeln!(expected, "{event} {event}");
        }
        let log = fs::read_to_string(scripts.path().join("events.log")).unwrap();
        assert_eq!(log, expected, "row 25, {dialect}");
    }
}

/// Row 26: one policy in three dialects. It does not know the other two.
#[tokio::test]
async fn row_26_one_policy_in_three_dialects() {
    for dialect in [ClaudeCode, Gemini, Copilot] {
        for mode in [Faithful, Strict] {
            for (call, expected) in [("rm -rf /", Rejected), ("ls", Nothing)] {
                let case = Case::new(26, Tool, "policy.py", ALL_NOTHING).call(call);
                let fired = case.fire(dialect, mode).await;
                assert_eq!(fired.outcome, expected, "row 26, {dialect}, {mode:?}: {fired:?}");
            }
        }
    }
    // Older builds have the arguments as text.
    let scripts = Scripts::new();
    let stdin = json!({ "toolName": "bash", "toolArgs": "{\"command\": \"rm -rf /\"}" });
    let handlers = [(command("policy.py"), Value::Null)];
    let fired = fire_with(scripts.path(), Copilot, ("preToolUse", stdin), Strict, &handlers).await;
    assert_eq!(fired.reason.as_deref(), Some("not on this machine"), "row 26: {fired:?}");
}
