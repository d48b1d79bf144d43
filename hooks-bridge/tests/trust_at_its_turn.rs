//! What a grant covers is asked when a command is about to run, and is no way to hold up a
//! fire.

mod support;

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use hooks_bridge::check::Check;
use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::runner::Limits;
use hooks_bridge::trust::{Grants, GrantsError, Trust};
use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind, Facts};
use hooks_runtime::{HookRegistry, hook_points};
use serde_json::{Value, json};
use support::{Scripts, eventually};

hook_points! {
    /// A session is over.
    pub void Closed { id: u32 }
}

impl CommandPoint for Closed {
    const KIND: EventKind = EventKind::SessionEnd;

    fn facts(_: &ClosedPayload) -> Facts {
        Facts::default()
    }
}

/// A bridge for commands of the project that were granted as they are now.
fn granted(scripts: &Scripts, event: &str, commands: &[&str]) -> Bridge {
    let command = |it: &&str| json!({ "type": "command", "command": it });
    granted_handlers(scripts, event, &commands.iter().map(command).collect::<Vec<_>>())
}

fn granted_handlers(scripts: &Scripts, event: &str, handlers: &[Value]) -> Bridge {
    let text = json!({ "hooks": { event: [ { "hooks": handlers } ] } }).to_string();
    let source = Source::new(Dialect::ClaudeCode, ".claude/settings.json", Origin::Project);
    let plan = Plan::read_text(&source, &text, scripts.path());
    let mut grants = Grants::default();
    for entry in &plan.entries {
        grants.add(entry, scripts.path()).unwrap();
    }
    Bridge::new(scripts.path(), plan).trust(Trust::granted(grants))
}

/// L37: bytes that change while a command waits for others to end are not run.
#[tokio::test]
async fn l37_bytes_that_change_while_a_command_waits_for_its_turn_are_not_run() {
    let scripts = Scripts::new();
    scripts.script("slow.sh", "#!/bin/sh\n: > began\nwhile [ ! -e go ]; do sleep 0.02; done\n");
    let second = scripts.script("second.sh", "#!/bin/sh\nexit 0\n");
    let bridge = granted(&scripts, "SessionEnd", &["./slow.sh", "./second.sh"]);
    let limits = Limits { concurrent: 1, ..Limits::default() };
    let hooks = HookRegistry::new();
    hooks.register(bridge.limits(limits).observe::<Closed>()).unwrap();
    let payload = ClosedPayload { id: 7 };
    let fire = hooks.fire_void_reported::<Closed>(&payload);
    let meanwhile = async {
        eventually("the first one runs", || scripts.path().join("began").exists()).await;
        scripts.script("second.sh", "#!/bin/sh\n: > ran\n");
        scripts.write("go", "");
    };
    let ((_, report), ()) = tokio::join!(fire, meanwhile);
    let row = |handler| report.handler(handler).unwrap().status().to_string();
    assert_eq!(row("slow.sh"), "ran");
    let why = format!("`{}` has changed since it was granted", second.display());
    assert!(row("second.sh").contains(&why), "{}", row("second.sh"));
    assert!(!scripts.path().join("ran").exists());
}

/// L37: nor are they where nothing waits for the command, whose task is begun later.
#[tokio::test(flavor = "current_thread")]
async fn l37_bytes_that_change_before_a_task_in_the_background_begins_are_not_run() {
    let scripts = Scripts::new();
    scripts.script("first.sh", "#!/bin/sh\nexit 0\n");
    scripts.script("second.sh", "#!/bin/sh\n: > second\n");
    let handler = |it: &str| json!({ "type": "command", "command": it, "async": true });
    let handlers = ["./first.sh", "./second.sh"].map(handler);
    let bridge = granted_handlers(&scripts, "SessionEnd", &handlers);
    let hooks = HookRegistry::new();
    hooks.register(bridge.observe::<Closed>()).unwrap();
    hooks.fire_void::<Closed>(&ClosedPayload { id: 7 }).await.unwrap();
    // Nothing else has run on this thread since the fire.
    scripts.script("first.sh", "#!/bin/sh\n: > first\n");
    eventually("the second one runs", || scripts.path().join("second").exists()).await;
    assert!(!scripts.path().join("first").exists());
}

