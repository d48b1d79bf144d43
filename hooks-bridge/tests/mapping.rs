//! Commands as handlers of typed points: order, conditions, policies, reports.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::fs;
use std::time::Duration;

use dialects::{configuration, plan};
use hooks_bridge::points::{
    PromptSubmitted, PromptSubmittedPayload, Stopping, StoppingPayload, UsingTool, UsingToolPayload,
};
use hooks_bridge::runner::Limits;
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect, Mode, Runs};
use hooks_points::lifecycle;
use hooks_points::{BeforeToolCall, BeforeToolCallPayload};
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{Claim, Gate, HookRegistry, Plugins, Verdict, on};
use serde_json::{Value, json};
use support::{Scripts, eventually, nap, processes};

const DIALECT: Dialect = Dialect::ClaudeCode;

fn bridge(scripts: &Scripts, event: &str, commands: &[String]) -> Bridge {
    let handlers: Vec<_> = commands.iter().map(|command| (command.clone(), Value::Null)).collect();
    let plan = plan(DIALECT, &configuration(DIALECT, event, &handlers), scripts.path());
    Bridge::new(scripts.path(), plan).trust(Trust::everything())
}

fn call(command: &str) -> UsingToolPayload {
    UsingToolPayload {
        session_id: "s-1".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": command }),
    }
}

fn statuses(report: &hooks_runtime::report::FireReport) -> Vec<(String, String)> {
    let rows = report.handlers().iter();
    rows.map(|row| (row.handler().to_owned(), row.status().to_string())).collect()
}

/// A script that denies what has `forbidden` in it and logs each time that it is asked.
fn guard(scripts: &Scripts, name: &str, forbidden: &str) -> String {
    let log = scripts.path().join(format!("{name}.log"));
    let text = format!(
        "#!/bin/bash\nstdin=$(cat)\necho asked >> {}\ncase $stdin in *{forbidden}*) echo no {forbidden} >&2; exit 2;; esac\n",
        log.display()
    );
    scripts.script(name, &text).display().to_string()
}

fn asked(scripts: &Scripts, name: &str) -> usize {
    fs::read_to_string(scripts.path().join(format!("{name}.log")))
        .unwrap_or_default()
        .lines()
        .count()
}

/// A script that rewrites one command to another.
fn rewriter(scripts: &Scripts, name: &str, from: &str, to: &str) -> String {
    let answer = json!({ "hookSpecificOutput": { "updatedInput": { "command": to } } });
    let text = format!("#!/bin/bash\nif grep -q '\"{from}\"'; then echo '{answer}'; fi\n");
    scripts.script(name, &text).display().to_string()
}

#[tokio::test]
async fn l37_a_rewrite_is_judged_by_those_who_ran_before_it() {
    let scripts = Scripts::new();
    let commands =
        [guard(&scripts, "guard.sh", "rm"), rewriter(&scripts, "rewrite.sh", "clean", "rm -r x")];
    let hooks = HookRegistry::new();
    hooks.register(bridge(&scripts, "PreToolUse", &commands).gate::<UsingTool>()).unwrap();
    let (gate, report) = hooks.fire_gating_reported::<UsingTool>(call("clean")).await;
    let Gate::Rejected(rejection) = gate.unwrap() else { panic!("{report}") };
    assert_eq!((rejection.handler(), rejection.reason()), ("guard.sh (again)", "no rm"));
    assert_eq!(asked(&scripts, "guard.sh"), 2);

    // What no command changed is not asked about twice.
    let gate = hooks.fire_gating::<UsingTool>(call("ls")).await.unwrap();
    assert_eq!(gate, Gate::Passed(call("ls")));
    assert_eq!(asked(&scripts, "guard.sh"), 3);

    // No product does that.
    let hooks = HookRegistry::new();
    let faithful = bridge(&scripts, "PreToolUse", &commands).mode(Mode::Faithful);
    hooks.register(faithful.gate::<UsingTool>()).unwrap();
    let gate = hooks.fire_gating::<UsingTool>(call("clean")).await.unwrap();
    assert_eq!(gate, Gate::Passed(call("rm -r x")));
}

#[tokio::test]
async fn a_rewrite_by_the_hosts_own_handler_is_judged_too() {
    let scripts = Scripts::new();
    let hooks = HookRegistry::new();
    let commands = [guard(&scripts, "guard.sh", "rm")];
    hooks.register(bridge(&scripts, "PreToolUse", &commands).gate::<UsingTool>()).unwrap();
    let rewrite = |_: &UsingToolPayload| Verdict::Replace(call("rm x"));
    hooks.register(on::<UsingTool>().name("native").handler(rewrite)).unwrap();
    let gate = hooks.fire_gating::<UsingTool>(call("ls")).await.unwrap();
    assert!(matches!(gate, Gate::Rejected(rejection) if rejection.handler() == "guard.sh (again)"));
}

