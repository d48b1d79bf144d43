//! Ways to run a project's file without a grant for its bytes.

mod support;

use hooks_bridge::config::{Entry, Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::{Digest, Grants, Trust};
use hooks_bridge::{Bridge, Dialect};
use hooks_runtime::HookRegistry;
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

/// The bytes are covered, and the preview does not say that more may run.
#[test]
fn the_bytes_are_covered_wherever_the_text_tells_which_file_it_is() {
    for (name, line) in [
        ("check.sh", "cd \"$CLAUDE_PROJECT_DIR\" && ./check.sh"),
        ("sub/check.sh", "cd \"$CLAUDE_PROJECT_DIR\"/sub && ./check.sh"),
        ("sub/check.sh", "cd \"${CLAUDE_PROJECT_DIR}/sub\" && bash check.sh || true"),
        ("sub/check.sh", "cd sub || exit 1; ./check.sh"),
        ("sub/check.sh", "(cd sub && ./check.sh)"),
        ("check.sh", "(cd sub && true); ./check.sh"),
        ("check.sh", "bash -c './check.sh --fast'"),
        ("sub/check.sh", "bash -c 'cd sub && ./check.sh'"),
        ("check.sh", "bash -c '\"$CLAUDE_PROJECT_DIR\"/check.sh'"),
        ("check.sh", "env FOO=1 ./check.sh"),
        ("check.sh", "FOO=1 ./check.sh"),
        ("check.py", "uv run check.py"),
        ("check.py", "uv run --python 3.12 check.py --fast"),
        ("check.py", "python3.11 -W ignore check.py"),
        ("check.js", "node check.js"),
        ("check.sh", "[ -f check.sh ] && ./check.sh || true"),
        ("check.sh", "test -x check.sh && ./check.sh"),
        ("check.sh", "cat | ./check.sh | tee out.log"),
        ("check.sh", "\"$CLAUDE_PROJECT_DIR\"/check.sh"),
        ("check.sh", "\"${CLAUDE_PROJECT_DIR}/check.sh\" 2>&1 >> out.log"),
        ("check.sh", "timeout 5 bash -c './check.sh --fast'"),
        ("check.sh", "sh <check.sh"),
        ("check.sh", "grep -q '$x' && ./check.sh"),
    ] {
        let scripts = Scripts::new();
        for decoy in ["check.sh", "sub/check.sh", name] {
            scripts.script(decoy, "#!/bin/sh\nexit 0\n");
        }
        let text = claude(json!({ "command": line }));
        let (before, dynamic) = digest(&scripts, Dialect::ClaudeCode, &text);
        assert!(!dynamic, "{line}");
        scripts.script(name, "#!/bin/sh\ntouch /tmp/elsewhere\n");
        assert_ne!(before, digest(&scripts, Dialect::ClaudeCode, &text).0, "{line}");
    }
}

#[test]
fn the_folder_of_a_script_is_not_mistaken() {
    for line in [
        "cd sub; ./check.sh",
        "if cd sub; then ./check.sh; fi",
        "{ cd sub; ./check.sh; }",
        "FOO=1 cd sub && ./check.sh",
        "pushd sub && ./check.sh",
        "env -C sub ./check.sh",
        "su -c 'cd sub && ./check.sh'",
        "timeout 5 sh -c 'cd sub && ./check.sh'",
        "trap 'cd sub && ./check.sh' EXIT",
        "export PATH=./sub:$PATH; check.sh",
        "env PATH=./sub:/bin check.sh",
    ] {
        covered("sub/check.sh", Dialect::ClaudeCode, &claude(json!({ "command": line })));
    }
    let run = json!({ "command": "bash", "args": ["-c", "$CLAUDE_PROJECT_DIR/sub/check.sh"] });
    covered("sub/check.sh", Dialect::ClaudeCode, &claude(run));
}

fn granted(scripts: &Scripts, line: &str) -> (HookRegistry, std::path::PathBuf) {
    let text = claude(json!({ "command": line }));
    let plan = plan(scripts, Dialect::ClaudeCode, &text, Origin::Project);
    let mut grants = Grants::default();
    grants.add(&plan.entries[0], scripts.path()).unwrap();
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(scripts.path(), plan).trust(Trust::granted(grants));
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    (hooks, scripts.path().join("ran"))
}

async fn fire(hooks: &HookRegistry) -> Result<(), String> {
    let call = UsingToolPayload {
        session_id: "s-1".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": "ls" }),
    };
    hooks.fire_gating::<UsingTool>(call).await.map(drop).map_err(|error| error.to_string())
}

/// L37: what a command can do without, and what it is only given, is no way around a grant
/// either.
#[tokio::test]
async fn l37_a_file_that_appears_after_the_grant_is_a_failure() {
    for line in [
        "[ -f check.sh ] && ./check.sh || true",
        "timeout 5 bash check.sh || true",
        "cat check.sh | sh; true",
    ] {
        let scripts = Scripts::new();
        let (hooks, ran) = granted(&scripts, line);
        fire(&hooks).await.expect(line);
        scripts.script("check.sh", &format!("#!/bin/sh\ntouch {}\n", ran.display()));
        let error = fire(&hooks).await.expect_err(line);
        assert!(error.contains("check.sh` has changed since it was granted"), "{line}: {error}");
        assert!(!ran.exists(), "{line}");
    }
}

/// L37: a link that leads to other bytes, and a folder that is exchanged, are other bytes.
#[tokio::test]
async fn l37_a_script_that_is_exchanged_between_grant_and_fire_is_a_failure() {
    let scripts = Scripts::new();
    let touch = |ran: &std::path::Path| format!("#!/bin/sh\ntouch {}\n", ran.display());
    scripts.script("good.sh", "#!/bin/sh\nexit 0\n");
    std::os::unix::fs::symlink("good.sh", scripts.path().join("link.sh")).unwrap();
    let (hooks, ran) = granted(&scripts, "./link.sh");
    fire(&hooks).await.unwrap();
    scripts.script("evil.sh", &touch(&ran));
    std::fs::remove_file(scripts.path().join("link.sh")).unwrap();
    std::os::unix::fs::symlink("evil.sh", scripts.path().join("link.sh")).unwrap();
    assert!(fire(&hooks).await.unwrap_err().contains("link.sh` has changed"));

    scripts.script("one/check.sh", "#!/bin/sh\nexit 0\n");
    scripts.script("two/check.sh", &touch(&ran));
    let (hooks, _) = granted(&scripts, "cd one && ./check.sh");
    fire(&hooks).await.unwrap();
    std::fs::rename(scripts.path().join("one"), scripts.path().join("three")).unwrap();
    std::os::unix::fs::symlink("two", scripts.path().join("one")).unwrap();
    assert!(fire(&hooks).await.unwrap_err().contains("check.sh` has changed"));

    scripts.script("gone.sh", "#!/bin/sh\nexit 0\n");
    let (hooks, _) = granted(&scripts, "./gone.sh");
    std::fs::remove_file(scripts.path().join("gone.sh")).unwrap();
    assert!(fire(&hooks).await.unwrap_err().contains("gone.sh` has changed"));
    assert!(!ran.exists());
}

/// A file that a command writes is none that it runs.
#[tokio::test]
async fn a_log_that_grows_does_not_take_the_grant_away() {
    let scripts = Scripts::new();
    scripts.script("check.sh", "#!/bin/sh\necho asked >&2\n");
    scripts.write("hooks.log", "");
    let (hooks, _) = granted(&scripts, "./check.sh 2>> hooks.log");
    for _ in 0..3 {
        fire(&hooks).await.unwrap();
    }
    let log = std::fs::read_to_string(scripts.path().join("hooks.log")).unwrap();
    assert_eq!(log, "asked\n".repeat(3));
}

#[test]
fn grants_that_were_tampered_with_grant_nothing() {
    let scripts = Scripts::new();
    scripts.script("check.sh", "#!/bin/sh\n");
    let text = claude(json!({ "command": "./check.sh" }));
    let plan = || plan(&scripts, Dialect::ClaudeCode, &text, Origin::Project);
    let line = Grants::line(&plan().entries[0], scripts.path()).unwrap();
    let untrusted = |grants: Grants| {
        Bridge::new(scripts.path(), plan()).trust(Trust::granted(grants)).skipped().count()
    };
    assert_eq!(untrusted(Grants::parse(&line).unwrap()), 0);
    // What stands behind the digest is for people only.
    assert_eq!(untrusted(Grants::parse(&line[..64]).unwrap()), 0);
    let edited = format!("{}{}", if line.starts_with('0') { "1" } else { "0" }, &line[1..]);
    assert_eq!(untrusted(Grants::parse(&edited).unwrap()), 1);
    let no_grant =
        |line: usize| format!("line {line} is no grant: a digest is 64 hexadecimal digits");
    for (text, wrong) in [
        (line[..40].to_owned(), 1),
        (format!("# ops\n\n{}", &line[..63]), 3),
        (format!("{line}\ngarbage"), 2),
        (format!("é{}", &line[2..]), 1),
        (format!("+{}", &line[1..]), 1),
    ] {
        assert_eq!(Grants::parse(&text).unwrap_err().to_string(), no_grant(wrong), "{text}");
    }
    // A file that is none, and one that is a link into the project.
    let elsewhere = Scripts::new();
    let binary = elsewhere.path().join("binary");
    std::fs::write(&binary, [0xff, 0xfe]).unwrap();
    assert!(Grants::read(&binary, scripts.path()).is_err());
    assert!(Grants::read(elsewhere.path(), scripts.path()).is_err());
    let pointer = elsewhere.path().join("link");
    std::os::unix::fs::symlink(scripts.write("grants", &line), &pointer).unwrap();
    let error = Grants::read(&pointer, scripts.path()).unwrap_err().to_string();
    assert!(error.contains("is inside of the project"), "{error}");
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
