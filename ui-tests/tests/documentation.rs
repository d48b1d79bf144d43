//! What `cargo doc` shows of what the macros write: the text, the model, the
//! wire name, the payload and an example for each point, and nothing that is
//! meant to stay hidden.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The root of the pages, made once.
fn pages() -> &'static Path {
    static PAGES: OnceLock<PathBuf> = OnceLock::new();
    PAGES.get_or_init(|| {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let made = Command::new(env!("CARGO"))
            .current_dir(&workspace)
            // As docs.rs makes them: a link to what a feature adds leads somewhere.
            .args(["doc", "--quiet", "--no-deps", "--all-features"])
            .args(["-p", "hooks-ui-tests", "-p", "hooks-points", "-p", "hooks-runtime"])
            .status()
            .expect("cargo runs");
        assert!(made.success(), "the documentation is made");
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        target.unwrap_or_else(|| workspace.join("target")).join("doc")
    })
}

/// A page as its reader sees it: without tags, with single spaces.
fn page(path: &str) -> String {
    let html =
        fs::read_to_string(pages().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    let mut in_tag = false;
    for letter in html.chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ if !in_tag => text.push(letter),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The names of the pages in a folder.
fn names(folder: &str) -> BTreeSet<String> {
    let entries =
        fs::read_dir(pages().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "html"))
        .collect()
}

/// The examples that stand in the documentation of the sample.
const EXAMPLES: &str = include_str!("../cases/pass/generated_examples.rs");

#[test]
fn every_model_of_point_documents_itself() {
    let cases = [
        (
            "SessionStart",
            "A session begins, before anything else happens in it. Void hook point, wire name \
             session_start, payload SessionStartPayload.",
        ),
        (
            "BeforePrompt",
            "Before the prompt is put together. Modifying hook point, wire name before_prompt, \
             payload BeforePromptPayload, result BeforePromptResult.",
        ),
        (
            "Route",
            "Which desk takes this message? Claiming hook point, wire name route, payload String, \
             result u32.",
        ),
        (
            "Sending",
            "Before a message leaves. Gating hook point, wire name sending, payload String.",
        ),
        (
            "CallTool",
            "One call, stage by stage. Flow hook point, wire name tools:call, payload String, \
             result u32.",
        ),
    ];
    for (point, said) in cases {
        let page = page(&format!("hooks_ui_tests/sample/struct.{point}.html"));
        assert!(page.contains(said), "{point}: {page}");
        // The case of that name compiles them.
        let examples: Vec<&str> = EXAMPLES
            .lines()
            .map(str::trim)
            .filter(|line| {
                line.contains(&format!("<{point}>")) || line.contains(&format!("<{point},"))
            })
            .collect();
        assert_eq!(examples.len(), 2, "{point}");
        assert!(page.contains(&examples.join(" ")), "{point} has no {examples:?}: {page}");
    }
    let payload = page("hooks_ui_tests/sample/struct.SessionStartPayload.html");
    assert!(payload.contains("The payload of SessionStart."), "{payload}");
    assert!(payload.contains("Which session it is."), "{payload}");
}

#[test]
fn what_is_hidden_stays_hidden() {
    // A handler is a function and nothing else; a plugin has no new items.
    let expected = [
        "fn.begin.html",
        "fn.log_session.html",
        "fn.register.html",
        "index.html",
        "struct.BeforePrompt.html",
        "struct.BeforePromptPayload.html",
        "struct.BeforePromptResult.html",
        "struct.CallTool.html",
        "struct.Guard.html",
        "struct.Route.html",
        "struct.Sending.html",
        "struct.SessionStart.html",
        "struct.SessionStartPayload.html",
    ];
    assert_eq!(names("hooks_ui_tests/sample"), expected.map(str::to_owned).into());
    assert_eq!(
        names("hooks_ui_tests/sample/audit"),
        ["fn.record.html", "index.html"].map(str::to_owned).into()
    );
    for krate in ["hooks_runtime", "hooks_points", "hooks_ui_tests"] {
        let all = page(&format!("{krate}/all.html"));
        assert!(!all.contains("__"), "{krate} shows what is hidden: {all}");
    }
    let on = page("hooks_runtime/handler/struct.On.html");
    assert!(on.contains("pub fn handler<") && !on.contains("__"), "{on}");
}

#[test]
fn every_ready_made_point_documents_itself() {
    let mut points = 0;
    for module in ["agent", "gateway", "lifecycle", "mcp"] {
        for name in names(&format!("hooks_points/{module}")) {
            let page = page(&format!("hooks_points/{module}/{name}"));
            if !page.contains("impl HookPoint for") {
                continue;
            }
            points += 1;
            assert!(page.contains(" hook point, wire name "), "{module}/{name}");
            assert!(page.contains("hooks.register_"), "{module}/{name}");
        }
    }
    assert_eq!(points, 37);
}
