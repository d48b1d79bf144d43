//! Configuration files of every dialect: what is loaded, skipped and suspicious, with the
//! lines.

mod support;

use std::time::Duration;

use hooks_bridge::Dialect;
use hooks_bridge::config::{EntryState, Origin, Plan, Source};
use support::Scripts;

fn read(dialect: Dialect, file: &str, text: &str) -> Plan {
    Plan::read_text(&Source::new(dialect, file, Origin::Project), text, "/no/shop")
}

fn claude(text: &str) -> Plan {
    read(Dialect::ClaudeCode, ".claude/settings.json", text)
}

/// The lines and texts of all suspicions.
fn suspicions(plan: &Plan) -> Vec<(usize, &str)> {
    let all = plan.entries.iter().flat_map(|entry| &entry.suspicions);
    all.map(|it| (it.line, it.text.as_str())).collect()
}

fn errors(plan: &Plan) -> Vec<String> {
    plan.errors.iter().map(ToString::to_string).collect()
}

fn one(event: &str, matcher: &str, handler: &str) -> Plan {
    claude(&format!(
        "{{ \"hooks\": {{ \"{event}\": [\n{{ \"matcher\": \"{matcher}\", \"hooks\": [\n{{ \"type\": \"command\", {handler} }} ] }} ] }} }}"
    ))
}

#[test]
fn every_dialect_reads_its_own_file() {
    let nested = |event: &str, timeout: u32| {
        format!(
            "{{ \"hooks\": {{ \"{event}\": [ {{ \"hooks\": [ {{ \"type\": \"command\", \"command\": \"true\", \"timeout\": {timeout} }} ] }} ] }} }}"
        )
    };
    let flat = |event: &str, rest: &str| {
        format!("{{ \"version\": 1, \"hooks\": {{ \"{event}\": [ {{ {rest} }} ] }} }}")
    };
    let toml = "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"true\"\ntimeout = 5\n";
    let cases = [
        (Dialect::ClaudeCode, ".claude/settings.json", nested("PreToolUse", 5)),
        (Dialect::Codex, ".codex/hooks.json", nested("PreToolUse", 5)),
        (Dialect::Codex, ".codex/config.toml", toml.to_owned()),
        (Dialect::Gemini, ".gemini/settings.json", nested("BeforeTool", 5000)),
        (
            Dialect::Cursor,
            ".cursor/hooks.json",
            flat("preToolUse", "\"command\": \"true\", \"timeout\": 5"),
        ),
        (
            Dialect::Copilot,
            ".github/hooks/a.json",
            flat("preToolUse", "\"bash\": \"true\", \"timeoutSec\": 5"),
        ),
    ];
    for (dialect, file, text) in cases {
        let plan = read(dialect, file, &text);
        assert_eq!(errors(&plan), [""; 0], "{dialect}");
        assert_eq!(suspicions(&plan), [(0, ""); 0], "{dialect}");
        let entry = &plan.entries[0];
        assert_eq!(entry.state(), EntryState::Loaded, "{dialect}");
        assert_eq!((entry.command().as_str(), entry.timeout()), ("true", Duration::from_secs(5)));
    }
}

#[test]
fn time_limits_without_a_number_are_those_of_the_event_or_the_dialect() {
    let limit = |event: &str| one(event, "", "\"command\": \"true\"").entries[0].timeout();
    assert_eq!(limit("PreToolUse"), Duration::from_mins(10));
    assert_eq!(limit("UserPromptSubmit"), Duration::from_secs(30));
    assert_eq!(limit("SessionEnd"), Duration::from_millis(1500));
}

