//! How the five dialects differ: the rows of the comparison that are about files, matchers,
//! stdin and processes. Each test names its row, and its cells are in the order Claude Code,
//! Codex, Gemini, Cursor, Copilot.
//!
//! What is not claimed is said with the row: races between commands that run at the same
//! time, and what a product leaves unstated.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use Dialect::{ClaudeCode, Codex, Copilot, Cursor, Gemini};
use dialects::{Event, configuration, event_name, plan};
use hooks_bridge::check::Check;
use hooks_bridge::config::{EntryState, Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect, Mode, Outcome, Runs};
use hooks_runtime::{Gate, HookRegistry, Plugins};
use serde_json::{Value, json};
use support::Scripts;

/// Row "file": each product's own, and those of Claude Code that others read too.
#[test]
fn row_file() {
    let cells: [&[&str]; 5] = [
        &[".claude/settings.json", ".claude/settings.local.json"],
        &[".codex/hooks.json", ".codex/config.toml"],
        &[".gemini/settings.json"],
        &[".cursor/hooks.json"],
        &[".github/hooks/a.json", ".github/hooks/b.json"],
    ];
    let scripts = Scripts::new();
    for file in cells.into_iter().flatten() {
        let text = if *file == ".codex/config.toml" { "" } else { "{ \"hooks\": {} }" };
        scripts.write(file, text);
    }
    for (dialect, files) in Dialect::ALL.into_iter().zip(cells) {
        let found = Plan::files(dialect, scripts.path(), None);
        let project = found.iter().filter(|source| source.origin == Origin::Project);
        let names: Vec<_> =
            project.map(|source| source.file.strip_prefix(scripts.path()).unwrap()).collect();
        assert_eq!(names, files.iter().map(Path::new).collect::<Vec<_>>(), "{dialect}");
        assert_eq!(Plan::read(&found, scripts.path()).errors, [], "{dialect}");
    }
    let check = Check::folder(scripts.path());
    let claude = check.files.iter().find(|file| file.file.ends_with(".claude/settings.json"));
    assert_eq!(claude.unwrap().read_by, ["claude-code", "cursor", "copilot"]);
}

/// Row "nesting": groups of handlers, or handlers at once; the other one does not run.
#[test]
fn row_nesting() {
    for dialect in Dialect::ALL {
        let event = event_name(dialect, Event::Tool);
        let handler = json!({ "type": "command", "command": "true", "bash": "true" });
        let nested = json!({ "version": 1, "hooks": { event: [ { "hooks": [handler] } ] } });
        let flat = json!({ "version": 1, "hooks": { event: [handler] } });
        let is_flat = matches!(dialect, Cursor | Copilot);
        let (own, other) = if is_flat { (flat, nested) } else { (nested, flat) };
        let runs = |text: &Value| {
            let plan = Plan::read_text(
                &Source::new(dialect, "x.json", Origin::User),
                &text.to_string(),
                "/no/shop",
            );
            plan.entries.iter().filter(|entry| entry.runs()).count()
        };
        assert_eq!((runs(&own), runs(&other)), (1, 0), "{dialect}");
    }
    // Gemini's groups have one key more.
    let group =
        json!({ "sequential": true, "hooks": [ { "type": "command", "command": "true" } ] });
    let text = json!({ "hooks": { "BeforeTool": [group] } });
    for (dialect, notices) in [(Gemini, 0), (ClaudeCode, 1)] {
        let event = event_name(dialect, Event::Tool);
        let text = text.to_string().replace("BeforeTool", event);
        let source = Source::new(dialect, "x.json", Origin::User);
        let plan = Plan::read_text(&source, &text, "/no/shop");
        assert_eq!(plan.notices.len(), notices, "{dialect}");
    }
}

