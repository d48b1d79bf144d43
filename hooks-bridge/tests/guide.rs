//! What the guide shows is what is there, and what the tool prints.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use hooks_bridge::config::Plan;
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect};
use hooks_runtime::HookRegistry;
use hooks_runtime::operator::SettingsFile;
use serde_json::json;
use support::Scripts;

const GUIDE: &str = include_str!("../src/docs/guide.md");
const SETTINGS: &str = include_str!("guide/.claude/settings.json");
const GUARD: &str = include_str!("guide/hooks/guard.sh");

/// The project of the guide, in a folder of its own.
fn shop() -> Scripts {
    let scripts = Scripts::new();
    scripts.write(".claude/settings.json", SETTINGS);
    scripts.script("hooks/guard.sh", GUARD);
    let call = GUIDE.split("Its `call.json` is `").nth(1).unwrap().split('`').next().unwrap();
    scripts.write("call.json", call);
    scripts
}

/// What a line of the guide prints, without what differs from run to run.
fn printed(shop: &Scripts, line: &str) -> String {
    let (arguments, stdin) = line.split_once(" < ").unwrap_or((line, "/dev/null"));
    let stdin = std::fs::File::open(shop.path().join(stdin)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hooks-bridge"))
        .args(arguments.split(' '))
        .current_dir(shop.path())
        .env_clear()
        .envs([("PATH", std::env::var("PATH").unwrap()), ("HOME", "/no/home".into())])
        .stdin(stdin)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let folder = shop.path().canonicalize().unwrap();
    let text = text.replace(folder.to_str().unwrap(), "/srv/shop");
    let digest = |word: &str| word.len() == 64 && word.bytes().all(|it| it.is_ascii_hexdigit());
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        if digest(word.trim_end()) {
            word.replace(word.trim_end(), "<digest>")
        } else {
            word.into()
        }
    });
    let text = words.collect::<String>();
    match text.split_once("\"took_ms\":").filter(|(_, rest)| !rest.starts_with("null")) {
        Some((before, rest)) => {
            let behind = rest.split_once(',').unwrap().1;
            format!("{before}\"took_ms\":<ms>,{behind}")
        }
        None => text,
    }
}

#[test]
fn the_files_of_the_guide_are_those_that_its_programs_run() {
    assert!(GUIDE.contains(&format!("```json\n{SETTINGS}```")), "settings.json");
    assert!(GUIDE.contains(&format!("```sh\n{GUARD}```")), "guard.sh");
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guide/hooks/guard.sh").exists());
}

#[test]
fn the_tool_prints_what_the_guide_shows() {
    let shop = shop();
    let blocks = GUIDE.split("```text\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut shown = 0;
    for block in blocks.filter(|block| block.starts_with("$ hooks-bridge ")) {
        for command in block.split("$ hooks-bridge ").skip(1) {
            let (line, expected) = command.split_once('\n').unwrap();
            assert_eq!(printed(&shop, line), expected, "{line}");
            shown += 1;
        }
    }
    assert_eq!(shown, 4);
}

/// A report without what differs from run to run: times, and columns that are as wide as they.
fn timeless(report: &str) -> String {
    let is_time = |word: &str| {
        let word = word.trim_end_matches('}');
        let number = ["ns", "µs", "ms", "s"].iter().find_map(|unit| word.strip_suffix(unit));
        // `2s` and `30s` are settings.
        number.is_some_and(|number| number.contains('.') && number.parse::<f64>().is_ok())
    };
    let line = |line: &str| {
        let words = line.split_whitespace();
        let words: Vec<_> = words.map(|it| if is_time(it) { "<time>" } else { it }).collect();
        words.join(" ")
    };
    report.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_report_of_the_guide_is_what_its_program_prints() {
    let block = GUIDE.split("It prints:\n\n```text\n").nth(1).unwrap();
    let shown = block.split("```").next().unwrap();
    let settings = GUIDE.split("SettingsFile::parse(").nth(1).unwrap();
    let settings = settings.split("r#\"").nth(1).unwrap().split("\"#").next().unwrap();

    let project = Path::new("tests/guide").canonicalize().unwrap();
    let plan = Plan::read(&Plan::files(Dialect::ClaudeCode, &project, None), &project);
    let hooks = HookRegistry::new();
    let bridge = Bridge::new(&project, plan).trust(Trust::everything());
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let operator = hooks.operator();
    operator.load(&SettingsFile::parse(settings)).unwrap();
    let shadow = operator.shadow("using_tool:claude-code/guard.sh").break_glass("the guard is new");
    shadow.by("ops").until(Duration::from_hours(1)).apply().unwrap();
    let call = UsingToolPayload {
        session_id: "s-1".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: json!({ "command": "rm -rf /srv" }),
    };
    let (_, report) = hooks.fire_gating_reported::<UsingTool>(call).await;
    assert_eq!(timeless(&report.to_string()), timeless(shown), "{report}");
}
