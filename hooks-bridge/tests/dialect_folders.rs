//! A dialect is its folder: nothing else in the crate names one, but the list of dialects.

use std::fs;
use std::path::{Path, PathBuf};

use hooks_bridge::Dialect;

/// All files of a folder, without those of dialects.
fn files(folder: &Path, dialects: &[String], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !dialects.contains(&name) {
            files(&path, dialects, found);
        } else if path.extension().is_some_and(|it| it == "rs") && name != "dialect.rs" {
            found.push(path);
        }
    }
}

/// The lines of code: neither comments, in which examples and reasons may name a product,
/// nor tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..tests].lines().enumerate();
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether a line has that as a word of its own.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |char: Option<char>| char.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let mut places = line.match_indices(word);
    places.any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

#[test]
fn no_dialect_is_named_outside_of_its_folder_and_of_the_list() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders: Vec<String> =
        Dialect::ALL.iter().map(|dialect| dialect.as_str().replace('-', "_")).collect();
    let mut named = Vec::new();
    for dialect in Dialect::ALL {
        assert!(source.join(dialect.as_str().replace('-', "_")).is_dir(), "{dialect}");
        // As the variant, the module, the id, the product, and the folder of its files.
        named.push(format!("Dialect::{dialect:?}"));
        named.push(dialect.as_str().replace('-', "_"));
        named.push(dialect.to_string());
        named.push(dialect.product().to_owned());
        named.push(dialect.as_str().split('-').next().unwrap().to_owned());
    }
    let mut found = Vec::new();
    files(&source, &folders, &mut found);
    assert!(found.len() > 30, "{found:?}");
    let mut wrong = Vec::new();
    for file in found {
        let text = fs::read_to_string(&file).unwrap();
        for (number, line) in code(&text) {
            let is_module = line.starts_with("mod ");
            if !is_module && named.iter().any(|name| has_word(line, name)) {
                wrong.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "make it data of the dialect's rules:\n{}", wrong.join("\n"));
}

/// Every folder has the same files.
#[test]
fn every_folder_has_the_same_files() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for dialect in Dialect::ALL {
        let folder = source.join(dialect.as_str().replace('-', "_"));
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let expected = ["answer.rs", "config.rs", "events.rs", "mod.rs", "stdin.rs", "tools.rs"];
        assert_eq!(names, expected, "{dialect}");
    }
}
