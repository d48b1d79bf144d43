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
use sha2::{Digest as _, Sha256};
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

/// Of several files the one that has changed is said.
#[tokio::test]
async fn l37_the_file_that_has_changed_is_named() {
    let scripts = Scripts::new();
    scripts.script("a.sh", "#!/bin/sh\n");
    let second = scripts.script("b.sh", "#!/bin/sh\n");
    let plan = plan(&scripts, &settings("PreToolUse", "Bash", "./a.sh && ./b.sh"), Origin::Project);
    let mut grants = Grants::default();
    grants.add(&plan.entries[0], scripts.path()).unwrap();
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan).trust(Trust::granted(grants));
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    scripts.script("b.sh", "#!/bin/sh\nexit 0\n");
    let call = UsingToolPayload {
        session_id: "s".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": "ls" }),
    };
    let error = hooks.fire_gating::<UsingTool>(call).await.unwrap_err().to_string();
    let why = "has changed since it was granted; grant it again to run it";
    assert!(error.ends_with(&format!("`{}` {why}", second.display())), "{error}");
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

/// A part of a digest: its length, and its bytes.
fn part(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [&(bytes.len() as u64).to_be_bytes(), bytes].concat()
}

fn number(number: u64) -> Vec<u8> {
    part(number.to_be_bytes())
}

/// The layout that `Digest` documents: grants that operators have kept stay what they are.
#[test]
fn the_layout_of_a_digest_is_what_is_documented() {
    // Without files it is the same on every machine.
    let text = settings("Stop", "", "true").to_string();
    let source = Source::new(DIALECT, ".claude/settings.json", Origin::Project);
    let plan = Plan::read_text(&source, &text, "/no/such/project");
    let digest = Digest::of(&plan.entries[0], "/no/such/project".as_ref()).unwrap();
    assert_eq!(
        digest.to_string(),
        "ab619822bd2b03ecd0ce16653245ff63a8952cc8a26d8e4357b8593bf641da31"
    );

    let scripts = Scripts::new();
    scripts.write("a.py", "print()");
    let text = settings("PreToolUse", "Bash", "python3 a.py b.txt");
    let plan = self::plan(&scripts, &text, Origin::Project);
    let project = scripts.path().canonicalize().unwrap();
    let path = |name: &str| part(scripts.path().join(name).as_os_str().as_encoded_bytes());
    let parts = [
        part("hooks-bridge grant 1"),
        part(project.as_os_str().as_encoded_bytes()),
        part("claude-code"),
        part("PreToolUse"),
        part("Bash"),
        part("shell"),
        part("sh"),
        part("python3 a.py b.txt"),
        part(""),
        part(""),
        number(0),
        number(1),
        path("a.py"),
        part("print()"),
        number(1),
        path("b.txt"),
        part("missing"),
    ];
    let expected: [u8; 32] = Sha256::digest(parts.concat()).into();
    let digest = Digest::of(&plan.entries[0], scripts.path()).unwrap().to_string();
    let digits = digest.as_bytes().chunks(2).map(|digits| std::str::from_utf8(digits).unwrap());
    let bytes: Vec<_> = digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect();
    assert_eq!(bytes, expected);
}
