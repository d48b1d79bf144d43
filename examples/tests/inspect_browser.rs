//! The live page of the running agent, in a real browser. `.ci/browser` runs these tests;
//! with `UPDATE_PICTURES` set they write the pictures of `hooks-inspect/README.md`.

mod support;

use std::time::Duration;

use hooks_browser::Browser;
use hooks_examples::inspected::Inspected;
use serde_json::json;
use support::workspace;

/// The agent at work beside a browser that shows its page.
async fn with_page(width: u32, look: impl FnOnce(&mut Browser) + Send + 'static) {
    let mut inspected = Inspected::open(0, Duration::from_millis(20)).await.expect("a page");
    let address = inspected.address().to_owned();
    // The page is looked at from a thread: the browser's pipe blocks.
    let looking = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.visit(&address, width);
        look(&mut browser);
    });
    tokio::pin!(looking);
    loop {
        tokio::select! {
            day = inspected.day() => day.expect("a day"),
            looked = &mut looking => return looked.expect("the page is as it has to be"),
        }
    }
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn pictures_of_the_page() {
    if std::env::var_os("UPDATE_PICTURES").is_none() {
        return;
    }
    with_page(1440, |browser| {
        std::thread::sleep(Duration::from_secs(6));
        for (name, dark, width, height) in [
            ("light", false, 1440, 1000),
            ("dark", true, 1440, 1000),
            ("narrow", false, 390, 1200),
        ] {
            browser.set_dark(dark);
            browser.resize(width, height);
            std::thread::sleep(Duration::from_secs(2));
            let picture = browser.picture();
            let path = workspace().join(format!("hooks-inspect/page-{name}.png.base64"));
            std::fs::write(path, picture).expect("a picture");
        }
        assert_eq!(browser.complaints(), Vec::<String>::new());
        let _ = json!(null);
    })
    .await;
}
