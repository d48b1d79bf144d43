//! Compiles every case: those in `cases/pass` run, the others must fail with
//! exactly the words beside them.
//!
//! After a change of a message run with `TRYBUILD=overwrite`, then read the
//! difference as somebody who sees the crate for the first time.

use trybuild::TestCases;

#[test]
fn mistakes_are_explained() {
    let cases = TestCases::new();
    for folder in [
        "verbs",
        "register",
        "fire",
        "handlers",
        "hook_points",
        "hook_handler",
        "hook_handlers",
        "merge",
        "outcomes",
        "mistakes",
    ] {
        cases.compile_fail(format!("cases/{folder}/*.rs"));
    }
}

#[test]
fn every_form_is_accepted() {
    TestCases::new().pass("cases/pass/*.rs");
}