#[test]
fn what_is_suspicious_says_so_with_its_line() {
    let command = "\"command\": \"true\"";
    let cases = [
        (
            one("PreToolUs", "", command),
            (
                1,
                "Claude Code has no event `PreToolUs`, so it never runs; did you mean `PreToolUse`?",
            ),
        ),
        (
            one("PreToolUse", "bash", command),
            (2, "Claude Code has no tool `bash`; did you mean `Bash`?"),
        ),
        (
            one("BeforeTool", "", command),
            (
                1,
                "Claude Code has no event `BeforeTool`, so it never runs; there it is `PreToolUse`",
            ),
        ),
        (
            one("PreToolUse", "Shell", command),
            (2, "Claude Code has no tool `Shell`: Claude Code calls it `Bash`"),
        ),
        (
            one("PreToolUse", "^run_.*$", command),
            (2, "the matcher `^run_.*$` matches no tool of Claude Code"),
        ),
        (
            one("PreToolUse", "mcp__memory", command),
            (
                2,
                "`mcp__memory` matches no tool: write `mcp__memory__.*` for all tools of that server",
            ),
        ),
        (
            one("SessionStart", "boot", command),
            (2, "the matcher `boot` matches none of startup, resume, clear, compact, fork"),
        ),
        (
            one("Stop", "Bash", command),
            (2, "Claude Code ignores the matcher of `Stop`: `Bash` restricts nothing"),
        ),
        (
            one("PreToolUse", "", "\"command\": \"true\", \"timeout\": 5000"),
            (3, "`timeout` is 5000 seconds, more than ten minutes: it is counted in seconds"),
        ),
        (
            one("PreToolUse", "", "\"command\": \"true\", \"async\": true"),
            (3, "it is `async`, so nothing waits for its answer: it cannot block here"),
        ),
        (
            one("Stop", "", "\"command\": \"true\", \"if\": \"Bash(ls)\""),
            (3, "`if` is for events of tools; here it keeps the handler from ever running"),
        ),
        (
            one("Stop", "", "\"command\": \"true\", \"onFailure\": \"block\""),
            (3, "`onFailure: \"block\"` has no effect here"),
        ),
        (
            one("PreToolUse", "", "\"command\": \"python3 gone.py\""),
            (3, "its script `/no/shop/gone.py` does not exist"),
        ),
        (
            one("PreToolUse", "", "\"command\": \"no-such-tool\""),
            (3, "the program `no-such-tool` is not found by `PATH`"),
        ),
        (one("PreToolUse", "", "\"command\": 7"), (3, "`command` must be text, and is a number")),
        (one("PreToolUse", "", "\"statusMessage\": \"x\""), (3, "it has no `command`")),
        (one("PreToolUse", "(", command), (2, "")),
    ];
    for (plan, (line, text)) in cases {
        let found = suspicions(&plan);
        assert_eq!(found.len(), 1, "{found:?}, not {text}");
        assert_eq!(found[0].0, line, "{found:?}");
        assert!(found[0].1.starts_with(text), "{found:?}, not {text}");
        assert!(plan.is_suspicious());
    }
    let gemini = read(
        Dialect::Gemini,
        ".gemini/settings.json",
        "{ \"hooks\": { \"BeforeTool\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"true\",\n\"timeout\": 30 } ] } ] } }",
    );
    assert_eq!(
        suspicions(&gemini),
        [(
            2,
            "`timeout` is 30 milliseconds, too short for a process: it is counted in milliseconds"
        )]
    );
}

#[test]
fn a_script_that_may_not_be_executed_is_suspicious() {
    let scripts = Scripts::new();
    scripts.write("plain.sh", "#!/bin/sh\n");
    scripts.script("good.sh", "#!/bin/sh\n");
    let text = |script: &str| {
        format!(
            "{{ \"version\": 1, \"hooks\": {{ \"stop\": [ {{ \"command\": \"./{script}\" }} ] }} }}"
        )
    };
    let plan = |script: &str| {
        let source = Source::new(Dialect::Cursor, ".cursor/hooks.json", Origin::Project);
        Plan::read_text(&source, &text(script), scripts.path())
    };
    assert!(
        suspicions(&plan("plain.sh"))[0].1.ends_with("may not be executed: run `chmod +x` on it")
    );
    assert_eq!(plan("good.sh").entries[0].state(), EntryState::Loaded);
    scripts.script("odd.sh", "#!/usr/bin/env -S no-such-interpreter --x\n");
    assert_eq!(
        suspicions(&plan("odd.sh")),
        [(1, "the program `no-such-interpreter` is not found by `PATH`")]
    );
}

