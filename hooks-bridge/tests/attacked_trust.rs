//! Ways to run a project's file without a grant for its bytes.

mod support;

use hooks_bridge::config::{Entry, Origin, Plan, Source};
use hooks_bridge::trust::{Digest, Grants, Trust};
use hooks_bridge::{Bridge, Dialect};
use serde_json::{Value, json};
use support::Scripts;

fn plan(scripts: &Scripts, dialect: Dialect, text: &Value, origin: Origin) -> Plan {
    let source = Source::new(dialect, "hooks-under-test.json", origin);
    Plan::read_text(&source, &text.to_string(), scripts.path())
}

fn claude(handler: Value) -> Value {
    let mut handler = handler;
    handler["type"] = "command".into();
    json!({ "hooks": { "PreToolUse": [ { "hooks": [ handler ] } ] } })
}

fn copilot(handler: &Value) -> Value {
    json!({ "version": 1, "hooks": { "preToolUse": [ handler ] } })
}

fn digest(scripts: &Scripts, dialect: Dialect, text: &Value) -> (Digest, bool) {
    let plan = plan(scripts, dialect, text, Origin::Project);
    let digest = Digest::of(&plan.entries[0], scripts.path()).unwrap();
    let preview = Bridge::new(scripts.path(), plan).preview();
    (digest, preview.entries[0].dynamic)
}

/// Either the bytes are covered, or the preview says that they are not.
fn covered(name: &str, dialect: Dialect, text: &Value) {
    let scripts = Scripts::new();
    scripts.script(name, "#!/bin/sh\nexit 0\n");
    // What the preview could be led to show in its place.
    if name != "check.sh" {
        scripts.script("check.sh", "#!/bin/sh\nexit 0\n");
    }
    let (before, dynamic) = digest(&scripts, dialect, text);
    scripts.script(name, "#!/bin/sh\ntouch /tmp/elsewhere\n");
    let (after, _) = digest(&scripts, dialect, text);
    assert!(before != after || dynamic, "{dialect} {text}");
}

#[test]
fn the_bytes_of_a_script_are_covered_however_it_is_named() {
    for line in [
        "./check.sh",
        "bash check.sh",
        "bash -o pipefail check.sh",
        "python3 -W ignore check.sh",
        "timeout 5 bash check.sh",
        "nice -n 5 ./check.sh",
        "python3.11 check.sh",
        "uv run check.sh",
        "bash -c './check.sh --fast'",
        "bash -c \"$CLAUDE_PROJECT_DIR/check.sh now\"",
        "bash -lc check.sh",
        "sh < check.sh",
        "cat check.sh | sh",
        "if true; then bash check.sh; fi",
        "bash ./ch*.sh",
        "bash ./{check,no}.sh",
        "cd . && ./check.sh",
        ". ./check.sh",
        "x=./check.sh; $x",
        "PATH=. check.sh",
        "xargs -I{} bash {} <<< check.sh",
        "true\n./check.sh",
        "find . -name 'check.sh' -exec sh {} \\;",
        "node --require=./check.sh -e 1",
        "BASH_ENV=./check.sh bash -c true",
        "BASH_ENV=check.sh bash -c true",
        "./check.sh test",
        "bash check.sh type",
        "if [ -x check.sh ]; then ./check.sh; fi",
        "command -v jq && ./check.sh which",
    ] {
        covered("check.sh", Dialect::ClaudeCode, &claude(json!({ "command": line })));
    }
}

#[test]
fn what_is_covered_is_what_runs() {
    let name = "$CLAUDE_PROJECT_DIR/check.sh";
    for handler in [
        json!({ "command": "bash '$CLAUDE_PROJECT_DIR/check.sh'" }),
        json!({ "command": "bash \\$CLAUDE_PROJECT_DIR/check.sh" }),
        json!({ "command": "$CLAUDE_PROJECT_DIR/check.sh", "args": [] }),
        json!({ "command": "bash", "args": ["$CLAUDE_PROJECT_DIR/check.sh"] }),
    ] {
        covered(name, Dialect::ClaudeCode, &claude(handler));
    }
    covered(
        "~/check.sh",
        Dialect::ClaudeCode,
        &claude(json!({ "command": "~/check.sh", "args": [] })),
    );
    for line in [
        "CLAUDE_PROJECT_DIR=./other; $CLAUDE_PROJECT_DIR/check.sh",
        "export CLAUDE_PROJECT_DIR=./other && \"$CLAUDE_PROJECT_DIR\"/check.sh",
        "for CLAUDE_PROJECT_DIR in other; do $CLAUDE_PROJECT_DIR/check.sh; done",
    ] {
        covered("other/check.sh", Dialect::ClaudeCode, &claude(json!({ "command": line })));
    }
}

