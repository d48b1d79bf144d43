//! The page in a real browser: filters, search, jumps, keys, and how it looks.
//! `.ci/browser` runs these tests.

mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::opened::{Opened, SHOWN};

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn the_page_is_whole_at_every_width_and_loads_nothing() {
    let mut opened = Opened::page().await;
    let fired =
        opened.rows.iter().filter(|row| row.label.as_str() == row.point.unwrap_or("")).count();
    for width in [1280, 760, 600, 390] {
        opened.open("#quiet=shown", width);
        let found = opened.browser.eval(
            "({
                fires: document.querySelectorAll('.fire').length,
                groups: [...document.querySelectorAll('.group')].every((it) => it.children.length === 2),
                sideways: Math.max(0, document.documentElement.scrollWidth - innerWidth),
                cut: [...document.querySelectorAll('.point, .chip, .came, .badge')]
                    .filter((it) => it.checkVisibility() && it.scrollWidth > it.clientWidth + 1 && it.clientWidth)
                    .length,
                broken: [...document.querySelectorAll('.point, .chip, .came, .badge')]
                    .filter((it) => it.getClientRects().length && it.getBoundingClientRect().height > 26)
                    .map((it) => it.textContent),
                loaded: performance.getEntriesByType('resource').length,
                injected: 'injected' in window,
                hostile: document.body.innerText.includes('</p><script>window.injected = 1'),
            })",
        );
        let expected = json!({
            "fires": fired, "groups": true, "sideways": 0, "cut": 0, "broken": [], "loaded": 0,
            "injected": false, "hostile": true,
        });
        assert_eq!(found, expected, "at a width of {width}");
        opened.assert_shown(true, "quiet rows are asked for", |_| true);
    }
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn without_scripts_all_rows_are_a_plain_list() {
    let mut opened = Opened::page().await;
    opened.browser.set_scripts(false);
    opened.open("", 1280);
    let shown: Vec<String> = serde_json::from_value(opened.browser.eval(SHOWN)).expect("labels");
    assert_eq!(shown, opened.labels(|_| true));
    let controls =
        "['controls', 'keys', 'none'].map((it) => document.getElementById(it).checkVisibility())";
    assert_eq!(opened.browser.eval(controls), json!([false, false, false]));
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn quiet_rows_are_switched_by_a_click_and_by_a_key() {
    let mut opened = Opened::page().await;
    opened.assert_shown(false, "at first", |_| true);
    opened.browser.click("#quiet");
    opened.assert_shown(true, "clicked", |_| true);
    opened.browser.key("q");
    opened.assert_shown(false, "the key", |_| true);
    opened.browser.key("q");
    opened.assert_shown(true, "the key again", |_| true);
    // Words that are followed by quiet rows only stay.
    opened.browser.key("q");
    let said = "[...document.querySelectorAll('.bubble')].every((it) => it.checkVisibility())";
    assert_eq!(opened.browser.eval(said), true);
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn each_filter_shows_what_it_names_and_all_of_them_together() {
    let mut opened = Opened::page().await;
    let points = opened.choices("point");
    assert_eq!(points.len(), 29);
    for point in points {
        opened.browser.choose("point", &point);
        opened.assert_shown(false, &point, |row| row.point == Some(&point));
    }
    opened.browser.choose("point", "");
    let plugins = opened.choices("plugin");
    assert_eq!(plugins.len(), 14);
    for plugin in plugins {
        opened.browser.choose("plugin", &plugin);
        opened.assert_shown(false, &plugin, |row| row.plugins.contains(&plugin));
    }
    opened.browser.choose("plugin", "");
    let outcomes = opened.choices("outcome");
    assert_eq!(
        outcomes,
        [
            "answered",
            "called",
            "changed",
            "claimed",
            "handler failed",
            "no handlers",
            "none called",
            "passed",
            "ran",
            "refused",
            "rejected",
            "rewritten",
            "unchanged",
            "unclaimed",
            // Of other rows:
            "note",
            "refusal",
            "tool failed",
            "tool ran",
            "turn failed",
        ]
    );
    for outcome in outcomes {
        opened.browser.choose("outcome", &outcome);
        // Who asks for rows without handlers is shown them.
        let quiet = outcome == "no handlers";
        opened.assert_shown(quiet, &outcome, |row| row.outcomes.contains(&outcome.as_str()));
    }

    opened.browser.choose("point", "before_tool_call");
    opened.browser.choose("plugin", "allowlist");
    opened.browser.choose("outcome", "refused");
    assert_eq!(opened.browser.eval(SHOWN), json!(["before_tool_call"]));
    opened.browser.choose("outcome", "refusal");
    let refusal = "run_command refused by allowlist/known_commands: `rm` may not be run, only cat, grep, ls, sort";
    assert_eq!(opened.browser.eval(SHOWN), json!([refusal]));
    // Only what was said before them is still there.
    let said = "[...document.querySelectorAll('.bubble')].filter((it) => it.checkVisibility()) \
                .map((it) => it.textContent)";
    assert_eq!(opened.browser.eval(said), json!(["I look around first."]));
    opened.browser.click("#clear");
    opened.assert_shown(false, "cleared", |_| true);
    assert_eq!(opened.browser.eval("document.getElementById('clear').disabled"), true);
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn the_search_finds_all_words_in_rows_and_in_what_was_said() {
    let mut opened = Opened::page().await;
    opened.browser.key("/");
    assert_eq!(opened.focused(), "search");
    // Letters that are commands elsewhere are letters here.
    opened.browser.keys("jnpq? RM");
    assert_eq!(opened.browser.eval("document.getElementById('search').value"), "jnpq? RM");
    opened.assert_shown(false, "no row has these", |_| false);
    opened.browser.key("Escape");
    assert_eq!(opened.browser.eval("document.getElementById('search').value"), "");
    assert_eq!(opened.focused(), "BODY");
    opened.assert_shown(false, "cleared", |_| true);

    opened.browser.key("/");
    opened.browser.keys("refused ALLOWLIST");
    opened.assert_shown(false, "both words", |row| {
        row.plugins.iter().any(|it| it == "allowlist")
            && row.outcomes.iter().any(|it| ["refused", "refusal"].contains(it))
    });
    opened.browser.key("Enter");
    assert_eq!(opened.focused(), "before_tool_call");
    opened.browser.key("/");
    opened.browser.keys("known_commands: RM");
    opened.assert_shown(false, "other words", |row| row.label.starts_with("run_command refused"));
    opened.browser.key("Enter");
    let refusal = opened.labels(|row| row.label.starts_with("run_command refused by"));
    assert_eq!(opened.focused(), refusal[0]);

    opened.browser.key("Escape");
    opened.browser.key("/");
    opened.browser.keys("then clear the folder");
    opened.assert_shown(false, "it is in no row", |_| false);
    let said = "[...document.querySelectorAll('.bubble')].filter((it) => it.checkVisibility()) \
                .map((it) => it.textContent)";
    assert_eq!(opened.browser.eval(said), json!(["Close ticket T-7, then clear the folder."]));
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn jumps_go_to_each_refusal_and_failure_and_around() {
    let mut opened = Opened::page().await;
    let troubles = opened.labels(|row| row.trouble);
    assert_eq!(troubles.len(), 11);
    let of = "of 11 refusals and failures";
    assert_eq!(opened.text("place"), "11 refusals and failures");
    for (number, trouble) in troubles.iter().enumerate() {
        opened.browser.key("n");
        assert_eq!(opened.focused(), *trouble);
        assert_eq!(opened.text("place"), format!("{} {of}", number + 1));
        assert!(opened.sees_focused(), "{trouble} is to be seen");
    }
    opened.browser.key("n");
    assert_eq!(opened.focused(), troubles[0], "around the end");
    opened.browser.key("p");
    assert_eq!(opened.focused(), troubles[10], "and back");
    for trouble in troubles.iter().rev().skip(1) {
        opened.browser.key("p");
        assert_eq!(opened.focused(), *trouble);
        assert!(opened.sees_focused(), "{trouble} is to be seen");
    }
    opened.browser.click("#next");
    assert_eq!(opened.text("place"), format!("2 {of}"));
    opened.browser.click("#previous");
    assert_eq!(opened.text("place"), format!("1 {of}"));

    // Among the rows that are shown only.
    opened.browser.choose("plugin", "analytics");
    assert_eq!(opened.text("place"), "1 of 2 refusals and failures");
    opened.browser.key("n");
    assert_eq!(opened.focused(), "after_llm_call");
    opened.browser.choose("plugin", "briefing");
    assert_eq!(opened.text("place"), "0 refusals and failures");
    assert_eq!(opened.browser.eval("document.getElementById('next').disabled"), true);
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn jumps_stay_reachable_where_the_window_is_narrow() {
    let mut opened = Opened::page().await;
    opened.open("", 390);
    let troubles = opened.labels(|row| row.trouble);
    let reachable = "['previous', 'place', 'next'].map((id) => { \
        const it = document.getElementById(id).getBoundingClientRect(); \
        const [x, y] = [it.left + it.width / 2, it.top + it.height / 2]; \
        return it.top >= 0 && it.bottom <= innerHeight && document.elementFromPoint(x, y)?.id === id; })";
    for scroll in ["0", "document.body.scrollHeight / 2", "document.body.scrollHeight"] {
        opened.browser.eval(&format!("scrollTo(0, {scroll})"));
        assert_eq!(opened.browser.eval(reachable), json!([true, true, true]), "at {scroll}");
    }
    for trouble in &troubles {
        opened.browser.eval("document.getElementById('next').click()");
        assert_eq!(opened.focused(), *trouble);
        assert!(opened.sees_focused(), "{trouble} is to be seen");
    }
    // The bar covers nothing at the end of the page.
    let end = "(scrollTo(0, document.body.scrollHeight), \
        document.getElementById('seen').getBoundingClientRect().bottom \
          <= document.getElementById('next').parentElement.getBoundingClientRect().top)";
    assert_eq!(opened.browser.eval(end), true);
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn rows_are_walked_and_help_is_shown_with_keys() {
    let mut opened = Opened::page().await;
    let shown = opened.labels(|row| !row.quiet);
    for (key, place) in
        [("j", 0), ("j", 1), ("ArrowDown", 2), ("j", 3), ("k", 2), ("ArrowUp", 1), ("k", 0)]
    {
        opened.browser.key(key);
        assert_eq!(opened.focused(), shown[place], "{key}");
        let place_of = "[...document.querySelectorAll('.timeline > li')] \
            .filter((row) => row.checkVisibility()).indexOf(document.activeElement)";
        assert_eq!(opened.browser.eval(place_of), place, "{key}");
    }
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(opened.browser.eval(outline), "solid", "the focus is to be seen");
    opened.browser.key("k");
    assert_eq!(opened.focused(), *shown.last().expect("a row"), "around the start");

    let open = "document.getElementById('keys').open";
    opened.browser.choose("outcome", "claimed");
    opened.browser.key("?");
    assert_eq!(opened.browser.eval(open), true);
    opened.browser.key("Escape");
    assert_eq!(opened.browser.eval(open), false);
    opened.assert_shown(false, "only the help was closed", |row| row.outcomes.contains(&"claimed"));
    opened.browser.click("#help");
    assert_eq!(opened.browser.eval(open), true);
    opened.browser.key("q");
    assert_eq!(opened.browser.eval("document.getElementById('quiet').checked"), false);
    opened.browser.click("#keys button");
    assert_eq!(opened.browser.eval(open), false);
    opened.browser.key("Escape");
    opened.assert_shown(false, "cleared", |_| true);

    // The key Tab goes through the controls to one row, and then out of the page.
    opened.open("", 1280);
    let order: Vec<_> = std::iter::repeat_with(|| {
        opened.browser.key("Tab");
        opened.browser.eval("document.activeElement.id || document.activeElement.className")
    })
    .take(9)
    .collect();
    let row = "fire gating";
    let expected =
        ["search", "point", "plugin", "outcome", "quiet", "previous", "next", "help", row];
    assert_eq!(order, expected.map(Value::from));
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn the_address_keeps_what_is_shown() {
    let mut opened = Opened::page().await;
    opened.browser.choose("point", "before_tool_call");
    opened.browser.choose("outcome", "unchanged");
    opened.browser.key("q");
    opened.browser.key("/");
    opened.browser.keys("known_commands");
    let hash = opened.browser.eval("location.hash");
    let expected = "#search=known_commands&point=before_tool_call&outcome=unchanged&quiet=shown";
    assert_eq!(hash, expected);
    let before = opened.browser.eval(SHOWN);
    opened.open(expected, 1280);
    assert_eq!(opened.browser.eval(SHOWN), before);
    assert_eq!(before.as_array().map(Vec::len), Some(10));
    opened.browser.key("Escape");
    assert_eq!(opened.browser.eval("location.hash"), "#quiet=shown");

    opened.open("#point=no_such_point&plugin=%00&quiet=perhaps", 1280);
    opened.assert_shown(false, "what is unknown filters nothing", |_| true);
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn the_name_of_the_point_is_the_strongest_text_of_a_row() {
    let mut opened = Opened::page().await;
    for width in [1280, 390] {
        opened.open("#quiet=shown", width);
        let weaker = opened.browser.eval(
            "[...document.querySelectorAll('.timeline > li')].flatMap((row) => {
                const look = (it) => getComputedStyle(it);
                const size = (it) => parseFloat(look(it).fontSize);
                const weight = (it) => Number(look(it).fontWeight);
                const point = row.querySelector('.point');
                const strongest = { size: point ? size(point) : 13.5, weight: point ? weight(point) : 700 };
                if (point && weight(point) < 700) return [point.textContent];
                return [...row.querySelectorAll('*')]
                    .filter((it) => it !== point)
                    .filter((it) => [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
                    .filter((it) => size(it) >= strongest.size || weight(it) >= strongest.weight)
                    .map((it) => it.outerHTML);
            })",
        );
        assert_eq!(weaker, json!([]), "at a width of {width}");
    }
}

#[tokio::test]
#[ignore = "needs a browser: .ci/browser has one, or says that it has none"]
async fn every_control_has_its_role_and_name() {
    let mut opened = Opened::page().await;
    let tree = opened.browser.call("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("nodes");
    let found: BTreeSet<_> = nodes
        .iter()
        .filter(|node| node["ignored"] == false)
        .map(|node| (node["role"]["value"].as_str(), node["name"]["value"].as_str()))
        .filter_map(|(role, name)| Some((role?, name?)))
        .filter(|(role, _)| ["search", "searchbox", "combobox", "switch", "button"].contains(role))
        .collect();
    let expected = [
        ("search", "Rows of the timeline"),
        ("searchbox", "Search"),
        ("combobox", "Point"),
        ("combobox", "Plugin"),
        ("combobox", "Outcome"),
        ("switch", "show quiet rows"),
        ("button", "previous refusal or failure"),
        ("button", "next refusal or failure"),
        ("button", "clear"),
        ("button", "keys ?"),
    ];
    assert_eq!(found, expected.into());
    let status = nodes.iter().filter(|node| node["role"]["value"] == "status");
    assert_eq!(status.count(), 1, "the count is read out when it changes");
}
