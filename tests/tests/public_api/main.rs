//! What users can name of the runtime is what the listing says, so that a change of the
//! public interface is seen in review. Run with `UPDATE_API=1` to write it anew, then read
//! the difference.
//!
//! The listing is made from the sources: it needs no other tool, and no other version of
//! the compiler changes it. What a macro of the runtime declares is listed by name only,
//! and traits that the compiler implements by itself (`Send`, `Unpin`) are not.

mod listing;
mod source;
mod tidy;

use std::path::Path;

use listing::Listing;
use source::Source;

const HEAD: &str = "\
# The public interface of hooks-runtime, by `UPDATE_API=1 cargo test -p hooks-tests --test public_api`.
# Behind a feature: [feature]. A line with `=` repeats an item that is declared elsewhere.
";

fn listed() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks-runtime/src/lib.rs");
    let lines = Listing::of(&Source::read(&root), "hooks_runtime");
    format!("{HEAD}{}\n", lines.join("\n"))
}

#[test]
fn the_listing_of_the_public_interface_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks-runtime/public-api.txt");
    let now = listed();
    if std::env::var_os("UPDATE_API").is_some() {
        return std::fs::write(&path, now).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    let added: Vec<_> =
        now.lines().filter(|line| !written.lines().any(|old| old == *line)).collect();
    let gone: Vec<_> =
        written.lines().filter(|line| !now.lines().any(|new| new == *line)).collect();
    assert!(
        now == written,
        "the public interface is not as listed in public-api.txt\nadded: {added:#?}\ngone: {gone:#?}\n\
         if that is meant, run with UPDATE_API=1"
    );
}
