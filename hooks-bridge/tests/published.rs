//! The behaviour of hook scripts that are published, each written anew: what comes of it
//! in the dialects that it is for, as the product has it and in `Strict`.
//! `published_matrix.rs` has each row in every dialect.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::path::Path;

use Dialect::{ClaudeCode, Codex, Copilot, Cursor, Gemini};
use Mode::{Faithful, Strict};
use Outcome::{Failed, None as Nothing, Passed, Rejected, Replaced};
use dialects::fire_with;
use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect, Fired, Mode, Outcome};
use serde_json::{Value, json};
use support::Scripts;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    assert!(path.exists(), "{name}");
    let interpreter = if path.extension().is_some_and(|it| it == "py") { "python3 " } else { "" };
    format!("{interpreter}{}", path.display())
}

async fn run(
    scripts: &Scripts,
    dialect: Dialect,
    event: &str,
    stdin: Value,
    mode: Mode,
    script: &str,
) -> Fired {
    let handlers = [(fixture(script), json!({}))];
    fire_with(scripts.path(), dialect, (event, stdin), mode, &handlers).await
}

/// Fires in a fresh project; what comes of it as the product has it, and in `Strict`.
async fn outcomes(dialect: Dialect, event: &str, stdin: Value, script: &str) -> [Outcome; 2] {
    let scripts = Scripts::new();
    let faithful = run(&scripts, dialect, event, stdin.clone(), Faithful, script).await;
    let strict = run(&scripts, dialect, event, stdin, Strict, script).await;
    [faithful.outcome, strict.outcome]
}

fn bash(command: &str) -> Value {
    json!({ "tool_name": "Bash", "tool_input": { "command": command, "keep": 1 } })
}

/// Rows 1 to 4.
#[tokio::test]
async fn a_denial_without_a_reason() {
    let rules = |dialect, event, stdin| outcomes(dialect, event, stdin, "rules.py");
    assert_eq!(rules(ClaudeCode, "PreToolUse", bash("rm -rf /")).await, [Rejected, Rejected]);
    assert_eq!(rules(Codex, "PreToolUse", bash("rm -rf /")).await, [Passed, Rejected]);
    for dialect in [ClaudeCode, Codex] {
        assert_eq!(rules(dialect, "PreToolUse", bash("ls")).await, [Nothing, Nothing], "{dialect}");
        // It fails open by itself, which is its own decision.
        let odd = json!({ "tool_name": "Bash", "tool_input": [] });
        assert_eq!(rules(dialect, "PreToolUse", odd).await, [Nothing, Nothing], "{dialect}");
        assert_eq!(rules(dialect, "Stop", json!({})).await, [Nothing, Nothing], "{dialect}");
        let prompt = json!({ "prompt": "hello" });
        assert_eq!(
            rules(dialect, "UserPromptSubmit", prompt).await,
            [Nothing, Nothing],
            "{dialect}"
        );
    }
    let cursor = json!({ "tool_name": "Shell", "tool_input": { "command": "ls" } });
    assert_eq!(rules(Cursor, "preToolUse", cursor).await, [Nothing, Nothing]);
}

/// Rows 5 and 6.
#[tokio::test]
async fn a_stop_that_goes_on_while_a_file_says_so() {
    for (dialect, event) in [(ClaudeCode, "Stop"), (Codex, "Stop"), (Gemini, "AfterAgent")] {
        let scripts = Scripts::new();
        let idle = run(&scripts, dialect, event, json!({}), Strict, "loop.sh").await;
        assert_eq!(idle.outcome, Nothing, "{dialect}");
        scripts.write("loop.state", "write the tests");
        for mode in [Faithful, Strict] {
            let fired = run(&scripts, dialect, event, json!({}), mode, "loop.sh").await;
            assert_eq!(fired.outcome, Rejected, "{dialect}");
            assert_eq!(fired.reason.as_deref(), Some("write the tests"), "{dialect}");
        }
    }
}

/// Rows 7 and 8: it never reads its stdin, and its answer depends on the variables.
#[tokio::test]
async fn context_in_the_shape_of_the_product() {
    let starts = [
        (ClaudeCode, "SessionStart"),
        (Codex, "SessionStart"),
        (Cursor, "sessionStart"),
        (Copilot, "sessionStart"),
    ];
    for (dialect, event) in starts {
        let scripts = Scripts::new();
        let text = dialects::configuration(dialect, event, &[(fixture("advice.sh"), json!({}))]);
        let source = Source::new(dialect, "hooks.json", Origin::Plugin(scripts.path().to_owned()));
        let plan = Plan::read_text(&source, &text.to_string(), scripts.path());
        // More than a pipe holds.
        let stdin = json!({ "source": "startup", "padding": "x".repeat(1 << 20) });
        let bridge = |plan| Bridge::new(scripts.path(), plan).trust(Trust::everything());
        let fired = Fired::fire(dialect, event, stdin, plan, bridge).await;
        assert_eq!(fired.context.as_deref(), Some("advice"), "{dialect}: {fired:?}");
        assert_eq!(fired.outcome, Passed, "{dialect}");
    }
}

