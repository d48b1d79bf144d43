//! What turns hooks off, across files: by the precedence of settings, never what is
//! managed, and never the user's own because of a project.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hooks_bridge::Dialect;
use hooks_bridge::config::{Origin, Plan, Source};
use serde_json::{Value, json};
use support::Scripts;

use Dialect::{ClaudeCode, Codex, Copilot, Gemini};

/// Reads these files in that order; why each entry does not run, by its command.
fn skipped(dialect: Dialect, files: &[(&str, Origin, Value)]) -> Vec<(String, Option<String>)> {
    let (scripts, plan) = read(dialect, files);
    let folder = format!("{}/", scripts.path().display());
    let shown = plan.entries.iter().map(|entry| {
        (entry.command(), entry.skipped.as_ref().map(|reason| reason.replace(&folder, "")))
    });
    shown.collect()
}

fn read(dialect: Dialect, files: &[(&str, Origin, Value)]) -> (Scripts, Plan) {
    let scripts = Scripts::new();
    let sources: Vec<_> = files
        .iter()
        .map(|(name, origin, text)| {
            Source::new(dialect, scripts.write(name, &text.to_string()), origin.clone())
        })
        .collect();
    let plan = Plan::read(&sources, scripts.path());
    assert_eq!(plan.errors, [], "{dialect}");
    (scripts, plan)
}

/// A file with one handler, and these keys beside it.
fn file(event: &str, command: &str, more: &Value) -> Value {
    let handler = json!({ "type": "command", "command": command });
    let mut text = json!({ "hooks": { event: [ { "hooks": [handler] } ] } });
    for (key, value) in more.as_object().unwrap() {
        text[key] = value.clone();
    }
    text
}

fn ran(command: &str) -> (String, Option<String>) {
    (command.to_owned(), None)
}

fn off(command: &str, why: &str) -> (String, Option<String>) {
    (command.to_owned(), Some(why.to_owned()))
}

const USER: &str = "home/settings.json";
const PROJECT: &str = "settings.json";
const LOCAL: &str = "settings.local.json";

/// Three levels, and what each says of `disableAllHooks`.
fn levels(says: [Option<bool>; 3]) -> Vec<(String, Option<String>)> {
    let places = [
        (USER, Origin::User, "echo user"),
        (PROJECT, Origin::Project, "echo project"),
        (LOCAL, Origin::Project, "echo local"),
    ];
    let files = places.into_iter().zip(says).map(|((name, origin, command), says)| {
        let more = says.map_or(json!({}), |says| json!({ "disableAllHooks": says }));
        (name, origin, file("Stop", command, &more))
    });
    skipped(ClaudeCode, &files.collect::<Vec<_>>())
}

#[test]
fn disable_all_hooks_follows_the_precedence_of_settings() {
    let says = |file: &str| format!("`{file}` says `disableAllHooks`");
    // What the user turns off is off in the project as well.
    assert_eq!(
        levels([Some(true), None, None]),
        [
            off("echo user", "the file says `disableAllHooks`"),
            off("echo project", &says(USER)),
            off("echo local", &says(USER)),
        ]
    );
    // The local file counts before that of the project, and both before the user's, for
    // what is the project's.
    assert_eq!(
        levels([None, Some(true), Some(false)]),
        [ran("echo user"), ran("echo project"), ran("echo local")]
    );
    assert_eq!(
        levels([Some(true), None, Some(false)]),
        [
            off("echo user", "the file says `disableAllHooks`"),
            ran("echo project"),
            ran("echo local")
        ]
    );
    assert_eq!(
        levels([None, Some(false), Some(true)]),
        [
            ran("echo user"),
            off("echo project", &says(LOCAL)),
            off("echo local", "the file says `disableAllHooks`"),
        ]
    );
}

/// A folder that nobody trusts does not turn off the checks of its user, and says so.
#[test]
fn a_project_turns_off_no_hooks_but_its_own() {
    let files = [
        (USER, Origin::User, file("Stop", "echo user", &json!({}))),
        (
            PROJECT,
            Origin::Project,
            file("Stop", "echo project", &json!({ "disableAllHooks": true })),
        ),
    ];
    let (_scripts, plan) = read(ClaudeCode, &files);
    assert!(plan.entries[0].runs() && !plan.entries[1].runs());
    let texts: Vec<_> = plan.notices.iter().map(|notice| notice.text.as_str()).collect();
    assert_eq!(texts, ["`disableAllHooks` here is for hooks that are the project's own"]);
}

