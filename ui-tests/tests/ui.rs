//! Compiles every case: those in `cases/pass` run, the others must fail with
//! exactly the words beside them.
//!
//! After a change of a message run with `TRYBUILD=overwrite`, then read the
//! difference as one who sees the crate for the first time.

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
        "plugins",
        "mistakes",
    ] {
        cases.compile_fail(format!("cases/{folder}/*.rs"));
    }
}

#[test]
fn every_form_is_accepted() {
    TestCases::new().pass("cases/pass/*.rs");
}

/// Where the standard library's source is installed, the compiler quotes it.
#[test]
fn no_message_depends_on_what_is_installed() {
    let folders = std::fs::read_dir("cases").expect("the cases are here");
    let files = folders.flat_map(|folder| {
        std::fs::read_dir(folder.expect("it is listed").path()).expect("it is a folder")
    });
    let messages = files
        .map(|file| file.expect("it is listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "stderr"));
    let quoting: Vec<_> = messages
        .filter(|path| std::fs::read_to_string(path).expect("it is text").contains("$RUST/"))
        .collect();
    assert!(quoting.is_empty(), "these quote the standard library: {quoting:?}");
}
