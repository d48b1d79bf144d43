//! The page of the ready-made points is the catalogue of today (L28). Run with
//! `UPDATE_CATALOGUE=1` to write it anew, then read the difference.

use std::path::Path;

use hooks_points::catalogue;
use hooks_runtime::catalogue::Catalogue;

const HEAD: &str = "\
# The ready-made points

Written by `UPDATE_CATALOGUE=1 cargo test -p hooks-tests --test catalogue_page` from the
declarations. Fields are spelled as the wire spells them; those with a `?` may be absent.
";

fn page() -> String {
    let ethos = Catalogue::merge([catalogue::agent(), catalogue::gateway()]).unwrap();
    let parts = [
        ("Agents and gateways (Ethos)", ethos),
        ("The life of a conversation (`IronClaw`)", catalogue::lifecycle()),
        ("Flows of the Model Context Protocol (`FrontMCP`)", catalogue::mcp()),
    ];
    let parts = parts.map(|(title, part)| format!("\n# {title}\n\n{}", part.to_markdown()));
    format!("{HEAD}{}", parts.concat())
}

#[test]
fn l28_the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks-points/CATALOGUE.md");
    let page = page();
    if std::env::var_os("UPDATE_CATALOGUE").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap();
    let differs = page.lines().zip(written.lines()).find(|(now, then)| now != then);
    assert!(
        page == written,
        "CATALOGUE.md is not what is declared, first at {differs:?}; run with UPDATE_CATALOGUE=1"
    );
}
