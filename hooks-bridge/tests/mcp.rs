//! Tools of MCP servers: the host has them by their common name, each dialect by its own.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::fs;

use dialects::{configuration, plan};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::{Bridge, Dialect, Runs};
use hooks_runtime::{HookRegistry, Plugins};
use serde_json::{Value, json};
use support::Scripts;

/// Whether the matcher finds the tool, and the name that its command then reads.
async fn seen(dialect: Dialect, event: &str, matcher: &str, tool: &str) -> Option<String> {
    let scripts = Scripts::new();
    let mut text = configuration(dialect, event, &[("cat > stdin.json".into(), Value::Null)]);
    text["hooks"][event][0]["matcher"] = json!(matcher);
    let plan = plan(dialect, &text, scripts.path());
    let odd: Vec<_> = plan.entries.iter().flat_map(|entry| &entry.suspicions).collect();
    assert!(odd.is_empty(), "{dialect} `{matcher}`: {odd:?}");
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan).tool("forge.merge", "mcp__forge__merge");
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let call = UsingToolPayload {
        session_id: "s".into(),
        cwd: None,
        tool_name: tool.into(),
        input: json!({}),
    };
    let runs = Runs::default();
    let scope = hooks.scope(Plugins::All).with(runs.clone());
    let _ = scope.fire_gating::<UsingTool>(call).await.unwrap();
    if runs.take().is_empty() {
        return None;
    }
    let stdin = fs::read_to_string(scripts.path().join("stdin.json")).unwrap();
    let stdin: Value = serde_json::from_str(&stdin).unwrap();
    let name = stdin.get("tool_name").or(stdin.get("toolName")).unwrap();
    Some(name.as_str().unwrap().to_owned())
}

#[tokio::test]
async fn each_dialect_sees_its_own_name() {
    let own = [
        (Dialect::ClaudeCode, "PreToolUse", "mcp__forge__merge", "mcp__forge__merge"),
        (Dialect::ClaudeCode, "PreToolUse", "mcp__forge__.*", "mcp__forge__merge"),
        // These two do not say how they name them: the host's names stay.
        (Dialect::Codex, "PreToolUse", "mcp__forge__merge", "mcp__forge__merge"),
        (Dialect::Copilot, "preToolUse", "mcp__forge__merge", "mcp__forge__merge"),
        (Dialect::Copilot, "PreToolUse", "mcp__forge__merge", "mcp__forge__merge"),
        (Dialect::Gemini, "BeforeTool", "^mcp_forge_merge$", "mcp_forge_merge"),
        (Dialect::Gemini, "BeforeTool", "mcp_forge_.*", "mcp_forge_merge"),
        (Dialect::Cursor, "preToolUse", "^MCP:merge$", "MCP:merge"),
        (Dialect::Cursor, "preToolUse", "MCP:", "MCP:merge"),
    ];
    for (dialect, event, matcher, expected) in own {
        // By its common name, and by a name of the host's own for it.
        for tool in ["mcp__forge__merge", "forge.merge"] {
            let name = seen(dialect, event, matcher, tool).await;
            assert_eq!(name.as_deref(), Some(expected), "{dialect} `{matcher}` {tool}");
        }
        let other = seen(dialect, event, matcher, "Bash").await;
        assert_eq!(other, None, "{dialect} `{matcher}`");
    }
    // A name of another dialect finds nothing.
    let others = [
        (Dialect::Gemini, "BeforeTool", "^mcp__forge__merge$"),
        (Dialect::Cursor, "preToolUse", "^mcp__forge__merge$"),
    ];
    for (dialect, event, matcher) in others {
        assert_eq!(seen(dialect, event, matcher, "mcp__forge__merge").await, None, "{dialect}");
    }
}

/// A tool of a server may have `_` in its name; a name without both parts is no such tool.
#[tokio::test]
async fn names_with_underscores_are_kept_whole() {
    let name = seen(Dialect::Cursor, "preToolUse", "", "mcp__forge__pull_request__merge").await;
    assert_eq!(name.as_deref(), Some("MCP:pull_request__merge"));
    let name = seen(Dialect::Gemini, "BeforeTool", "", "mcp__code_forge__merge").await;
    assert_eq!(name.as_deref(), Some("mcp_code_forge_merge"));
    for odd in ["mcp__forge", "mcp__", "mcp____merge"] {
        let name = seen(Dialect::Cursor, "preToolUse", "", odd).await;
        assert_eq!(name.as_deref(), Some(odd));
    }
}