/// Row "event names": each product's own; that of another is reported with the nearest.
#[test]
fn row_event_names() {
    let state = |dialect, event: &str| {
        let text = configuration(dialect, event, &[("true".into(), Value::Null)]);
        let plan = plan(dialect, &text, Path::new("/no/shop"));
        (plan.entries[0].state(), plan.entries[0].runs())
    };
    let cells = [
        (ClaudeCode, "PreToolUse", "preToolUse"),
        (Codex, "PreToolUse", "preToolUse"),
        (Gemini, "BeforeTool", "PreToolUse"),
        (Cursor, "preToolUse", "PreToolUse"),
        (Copilot, "preToolUse", "pre_tool_use"),
        // In Pascal case, with another payload.
        (Copilot, "PreToolUse", "BeforeTool"),
    ];
    for (dialect, own, other) in cells {
        assert_eq!(state(dialect, own), (EntryState::Loaded, true), "{dialect} {own}");
        assert_eq!(state(dialect, other), (EntryState::Suspicious, false), "{dialect} {other}");
    }
}

fn call(tool: &str, input: Value) -> UsingToolPayload {
    UsingToolPayload {
        session_id: "s-1".into(),
        cwd: Some("/srv/shop".into()),
        tool_name: tool.into(),
        input,
    }
}

/// A plan with one command at the event before a tool, under a matcher.
fn matched(scripts: &Scripts, dialect: Dialect, event: &str, matcher: &str, line: &str) -> Plan {
    let mut text = configuration(dialect, event, &[(line.to_owned(), Value::Null)]);
    text["hooks"][event][0]["matcher"] = json!(matcher);
    plan(dialect, &text, scripts.path())
}