/// L37: a script that has become a pipe or a device is one that has changed: to read it would
/// take for ever.
#[tokio::test]
async fn l37_a_script_that_has_become_a_pipe_or_a_device_does_not_hold_up_its_fire() {
    for kind in ["pipe", "device"] {
        let scripts = Scripts::new();
        let script = scripts.script("a.sh", "#!/bin/sh\nexit 0\n");
        let hooks = HookRegistry::new();
        let bridge = granted(&scripts, "PreToolUse", &["./a.sh"]);
        hooks.register(bridge.gate::<UsingTool>()).unwrap();
        std::fs::remove_file(&script).unwrap();
        match kind {
            "pipe" => assert!(Command::new("mkfifo").arg(&script).status().unwrap().success()),
            _ => symlink("/dev/zero", &script).unwrap(),
        }
        // On a thread of its own, which a wait for the pipe would not end.
        let (sender, fired) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let call = UsingToolPayload {
                session_id: "s".into(),
                cwd: None,
                tool_name: "Bash".into(),
                input: json!({ "command": "ls" }),
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let fire = hooks.fire_gating::<UsingTool>(call);
            let error = runtime.unwrap().block_on(fire).unwrap_err();
            sender.send(error.to_string()).unwrap();
        });
        let error = fired.recv_timeout(Duration::from_secs(20)).expect("it is held up");
        let why = format!("`{}` has changed since it was granted", script.display());
        assert!(error.contains(&why), "{error}");
    }
}

/// L37: where a link of the project leads to, the project says: what a user's entry runs by it
/// needs a grant, wherever it is.
#[test]
fn l37_what_a_users_entry_runs_by_a_link_of_the_project_needs_a_grant() {
    let (project, elsewhere) = (Scripts::new(), Scripts::new());
    let script = elsewhere.script("guard.sh", "#!/bin/sh\nexit 0\n");
    project.write("hooks/readme", "");
    symlink(&script, project.path().join("hooks/guard.sh")).unwrap();
    symlink(elsewhere.path(), project.path().join("tools")).unwrap();
    symlink(project.path(), elsewhere.path().join("shop")).unwrap();
    let outside = script.display().to_string();
    let back = format!("{}/shop/tools/guard.sh", elsewhere.path().display());
    for (command, is_trusted) in [
        ("\"$CLAUDE_PROJECT_DIR\"/hooks/guard.sh", false),
        ("\"$CLAUDE_PROJECT_DIR\"/tools/guard.sh", false),
        ("sh hooks/guard.sh", false),
        (back.as_str(), false),
        (outside.as_str(), true),
    ] {
        let text = json!({ "hooks": { "PreToolUse": [ { "hooks": [
            { "type": "command", "command": command } ] } ] } });
        let source = Source::new(Dialect::ClaudeCode, "/home/me/settings.json", Origin::User);
        let plan = Plan::read_text(&source, &text.to_string(), project.path());
        let bridge = Bridge::new(project.path(), plan);
        let skipped: Vec<_> = bridge.skipped().map(|(_, why)| why).collect();
        let expected: &[&str] = if is_trusted { &[] } else { &["it is not trusted"] };
        assert_eq!(skipped, expected, "{command}");
    }
    // Grants behind a link of the project are what the project likes, too.
    elsewhere.write("grants", "");
    symlink(elsewhere.path().join("grants"), project.path().join("grants")).unwrap();
    let read = |file: PathBuf| Grants::read(&file, project.path());
    assert!(matches!(read(project.path().join("grants")), Err(GrantsError::InProject(_))));
    assert!(read(elsewhere.path().join("grants")).unwrap().is_empty());
}

/// Where nothing is granted, the files that a project names are not even read.
#[test]
fn very_many_large_files_of_a_project_hold_up_no_host() {
    let scripts = Scripts::new();
    let large = std::fs::File::create(scripts.path().join("large.sh")).unwrap();
    large.set_len(60 << 20).unwrap();
    let commands: Vec<_> = (0..500)
        .map(|it| json!({ "type": "command", "command": format!("sh large.sh {it}") }))
        .collect();
    let text = json!({ "hooks": { "PreToolUse": [ { "hooks": commands } ] } }).to_string();
    let source = Source::new(Dialect::ClaudeCode, ".claude/settings.json", Origin::Project);
    let began = Instant::now();
    let bridge = Bridge::new(scripts.path(), Plan::read_text(&source, &text, scripts.path()));
    assert!(bridge.gate::<UsingTool>().is_empty());
    assert_eq!(bridge.skipped().count(), 500);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// A pipe and a device are no files to be checked either.
#[test]
fn a_check_does_not_wait_for_a_pipe_or_the_end_of_a_device() {
    let scripts = Scripts::new();
    let pipe = scripts.path().join("pipe.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let project = scripts.path().to_owned();
    let (sender, checked) = std::sync::mpsc::channel();
    let began = Instant::now();
    std::thread::spawn(move || {
        let files: [PathBuf; 2] = [pipe, "/dev/zero".into()];
        sender.send(Check::files(&files, &project)).unwrap();
    });
    let check = checked.recv_timeout(Duration::from_secs(20)).expect("it waits");
    let what = "it cannot be read: it is a device or a pipe, and a file is expected";
    let errors: Vec<_> = check.files.iter().map(|file| &*file.errors[0].text).collect();
    assert_eq!(errors, [what, what], "after {:?}", began.elapsed());
}
