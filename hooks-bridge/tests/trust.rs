//! What a grant covers, and that each part of it counts.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::{Digest, Grants, Trust};
use hooks_bridge::{Bridge, Dialect};
use hooks_runtime::HookRegistry;
use serde_json::{Value, json};
use support::Scripts;

const DIALECT: Dialect = Dialect::ClaudeCode;

fn plan(scripts: &Scripts, settings: &Value, origin: Origin) -> Plan {
    let source = Source::new(DIALECT, ".claude/settings.json", origin);
    Plan::read_text(&source, &settings.to_string(), scripts.path())
}

fn settings(event: &str, matcher: &str, command: &str) -> Value {
    json!({ "hooks": { event: [ { "matcher": matcher, "hooks": [
        { "type": "command", "command": command } ] } ] } })
}

#[test]
fn event_matcher_command_and_bytes_are_covered() {
    let scripts = Scripts::new();
    scripts.script("a.sh", "#!/bin/sh\n");
    let digest = |event: &str, matcher: &str, command: &str| {
        let plan = plan(&scripts, &settings(event, matcher, command), Origin::Project);
        Digest::of(&plan.entries[0], scripts.path()).unwrap()
    };
    let first = digest("PreToolUse", "Bash", "./a.sh");
    assert_eq!(first, digest("PreToolUse", "Bash", "./a.sh"));
    assert_ne!(first, digest("PostToolUse", "Bash", "./a.sh"));
    assert_ne!(first, digest("PreToolUse", "Read", "./a.sh"));
    assert_ne!(first, digest("PreToolUse", "Bash", "./a.sh now"));
    scripts.script("a.sh", "#!/bin/sh\necho\n");
    assert_ne!(first, digest("PreToolUse", "Bash", "./a.sh"), "the bytes of the script");
    // Interpreters too, and each of several scripts.
    scripts.write("b.py", "1");
    let both = digest("PreToolUse", "Bash", "python3 b.py && ./a.sh");
    scripts.write("b.py", "2");
    assert_ne!(both, digest("PreToolUse", "Bash", "python3 b.py && ./a.sh"));
}

#[tokio::test]
async fn l37_bytes_that_change_while_the_host_runs_are_a_failure_not_a_pass() {
    let scripts = Scripts::new();
    scripts.script("a.sh", "#!/bin/sh\nexit 0\n");
    let plan = plan(&scripts, &settings("PreToolUse", "Bash", "./a.sh"), Origin::Project);
    let mut grants = Grants::default();
    grants.add(&plan.entries[0], scripts.path()).unwrap();
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan).trust(Trust::granted(grants));
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let call = || UsingToolPayload {
        session_id: "s".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": "ls" }),
    };
    assert!(hooks.fire_gating::<UsingTool>(call()).await.unwrap().into_result().is_ok());
    let ran = scripts.path().join("ran");
    scripts.script("a.sh", &format!("#!/bin/sh\ntouch {}\n", ran.display()));
    let error = hooks.fire_gating::<UsingTool>(call()).await.unwrap_err();
    assert!(error.to_string().contains("has changed since it was granted"), "{error}");
    assert!(!ran.exists());
}

#[test]
fn a_users_own_file_that_runs_a_projects_script_needs_a_grant_too() {
    let scripts = Scripts::new();
    scripts.script("a.sh", "#!/bin/sh\n");
    let own =
        Bridge::new(scripts.path(), plan(&scripts, &settings("Stop", "", "true"), Origin::User));
    assert_eq!(own.skipped().count(), 0);
    let theirs =
        Bridge::new(scripts.path(), plan(&scripts, &settings("Stop", "", "./a.sh"), Origin::User));
    assert_eq!(theirs.skipped().map(|(_, why)| why).collect::<Vec<_>>(), ["it is not trusted"]);
}

#[test]
fn a_command_that_works_out_what_it_runs_says_that_its_text_only_is_covered() {
    let scripts = Scripts::new();
    let settings = settings("Stop", "", "bash $(ls *.sh | head -1)");
    let preview = Bridge::new(scripts.path(), plan(&scripts, &settings, Origin::Project)).preview();
    assert!(preview.entries[0].dynamic);
    assert!(preview.to_string().contains("its text only"), "{preview}");
}
