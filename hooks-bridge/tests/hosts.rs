//! What hosts run into: points that keep part of a rewrite, relative folders, and files with
//! mistakes, which may have been guards.

use std::time::Duration;

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind, Facts, GatePoint, Mode, ToolFacts};
use hooks_runtime::{BoxError, Gate, HookRegistry, hook_points};
use serde_json::{Value, json};

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

/// L37: an event that is nearly the name of a gate, or that of one in another dialect, may be a
/// guard, so in `Strict` it closes that gate, and says why; the product goes on without it.
#[tokio::test]
async fn l37_an_event_that_is_nearly_a_gates_closes_it() {
    let text = |event: &str, more: &str| {
        format!(
            r#"{{ "hooks": {{ "{event}": [ {{ "matcher": "Bash", "hooks": [
                {{ "type": "command", "command": "exit 0"{more} }} ] }} ] }} }}"#
        )
    };
    let users = |text: &str| Bridge::new("/", Plan::read_text(&users(), text, "/"));
    let fire = async |bridge: &Bridge, call: UsingToolPayload| {
        let hooks = HookRegistry::new();
        hooks.register(bridge.gate::<UsingTool>()).unwrap();
        hooks.fire_gating::<UsingTool>(call).await.map_err(|error| error.to_string())
    };
    for (event, hint) in [
        ("PreToolUs", "did you mean `PreToolUse`?"),
        ("preToolUse", "did you mean `PreToolUse`?"),
        ("pre_tool_use", "did you mean `PreToolUse`?"),
        ("PreTool", "did you mean `PreToolUse`?"),
        ("BeforeTool", "there it is `PreToolUse`"),
    ] {
        let bridge = users(&text(event, ""));
        let error = fire(&bridge, call()).await.unwrap_err();
        let why =
            format!("cannot be read: settings.json:2: Claude Code has no event `{event}`; {hint}");
        assert!(error.ends_with(&why), "{error}");
        let reading = UsingToolPayload { tool_name: "Read".into(), ..call() };
        assert!(fire(&bridge, reading).await.is_ok(), "its matcher is not met");
        assert!(fire(&bridge.clone().mode(Mode::Faithful), call()).await.is_ok());
        assert!(fire(&bridge.ignore_unknown_events(), call()).await.is_ok());
        let background = users(&text(event, r#", "async": true"#));
        assert!(fire(&background, call()).await.is_ok(), "nothing waits for it");
    }
    // The name of no gate, or one that may be of an event that is newer than this crate.
    for event in ["PostToolUs", "PreToolUseFailure", "TaskUpdated", "OnIdle", "Stp"] {
        let bridge = users(&text(event, ""));
        assert!(bridge.gate::<UsingTool>().is_empty(), "{event}");
        assert!(bridge.skipped().next().unwrap().1.starts_with("Claude Code has no event"));
    }
    // What nobody trusts closes nothing.
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::Project);
    let bridge = Bridge::new("/", Plan::read_text(&source, &text("PreToolUs", ""), "/"));
    assert!(fire(&bridge, call()).await.is_ok());
    assert!(fire(&bridge.trust(Trust::everything()), call()).await.is_err());
}
