//! The page in a real browser: what is hostile is inert, gates ask, filters and pauses work,
//! thousands of handlers do not stop it. `.ci/browser` runs these tests.

mod support;

use std::time::Duration;

use hooks_browser::Browser;
use hooks_inspect::{Inspector, Token};
use hooks_runtime::{HookRegistry, on};
use serde_json::{Value, json};
use support::{Host, Ordered, OrderedPayload, PayingPayload};

/// A browser that shows the page of an inspector, beside what runs.
async fn beside<T: Send + 'static>(
    inspector: Inspector,
    runs: impl Future<Output = ()>,
    look: impl FnOnce(&mut Browser, &str) -> T + Send + 'static,
) -> T {
    let served = inspector.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = served.address().to_owned();
    // On a thread: the browser's pipe blocks.
    let looking = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.visit(&address, 1280);
        browser.wait_for("document.querySelector('.handlers li')");
        look(&mut browser, &address)
    });
    tokio::select! {
        () = runs => unreachable!("it runs until the page was looked at"),
        looked = looking => looked.expect("the page is as it has to be"),
    }
}

/// Fires now and then.
async fn orders(host: &Host) {
    loop {
        host.order("lamp").await;
        host.order("chair").await;
        let paid = host.hooks.fire_gating::<support::Paying>(PayingPayload { cents: 500 }).await;
        drop(paid);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn row(handler: &str) -> String {
    format!(
        "[...document.querySelectorAll('[data-handler]')].find((it) => it.dataset.handler === {handler:?})"
    )
}

/// Opens the form for a change of a handler.
fn change(browser: &mut Browser, handler: &str) {
    browser.eval(&format!("{}.querySelector('.change').id = 'clicked'", row(handler)));
    browser.click("#clicked");
    browser.eval("document.getElementById('clicked').removeAttribute('id')");
    browser.wait_for("document.getElementById('change').open");
}

/// Types into a field.
fn fill(browser: &mut Browser, field: &str, text: &str) {
    browser.click(&format!("#{field}"));
    browser.keys(text);
}

/// Without a `/`, which the name of a handler cannot have.
const HOSTILE: &str =
    "<img src=x onerror=\"window.injected = 1\"><svg onload=\"window.injected = 2\">";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn what_handlers_and_operators_say_stays_text() {
    let host = Host::new();
    let evil = on::<Ordered>().name(HOSTILE).plugin("evil");
    host.hooks.register(evil.handler(|_: &OrderedPayload| Err(HOSTILE))).unwrap();
    host.hooks
        .operator()
        .disable("ordered:stats/count")
        .by(HOSTILE)
        .because(HOSTILE)
        .apply()
        .unwrap();
    let inspector = host.inspector().title(HOSTILE);
    let shown = beside(inspector, orders(&host), |browser, _| {
        browser.wait_for("document.querySelector('#fires .remark.bad')");
        browser.wait_for("document.querySelector('#failures .text')");
        let handler = format!("ordered:evil/{HOSTILE}");
        browser.eval(&format!("{}.querySelector('.handler-name').click()", row(&handler)));
        browser.wait_for("document.querySelector('#details-failures code')");
        let places = ["#title", "#settings-list", "#groups", "#fires", "#failures", "#details"];
        let found = places.map(|place| {
            browser.eval(&format!(
                "document.querySelector('{place}').textContent.includes({HOSTILE:?})"
            ))
        });
        let inert = browser.eval(
            "({ injected: 'injected' in window, images: document.images.length,
                scripts: document.scripts.length, title: document.title })",
        );
        (found, inert, browser.complaints())
    })
    .await;
    let title = format!("{HOSTILE} · hooks");
    let inert = json!({ "injected": false, "images": 0, "scripts": 1, "title": title });
    assert_eq!(shown, ([true; 6].map(Value::Bool), inert, Vec::new()));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn a_gate_asks_for_the_break_glass_reason() {
    let host = Host::new();
    let asked = beside(host.inspector(), orders(&host), |browser, _| {
        let glass = "document.getElementById('c-glass').checkVisibility()";
        change(browser, "ordered:stats/count");
        let plain = browser.eval(glass);
        browser.click("#c-cancel");
        change(browser, "paying:limit");
        let meaning = browser.eval("document.getElementById('c-meaning').textContent");
        let label = browser.eval("document.getElementById('c-why-label').textContent");
        let forever =
            browser.eval("document.querySelector('#c-until option[value=\"\"]').disabled");
        fill(browser, "c-by", "ops");
        fill(browser, "c-why", "the till is broken");
        browser.click("#c-apply");
        // Not before it is said that it is meant.
        let error = browser.eval("document.getElementById('c-error').textContent");
        browser.click("#c-meant");
        browser.click("#c-apply");
        browser.wait_for("!document.getElementById('change').open");
        browser.wait_for("document.querySelector('#settings-list li.glass')");
        let tile = browser.eval("document.getElementById('tile-glass').className");
        let said = browser.eval("document.querySelector('#settings-list li').innerText");
        browser.wait_for("document.querySelector('#fires .chip.off')");
        (plain, meaning, label, forever, error, tile, said)
    })
    .await;
    let (plain, meaning, label, forever, error, tile, said) = asked;
    assert_eq!(plain, false, "no gate");
    assert_eq!(
        meaning,
        "paying:limit stands at a gate. If it is not called, what it would have refused passes.",
    );
    assert_eq!((label, forever), (json!("Reason, for every report while it holds"), json!(true)));
    assert_eq!(error, "Say that you mean it, or choose another setting.");
    assert_eq!(tile, "alarm");
    let said = said.as_str().unwrap();
    for part in
        ["break-glass", "disable of paying:limit", "by ops: the till is broken", "ends in 10 min"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let setting = &host.hooks.operator().settings()[0];
    assert!(setting.is_break_glass() && setting.ends_in().is_some());
    assert_eq!((setting.by(), setting.why()), (Some("ops"), Some("the till is broken")));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn the_timeline_pauses_and_filters() {
    let host = Host::new();
    beside(host.inspector(), orders(&host), |browser, _| {
        let points = "[...new Set([...document.querySelectorAll('#fires > li')].map((it) => it.dataset.point))].sort().join()";
        let ids = "[...document.querySelectorAll('#fires .time')].map((it) => it.textContent).join()";
        browser.wait_for(&format!("{points} === 'ordered,paying'"));
        fill(browser, "by-point", "pay");
        browser.wait_for(&format!("{points} === 'paying'"));
        browser.eval("document.getElementById('by-point').value = ''");
        browser.choose("by-outcome", "notified");
        browser.wait_for(&format!("{points} === 'ordered'"));
        browser.choose("by-outcome", "!");
        browser.wait_for(&format!("{points} === 'ordered,paying'"));
        let calm = "[...document.querySelectorAll('#fires > li')].every((it) => it.querySelector('.trouble, .chip.failed'))";
        assert_eq!(browser.eval(calm), true);
        browser.choose("by-outcome", "");
        fill(browser, "by-handler", "post/");
        browser.wait_for(&format!("{points} === 'ordered'"));
        browser.eval("document.getElementById('by-handler').value = ''");
        fill(browser, "by-text", "too much");
        browser.wait_for(&format!("{points} === 'paying'"));
        browser.eval("document.getElementById('by-text').value = ''");
        browser.choose("by-outcome", "");
        browser.wait_for(&format!("{points} === 'ordered,paying'"));

        // By its key, where no field has the focus.
        browser.eval("document.activeElement.blur()");
        browser.key("p");
        browser.wait_for("/paused, [1-9]/.test(document.getElementById('seen').textContent)");
        let (before, pressed) = (browser.eval(ids), "document.getElementById('pause').ariaPressed");
        assert_eq!(browser.eval(pressed), "true");
        browser.wait_for("/paused, [1-9][0-9]/.test(document.getElementById('seen').textContent)");
        assert_eq!(browser.eval(ids), before, "nothing moves while it is paused");
        browser.click("#pause");
        browser.wait_for(&format!("{ids} !== {before}"));
        assert_eq!(browser.eval(pressed), "false");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn nothing_scrolls_sideways_and_the_token_leaves_the_address() {
    let host = Host::new();
    beside(host.inspector(), orders(&host), |browser, address| {
        assert_eq!(browser.eval("location.hash"), "");
        assert_eq!(browser.eval("location.href"), address.split('#').next().unwrap());
        assert_eq!(browser.eval("Object.values(sessionStorage)[0]"), support::TOKEN);
        for width in [1280, 760, 390, 320] {
            browser.resize(width, 900);
            browser.wait_for("document.querySelector('#fires > li')");
            let beyond = browser.eval(
                "[...document.querySelectorAll('body *')].filter((it) => it.checkVisibility()
                    && it.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
                    .map((it) => it.outerHTML.slice(0, 80))",
            );
            assert_eq!(beyond, json!([]), "at {width}");
            let sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.eval(sideways), 0, "at {width}");
            change(browser, "paying:limit");
            let wide = "document.getElementById('change').scrollWidth - document.getElementById('change').clientWidth";
            assert_eq!(browser.eval(wide), 0, "the form at {width}");
            browser.key("Escape");
        }
        let resources = "performance.getEntriesByType('resource').map((it) => new URL(it.name).pathname.split('/')[1])";
        let loaded: Vec<String> = serde_json::from_value(browser.eval(resources)).unwrap();
        assert!(loaded.iter().all(|path| path == "api"), "{loaded:?}");
        // All of it has a name for those who do not see it.
        let nameless = browser.eval(
            "[...document.querySelectorAll('input, select, button')].filter((it) => it.checkVisibility()
                && !(it.labels?.length || it.ariaLabel || it.textContent.trim())).map((it) => it.outerHTML)",
        );
        assert_eq!(nameless, json!([]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn a_page_without_an_operator_says_that_it_only_reads() {
    let host = Host::new();
    beside(host.reading(), orders(&host), |browser, _| {
        let said = browser.eval("document.getElementById('access-text').textContent");
        assert_eq!(said, "This page only reads.");
        let buttons = "[...document.querySelectorAll('.change, .clear')].filter((it) => it.checkVisibility()).length";
        assert_eq!(browser.eval(buttons), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn thousands_of_handlers_do_not_stop_the_page() {
    let hooks = HookRegistry::new();
    let handlers = (0..5_000).map(|number| {
        let handler =
            on::<Ordered>().name(format!("h{number}")).plugin(format!("p{}", number % 50));
        handler.handler(|_: &OrderedPayload| ())
    });
    hooks.register(handlers.collect::<Vec<_>>()).unwrap();
    let token = Token::new(support::TOKEN).unwrap();
    let served = Inspector::new(&hooks).operator(hooks.operator(), token);
    let served = served.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = served.address().to_owned();
    let looking = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.visit(&address, 1280);
        browser.wait_for("document.querySelector('.point')");
        // They are collapsed until one looks.
        assert_eq!(browser.eval("document.querySelectorAll('[data-handler]').length"), 0);
        browser.click(".point summary");
        browser.wait_for("document.querySelectorAll('[data-handler]').length === 200");
        browser.eval(
            "window.longest = 0; new PerformanceObserver((list) => list.getEntries()
                .forEach((it) => { window.longest = Math.max(window.longest, it.duration); }))
                .observe({ type: 'longtask' })",
        );
        fill(&mut browser, "find", "p7/h4957");
        browser.wait_for("document.querySelectorAll('[data-handler]').length === 1");
        std::thread::sleep(Duration::from_secs(3));
        browser.eval("window.longest")
    });
    let fires = async {
        loop {
            hooks.fire_void::<Ordered>(&OrderedPayload { item: "lamp".into() }).await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let longest = tokio::select! {
        () = fires => unreachable!("it runs until the page was looked at"),
        longest = looking => longest.expect("the page is as it has to be"),
    };
    // Printed, not judged: a busy machine would decide. What keeps it short is asserted above,
    // by how many handlers are in the document.
    println!("the longest task of the page: {longest} ms");
}