/// What a command at the event finds in its stdin.
async fn stdin_at(dialect: Dialect, event: &str) -> Value {
    let scripts = Scripts::new();
    let hooks = HookRegistry::new();
    let plan = matched(&scripts, dialect, event, "", "cat > stdin.json");
    hooks.register(Bridge::new(scripts.path(), plan).gate::<UsingTool>()).unwrap();
    let _ = hooks.fire_gating::<UsingTool>(call("Bash", json!({ "command": "ls" }))).await.unwrap();
    let text = fs::read_to_string(scripts.path().join("stdin.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Row "stdin keys": in snake case, or in camel case where the event is.
#[tokio::test]
async fn row_stdin_keys() {
    let input = json!({ "command": "ls" });
    for (dialect, event, tool) in [
        (ClaudeCode, "PreToolUse", "Bash"),
        (Codex, "PreToolUse", "Bash"),
        (Gemini, "BeforeTool", "run_shell_command"),
        (Cursor, "preToolUse", "Shell"),
        (Copilot, "PreToolUse", "Bash"),
    ] {
        let stdin = stdin_at(dialect, event).await;
        assert_eq!(stdin["hook_event_name"], event, "{dialect}: {stdin}");
        assert_eq!(
            (&stdin["tool_name"], &stdin["tool_input"]),
            (&json!(tool), &input),
            "{dialect}"
        );
        assert_eq!(stdin["cwd"], "/srv/shop", "{dialect}");
        let session = if dialect == Cursor { "conversation_id" } else { "session_id" };
        assert_eq!(stdin[session], "s-1", "{dialect}: {stdin}");
    }
    let stdin = stdin_at(Copilot, "preToolUse").await;
    assert_eq!((&stdin["toolName"], &stdin["toolArgs"]), (&json!("bash"), &input));
    assert_eq!((&stdin["sessionId"], stdin.get("tool_name")), (&json!("s-1"), None));
}

/// Row "timeout unit / default". The default of Cursor is unstated, and not claimed.
#[test]
fn row_timeout_unit_and_default() {
    let cells = [
        (Duration::from_secs(2000), Some(Duration::from_mins(10))),
        (Duration::from_secs(2000), Some(Duration::from_mins(10))),
        (Duration::from_secs(2), Some(Duration::from_mins(1))),
        (Duration::from_secs(2000), None),
        (Duration::from_secs(2000), Some(Duration::from_secs(30))),
    ];
    for (dialect, (limit, default)) in Dialect::ALL.into_iter().zip(cells) {
        let timeout = |more: Value| {
            let event = event_name(dialect, Event::Tool);
            let text = configuration(dialect, event, &[("true".into(), more)]);
            plan(dialect, &text, Path::new("/no/shop")).entries[0].timeout()
        };
        assert_eq!(timeout(json!({ "timeout": 2000 })), limit, "{dialect}");
        if let Some(default) = default {
            assert_eq!(timeout(Value::Null), default, "{dialect}");
        }
    }
}

/// Whether the matcher finds the call, in the product: in `Strict` one that cannot be read
/// closes the gate.
async fn finds(dialect: Dialect, event: &str, matcher: &str, call: UsingToolPayload) -> bool {
    let scripts = Scripts::new();
    let plan = matched(&scripts, dialect, event, matcher, "echo no >&2; exit 2");
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan).mode(Mode::Faithful);
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    matches!(hooks.fire_gating::<UsingTool>(call).await.unwrap(), Gate::Rejected(_))
}

/// Matchers, a tool for each, and whether it is found.
type Matchers = &'static [(&'static str, &'static str, bool)];

/// Row "matcher": lists and expressions, anchored or not, and what is no expression.
#[tokio::test]
async fn row_matcher() {
    let cells: [(Dialect, &str, Matchers); 5] = [
        (
            ClaudeCode,
            "PreToolUse",
            &[
                ("Edit|Write", "Write", true),
                ("Edit, Write", "Write", true),
                ("Edit", "NotebookEdit", false),
                ("Edit.*", "NotebookEdit", true),
                ("bash", "Bash", false),
                ("*", "Bash", true),
                ("(", "Bash", false),
            ],
        ),
        (
            Codex,
            "PreToolUse",
            &[
                ("Bash|Edit", "Bash", true),
                ("Bas", "Bash", false),
                ("Ba.h", "Bash", true),
                ("a.h", "Bash", true),
                // By the name that it has for it, and by its aliases.
                ("apply_patch", "Edit", true),
                ("Write", "Edit", true),
                ("(", "Bash", false),
            ],
        ),
        (
            Gemini,
            "BeforeTool",
            &[
                ("shell", "Bash", true),
                ("^shell", "Bash", false),
                ("run_shell_command", "Bash", true),
                ("Bash", "Bash", false),
                ("run_shell_command(", "Bash", false),
            ],
        ),
        (
            Cursor,
            "preToolUse",
            &[("Shell|Read", "Bash", true), ("^Read", "Bash", false), ("hel", "Bash", true)],
        ),
        (
            Copilot,
            "preToolUse",
            &[
                ("bash", "Bash", true),
                ("bas", "Bash", false),
                ("b.*", "Bash", true),
                ("(", "Bash", false),
            ],
        ),
    ];
    for (dialect, event, matchers) in cells {
        for (matcher, tool, expected) in matchers {
            let found = finds(dialect, event, matcher, call(tool, json!({}))).await;
            assert_eq!(found, *expected, "{dialect} `{matcher}` {tool}");
        }
    }
    // What is no expression is literal in Gemini.
    let odd = call("run(", json!({}));
    assert!(finds(Gemini, "BeforeTool", "run(", odd).await);
    // In Cursor the matcher of some events is for another value than the tool.
    let push = call("Bash", json!({ "command": "git push" }));
    assert!(finds(Cursor, "beforeShellExecution", "push$", push.clone()).await);
    assert!(!finds(Cursor, "beforeShellExecution", "^push", push).await);
    // In Copilot the events in Pascal case find a tool by its own name and by the common one.
    for (matcher, expected) in [("Bash", true), ("Edit|Bash", true), ("Bas", false), ("**", true)] {
        let found = finds(Copilot, "PreToolUse", matcher, call("Bash", json!({}))).await;
        assert_eq!(found, expected, "Copilot PascalCase `{matcher}`");
    }
}

/// Rows "run order" and "several rewrites": always in the configured order, each rewrite on
/// top of the one before, also where the product runs them at once and the last to finish
/// wins; those races are not claimed, nor is what Cursor leaves unstated.
#[tokio::test]
async fn rows_run_order_and_several_rewrites() {
    for dialect in Dialect::ALL {
        let scripts = Scripts::new();
        let rewrite = |command: &str| {
            let input = json!({ "command": command });
            let answer = match dialect {
                ClaudeCode | Codex => json!({ "hookSpecificOutput":
                    { "permissionDecision": "allow", "updatedInput": input } }),
                Gemini => json!({ "hookSpecificOutput": { "tool_input": input } }),
                Cursor => json!({ "permission": "allow", "updated_input": input }),
                _ => json!({ "permissionDecision": "allow", "modifiedArgs": input }),
            };
            answer.to_string()
        };
        let slow = format!("sleep 0.2; echo one >> order; echo '{}'", rewrite("first"));
        let quick = format!(
            "grep -q first && echo after >> order; echo two >> order; echo '{}'",
            rewrite("second")
        );
        let event = event_name(dialect, Event::Tool);
        let handlers = [(slow, Value::Null), (quick, Value::Null)];
        let plan = plan(dialect, &configuration(dialect, event, &handlers), scripts.path());
        let hooks = HookRegistry::new();
        let bridge = Bridge::new(scripts.path(), plan).mode(Mode::Faithful);
        hooks.register(bridge.gate::<UsingTool>()).unwrap();
        let gate = hooks.fire_gating::<UsingTool>(call("Bash", json!({ "command": "ls" }))).await;
        let Gate::Passed(passed) = gate.unwrap() else { panic!("{dialect}") };
        assert_eq!(passed.input, json!({ "command": "second" }), "{dialect}");
        let order = fs::read_to_string(scripts.path().join("order")).unwrap();
        assert_eq!(order, "one\nafter\ntwo\n", "{dialect}");
    }
}

/// Row "duplicates": the same handler in several files runs once, and says where it was
/// found, in every dialect. Claude Code and Gemini do so themselves; that Codex and Copilot
/// run each is not reproduced, and Cursor does not say.
#[test]
fn row_duplicates() {
    for dialect in Dialect::ALL {
        let scripts = Scripts::new();
        let event = event_name(dialect, Event::Tool);
        let text = configuration(dialect, event, &[("true".into(), Value::Null)]).to_string();
        let sources = ["a.json", "b.json"]
            .map(|name| Source::new(dialect, scripts.write(name, &text), Origin::User));
        let plan = Plan::read(&sources, scripts.path());
        assert_eq!(plan.entries.len(), 1, "{dialect}");
        assert_eq!(plan.entries[0].also[0].file, sources[1].file, "{dialect}");
    }
}

/// Row "shell": the one of the product where it has one. Codex has a login shell, whose
/// profiles print into the answer, and gets none here; Cursor does not say.
#[tokio::test]
async fn row_shell() {
    for (dialect, shell) in [(ClaudeCode, "sh"), (Codex, "sh"), (Gemini, "bash"), (Copilot, "bash")]
    {
        let scripts = Scripts::new();
        let line = "shopt -q login_shell 2>/dev/null && echo login >> is; echo $0 >> is";
        let event = event_name(dialect, Event::Tool);
        let handlers = [(line.to_owned(), Value::Null)];
        let plan = plan(dialect, &configuration(dialect, event, &handlers), scripts.path());
        let hooks = HookRegistry::new();
        hooks.register(Bridge::new(scripts.path(), plan).gate::<UsingTool>()).unwrap();
        let _ = hooks.fire_gating::<UsingTool>(call("Bash", json!({}))).await.unwrap();
        let is = fs::read_to_string(scripts.path().join("is")).unwrap();
        assert_eq!(is.trim(), shell, "{dialect}");
    }
    // Claude Code's form without a shell: what a shell would read is an argument.
    let scripts = Scripts::new();
    let touch = json!({ "type": "command", "command": "touch", "args": ["a;b"] });
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [touch] } ] } });
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan(ClaudeCode, &text, scripts.path()));
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let _ = hooks.fire_gating::<UsingTool>(call("Bash", json!({}))).await.unwrap();
    assert!(scripts.path().join("a;b").exists());
}

