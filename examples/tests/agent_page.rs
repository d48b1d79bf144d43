//! The page: it needs nothing else, nothing in it is taken for markup, and a
//! real browser shows it.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use hooks_examples::agent::{Record, line};
use hooks_examples::day;
use hooks_examples::view;
use serde_json::{Value, json};
use support::fires;
use tempfile::TempDir;

/// What an attacker could write to get code into the page.
const HOSTILE: &str =
    "</p><script>window.injected = 1</script><img src=x onerror=\"injected = 2\">'&";

/// A day with a hostile message at its end, as a page.
async fn hostile_page() -> (String, Vec<Record>) {
    let house = day::house().expect("a house");
    let mut records = Vec::new();
    day::live(&house, |record| records.push(record)).await.expect("a day");
    let (inlet, inbox) = line();
    inlet.write("cli", "desk", HOSTILE);
    drop(inlet);
    house.agent.serve(inbox, |record| records.push(record)).await;
    let summary = view::summary(&house).expect("a summary");
    (view::page(&records, &summary), records)
}

#[tokio::test]
async fn the_page_needs_nothing_else() {
    let (page, _) = hostile_page().await;
    let page = page.replace("&lt;img src=x", "");
    for reference in ["http:", "https:", " src=", " href=", "<link", "<script", "@import", "url("] {
        assert!(!page.contains(reference), "the page has {reference}");
    }
}

#[tokio::test]
async fn nothing_in_it_is_taken_for_markup() {
    let (page, _) = hostile_page().await;
    let shown = "&lt;/p&gt;&lt;script&gt;window.injected = 1&lt;/script&gt;\
                 &lt;img src=x onerror=&quot;injected = 2&quot;&gt;&#39;&amp;";
    assert!(page.contains(shown));
    assert!(!page.contains("<script"));
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn a_browser_shows_the_page_whole() {
    let (page, records) = hostile_page().await;
    let fired: usize = records.iter().map(|record| fires(record).len()).sum();
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("page.html");
    std::fs::write(&file, page + PROBE).expect("a page");

    for width in [1280, 600] {
        let dom = browse(&file, width, &["--dump-dom"]);
        let found = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
        let found: Value = serde_json::from_str(found.expect("a title")).expect("JSON");
        let expected = json!({
            "fires": fired,
            "groups": true,
            "sideways": 0,
            "loaded": 0,
            "injected": false,
            "hostile": true,
        });
        assert_eq!(found, expected, "at a width of {width}");
    }

    let picture = folder.path().join("page.png");
    browse(&file, 1280, &[&format!("--screenshot={}", picture.display())]);
    let picture = std::fs::read(picture).expect("a picture");
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
    assert!(picture.len() > 50_000, "an empty page makes a small picture");
}

/// Asks the browser, from inside of the page, what it made of it.
const PROBE: &str = r"<script>
document.title = JSON.stringify({
    fires: document.querySelectorAll('.fire').length,
    groups: [...document.querySelectorAll('.group')].every(group => group.children.length === 2),
    sideways: Math.max(0, document.documentElement.scrollWidth - innerWidth),
    loaded: performance.getEntriesByType('resource').length,
    injected: 'injected' in window,
    hostile: document.body.innerText.includes('</p><script>window.injected = 1'),
});
</script>";

/// Runs the browser on a file; returns what it prints.
fn browse(file: &Path, width: u32, arguments: &[&str]) -> String {
    let browser = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
    let profile = TempDir::new().expect("a profile");
    let output = Command::new(PathBuf::from(browser))
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args([
            format!("--user-data-dir={}", profile.path().display()),
            format!("--window-size={width},1600"),
        ])
        .args(arguments)
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser starts; CHROMIUM says where it is");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
