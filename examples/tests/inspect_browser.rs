//! The live page of the running agent, in a real browser. `.ci/browser` runs these tests;
//! with `UPDATE_PICTURES` set they write the pictures of `hooks-inspect/README.md`.

mod support;

use std::time::Duration;

use hooks_browser::Browser;
use hooks_examples::inspected::Inspected;
use hooks_runtime::HookRegistry;
use hooks_runtime::operator::BreakerSettings;
use hooks_runtime::report::SkipReason;
use serde_json::Value;
use support::workspace;

/// The agent at work, one day after another, beside a browser that shows its page.
async fn with_page<T: Send + 'static>(
    pause: Duration,
    look: impl FnOnce(&mut Browser, &HookRegistry) -> T + Send + 'static,
) -> T {
    let mut inspected = Inspected::open(0, pause).await.expect("a page");
    let (address, hooks) = (inspected.address().to_owned(), inspected.hooks().clone());
    // On a thread: the browser's pipe blocks.
    let looking = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.visit(&address, 1280);
        browser.wait_for("document.querySelector('.handlers li')");
        look(&mut browser, &hooks)
    });
    let days = async {
        loop {
            inspected.day().await.expect("a day");
        }
    };
    tokio::select! {
        () = days => unreachable!("there is always another day"),
        looked = looking => looked.expect("the page is as it has to be"),
    }
}

/// How often the handler was called, and how often it was not because it is disabled.
fn counted(hooks: &HookRegistry) -> (u64, u64) {
    let handlers = hooks.handlers_of("skill-collector");
    let collect = &handlers[0];
    assert_eq!(collect.address(), HANDLER);
    (collect.calls, collect.skips.of(SkipReason::Disabled))
}

const HANDLER: &str = "agent_done:skill-collector/collect";

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn a_click_disables_a_handler_of_the_running_agent() {
    with_page(Duration::from_millis(20), |browser, hooks| {
        let row = "document.querySelector('[data-handler=\"agent_done:skill-collector/collect\"]')";
        browser.wait_for(row);
        browser.click(&format!("[data-handler=\"{HANDLER}\"] .change"));
        browser.wait_for("document.getElementById('change').open");
        assert_eq!(browser.eval("document.getElementById('c-what').value"), "disable");
        assert_eq!(browser.eval("document.getElementById('c-target').value"), HANDLER);
        for (field, text) in [("c-by", "ops"), ("c-why", "it is slow")] {
            browser.click(&format!("#{field}"));
            browser.keys(text);
        }
        let (called, skipped) = counted(hooks);
        assert!(called > 0 && skipped == 0, "it runs until then");
        browser.click("#c-apply");
        browser.wait_for("!document.getElementById('change').open");
        // A fire that began before may still be under way.
        let (called, _) = counted(hooks);

        // The next fire leaves it out, and the page says so, and by whom.
        browser.wait_for("[...document.querySelectorAll('#fires .chip.off')].some((it) => it.textContent === 'skill-collector/collect: off')");
        browser.wait_for(&format!("{row}.querySelector('.tag.set')?.textContent === 'disable by ops'"));
        let listed = browser.eval("document.getElementById('settings-list').innerText");
        let listed = listed.as_str().unwrap_or_default();
        assert!(listed.contains("by ops: it is slow"), "{listed}");
        browser.wait_for(&format!("/ skipped/.test({row}.querySelector('.skips').textContent)"));
        let (after, skipped) = counted(hooks);
        assert!(after <= called + 1 && skipped > 0, "{called} to {after}, {skipped} left out");

        // It holds from day to day: what was unloaded has come back, and this has not.
        let days = hooks.handlers_of("session-log")[0].calls;
        while hooks.handlers_of("session-log")[0].calls < days + 30 {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(counted(hooks).0, after);

        browser.click("#settings-list .clear");
        browser.wait_for("document.getElementById('settings').hidden");
        let until = std::time::Instant::now() + Duration::from_secs(20);
        while counted(hooks).0 == after {
            assert!(std::time::Instant::now() < until, "it is called again");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(browser.complaints(), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn nothing_of_the_agents_page_scrolls_sideways() {
    with_page(Duration::from_millis(20), |browser, _| {
        for width in [1280, 390] {
            browser.resize(width, 900);
            browser.wait_for("document.querySelectorAll('#fires > li').length > 50");
            let sideways =
                "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.eval(sideways), 0, "at {width}");
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "writes pictures: set UPDATE_PICTURES"]
async fn pictures_of_the_page() {
    if std::env::var_os("UPDATE_PICTURES").is_none() {
        return;
    }
    with_page(Duration::from_millis(400), |browser, hooks| {
        let operator = hooks.operator();
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        operator
            .disable(HANDLER)
            .by("ops")
            .because("its index is rebuilt")
            .until(minutes(60))
            .apply()
            .expect("a setting");
        operator
            .breaker("after_llm_call:*", BreakerSettings::consecutive(1))
            .by("ops")
            .because("the statistics server is down")
            .apply()
            .expect("a setting");
        operator
            .disable("before_tool_call:allowlist/known_commands")
            .break_glass("incident 12: the list is wrong")
            .by("ops")
            .until(minutes(10))
            .apply()
            .expect("a setting");
        std::thread::sleep(Duration::from_secs(9));
        for (name, dark, width, height) in
            [("light", false, 1280, 900), ("dark", true, 1280, 900), ("narrow", false, 390, 1000)]
        {
            browser.set_dark(dark);
            browser.resize(width, height);
            std::thread::sleep(Duration::from_millis(1500));
            let path = workspace().join(format!("hooks-inspect/page-{name}.png"));
            std::fs::write(path, decoded(&browser.picture())).expect("a picture");
        }
        assert_eq!(browser.eval("document.images.length"), Value::from(0));
    })
    .await;
}

/// Base64, as the browser sends pictures.
fn decoded(text: &str) -> Vec<u8> {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = letters.iter().position(|it| *it == letter).expect("base64");
        bits = bits << 6 | u32::try_from(value).expect("six bits");
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).expect("eight bits"));
        }
    }
    bytes
}