#[test]
fn what_is_skipped_says_why() {
    let why = |plan: &Plan| plan.entries[0].skipped.clone().unwrap_or_default();
    let plan = claude(
        "{ \"hooks\": { \"Stop\": [ { \"hooks\": [ { \"type\": \"prompt\", \"prompt\": \"?\" } ] } ] } }",
    );
    assert_eq!(why(&plan), "handlers of the type `prompt` need the product's own model or servers");
    assert_eq!(plan.entries[0].state(), EntryState::Skipped);
    let off = one("Stop", "", "\"command\": \"true\"");
    assert!(off.entries[0].runs());
    let off = claude(
        "{ \"disableAllHooks\": true, \"hooks\": { \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"true\" } ] } ] } }",
    );
    assert_eq!(why(&off), "the file says `disableAllHooks`");
    let shell = one("Stop", "", "\"command\": \"Get-Date\", \"shell\": \"powershell\"");
    assert_eq!(why(&shell), "PowerShell is not run here");
    let gemini = read(
        Dialect::Gemini,
        ".gemini/settings.json",
        "{ /* mine */ \"hooksConfig\": { \"disabled\": [\"noisy\"] }, \"hooks\": { \"enabled\": true, \"AfterTool\": [ { \"hooks\": [ { \"name\": \"noisy\", \"type\": \"command\", \"command\": \"true\" } ] } ] } }",
    );
    assert_eq!(why(&gemini), "the file turns it off in `hooksConfig.disabled`");
    assert_eq!(gemini.entries.len(), 1, "`enabled` in `hooks` is no event");
}

#[test]
fn a_file_that_cannot_be_read_says_where() {
    let bad = |dialect, file: &str, text: &str| errors(&read(dialect, file, text));
    let claude = |text: &str| bad(Dialect::ClaudeCode, "s.json", text);
    assert_eq!(claude("{\n // mine\n}"), ["s.json:2: comments are not allowed here: remove it"]);
    assert_eq!(claude("[]"), ["s.json:1: an object is expected, not a list"]);
    assert_eq!(claude("{\"hooks\": []}"), ["s.json:1: `hooks` must be an object, and is a list"]);
    assert_eq!(
        claude("{\"hooks\": {\"Stop\": {}}}"),
        ["s.json:1: `Stop` must be a list, and is an object"]
    );
    assert_eq!(
        claude("{\"Stop\": []}"),
        ["s.json:1: `Stop` must be inside of `\"hooks\": { … }`, so it never runs"]
    );
    assert_eq!(
        claude("{\"hooks\": {\"Stop\": [\n{\"command\": \"true\"}]}}"),
        [
            "s.json:2: this group of `Stop` has no list `hooks`: write `{ \"hooks\": [ { \"type\": \"command\", … } ] }`; the rest of the file is read"
        ]
    );
    assert_eq!(
        bad(Dialect::Codex, "hooks.json", "\u{feff}{\"hooks\": {}}"),
        [
            "hooks.json:1: it begins with a byte-order mark, for which Codex CLI rejects the file: save it without"
        ]
    );
    assert_eq!(
        bad(Dialect::Codex, "hooks.json", "{\"hooks\": {},\n\"mine\": 1}"),
        ["hooks.json:2: the key `mine` is unknown, for which Codex CLI rejects the file"]
    );
    assert!(bad(Dialect::Codex, "config.toml", "a = 1\nb = [")[0].starts_with("config.toml:2: "));
    let gone = Plan::read(&[Source::new(Dialect::Codex, "/no/hooks.json", Origin::User)], "/no");
    assert!(errors(&gone)[0].starts_with("/no/hooks.json:1: it cannot be read: "));
}

