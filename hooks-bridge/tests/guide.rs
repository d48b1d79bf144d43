//! What the guide shows is what is there, and what the tool prints.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

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
