//! Text in lines of a width.

use hooks_runtime::report::escaped;
use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

/// The text in lines of that width, those after the first behind `rest`. Lines end
/// between words: a name is never broken, and a word that is longer than a line ends
/// in `…`. Without a width it is one line.
///
/// What the text says may come from a model or a message, so nothing in it steers the
/// terminal.
pub(super) fn wrap(text: &str, width: Option<usize>, first: &str, rest: &str) -> Vec<String> {
    let text = escaped(text).to_string();
    let Some(width) = width else { return vec![format!("{first}{text}")] };
    let room = width.saturating_sub(display_width(first).max(display_width(rest)));
    let words: Vec<_> = text.split(' ').map(|word| cut(word, room)).collect();
    lines(&words.join(" "), options(width, first, rest))
}

/// What was said, in lines of that width. All of it is shown: a word that is longer
/// than a line goes on in the next.
pub(super) fn wrap_words(text: &str, width: Option<usize>, first: &str, rest: &str) -> Vec<String> {
    let text = escaped(text).to_string();
    let Some(width) = width else { return vec![format!("{first}{text}")] };
    lines(&text, options(width, first, rest))
}

/// The text, no wider than that; what is cut off leaves an `…`.
pub(super) fn cut(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if display_width(&kept) + 1 > width {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

fn options<'a>(width: usize, first: &'a str, rest: &'a str) -> Options<'a> {
    Options::new(width)
        .word_splitter(WordSplitter::NoHyphenation)
        .initial_indent(first)
        .subsequent_indent(rest)
}

fn lines(text: &str, options: Options<'_>) -> Vec<String> {
    textwrap::wrap(text, options).iter().map(|line| line.trim_end().to_owned()).collect()
}