#[test]
fn a_byte_order_mark_and_unknown_keys_are_reported_and_not_fatal() {
    let text = "\u{feff}{ \"hooks\": { \"Stop\": [ { \"colour\": 1, \"timeout\": 3, \"hooks\": [\n{ \"type\": \"command\", \"command\": \"true\", \"shape\": 1 } ] } ] } }";
    let plan = claude(text);
    let notices: Vec<_> = plan.notices.iter().map(|it| (it.place.line, it.text.as_str())).collect();
    assert_eq!(
        notices,
        [
            (1, "it begins with a byte-order mark: save it without"),
            (1, "the key `colour` means nothing here"),
            (1, "`timeout` does nothing on a group: write it in the handler"),
            (2, "the key `shape` means nothing here"),
        ]
    );
    assert_eq!(plan.entries[0].state(), EntryState::Loaded);
}

/// A key that is nearly one of the dialect's is said with that, wherever it is.
#[test]
fn a_key_that_is_misspelt_is_reported_with_the_one_that_was_meant() {
    let notices = |dialect, text: &str| -> Vec<String> {
        let source = Source::new(dialect, "hooks.json", Origin::User);
        let plan = Plan::read_text(&source, text, "/");
        plan.notices.into_iter().map(|it| it.text).collect()
    };
    assert_eq!(
        notices(
            Dialect::ClaudeCode,
            r#"{ "disableAllHook": true, "hooks": { "Stop": [ { "matchers": "x", "hooks": [
                { "type": "command", "command": "true", "timout": 5, "matcher": "y",
                  "on_failure": "block" } ] } ] } }"#
        ),
        [
            "the key `disableAllHook` means nothing here; did you mean `disableAllHooks`?",
            "the key `matchers` means nothing here; did you mean `matcher`?",
            "the key `timout` means nothing here; did you mean `timeout`?",
            "`matcher` does nothing in a handler: write it beside `hooks`",
            "the key `on_failure` means nothing here; did you mean `onFailure`?",
        ]
    );
    assert_eq!(
        notices(
            Dialect::Cursor,
            r#"{ "version": 1, "hooks": { "preToolUse": [
                { "command": "true", "failclosed": true, "timeoutMs": 5000 } ] } }"#
        ),
        [
            "the key `failclosed` means nothing here; did you mean `failClosed`?",
            "the key `timeoutMs` means nothing here; did you mean `timeout`?",
        ]
    );
}

/// L37: nobody would miss a guard in a file whose `hooks` is misspelt; settings without hooks
/// are fine.
#[test]
fn l37_a_file_whose_hooks_are_misspelt_is_a_mistake() {
    let read = |text: &str| {
        let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
        Plan::read_text(&source, text, "/")
    };
    let plan = read("{\n\"Hook\": { \"PreToolUse\": [] } }");
    assert_eq!(
        errors(&plan),
        [
            "settings.json:2: the key `Hook` means nothing here, so nothing in it runs; did you mean `hooks`?"
        ]
    );
    let bridge = hooks_bridge::Bridge::new("/", plan);
    assert!(!bridge.gate::<hooks_bridge::points::UsingTool>().is_empty(), "its gates are closed");
    for text in [r#"{ "model": "x" }"#, r#"{ "hook": "x" }"#, r#"{ "hooky": { "a": [] } }"#] {
        assert_eq!(errors(&read(text)), [""; 0], "{text}");
    }
}

#[test]
fn the_same_handler_in_several_files_runs_once() {
    let text = "{ \"hooks\": { \"Stop\": [ { \"hooks\": [\n{ \"type\": \"command\", \"command\": \"true\" } ] } ] } }";
    let scripts = Scripts::new();
    let files = ["a.json", "b.json"].map(|name| scripts.write(name, text));
    let sources = files.clone().map(|file| Source::new(Dialect::ClaudeCode, file, Origin::User));
    let plan = Plan::read(&sources, scripts.path());
    assert_eq!(plan.entries.len(), 1);
    assert_eq!((&plan.entries[0].place.file, plan.entries[0].place.line), (&files[0], 2));
    assert_eq!((&plan.entries[0].also[0].file, plan.entries[0].also[0].line), (&files[1], 2));
    let plugin = Source::new(Dialect::ClaudeCode, &files[1], Origin::Plugin("/no/plugin".into()));
    let plan = Plan::read(&[sources[0].clone(), plugin], scripts.path());
    assert_eq!(plan.entries.len(), 2, "a plugin's copy stays its own");
}
