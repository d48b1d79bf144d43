//! The page of the most likely mistakes says what the compiler says: its
//! code is that of the cases, its messages are theirs.
//!
//! After a change of a message run with `UPDATE_MISTAKES=1`, then read the
//! difference.

use std::fs;
use std::path::{Path, PathBuf};

const MARK: &str = "<!-- case: ";

/// What stands between `open` and the next end of a fence.
fn fenced<'a>(section: &'a str, open: &str) -> &'a str {
    let (_, rest) = section.split_once(open).unwrap_or_else(|| panic!("`{open}` in {section}"));
    let (block, _) = rest.split_once("```\n").unwrap_or_else(|| panic!("an end in {section}"));
    block
}

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_page_has_every_case_with_its_message() {
    let path = package().join("../hooks-runtime/src/docs/mistakes.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let mut current = page.clone();
    let mut cases = Vec::new();
    for section in page.split(MARK).skip(1) {
        let (case, section) = section.split_once(" -->\n").expect("a case has a name");
        cases.push(format!("{case}.rs"));
        let file = |extension| {
            let path = package().join("cases/mistakes").join(case).with_extension(extension);
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{case}.{extension}: {error}"))
        };
        assert_eq!(fenced(section, "```compile_fail\n"), file("rs"), "the code of {case}");
        let (said, says) = (fenced(section, "```text\n"), file("stderr"));
        let section_now =
            section.replacen(&format!("```text\n{said}```\n"), &format!("```text\n{says}```\n"), 1);
        current = current.replacen(section, &section_now, 1);
    }
    let folder = fs::read_dir(package().join("cases/mistakes")).expect("the cases are there");
    let mut all: Vec<String> = folder
        .map(|entry| entry.expect("a file").file_name().into_string().expect("a name"))
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "rs"))
        .collect();
    all.sort();
    cases.sort();
    assert_eq!(cases, all, "each case is on the page once");
    if std::env::var_os("UPDATE_MISTAKES").is_some() {
        fs::write(&path, current).expect("the page is written");
    } else {
        assert!(page == current, "the page is not current: run with UPDATE_MISTAKES=1\n{current}");
    }
}