#[test]
fn variables_of_an_entry_do_not_lead_elsewhere() {
    for (name, env) in [
        ("bin/check", json!({ "PATH": "./bin:/usr/bin:/bin" })),
        ("other/check.sh", json!({ "CLAUDE_PROJECT_DIR": "./other" })),
        ("other/check.sh", json!({ "HOME": "./other" })),
        ("env.sh", json!({ "BASH_ENV": "./env.sh" })),
        ("env.sh", json!({ "BASH_ENV": "env.sh" })),
        ("lib/evil.py", json!({ "PYTHONPATH": "lib" })),
    ] {
        let line = match name {
            "bin/check" => "check",
            "other/check.sh" if env.get("HOME").is_some() => "$HOME/check.sh",
            "other/check.sh" => "$CLAUDE_PROJECT_DIR/check.sh",
            _ => "true",
        };
        let text = copilot(&json!({ "bash": line, "env": env }));
        covered(name, Dialect::Copilot, &text);
    }
}

#[test]
fn a_variable_that_the_dialect_does_not_set_is_not_the_projects_folder() {
    // In Copilot and Codex it is empty, so that `/check.sh` would run.
    let scripts = Scripts::new();
    scripts.script("check.sh", "#!/bin/sh\n");
    let text = copilot(&json!({ "bash": "$CLAUDE_PROJECT_DIR/check.sh" }));
    let preview =
        Bridge::new(scripts.path(), plan(&scripts, Dialect::Copilot, &text, Origin::User))
            .preview();
    assert!(preview.entries[0].covers.is_empty(), "{preview}");
}

fn needs_no_grant(scripts: &Scripts, plan: Plan) -> bool {
    Bridge::new(scripts.path(), plan).skipped().count() == 0
}

#[test]
fn a_users_entry_for_a_file_of_the_project_needs_a_grant_before_the_file_is_there() {
    for line in ["./check.sh", "bash check.sh", "\"$CLAUDE_PROJECT_DIR\"/.claude/check.sh"] {
        let scripts = Scripts::new();
        let text = claude(json!({ "command": line }));
        let plan = plan(&scripts, Dialect::ClaudeCode, &text, Origin::User);
        // The file comes with the next checkout.
        scripts.script("check.sh", "#!/bin/sh\n");
        scripts.script(".claude/check.sh", "#!/bin/sh\n");
        assert!(!needs_no_grant(&scripts, plan), "{line}");
    }
    let scripts = Scripts::new();
    let text = claude(json!({ "command": "/no/such/file" }));
    let plan = plan(&scripts, Dialect::ClaudeCode, &text, Origin::User);
    assert!(needs_no_grant(&scripts, plan));
}

#[test]
fn a_project_does_not_turn_off_a_users_guard_by_repeating_it() {
    let scripts = Scripts::new();
    let text = claude(json!({ "command": "exit 2" })).to_string();
    let file =
        |name: &str, origin| Source::new(Dialect::ClaudeCode, scripts.write(name, &text), origin);
    let sources = [file("project.json", Origin::Project), file("user.json", Origin::User)];
    let plan = Plan::read(&sources, scripts.path());
    assert_eq!(plan.entries.len(), 1);
    assert!(needs_no_grant(&scripts, plan));
}

#[test]
fn no_two_entries_have_the_same_digest() {
    let scripts = Scripts::new();
    let of = |entry: &Entry| Digest::of(entry, scripts.path()).unwrap();
    let http = |headers: Value, variables: Value| {
        let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [ { "type": "http",
            "url": "http://localhost/", "headers": headers, "allowedEnvVars": variables } ] } ] } });
        of(&plan(&scripts, Dialect::ClaudeCode, &text, Origin::Project).entries[0])
    };
    assert_ne!(http(json!({ "A": "B" }), json!([])), http(json!({}), json!(["A", "B"])));
}

#[test]
fn a_grant_of_one_project_is_none_in_another() {
    let (one, other) = (Scripts::new(), Scripts::new());
    let text = claude(json!({ "command": "true" }));
    let mut grants = Grants::default();
    let entry = plan(&one, Dialect::ClaudeCode, &text, Origin::Project);
    grants.add(&entry.entries[0], one.path()).unwrap();
    let skipped = |scripts: &Scripts| {
        let plan = plan(scripts, Dialect::ClaudeCode, &text, Origin::Project);
        let bridge = Bridge::new(scripts.path(), plan).trust(Trust::granted(grants.clone()));
        bridge.skipped().count()
    };
    assert_eq!((skipped(&one), skipped(&other)), (0, 1));
}

#[test]
fn the_value_of_an_option_is_no_script_that_is_missing() {
    let scripts = Scripts::new();
    scripts.script("check.sh", "#!/bin/sh\n");
    for line in ["bash -o pipefail check.sh", "python3 -W ignore check.sh", "bash -eu ./check.sh"] {
        let text = claude(json!({ "command": line }));
        let plan = plan(&scripts, Dialect::ClaudeCode, &text, Origin::User);
        assert!(!plan.is_suspicious(), "{line}: {:?}", plan.entries[0].suspicions);
    }
    let text = claude(json!({ "command": "bash -o pipefail missing.sh" }));
    assert!(plan(&scripts, Dialect::ClaudeCode, &text, Origin::User).is_suspicious());
}