#[test]
fn what_is_managed_is_turned_off_by_nobody() {
    let off_switch = json!({ "disableAllHooks": true });
    let files = [
        ("managed.json", Origin::Managed, file("Stop", "echo managed", &off_switch)),
        (USER, Origin::User, file("Stop", "echo user", &off_switch)),
        (
            PROJECT,
            Origin::Project,
            file("Stop", "echo project", &json!({ "disableAllHooks": false })),
        ),
        (
            "plugin.json",
            Origin::Plugin("/no/plugin".into()),
            file("Stop", "echo plugin", &json!({})),
        ),
    ];
    let why = "`managed.json` says `disableAllHooks`";
    assert_eq!(
        skipped(ClaudeCode, &files),
        [
            ran("echo managed"),
            off("echo user", why),
            off("echo project", why),
            off("echo plugin", why)
        ]
    );
    assert!(!Origin::Managed.needs_trust());
}

/// In a file of hooks it is for that file; in settings for all but those of a policy.
#[test]
fn copilot_has_it_for_one_file_and_for_all() {
    let flat = |command: &str, disabled: bool| {
        json!({ "version": 1, "disableAllHooks": disabled,
            "hooks": { "preToolUse": [ { "bash": command } ] } })
    };
    let files = [
        ("a.json", Origin::Project, flat("echo a", true)),
        ("b.json", Origin::Project, flat("echo b", false)),
    ];
    assert_eq!(
        skipped(Copilot, &files),
        [off("echo a", "the file says `disableAllHooks`"), ran("echo b")]
    );
    let files = [
        ("b.json", Origin::Project, flat("echo b", false)),
        (".github/copilot/settings.json", Origin::Project, flat("echo s", true)),
    ];
    assert_eq!(
        skipped(Copilot, &files),
        [
            off("echo b", "`.github/copilot/settings.json` says `disableAllHooks`"),
            off("echo s", "the file says `disableAllHooks`")
        ]
    );
}

/// Names that are turned off are those of all files.
#[test]
fn gemini_unites_the_names_that_are_turned_off() {
    let files = [
        (
            USER,
            Origin::User,
            file(
                "AfterTool",
                "echo user",
                &json!({ "hooksConfig": { "disabled": ["echo project"] } }),
            ),
        ),
        (
            PROJECT,
            Origin::Project,
            file(
                "AfterTool",
                "echo project",
                &json!({ "hooksConfig": { "disabled": ["echo user"] } }),
            ),
        ),
    ];
    assert_eq!(
        skipped(Gemini, &files),
        [
            ran("echo user"),
            off("echo project", &format!("`{USER}` turns it off in `hooksConfig.disabled`"))
        ]
    );
    let files = [
        (USER, Origin::User, json!({ "hooksConfig": { "enabled": false } })),
        (PROJECT, Origin::Project, file("AfterTool", "echo project", &json!({}))),
    ];
    assert_eq!(
        skipped(Gemini, &files),
        [off("echo project", &format!("`{USER}` says `hooksConfig.enabled: false`"))]
    );
}

#[test]
fn codex_turns_hooks_off_in_one_layer_for_the_next() {
    let scripts = Scripts::new();
    let config = scripts.write("home/config.toml", "[features]\nhooks = false\n");
    let hooks = scripts.write("hooks.json", &file("Stop", "echo project", &json!({})).to_string());
    let sources =
        [Source::new(Codex, &config, Origin::User), Source::new(Codex, hooks, Origin::Project)];
    let plan = Plan::read(&sources, scripts.path());
    let why = format!("`{}` says `features.hooks = false`", config.display());
    assert_eq!(plan.entries[0].skipped.as_deref(), Some(why.as_str()));
}

/// A policy file that others may write is none.
#[test]
fn a_policy_that_others_may_write_is_refused() {
    let scripts = Scripts::new();
    let text = json!({ "version": 1, "hooks": { "preToolUse": [ { "bash": "true" } ] } });
    let policy = scripts.write("policy.json", &text.to_string());
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o666)).unwrap();
    let plan = Plan::read(&[Source::new(Copilot, &policy, Origin::Managed)], scripts.path());
    assert_eq!(plan.entries.len(), 0);
    assert!(plan.errors[0].text.ends_with("no other may write it"), "{:?}", plan.errors);
    // As a file of the user it is one as any other.
    let plan = Plan::read(&[Source::new(Copilot, &policy, Origin::User)], scripts.path());
    assert_eq!(plan.entries.len(), 1);
}