/// Row "cwd": the project's folder, where its files were found and granted, in every
/// dialect, which is what Cursor and Copilot have; Copilot's key sets another. That three
/// products run where the agent is, and Cursor the user's own in `~/.cursor`, is not
/// reproduced: stdin says where the agent is.
#[tokio::test]
async fn row_cwd() {
    for dialect in Dialect::ALL {
        let scripts = Scripts::new();
        fs::create_dir(scripts.path().join("sub")).unwrap();
        let more = if dialect == Copilot { json!({ "cwd": "sub" }) } else { Value::Null };
        let event = event_name(dialect, Event::Tool);
        let handlers =
            [("pwd > here".to_owned(), Value::Null), ("pwd > there".to_owned(), more.clone())];
        let plan = plan(dialect, &configuration(dialect, event, &handlers), scripts.path());
        let hooks = HookRegistry::new();
        hooks.register(Bridge::new(scripts.path(), plan).gate::<UsingTool>()).unwrap();
        let _ = hooks.fire_gating::<UsingTool>(call("Bash", json!({}))).await.unwrap();
        let there = if dialect == Copilot { "sub/there" } else { "there" };
        for file in ["here", there] {
            let path = scripts.path().join(file);
            let said = fs::read_to_string(&path).unwrap();
            let folder = path.parent().unwrap().canonicalize().unwrap();
            assert_eq!(Path::new(said.trim()), folder, "{dialect} {file}");
        }
    }
}

