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
