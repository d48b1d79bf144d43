//! Guesses at what was meant.

use crate::suggest::{closest, list};

const WORDS: [&str; 5] = ["void", "modifying", "claiming", "gating", "flow"];

#[test]
fn slips_are_recognised() {
    let cases = [
        ("viod", "void"),
        ("Void", "void"),
        ("voids", "void"),
        ("modify", "modifying"),
        ("claming", "claiming"),
        ("gatting", "gating"),
        ("flwo", "flow"),
    ];
    for (slip, meant) in cases {
        assert_eq!(closest(slip, &WORDS), Some(meant), "{slip}");
    }
}

#[test]
fn far_words_are_not_guessed_at() {
    for word in ["struct", "", "x", "handler"] {
        assert_eq!(closest(word, &WORDS), None, "{word}");
    }
}

#[test]
fn lists_read_as_sentences() {
    assert_eq!(list(&["a"]), "`a`");
    assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
}