#[tokio::test]
async fn rewrites_are_chained_in_the_configured_order() {
    let scripts = Scripts::new();
    let commands = [
        rewriter(&scripts, "first.sh", "a", "b"),
        rewriter(&scripts, "second.sh", "b", "c"),
        rewriter(&scripts, "third.sh", "c", "d"),
    ];
    let hooks = HookRegistry::new();
    hooks.register(bridge(&scripts, "PreToolUse", &commands).gate::<UsingTool>()).unwrap();
    let (gate, report) = hooks.fire_gating_reported::<UsingTool>(call("a")).await;
    assert_eq!(gate.unwrap(), Gate::Passed(call("d")), "{report}");
    let names: Vec<_> = statuses(&report).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "hooks-bridge",
            "first.sh",
            "second.sh",
            "third.sh",
            "first.sh (again)",
            "second.sh (again)",
            "third.sh (again)"
        ]
    );
}

#[tokio::test]
async fn a_rewrite_that_is_wanted_again_is_a_conflict() {
    let scripts = Scripts::new();
    // One adds a flag, the other takes it away: neither can have its way.
    let commands = [
        rewriter(&scripts, "add.sh", "rm", "rm -i"),
        rewriter(&scripts, "strip.sh", "rm -i", "rm"),
    ];
    let hooks = HookRegistry::new();
    hooks.register(bridge(&scripts, "PreToolUse", &commands).gate::<UsingTool>()).unwrap();
    let error = hooks.fire_gating::<UsingTool>(call("rm")).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("asked again about the input that later commands left, it would rewrite it"),
        "{error}"
    );
}

#[tokio::test]
async fn l31_a_command_that_does_not_match_is_skipped_by_its_condition() {
    let scripts = Scripts::new();
    let text = json!({ "hooks": { "PreToolUse": [
        { "matcher": "Write|Edit", "hooks": [ { "type": "command", "command": "exit 2" } ] },
        { "matcher": "Bash", "hooks": [ { "type": "command", "command": "exit 0", "if": "Bash(git *)" } ] },
    ] } });
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan(DIALECT, &text, scripts.path()));
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let (gate, report) = hooks.fire_gating_reported::<UsingTool>(call("ls")).await;
    assert_eq!(gate.unwrap(), Gate::Passed(call("ls")));
    let skipped = HandlerStatus::Filtered(SkipReason::Condition);
    assert_eq!(report.handler("exit 2").unwrap().status(), &skipped);
    assert_eq!(report.handler("exit 0").unwrap().status(), &skipped);
    let (_, report) = hooks.fire_gating_reported::<UsingTool>(call("git log")).await;
    assert_eq!(report.handler("exit 0").unwrap().status().to_string(), "passed");
}

#[tokio::test]
async fn l37_a_failure_is_the_policys_to_decide_on() {
    let scripts = Scripts::new();
    let commands = ["exit 1".to_owned()];
    let inbound = || lifecycle::BeforeToolCallPayload {
        tool_name: "Bash".into(),
        parameters: json!({ "command": "ls" }),
        user_id: "u".into(),
        context: "chat".into(),
    };
    // The point fails open; in `Strict` the command tightens that, in `Faithful` it does not.
    let strict = HookRegistry::new();
    strict
        .register(bridge(&scripts, "PreToolUse", &commands).gate::<lifecycle::BeforeToolCall>())
        .unwrap();
    let error = strict.fire_gating::<lifecycle::BeforeToolCall>(inbound()).await.unwrap_err();
    assert!(error.to_string().contains("exit code 1"), "{error}");
    let faithful = HookRegistry::new();
    let bridged = bridge(&scripts, "PreToolUse", &commands).mode(Mode::Faithful);
    faithful.register(bridged.gate::<lifecycle::BeforeToolCall>()).unwrap();
    let (gate, report) =
        faithful.fire_gating_reported::<lifecycle::BeforeToolCall>(inbound()).await;
    assert_eq!(gate.unwrap(), Gate::Passed(inbound()));
    assert!(
        matches!(report.handlers()[0].status(), HandlerStatus::Failed { message, .. } if message.contains("exit code 1"))
    );
    // A point that fails closed stays closed.
    let closed = HookRegistry::new();
    let bridged = bridge(&scripts, "PreToolUse", &commands).mode(Mode::Faithful);
    closed.register(bridged.gate::<UsingTool>()).unwrap();
    assert!(closed.fire_gating::<UsingTool>(call("ls")).await.is_err());
}

