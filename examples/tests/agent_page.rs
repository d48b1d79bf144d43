//! The page needs nothing else, and nothing in it is taken for markup. What a browser
//! makes of it is in `agent_browser.rs`.

mod support;

use support::page::{hostile_page, page_script};

#[tokio::test]
async fn the_page_needs_nothing_else() {
    let (page, _) = hostile_page().await;
    let page = page.replace("&lt;img src=x", "");
    for reference in
        ["http:", "https:", " src=", " href=", "<link", "<script ", "@import", "url(", "fetch("]
    {
        assert!(!page.contains(reference), "the page has {reference}");
    }
    // And if something got in, the browser would not load it.
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; script-src"));
}

/// The number before or behind a text in the page.
fn number(text: &str) -> usize {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{text}"))
}

#[tokio::test]
async fn tiles_jumps_and_filters_count_the_same_rows() {
    let (page, _) = hostile_page().await;
    let tile = |what: &str| {
        let (before, _) = page.split_once(&format!("</b>{what}</li>")).expect("the tile");
        number(before.rsplit("<b>").next().expect("its number"))
    };
    // The choices of a filter are those that occur.
    let filter = |outcome: &str| {
        let option = format!("<option value=\"{outcome}\">{outcome} (");
        page.split_once(&option).map_or(0, |(_, it)| number(it.split(')').next().expect("a count")))
    };
    let mut sum = 0;
    for (what, outcome, expected) in [
        ("refusals", "refusal", 6),
        ("fires with a failed handler", "handler failed", 2),
        ("failed tools", "tool failed", 1),
        ("failed turns", "turn failed", 2),
    ] {
        assert_eq!((tile(what), filter(outcome)), (expected, expected), "{what}");
        let rows = page.matches("data-outcomes=\"").count();
        let found = page
            .split("data-outcomes=\"")
            .skip(1)
            .filter(|row| {
                row.split('"').next().is_some_and(|it| it.split(',').any(|it| it == outcome))
            })
            .count();
        assert!(rows > 100 && found == expected, "{what}: {found} of {rows} rows");
        sum += tile(what);
    }
    // What the jumps go to.
    assert_eq!(page.matches(" data-trouble>").count(), sum);
    assert_eq!(tile("claims"), filter("claimed"));
    assert_eq!(tile("answers by plugins"), filter("answered"));
}

#[tokio::test]
async fn nothing_in_it_is_taken_for_markup() {
    let (page, _) = hostile_page().await;
    let shown = "&lt;/p&gt;&lt;script&gt;window.injected = 1&lt;/script&gt;\
                 &lt;img src=x onerror=&quot;injected = 2&quot;&gt;&#39;&amp;";
    assert!(page.contains(shown));
    // The only script is the page's own.
    let scripts: Vec<_> = page.split("<script").skip(1).collect();
    assert_eq!(scripts.len(), 1);
    assert_eq!(scripts[0], format!(">\n{}</script></body></html>\n", page_script()));
}
