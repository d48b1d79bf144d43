//! The Markdown pages of the repository, as its web page shows them.
//!
//! rustdoc leaves out the lines of a Rust example that begin with `# `; every other
//! reader of the same file sees them. So an example in a page is a whole program, and
//! every line of it is meant to be read.

use std::fs;
use std::path::{Path, PathBuf};

/// All pages below a folder, but for what is built and what is hidden.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                pages(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// Whether rustdoc compiles a block that begins with this word behind its fence.
fn is_rust(info: &str) -> bool {
    let rust =
        ["", "rust", "no_run", "should_panic", "compile_fail", "standalone_crate", "test_harness"];
    info.split([',', ' ']).all(|word| {
        rust.contains(&word) || word.starts_with("ignore") || word.starts_with("edition")
    })
}

/// The numbers of the lines that rustdoc hides, or shows otherwise than they stand.
fn hidden_lines(page: &str) -> Vec<usize> {
    let mut block = None;
    let mut hidden = Vec::new();
    for (number, line) in (1..).zip(page.lines().map(str::trim_start)) {
        if let Some(info) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(is_rust(info)) };
        } else if block == Some(true)
            && (line == "#" || line.starts_with("# ") || line.starts_with("##"))
        {
            hidden.push(number);
        }
    }
    assert_eq!(block, None, "a block has no end");
    hidden
}

#[test]
fn no_page_has_a_hidden_line() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    pages(&workspace, &mut found);
    assert!(found.iter().any(|page| page.ends_with("guides/write_a_plugin.md")), "{found:?}");
    let hidden: Vec<String> = found
        .iter()
        .flat_map(|path| {
            let page = fs::read_to_string(path).expect("a page");
            let place = path.strip_prefix(&workspace).expect("in the workspace").display();
            hidden_lines(&page).into_iter().map(move |line| format!("{place}:{line}"))
        })
        .collect();
    assert!(
        hidden.is_empty(),
        "hidden in the documentation, and shown as they stand elsewhere: {hidden:#?}"
    );
}

#[test]
fn a_hidden_line_is_one_of_a_rust_block() {
    let page = "# A heading\n```\n#\n# use a;\n#[test]\n```\n```sh\n# a comment\n```\n- one\n  \
                ```standalone_crate,edition2024\n  ## b\n  let c = \"#\";\n  ```\n```toml\n# d\n```\n";
    assert_eq!(hidden_lines(page), [3, 4, 12]);
}

/// The README is also shown where only the package is: a link into the repository leads
/// nowhere there.
#[test]
fn the_readme_is_short_and_stands_alone() {
    let readme = include_str!("../../README.md");
    let length = readme.lines().count();
    assert!(length <= 150, "the README has {length} lines, at most 150 are read");
    let links = readme.split("](").skip(1).map(|link| link.split(')').next().unwrap_or(link));
    let relative: Vec<_> = links.filter(|link| !link.starts_with("https://")).collect();
    assert_eq!(relative, [""; 0]);
}

/// What the README says that the compiler says.
#[test]
fn the_readme_shows_a_real_message() {
    let readme = include_str!("../../README.md");
    let mut messages = readme.split("```text\nerror").skip(1);
    let shown = messages.next().and_then(|rest| rest.split("```").next()).expect("a message");
    let real = include_str!("../cases/verbs/awaited_fire.stderr");
    assert!(
        real.starts_with(&format!("error{shown}")),
        "error{shown}\nis not the start of\n{real}"
    );
}