#[tokio::test]
async fn l37_a_point_with_a_limit_ends_a_command_in_its_own_way_within_it() {
    let scripts = Scripts::new();
    let said = scripts.path().join("said");
    let command = format!("trap 'echo bye > {}; exit 0' TERM; sleep 60 & wait", said.display());
    let hooks = HookRegistry::new();
    let limits = Limits { grace: Duration::from_secs(4), ..Limits::default() };
    let bridged = bridge(&scripts, "PreToolUse", &[command]).limits(limits);
    hooks.register(bridged.gate::<lifecycle::BeforeToolCall>()).unwrap();
    let payload = lifecycle::BeforeToolCallPayload {
        tool_name: "Bash".into(),
        parameters: json!({}),
        user_id: "u".into(),
        context: "chat".into(),
    };
    let began = std::time::Instant::now();
    let error = hooks.fire_gating::<lifecycle::BeforeToolCall>(payload).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(5), "the point has five seconds");
    assert!(
        error.to_string().contains("no answer within 3.75s, of the 5s that its fire waits"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(said).unwrap(), "bye\n");
}

#[tokio::test]
async fn l25_a_dropped_fire_kills_its_command() {
    let scripts = Scripts::new();
    let started = scripts.path().join("started");
    let nap = nap(74);
    let command = format!("touch {}; sleep {nap}", started.display());
    let hooks = HookRegistry::new();
    hooks.register(bridge(&scripts, "PreToolUse", &[command]).gate::<UsingTool>()).unwrap();
    let fire = tokio::spawn({
        let hooks = hooks.clone();
        async move { hooks.fire_gating::<UsingTool>(call("ls")).await.map(drop) }
    });
    eventually("it has started", || started.exists()).await;
    fire.abort();
    let _ = fire.await;
    eventually("it is gone", || processes(&nap) == 0).await;
}

#[tokio::test]
async fn prompts_are_gated_and_given_context() {
    let scripts = Scripts::new();
    let hooks = HookRegistry::new();
    let commands = ["echo the branch is main".to_owned(), "echo two files changed".to_owned()];
    hooks
        .register(bridge(&scripts, "UserPromptSubmit", &commands).gate::<PromptSubmitted>())
        .unwrap();
    let prompt = PromptSubmittedPayload {
        session_id: "s".into(),
        cwd: None,
        prompt: "hi".into(),
        context: vec![],
    };
    let Gate::Passed(prompt) = hooks.fire_gating::<PromptSubmitted>(prompt).await.unwrap() else {
        panic!()
    };
    assert_eq!(prompt.context, ["the branch is main", "two files changed"]);

    let hooks = HookRegistry::new();
    hooks
        .register(
            bridge(&scripts, "UserPromptSubmit", &commands[..1]).gate::<lifecycle::BeforeInbound>(),
        )
        .unwrap();
    let message = lifecycle::BeforeInboundPayload {
        user_id: "u".into(),
        channel: "cli".into(),
        content: "hi".into(),
        thread_id: None,
    };
    let Gate::Passed(message) =
        hooks.fire_gating::<lifecycle::BeforeInbound>(message).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(message.content, "hi\n\nthe branch is main");
}

#[tokio::test]
async fn the_modifying_point_of_tool_calls_is_amended_and_rejected() {
    let scripts = Scripts::new();
    let call = |command: &str| BeforeToolCallPayload {
        session_id: "s".into(),
        tool_call_id: "c".into(),
        tool_name: "run_command".into(),
        args: json!({ "command": command }),
    };
    let commands =
        [rewriter(&scripts, "rewrite.sh", "clean", "rm -r x"), guard(&scripts, "guard.sh", "rm")];
    let hooks = HookRegistry::new();
    let bridged = bridge(&scripts, "PreToolUse", &commands).tool("run_command", "Bash");
    hooks.register(bridged.amend::<BeforeToolCall>()).unwrap();
    let amended = hooks.fire_modifying::<BeforeToolCall>(&call("clean")).await.unwrap();
    assert_eq!(amended.args, Some(json!({ "command": "rm -r x" })));
    assert_eq!(amended.error.unwrap().as_str(), "no rm", "it saw what the first one left");
    let amended = hooks.fire_modifying::<BeforeToolCall>(&call("ls")).await.unwrap();
    assert_eq!((amended.args, amended.error), (None, None));
}

#[tokio::test]
async fn a_stop_is_claimed_until_the_loop_has_gone_on_too_long() {
    let scripts = Scripts::new();
    let hooks = HookRegistry::new();
    let commands = ["echo go on >&2; exit 2".to_owned()];
    hooks.register(bridge(&scripts, "Stop", &commands).claim::<Stopping>()).unwrap();
    let stop = |loop_count| StoppingPayload { loop_count, ..StoppingPayload::default() };
    let claimed = hooks.fire_claiming::<Stopping>(&stop(7)).await.unwrap().claimed().unwrap();
    assert_eq!(claimed.reason, "go on");
    assert_eq!(hooks.fire_claiming::<Stopping>(&stop(8)).await.unwrap(), Claim::Unclaimed);
}

