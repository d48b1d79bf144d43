//! A page with an attack in it.

use hooks_examples::agent::{Record, line};
use hooks_examples::{day, view};

use super::workspace;

/// What an attacker could write to get code into the page.
pub(crate) const HOSTILE: &str =
    "</p><script>window.injected = 1</script><img src=x onerror=\"injected = 2\">'&";

/// A day with a hostile message at its end, as a page.
pub(crate) async fn hostile_page() -> (String, Vec<Record>) {
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

/// The page's own script.
pub(crate) fn page_script() -> String {
    let path = workspace().join("examples/src/view/page/page.js");
    std::fs::read_to_string(path).expect("the script")
}
