//! Files that are large, odd or hostile.

mod support;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::{Bridge, Dialect};
use hooks_runtime::{Gate, HookRegistry};
use serde_json::json;
use support::Scripts;

fn read(dialect: Dialect, file: &str, text: &str) -> Plan {
    Plan::read_text(&Source::new(dialect, file, Origin::User), text, "/no/shop")
}

#[test]
fn a_large_file_is_read_or_refused_in_no_time() {
    let mut toml = String::from("[hooks]\n");
    for number in 0..60_000 {
        let _ = writeln!(toml, "[[x]]\na = {number}");
    }
    let began = Instant::now();
    let _ = read(Dialect::Codex, ".codex/config.toml", &toml);
    assert!(began.elapsed() < Duration::from_secs(5), "toml: {:?}", began.elapsed());

    let mut handlers = Vec::new();
    for number in 0..2_000 {
        handlers.push(json!({ "type": "command", "command": format!("true {number}") }));
    }
    let text = json!({ "hooks": { "Stop": [ { "hooks": handlers } ] } }).to_string();
    let began = Instant::now();
    let _ = read(Dialect::ClaudeCode, "settings.json", &text);
    assert!(began.elapsed() < Duration::from_secs(5), "json: {:?}", began.elapsed());
}

/// Each of many handlers is compared with none of the others.
#[test]
fn very_many_handlers_are_read() {
    let handler = |number: usize| json!({ "type": "http", "url": format!("http://a/{number}") });
    // Each is there twice.
    let handlers: Vec<_> = (0..30_000).map(|number| handler(number / 2 * 2)).collect();
    let text = json!({ "hooks": { "Stop": [ { "hooks": handlers } ] } }).to_string();
    let plan = read(Dialect::ClaudeCode, "settings.json", &text);
    assert_eq!(plan.entries.len(), 15_000);
    assert!(plan.entries.iter().all(|entry| entry.also.len() == 1));
    let mut text = String::from("{ \"hooks\": {");
    for number in 0..30_000 {
        let _ = write!(text, "\"Event{number}\": [],");
    }
    text.push_str("\"Stop\": [], \"Stop\": [] } }");
    let plan = read(Dialect::ClaudeCode, "settings.json", &text);
    let twice: Vec<_> = plan.notices.iter().map(|notice| notice.text.as_str()).collect();
    assert_eq!(
        twice,
        ["`Stop` is written twice, first on line 1: Claude Code takes the last only"]
    );
}

#[test]
fn what_is_no_file_is_not_read() {
    let scripts = Scripts::new();
    let link = scripts.path().join("zero.json");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for file in [link, "/".into()] {
        let plan = Plan::read(&[Source::new(Dialect::Cursor, file, Origin::User)], "/no/shop");
        assert_eq!(plan.errors.len(), 1);
    }
}

#[tokio::test]
async fn a_matcher_that_only_the_product_can_read_leaves_no_check_out_silently() {
    // JavaScript takes all of these.
    for matcher in [r"(?<!echo .*)rm", r"(?<=^|; *)rm", r"[^]*rm"] {
        let text = json!({ "version": 1, "hooks": { "beforeShellExecution": [
            { "command": "exit 2", "matcher": matcher } ] } });
        let plan = read(Dialect::Cursor, "hooks.json", &text.to_string());
        let suspicious = plan.is_suspicious();
        let hooks = HookRegistry::new();
        hooks.register(Bridge::new("/", plan).gate::<UsingTool>()).unwrap();
        let call = UsingToolPayload {
            session_id: "s".into(),
            cwd: None,
            tool_name: "Bash".into(),
            input: json!({ "command": "rm -rf x" }),
        };
        let gate = hooks.fire_gating::<UsingTool>(call).await.unwrap();
        assert!(suspicious || matches!(gate, Gate::Rejected(_)), "{matcher}");
    }
}

#[tokio::test]
async fn a_matcher_does_not_hang_a_fire() {
    for matcher in [r"(?!.*safe)rm", r"(x+x+)+(?=y)z", r"(?:x(?!.*y))+z", r"(?=(x+)+y)\1z"] {
        let text = json!({ "version": 1, "hooks": { "beforeShellExecution": [
            { "command": "exit 0", "matcher": matcher } ] } });
        let plan = read(Dialect::Cursor, "hooks.json", &text.to_string());
        let hooks = HookRegistry::new();
        hooks.register(Bridge::new("/", plan).gate::<UsingTool>()).unwrap();
        let call = UsingToolPayload {
            session_id: "s".into(),
            cwd: None,
            tool_name: "Bash".into(),
            input: json!({ "command": "x".repeat(1 << 20) }),
        };
        let began = Instant::now();
        let _ = hooks.fire_gating::<UsingTool>(call).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{matcher}: {:?}", began.elapsed());
    }
}

