//! The page of a replay in a real browser: two timelines side by side, differences marked.
//! `.ci/browser` runs these tests.

use hooks_browser::Browser;
use hooks_examples::agent::line;
use hooks_examples::recorded::Recorded;
use hooks_examples::replayed::replay_of;
use hooks_examples::{day, view};
use hooks_runtime::replay::ReplayReport;
use serde_json::json;
use tempfile::TempDir;

/// What an attacker could write to get code into the page.
const HOSTILE: &str =
    "password </p><script>window.injected = 1</script><img src=x onerror=\"injected = 2\">'&";

/// A day with a hostile message, replayed without the plugins that refused something.
async fn page(folder: &TempDir) -> ReplayReport {
    let (house, file) = (day::house().expect("a house"), folder.path().join("day.jsonl"));
    let recording = Recorded::start(house.agent.hooks(), &file).expect("a recording");
    day::live(&house, drop).await.expect("a day");
    let (inlet, inbox) = line();
    inlet.write("cli", "desk", HOSTILE);
    drop(inlet);
    house.agent.serve(inbox, drop).await;
    recording.close().await;
    let today = day::house().expect("a house");
    let replay = replay_of(&file, today.agent.hooks()).without("allowlist").without("privacy");
    let report = replay.run().await.expect("a replay");
    let html = view::replay_page(&report, &format!("a day <b>without</b> {HOSTILE}"));
    std::fs::write(folder.path().join("replay.html"), html).expect("a page");
    report
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn both_timelines_are_whole_at_every_width_and_load_nothing() {
    let folder = TempDir::new().expect("a folder");
    let report = page(&folder).await;
    let mut browser = Browser::start();
    let changed = report.changed().count();
    assert_eq!(changed, 4, "{report}");
    for (width, dark) in [(1280, false), (760, true), (390, false), (390, true)] {
        browser.set_dark(dark);
        browser.open(&folder.path().join("replay.html"), "", width);
        let found = browser.eval(
            "({
                sections: document.querySelectorAll('section[id]').length,
                sideways: Math.max(0, document.documentElement.scrollWidth - innerWidth),
                cut: [...document.querySelectorAll('.pair > div, .title, .chip')]
                    .filter((it) => it.checkVisibility() && it.scrollWidth > it.clientWidth + 1 && it.clientWidth)
                    .length,
                stacked: (() => {
                    const [then, now] = document.querySelector('.timelines .pair').children;
                    return now.getBoundingClientRect().top > then.getBoundingClientRect().top;
                })(),
                marked: [...document.querySelectorAll('.pair.differs')].every((it) =>
                    getComputedStyle(it).backgroundColor !== getComputedStyle(it.parentElement).backgroundColor),
                paper: getComputedStyle(document.body).backgroundColor,
                loaded: performance.getEntriesByType('resource').length,
                scripts: document.scripts.length,
                injected: 'injected' in window,
                hostile: document.body.textContent.includes('</p><script>window.injected = 1'),
            })",
        );
        let paper = if dark { "rgb(23, 25, 28)" } else { "rgb(246, 245, 241)" };
        let expected = json!({
            "sections": changed, "sideways": 0, "cut": 0, "stacked": width == 390, "marked": true,
            "paper": paper, "loaded": 0, "scripts": 0, "injected": false, "hostile": true,
        });
        assert_eq!(found, expected, "at a width of {width}");
        assert_eq!(browser.complaints(), Vec::<String>::new());
    }
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn each_fire_that_differs_shows_what_was_and_what_would_be() {
    let folder = TempDir::new().expect("a folder");
    let report = page(&folder).await;
    let refused = report.changed().find(|fire| fire.point == "before_tool_call").expect("a fire");
    let mut browser = Browser::start();
    browser.open(&folder.path().join("replay.html"), "", 1280);
    let rows = browser.eval(&format!(
        "[...document.querySelectorAll('#fire-{} .timelines > li')].map((row) =>
            [row.classList.contains('differs'), ...[...row.children].map((it) => it.textContent.trim())])",
        refused.fire
    ));
    assert_eq!(
        rows,
        json!([
            [true, "allowlist/known_commands set error", "not there ≠ removed"],
            [false, "sandboxer/stay_inside ran", "sandboxer/stay_inside ran"],
            [false, "audit-log/refusal ran", "audit-log/refusal ran"],
            [true, "came to amended", "came to unchanged"],
        ])
    );
    // The payload is there to be opened, also by the keyboard.
    let payload = format!("#fire-{} details", refused.fire);
    browser.click(&format!("{payload} summary"));
    let shown = browser.eval(&format!("document.querySelector('{payload} code').textContent"));
    assert!(shown.as_str().expect("text").contains("rm -rf ."), "{shown}");
}
