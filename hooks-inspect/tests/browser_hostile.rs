//! The page in a real browser, against texts that do not fit and streams that break.
//! `.ci/browser` runs these tests.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::get;
use hooks_browser::Browser;
use hooks_runtime::on;
use serde_json::{Value, json};
use support::{Host, Ordered, OrderedPayload};

/// Looks at a page in a browser: on a thread, since the browser's pipe blocks.
async fn look<T: Send + 'static>(
    address: String,
    look: impl FnOnce(&mut Browser) -> T + Send + 'static,
) -> T {
    let looking = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.visit(&address, 1280);
        browser.wait_for("document.querySelector('.handlers li')");
        look(&mut browser)
    });
    looking.await.expect("the page is as it has to be")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn long_texts_do_not_widen_the_page() {
    let host = Host::new();
    let name = "n".repeat(200);
    let failing = on::<Ordered>().name(name.as_str()).plugin("long");
    let failing = failing.handler(|_: &OrderedPayload| Err("e".repeat(3_000)));
    host.hooks.register(failing).unwrap();
    let operator = host.hooks.operator();
    let setting = operator.disable("ordered:stats/count").by("b".repeat(200));
    setting.because("w".repeat(1_000)).apply().unwrap();
    let inspector = host.inspector().title("t".repeat(300)).catalogue("g".repeat(300), grouped());
    let served = inspector.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    host.order("lamp").await;
    let handler = format!("ordered:long/{name}");
    look(served.address().to_owned(), move |browser| {
        browser.wait_for("document.querySelector('#failures .text')");
        for width in [1280, 390] {
            browser.resize(width, 900);
            let wide = |element: &str| format!("{element}.scrollWidth - {element}.clientWidth");
            assert_eq!(browser.eval(&wide("document.documentElement")), 0, "at {width}");
            let row = format!(
                "[...document.querySelectorAll('[data-handler]')].find((it) => it.dataset.handler === '{handler}')"
            );
            browser.eval(&format!("{row}.querySelector('.handler-name').click()"));
            browser.wait_for("document.querySelector('#details-failures code')");
            let details = "document.getElementById('details')";
            assert_eq!(browser.eval(&wide(details)), 0, "the details at {width}");
            browser.key("Escape");
        }
    })
    .await;
}

/// Turns the direction, ends a line, is not seen.
const ODD: &str = "odd \u{202e}txet\u{2028}\u{200b}\u{7}";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn what_is_not_seen_is_written_out() {
    let host = Host::new();
    host.hooks
        .register([
            on::<Ordered>().name("odd").plugin("a").handler(|_: &OrderedPayload| Err(ODD)),
            on::<Ordered>().name("mute").plugin("b").handler(|_: &OrderedPayload| Err("")),
        ])
        .unwrap();
    let operator = host.hooks.operator();
    operator.disable("ordered:stats/count").by("ops").because(ODD).apply().unwrap();
    let served = host.inspector().title(ODD).serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    host.order("lamp").await;
    let (found, raw, complaints) = look(served.address().to_owned(), |browser| {
        browser.wait_for("document.querySelectorAll('#failures .text').length === 2");
        browser.eval(
            "document.querySelector('[data-handler$=\"stats/count\"] .handler-name').click()",
        );
        browser.wait_for("document.querySelector('#details-body td')");
        let said = r"odd \u{202e}txet\u{2028}\u{200b}\u{7}";
        let found = ["#title", "#settings-list", "#failures", "#details"].map(|place| {
            let text = browser.eval(&format!("document.querySelector('{place}').textContent"));
            text.as_str().is_some_and(|text| text.contains(said))
        });
        let raw = browser.eval(r"/[\u202e\u2028\u200b\u0007]/.test(document.body.textContent)");
        (found, raw, browser.complaints())
    })
    .await;
    assert_eq!((found, raw, complaints), ([true; 4], json!(false), Vec::new()));
}

hooks_runtime::hook_points! {
    #![hook(catalogue = fn grouped)]
    /// In a group of its own.
    pub(crate) void Alone { item: String }
}

/// A stream as of a host that ended and began anew, whose numbers begin anew as well, and
/// which then has no place for the page.
fn broken_stream(times: &AtomicUsize) -> axum::response::Response {
    let fire = |point: &str| {
        json!({
            "id": 1, "run": null, "parent": null, "depth": 0, "point": point, "model": "void",
            "outcome": "notified", "error": null, "at_ms": 0, "took_ns": 1, "handlers": [],
            "more": 0, "break_glass": 0,
        })
    };
    let point = match times.fetch_add(1, Ordering::Relaxed) {
        0 => "before",
        1 => "after",
        _ => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    let batch = json!({ "fires": [fire(point)], "missed": 0, "ended": null });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, format!("retry: 50\nevent: fires\ndata: {batch}\n\n")).into_response()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn a_stream_that_begins_anew_and_ends_is_shown_as_it_is() {
    let host = Host::new();
    let times = Arc::new(AtomicUsize::new(0));
    let app = Router::new()
        .route("/api/fires", get(async move || broken_stream(&times)))
        .fallback_service(host.reading().router());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let serving = tokio::spawn(async { axum::serve(listener, app).await });
    let (points, seen) = look(address, |browser| {
        browser.wait_for("/closed/.test(document.getElementById('seen').textContent)");
        let points = "[...document.querySelectorAll('#fires > li')].map((it) => it.dataset.point)";
        (browser.eval(points), browser.eval("document.getElementById('seen').textContent"))
    })
    .await;
    serving.abort();
    assert_eq!(points, json!(["after", "before"]));
    assert_eq!(seen, Value::from("2 fires, the stream is closed: load the page again"));
}