#[tokio::test]
async fn tools_of_the_host_are_found_by_every_dialects_own_name() {
    let matchers = [
        (Dialect::ClaudeCode, "PreToolUse", "Bash"),
        (Dialect::Codex, "PreToolUse", "Bash"),
        (Dialect::Gemini, "BeforeTool", "run_shell_command"),
        (Dialect::Cursor, "preToolUse", "Shell"),
        (Dialect::Copilot, "preToolUse", "bash"),
    ];
    for (dialect, event, matcher) in matchers {
        let scripts = Scripts::new();
        let mut text = configuration(dialect, event, &[("cat > stdin.json".into(), Value::Null)]);
        text["hooks"][event][0]["matcher"] = json!(matcher);
        let bridge = Bridge::new(scripts.path(), plan(dialect, &text, scripts.path()))
            .tool("run_command", "Bash");
        let hooks = HookRegistry::new();
        hooks.register(bridge.gate::<UsingTool>()).unwrap();
        let runs = Runs::default();
        let call = |tool: &str| UsingToolPayload { tool_name: tool.into(), ..call("ls") };
        let scope = hooks.scope(Plugins::All).with(runs.clone());
        let _ = scope.fire_gating::<UsingTool>(call("read_file")).await.unwrap();
        assert_eq!(runs.take().len(), 0, "{dialect}");
        let _ = scope.fire_gating::<UsingTool>(call("run_command")).await.unwrap();
        assert_eq!(runs.take().len(), 1, "{dialect}");
        let stdin: Value =
            serde_json::from_str(&fs::read_to_string(scripts.path().join("stdin.json")).unwrap())
                .unwrap();
        let name = stdin.get("tool_name").or(stdin.get("toolName")).unwrap();
        assert_eq!(name, matcher, "{dialect}: {stdin}");
    }
}

#[tokio::test]
async fn l16_a_scope_without_the_dialect_leaves_its_commands_out() {
    let scripts = Scripts::new();
    let hooks = HookRegistry::new();
    hooks.register(bridge(&scripts, "PreToolUse", &["exit 2".into()]).gate::<UsingTool>()).unwrap();
    let scope = hooks.scope(Plugins::only(["gemini"]));
    assert_eq!(scope.fire_gating::<UsingTool>(call("ls")).await.unwrap(), Gate::Passed(call("ls")));
    assert!(matches!(hooks.fire_gating::<UsingTool>(call("ls")).await.unwrap(), Gate::Rejected(_)));
}

#[test]
fn names_that_the_bridge_uses_itself_are_no_clash() {
    let scripts = Scripts::new();
    let names = ["hooks-bridge", "x.sh", "x.sh (again)", "x.sh"];
    let commands: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            format!("'{}'", scripts.script(&format!("{index}/{name}"), "#!/bin/sh\n").display())
        })
        .collect();
    let hooks = HookRegistry::new();
    hooks.register(bridge(&scripts, "PreToolUse", &commands).gate::<UsingTool>()).unwrap();
    let names: Vec<_> =
        hooks.handlers_at::<UsingTool>().into_iter().map(|it| it.name.to_string()).collect();
    assert_eq!(
        &names[..5],
        ["hooks-bridge", "hooks-bridge #2", "x.sh", "x.sh (again) #2", "x.sh #2"]
    );
}

#[tokio::test]
async fn a_command_that_nothing_waits_for_decides_nothing() {
    let scripts = Scripts::new();
    let done = scripts.path().join("done");
    let command = format!("sleep 0.3; touch {}; exit 2", done.display());
    let text = configuration(DIALECT, "PreToolUse", &[(command, json!({ "async": true }))]);
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan(DIALECT, &text, scripts.path()));
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let gate = hooks.fire_gating::<UsingTool>(call("ls")).await.unwrap();
    assert_eq!(gate, Gate::Passed(call("ls")));
    assert!(!done.exists(), "it was only started");
    eventually("it ran", || done.exists()).await;
}

#[tokio::test]
async fn relative_scripts_run_where_they_were_found_not_where_the_agent_works() {
    let scripts = Scripts::new();
    scripts.script("guard.sh", "#!/bin/sh\nexit 2\n");
    scripts.script("sub/guard.sh", "#!/bin/sh\nexit 0\n");
    let hooks = HookRegistry::new();
    hooks
        .register(bridge(&scripts, "PreToolUse", &["./guard.sh".into()]).gate::<UsingTool>())
        .unwrap();
    let call = UsingToolPayload { cwd: Some(scripts.path().join("sub")), ..call("ls") };
    assert!(matches!(hooks.fire_gating::<UsingTool>(call).await.unwrap(), Gate::Rejected(_)));
}
