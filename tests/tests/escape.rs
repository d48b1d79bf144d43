//! The one function that makes text from others safe to print (L20, L21).

use hooks_runtime::report::escaped;
use proptest::prelude::*;

fn shown(text: &str) -> String {
    escaped(text).to_string()
}

#[test]
fn l21_what_does_not_show_as_itself_is_escaped() {
    for (text, expected) in [
        ("", ""),
        ("two\nrows\r\n", r"two\nrows\r\n"),
        ("\u{1b}[2J\u{7}\u{0}\u{7f}\u{9b}", r"\u{1b}[2J\u{7}\u{0}\u{7f}\u{9b}"),
        ("tab\there", r"tab\there"),
        ("a\u{85}b\u{2028}c\u{2029}", r"a\u{85}b\u{2028}c\u{2029}"),
        ("\u{202e}\u{2066}\u{200f}\u{61c}", r"\u{202e}\u{2066}\u{200f}\u{61c}"),
        ("a\u{200b}b\u{2060}\u{feff}\u{ad}", r"a\u{200b}b\u{2060}\u{feff}\u{ad}"),
        // Blanks, wide and narrow.
        ("\u{a0}\u{3000}\u{2003}\u{3164}\u{2800}", r"\u{a0}\u{3000}\u{2003}\u{3164}\u{2800}"),
        // Letters of private use, and what is no character at all.
        ("\u{e000}\u{ffff}\u{10ffff}", r"\u{e000}\u{ffff}\u{10ffff}"),
        // Tags and selectors carry hidden text.
        ("a\u{e0041}\u{fe00}\u{e0100}\u{34f}", r"a\u{e0041}\u{fe00}\u{e0100}\u{34f}"),
        // A mark with nothing to stand on.
        ("\u{301}e", r"\u{301}e"),
        (" \u{301}", r" \u{301}"),
        ("\n\u{301}", r"\n\u{301}"),
        // Five marks on one letter.
        ("e\u{301}\u{301}\u{301}\u{301}\u{301}", "e\u{301}\u{301}\u{301}\u{301}\\u{301}"),
        // Joiners and selectors outside of an emoji.
        ("a\u{200d}b\u{fe0f}", r"a\u{200d}b\u{fe0f}"),
        ("👩\u{200d}b", r"👩\u{200d}b"),
        ("👩\u{fe0f}\u{fe0f}", "👩\u{fe0f}\\u{fe0f}"),
        ("1\u{fe0f}", r"1\u{fe0f}"),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn l21_what_shows_as_itself_stays_readable() {
    for text in [
        "plain `text` with \"quotes\", 'more' and a \\ backslash",
        "Zażółć gęślą jaźń",
        "e\u{301}, a\u{308}\u{301}, n\u{303}",
        "日本語、한국어、中文。",
        "שלום, سلام, नमस्ते, สวัสดี",
        "🙂 👩‍🚀 👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ❤️ ☕︎ 🇵🇱 1️⃣ ©",
    ] {
        assert_eq!(shown(text), text);
    }
    // Nothing is cut.
    let long = "x".repeat(1 << 16);
    assert_eq!(shown(&long), long);
    // A column is as wide as it was asked to be.
    assert_eq!(format!("{:<6}|{:>6}|", escaped("a\n"), escaped("ab")), r"a\n   |    ab|");
}

/// Said in other words than the function's own: the categories of Unicode as
/// ranges.
fn hides(char: char) -> bool {
    char.is_control()
        || (char.is_whitespace() && char != ' ')
        || matches!(
            u32::from(char),
            0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
                | 0x200b..=0x200c | 0x200e..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x2800
                | 0x3164 | 0xd800..=0xf8ff | 0xfe00..=0xfe0d | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
                | 0xfffe..=0xffff | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0x10ffff
        )
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => any::<char>().prop_map(String::from),
        2 => "[ -~]{1,4}",
        2 => prop::sample::select(vec![
            "\u{1b}[2J", "\n", "\r", "\u{202e}", "\u{2028}", "\u{200b}", "\u{200d}", "\u{fe0f}",
            "\u{301}", "\u{20e3}", "👩", "👍🏽", "❤", "e", "1", "\\", "\u{3164}", "\u{e0041}",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn l21_no_text_comes_out_with_what_cannot_be_seen(text in pieces()) {
        let shown = shown(&text);
        prop_assert!(!shown.chars().any(hides), "{shown:?}");
        // Joiners and selectors are left on pictures and keys only, and no mark
        // stands at the beginning, where it would join what was printed before.
        let chars: Vec<char> = shown.chars().collect();
        for (place, char) in chars.iter().enumerate() {
            if matches!(char, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') {
                prop_assert!(place > 0, "{shown:?}");
                let before = chars[place - 1];
                prop_assert!(!before.is_alphabetic() && before != ' ', "{shown:?}");
            }
        }
        let begins = chars.first().is_some_and(|first| matches!(first, '\u{300}'..='\u{36f}'));
        prop_assert!(!begins, "{shown:?}");
    }

    #[test]
    fn l21_escaped_twice_is_escaped_once(text in pieces()) {
        let once = shown(&text);
        prop_assert_eq!(shown(&once), once);
    }

    /// But for a backslash, which nothing but an escape has: then no two texts
    /// look alike.
    #[test]
    fn l21_without_backslashes_an_escape_can_be_read_back(text in pieces()) {
        let text = text.replace('\\', "");
        prop_assert_eq!(read_back(&shown(&text)), text);
    }
}

/// What was escaped.
fn read_back(shown: &str) -> String {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let (char, after) = match escape.as_bytes()[0] {
            b'n' => ('\n', &escape[1..]),
            b'r' => ('\r', &escape[1..]),
            b't' => ('\t', &escape[1..]),
            _ => {
                let (code, after) = escape[2..].split_once('}').unwrap();
                (char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap(), after)
            }
        };
        text.push(char);
        rest = after;
    }
    text + rest
}