/// Rows 9 and 10.
#[tokio::test]
async fn gates_that_give_a_reason() {
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": "/srv/.env" } });
    let write =
        json!({ "tool_name": "Write", "tool_input": { "file_path": "/srv/settings.json" } });
    for dialect in [ClaudeCode, Codex] {
        for stdin in [&read, &write, &bash("git push --force")] {
            let outcome = outcomes(dialect, "PreToolUse", stdin.clone(), "secrets.py").await;
            assert_eq!(outcome, [Rejected, Rejected], "{dialect} {stdin}");
        }
        assert_eq!(
            outcomes(dialect, "PreToolUse", bash("ls"), "secrets.py").await,
            [Nothing, Nothing]
        );
    }
}

/// Rows 11 and 12: an echo of stdin is no denial, and is reported.
#[tokio::test]
async fn a_gate_by_exit_code_that_echoes_its_stdin() {
    let gate = |dialect, command| outcomes(dialect, "PreToolUse", bash(command), "no_verify.py");
    assert_eq!(gate(ClaudeCode, "git commit --no-verify").await, [Rejected, Rejected]);
    assert_eq!(gate(Codex, "git commit --no-verify").await, [Rejected, Rejected]);
    assert_eq!(gate(ClaudeCode, "ls").await, [Nothing, Nothing]);
    assert_eq!(
        gate(Codex, "ls").await,
        [Passed, Nothing],
        "a failure in the product, and no denial"
    );
    let gemini = json!({ "tool_name": "run_shell_command", "tool_input": { "command": "ls" } });
    assert_eq!(outcomes(Gemini, "BeforeTool", gemini, "no_verify.py").await, [Nothing, Nothing]);
}

/// Rows 13 and 24.
#[tokio::test]
async fn gates_that_depend_on_the_project() {
    for mode in [Faithful, Strict] {
        let scripts = Scripts::new();
        let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": ".eslintrc" } });
        let fired =
            run(&scripts, ClaudeCode, "PreToolUse", edit.clone(), mode, "protected.sh").await;
        assert_eq!(fired.outcome, Nothing);
        scripts.write(".eslintrc", "{}");
        let fired = run(&scripts, ClaudeCode, "PreToolUse", edit, mode, "protected.sh").await;
        assert_eq!(fired.reason.as_deref(), Some(".eslintrc is protected"));
        assert_eq!(fired.handlers[0].decided_by, Some("exit"));
        let install = bash("npm install");
        let fired =
            run(&scripts, ClaudeCode, "PreToolUse", install.clone(), mode, "manager.sh").await;
        assert_eq!(fired.outcome, Nothing);
        scripts.write("pnpm-lock.yaml", "");
        let fired = run(&scripts, ClaudeCode, "PreToolUse", install, mode, "manager.sh").await;
        assert_eq!((fired.outcome, fired.reason.as_deref()), (Rejected, Some("use pnpm here")));
    }
}

/// Rows 14 and 15.
#[tokio::test]
async fn three_ways_before_a_shell_command() {
    let gate = |command: &str| {
        let stdin = json!({ "command": command, "cwd": "" });
        outcomes(Cursor, "beforeShellExecution", stdin, "shell_gate.sh")
    };
    assert_eq!(gate("npm run dev").await, [Rejected, Rejected]);
    assert_eq!(gate("git push").await, [Rejected, Rejected]);
    assert_eq!(gate("gh pr create").await, [Rejected, Rejected], "a gate has no user to ask");
    assert_eq!(gate("ls").await, [Passed, Passed]);
    let stdin = json!({ "command": "git push" });
    let fired =
        run(&Scripts::new(), Cursor, "beforeShellExecution", stdin, Strict, "shell_gate.sh").await;
    assert_eq!(fired.reason.as_deref(), Some("ask for a review"), "the keys of an old version");
}

/// Row 16.
#[tokio::test]
async fn a_no_from_a_command_that_failed() {
    let stdin = json!({ "file_path": "key.pem", "content": "token" });
    assert_eq!(outcomes(Cursor, "beforeReadFile", stdin, "redact.sh").await, [Passed, Rejected]);
}

/// Rows 17 and 21: noise where nothing is asked.
#[tokio::test]
async fn noise_at_an_event_that_is_only_told_of() {
    let scripts = Scripts::new();
    let noise = [("echo '🚀 logged'; echo done >&2".to_owned(), json!({}))];
    let ends = [
        (ClaudeCode, "SessionEnd"),
        (Codex, "SessionEnd"),
        (Cursor, "sessionEnd"),
        (Copilot, "sessionEnd"),
    ];
    for (dialect, event) in ends {
        for mode in [Faithful, Strict] {
            let fired = fire_with(scripts.path(), dialect, (event, json!({})), mode, &noise).await;
            assert_eq!(fired.outcome, Nothing, "{dialect}: {fired:?}");
            assert_eq!(fired.handlers[0].stderr.as_deref(), Some("done\n"), "{dialect}");
        }
    }
}