/// Expressions are compiled before a file is trusted: very many and very large ones have a
/// bound, and what a project writes takes nothing from the checks of its user.
#[tokio::test]
async fn l37_very_many_or_very_large_matchers_have_a_bound_and_are_no_pass() {
    let shells = |matchers: &[String]| {
        let entry = |(number, matcher): (usize, &String)| json!({ "command": format!("exit 2 # {number}"), "matcher": matcher });
        let entries: Vec<_> = matchers.iter().enumerate().map(entry).collect();
        json!({ "version": 1, "hooks": { "beforeShellExecution": entries } }).to_string()
    };
    let scripts = Scripts::new();
    let very_many: Vec<_> = (0..5_000).map(|number| format!(r"\w{{60}}x{number}")).collect();
    let of_project = scripts.write("of-project.json", &shells(&very_many));
    let of_user = scripts.write("of-user.json", &shells(&[r"r\w{1,9}m|rm".to_owned()]));
    let sources = [
        Source::new(Dialect::Cursor, of_project, Origin::Project),
        Source::new(Dialect::Cursor, of_user, Origin::User),
    ];
    let began = Instant::now();
    let plan = Plan::read(&sources, scripts.path());
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(plan.entries.len(), 5_001);
    let said = "the matcher `\\w{60}x4999` takes too much memory, alone or with those before it: \
                write smaller counts, or fewer of them";
    assert_eq!(plan.entries[4_999].skipped.as_deref(), Some(said));
    assert!(plan.entries[5_000].runs());
    let call = || UsingToolPayload {
        session_id: "s".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": "rm -rf x" }),
    };
    let hooks = HookRegistry::new();
    hooks.register(Bridge::new(scripts.path(), plan).gate::<UsingTool>()).unwrap();
    let gate = hooks.fire_gating::<UsingTool>(call()).await.unwrap();
    assert!(matches!(gate, Gate::Rejected(_)), "the user's own one decides");

    // One that is written again and again takes no more.
    let again = vec![r"\w{1,64}|rm".to_owned(); 200];
    let plan = read(Dialect::Cursor, "hooks.json", &shells(&again));
    assert_eq!(plan.entries.iter().filter(|entry| entry.runs()).count(), 200);

    // One that is too large is a mistake in its entry, not a text to be compared.
    let too_large = [r"(?:\w{99}){99}|rm".to_owned()];
    let plan = read(Dialect::Cursor, "hooks.json", &shells(&too_large));
    let hooks = HookRegistry::new();
    hooks.register(Bridge::new("/", plan).gate::<UsingTool>()).unwrap();
    let error = hooks.fire_gating::<UsingTool>(call()).await.unwrap_err();
    assert!(error.to_string().contains("takes too much memory"), "{error}");
}

/// Of many names that no tool has, the first are said.
#[test]
fn very_many_or_very_long_names_of_no_tool_are_read_in_no_time() {
    for matcher in ["Bas|".repeat(200_000), "Bash".repeat(200_000)] {
        let text = json!({ "hooks": { "PreToolUse": [ { "matcher": matcher, "hooks": [
            { "type": "command", "command": "true" } ] } ] } });
        let began = Instant::now();
        let plan = read(Dialect::ClaudeCode, "settings.json", &text.to_string());
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        let said = &plan.entries[0].suspicions;
        assert!((1..12).contains(&said.len()), "{}", said.len());
    }
}

#[test]
fn odd_texts_have_a_clear_error() {
    for (text, expected) in [
        ("", "the file ends where a value is expected"),
        ("[]", "an object is expected, not a list"),
        ("{\"hooks\": []}", "`hooks` must be an object, and is a list"),
        ("/*/ { } */ {}", "comments are not allowed here: remove it"),
    ] {
        let plan = read(Dialect::ClaudeCode, "settings.json", text);
        assert_eq!(plan.errors[0].text, expected, "{text}");
    }
    let plan = read(Dialect::Gemini, "settings.json", "/*/ not the end */ {\"hooks\": {}}");
    assert!(plan.errors.is_empty(), "{:?}", plan.errors);
}

#[test]
fn a_key_that_is_written_twice_is_said() {
    let text = r#"{ "hooks": {
        "Stop": [ { "hooks": [ { "type": "command", "command": "true" } ] } ],
        "Stop": [ { "hooks": [ { "type": "command", "command": "false" } ] } ] } }"#;
    let plan = read(Dialect::ClaudeCode, "settings.json", text);
    let said = plan.notices.iter().any(|notice| notice.text.contains("twice"));
    assert!(said, "{:?}", plan.notices);
}

/// A file of a project that nobody trusts is read before anybody is asked.
#[test]
fn very_many_events_that_are_none_are_read_in_no_time() {
    let group = r#"[{"hooks":[{"type":"command","command":"x"}]}]"#;
    let events: Vec<_> = (0..4_000).map(|index| format!("\"PreTolUse{index}x\":{group}")).collect();
    let long = format!("\"{}\":{group}", "PreToolUse".repeat(300_000));
    let text = format!("{{\"hooks\":{{{},{long}}}}}", events.join(","));
    let began = Instant::now();
    let plan = read(Dialect::ClaudeCode, "settings.json", &text);
    assert_eq!(plan.entries.len(), 4_001);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}
