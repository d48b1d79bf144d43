//! What `handlers![…]` says about mistakes, and what it emits all the same.

use super::support::{assert_holds, assert_messages, list};

#[test]
fn every_wrong_entry_is_reported() {
    assert_messages(
        list(r#"log(), "audit", &trace, |p| {}, 3 + 4, Audit::started, crate::generic::<u8>"#),
        &[
            ("log", "list the function itself: write `log`"),
            ("\"audit\"", "list the function itself: write `audit`"),
            ("&", "list the function itself: write `trace`"),
            ("|", "a closure has no annotation"),
            ("3", "expected the name of a function"),
            (
                "started",
                "`started` is a method: put `#[hook_handlers]` on the impl block of `Audit`",
            ),
            ("generic", "a handler cannot be generic"),
        ],
    );
}

#[test]
fn good_entries_survive_bad_ones() {
    let expansion = list("log, 3, audit::record");
    assert_holds(&expansion, "use log as");
    assert_holds(&expansion, "use audit::record as");
}

#[test]
fn an_empty_list_has_a_type() {
    assert_holds(&list(""), "[::hooks_runtime::Registration; 0] = []");
}

#[test]
fn raw_names_and_every_kind_of_path_are_accepted() {
    assert_messages(list("r#type, self::a, super::b, crate::c, ::d::e,"), &[]);
}