/// Rows 18 and 19: the same script is a wall in one product and nothing in another.
#[tokio::test]
async fn a_guardian_that_dies_before_it_speaks() {
    let documented = json!({ "toolName": "bash", "toolArgs": { "command": "ls" } });
    assert_eq!(
        outcomes(Copilot, "preToolUse", documented, "guardian.sh").await,
        [Rejected, Failed]
    );
    assert_eq!(
        outcomes(ClaudeCode, "PreToolUse", bash("ls"), "guardian.sh").await,
        [Passed, Failed]
    );
    let older = json!({ "toolName": "bash", "toolInput": "rm -rf /" });
    assert_eq!(outcomes(Copilot, "preToolUse", older, "guardian.sh").await, [Rejected, Failed]);
}

/// Row 20.
#[tokio::test]
async fn a_published_script_that_is_broken() {
    let scripts = Scripts::new();
    let stdin = json!({ "prompt": "hello" });
    let fired =
        run(&scripts, Copilot, "userPromptSubmitted", stdin.clone(), Faithful, "broken.sh").await;
    assert_eq!((fired.outcome, fired.handlers[0].exit), (Passed, Some(1)));
    assert!(
        fired.handlers[0].stderr.as_deref().unwrap().contains("can only be used in a function")
    );
    let fired = run(&scripts, Copilot, "userPromptSubmitted", stdin, Strict, "broken.sh").await;
    assert_eq!(fired.outcome, Failed);
}

/// Row 22.
#[tokio::test]
async fn plain_text_when_a_session_starts() {
    let scripts = Scripts::new();
    let hello = [("echo hello".to_owned(), json!({}))];
    let start = |dialect| {
        fire_with(
            scripts.path(),
            dialect,
            ("SessionStart", json!({ "source": "startup" })),
            Faithful,
            &hello,
        )
    };
    assert_eq!(start(ClaudeCode).await.context.as_deref(), Some("hello"), "context");
    let gemini = start(Gemini).await;
    assert_eq!((gemini.outcome, gemini.context), (Passed, None), "a message to the user");
}

/// Row 23.
#[tokio::test]
async fn a_rewrite_that_keeps_the_other_fields() {
    for dialect in [ClaudeCode, Codex] {
        let scripts = Scripts::new();
        let status = bash("git status");
        let fired =
            run(&scripts, dialect, "PreToolUse", status.clone(), Strict, "rewrite.sh").await;
        assert_eq!(fired.outcome, Nothing, "{dialect}: not installed");
        scripts.script("wrap", "#!/bin/sh\n");
        for mode in [Faithful, Strict] {
            let fired =
                run(&scripts, dialect, "PreToolUse", status.clone(), mode, "rewrite.sh").await;
            assert_eq!(fired.outcome, Replaced, "{dialect}: {fired:?}");
            let input = &fired.payload.unwrap()["tool_input"];
            assert_eq!(*input, json!({ "command": "wrap git status", "keep": 1 }), "{dialect}");
        }
    }
}

/// The same typo denies under one interpreter and allows under another: in `Strict` a
/// script that is not there is a failure, whatever the exit code.
#[tokio::test]
async fn exit_code_2_of_an_interpreter_is_no_denial() {
    let scripts = Scripts::new();
    for (command, faithful) in [("python3 gone.py", Rejected), ("bash gone.sh", Passed)] {
        let handlers = [(command.to_owned(), json!({}))];
        let fired =
            fire_with(scripts.path(), ClaudeCode, ("PreToolUse", bash("ls")), Faithful, &handlers)
                .await;
        assert_eq!(fired.outcome, faithful, "{command}");
        let fired =
            fire_with(scripts.path(), ClaudeCode, ("PreToolUse", bash("ls")), Strict, &handlers)
                .await;
        assert_eq!(fired.outcome, Failed, "{command}");
        assert!(fired.reason.unwrap().contains("does not exist"), "{command}");
    }
}

/// What users have beside bash and python: left out where they are not installed, and
/// said so.
#[tokio::test]
async fn other_interpreters_where_they_are_installed() {
    let scripts = Scripts::new();
    let node = r#"node -e 'process.stdin.on("data", () => {}).on("end", () => process.exit(2))'"#;
    let jq = "jq -e '.tool_input.command == \"ls\"' >/dev/null || exit 2";
    for (program, command) in [("node", node), ("jq", jq)] {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .any(|it| it.join(program).exists());
        if !found {
            println!("left out: `{program}` is not installed");
            continue;
        }
        let handlers = [(command.to_owned(), json!({}))];
        let fired =
            fire_with(scripts.path(), ClaudeCode, ("PreToolUse", bash("pwd")), Strict, &handlers)
                .await;
        assert_eq!(fired.outcome, Rejected, "{program}: {fired:?}");
    }
}
