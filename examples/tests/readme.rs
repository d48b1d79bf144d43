//! What the READMEs show is what their commands print, apart from times.

mod support;

use std::process::Command;

use support::{without_times, workspace};

/// Stands for what is left out. It has a line of its own.
const LEFT_OUT: &str = "[…]";

#[track_caller]
fn assert_shown(readme: &str, command: &str) {
    let readme = std::fs::read_to_string(workspace().join(readme)).expect("the README");
    let opening = format!("```text\n$ {command}\n");
    let shown = readme.split(&opening).nth(1).and_then(|rest| rest.split("\n```").next());
    let shown = shown.unwrap_or_else(|| panic!("the README shows no output of `{command}`"));
    let shown = without_times(shown);
    let (shown, goes_on) = match shown.trim_end().strip_suffix(LEFT_OUT) {
        Some(shown) => (shown, true),
        None => (&*shown, false),
    };

    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("cargo"));
    let output = Command::new(env!("CARGO"))
        .args(words)
        .arg("--quiet")
        .current_dir(workspace())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = without_times(&String::from_utf8_lossy(&output.stdout));

    let pieces: Vec<_> = shown.split(&format!("{LEFT_OUT}\n")).collect();
    let mut rest = printed.trim_start_matches('\n');
    for (number, piece) in pieces.iter().enumerate() {
        let place = rest.find(piece).unwrap_or_else(|| {
            panic!("`{command}` does not print this piece, or not here:\n{piece}\nbut:\n{rest}")
        });
        assert!(number > 0 || place == 0, "the output begins otherwise:\n{rest}");
        rest = &rest[place + piece.len()..];
    }
    assert!(
        goes_on || rest.trim().is_empty(),
        "the output goes on; mark what is left out with {LEFT_OUT}:\n{rest}"
    );
}

#[test]
fn the_agents_output_is_the_one_shown() {
    assert_shown("examples/README.md", "cargo run --example agent");
    assert_shown("README.md", "cargo run --example agent");
}

#[test]
fn the_tours_output_is_the_one_shown() {
    assert_shown("examples/README.md", "cargo run --example tour");
}
