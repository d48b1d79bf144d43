//! The page of the laws and the tests that keep them: each law has one, each
//! that is listed exists, each that names a law is listed.
//!
//! After a change run with `UPDATE=1`, which writes the lists anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Laws by number, each with its tests: the file, then the name.
type Kept = BTreeMap<u32, BTreeSet<(String, String)>>;

const LAWS: u32 = 38;

/// Folders of programs that must not compile, or must, by the law they keep;
/// one program is one test.
const CASES: [(&str, u32); 9] = [
    ("verbs", 1),
    ("register", 2),
    ("fire", 2),
    ("handlers", 2),
    ("hook_handler", 2),
    ("hook_handlers", 2),
    ("merge", 8),
    ("outcomes", 15),
    ("hook_points/duplicate_wire_names", 3),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// All Rust files below `folder`, but for what is built and what is compiled
/// by other tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "cases", "snapshots"].contains(&&*name) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && name != "laws.rs" {
            // Not this one: it speaks of tests that there are not.
            found.push(path);
        }
    }
}

/// The number in `l07_…` or `L07`, at the front of `text`.
fn number(text: &str, letter: char) -> Option<u32> {
    let digits = text.strip_prefix(letter)?.get(..2)?;
    digits.parse().ok()
}

/// The laws that a comment names.
fn named(comment: &str) -> impl Iterator<Item = u32> {
    comment
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 3)
        .filter_map(|word| number(word, 'L'))
}

/// The word at the front of a text.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The tests of one file with the laws that they name.
fn scan(file: &str, source: &str, kept: &mut Kept) {
    let (mut comment, mut is_test) = (String::new(), false);
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
            comment.push('\n');
            continue;
        }
        if line.starts_with("#[") {
            is_test |= line.contains("test");
            continue;
        }
        let function = line.trim_start_matches("async ").strip_prefix("fn ").map(word);
        // A macro that writes tests is given their names first of all.
        let given = (line.starts_with('l') && word(line).len() > 4).then(|| word(line));
        let test =
            function.filter(|_| is_test).or(given.filter(|w| line[w.len()..].starts_with(',')));
        if let Some(test) = test {
            // A name may begin with several: `l20_l21_…`.
            let laws =
                test.split('_').map_while(|part| number(part, 'l').filter(|_| part.len() == 3));
            for law in laws.chain(named(&comment).filter(|_| function.is_some())) {
                kept.entry(law).or_default().insert((file.to_owned(), test.to_owned()));
            }
        }
        (comment, is_test) = (String::new(), false);
    }
}

/// The programs of the compiler's tests.
fn scan_cases(root: &Path, kept: &mut Kept) {
    for (folder, law) in CASES {
        let path = root.join("ui-tests/cases").join(folder);
        let programs: Vec<_> = if path.is_dir() {
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect()
        } else {
            vec![path.with_extension("rs")]
        };
        let file = format!("ui-tests/cases/{}", folder.split('/').next().unwrap_or(folder));
        for program in programs.iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
            assert!(program.exists(), "{}", program.display());
            let name = program.file_stem().unwrap().to_string_lossy().into_owned();
            kept.entry(law).or_default().insert((file.clone(), name));
        }
    }
}

fn kept() -> Kept {
    let root = root();
    let (mut files, mut kept) = (Vec::new(), Kept::new());
    sources(&root, &mut files);
    for path in files {
        let file = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        scan(&file, &fs::read_to_string(&path).unwrap(), &mut kept);
    }
    scan_cases(&root, &mut kept);
    kept
}

/// The list of a law, as the page has it.
fn list(tests: &BTreeSet<(String, String)>) -> String {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, test) in tests {
        files.entry(file).or_default().push(test);
    }
    let line = |(file, tests): (&str, Vec<&str>)| format!("- `{file}`: `{}`\n", tests.join("`, `"));
    format!("Kept by:\n{}", files.into_iter().map(line).collect::<String>())
}

/// The page with these lists in place of those that it has.
fn page(text: &str, kept: &Kept) -> String {
    let mut page = String::new();
    let mut law = None;
    let mut in_list = false;
    let end = |law: &mut Option<u32>, page: &mut String| {
        if let Some(law) = law.take() {
            let tests = kept.get(&law).cloned().unwrap_or_default();
            page.push_str(&format!("{}\n", list(&tests)));
        }
    };
    for line in text.lines() {
        if line.starts_with('#') {
            end(&mut law, &mut page);
            law = line.strip_prefix("## ").and_then(|title| number(title, 'L'));
            in_list = false;
        }
        in_list |= line == "Kept by:";
        if !in_list {
            page.push_str(line);
            page.push('\n');
        }
    }
    // The last list needs no line after it.
    end(&mut law, &mut page);
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

#[test]
fn every_law_is_on_the_page_and_has_a_test() {
    let kept = kept();
    let file = root().join("hooks-runtime/src/docs/laws.md");
    let text = fs::read_to_string(&file).unwrap();
    let stated: Vec<_> =
        text.lines().filter_map(|line| number(line.strip_prefix("## ")?, 'L')).collect();
    assert_eq!(stated, (1..=LAWS).collect::<Vec<_>>(), "each law once, in order");
    let unkept: Vec<_> = stated.into_iter().filter(|law| !kept.contains_key(law)).collect();
    assert!(unkept.is_empty(), "no test keeps {unkept:?}");
    let unstated: Vec<_> = kept.keys().filter(|law| !(1..=LAWS).contains(*law)).collect();
    assert!(unstated.is_empty(), "tests name laws that there are not: {unstated:?}");
    let made = page(&text, &kept);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let text = fs::read_to_string(&file).unwrap();
    for (number, (made, written)) in made.lines().zip(text.lines()).enumerate() {
        assert_eq!(
            made,
            written,
            "laws.md, line {}: run with `UPDATE=1`, then look at what changed",
            number + 1
        );
    }
    assert_eq!(made.lines().count(), text.lines().count(), "laws.md: run with `UPDATE=1`");
    let tests: usize = kept.values().map(BTreeSet::len).sum();
    println!("\nproof: laws: {} of {LAWS} laws kept by {tests} tests and programs", kept.len());
}

#[test]
fn the_scan_finds_every_form_of_a_test_and_nothing_else() {
    let mut kept = Kept::new();
    let source = r#"
        #[test]
        fn l01_a() {}
        /// Of L02, and of L30.
        #[tokio::test(start_paused = true)]
        async fn b() {}
        /// L03 is only spoken of.
        fn l04_helper() {}
        sequential!(
            l05_by_a_macro, Point, "p",
            l06_not_one
        );
        #[test]
        fn lights() {}
        #[test]
        fn l07_l08_of_both_and_not_of_l09() {}
    "#;
    scan("f.rs", source, &mut kept);
    let found: Vec<_> = kept
        .iter()
        .flat_map(|(law, tests)| tests.iter().map(move |(_, test)| (*law, &**test)))
        .collect();
    let both = "l07_l08_of_both_and_not_of_l09";
    let expected = [(1, "l01_a"), (2, "b"), (5, "l05_by_a_macro"), (7, both), (8, both), (30, "b")];
    assert_eq!(found, expected);
    let text = "# A\n\n## L01 — One\n\nText.\n\nKept by:\n- `gone`\n\n# B\n\n## L02 — Two\n";
    let expected = "# A\n\n## L01 — One\n\nText.\n\nKept by:\n- `f.rs`: `l01_a`\n\n# B\n\n\
                    ## L02 — Two\nKept by:\n- `f.rs`: `b`\n";
    assert_eq!(page(text, &kept), expected);
}