/// Row "trust": nothing of a project runs without a grant, whatever the product has; the
/// ways of the products are not reproduced.
#[tokio::test]
async fn row_trust() {
    for dialect in Dialect::ALL {
        let scripts = Scripts::new();
        let event = event_name(dialect, Event::Tool);
        let text = configuration(dialect, event, &[("true > ran".into(), Value::Null)]).to_string();
        let fire = async |origin: Origin, trust: Trust| {
            let source = Source::new(dialect, "x.json", origin);
            let plan = Plan::read_text(&source, &text, scripts.path());
            let hooks = HookRegistry::new();
            let bridge = Bridge::new(scripts.path(), plan).trust(trust);
            hooks.register(bridge.gate::<UsingTool>()).unwrap();
            let runs = Runs::default();
            let scope = hooks.scope(Plugins::All).with(runs.clone());
            let _ = scope.fire_gating::<UsingTool>(call("Bash", json!({}))).await.unwrap();
            runs.take().len()
        };
        assert_eq!(fire(Origin::Project, Trust::default()).await, 0, "{dialect}");
        assert!(!scripts.path().join("ran").exists(), "{dialect}");
        assert_eq!(fire(Origin::User, Trust::default()).await, 1, "{dialect}");
        assert_eq!(fire(Origin::Project, Trust::everything()).await, 1, "{dialect}");
    }
}

/// Row "timeout": what is too slow, in every dialect and in both modes.
#[tokio::test]
async fn row_timeout() {
    for dialect in Dialect::ALL {
        let scripts = Scripts::new();
        let handlers = [("sleep 5".to_owned(), Value::Null)];
        for (mode, expected) in [(Mode::Faithful, Outcome::Passed), (Mode::Strict, Outcome::Failed)]
        {
            let fired = dialects::fire(scripts.path(), dialect, Event::Tool, mode, &handlers).await;
            assert_eq!(fired.outcome, expected, "{dialect} {mode:?}: {fired:?}");
        }
    }
}
