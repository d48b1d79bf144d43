//! Text from others, made safe to print.
//!
//! Text of handlers, plugins, models and documents ends up in logs, tables and
//! terminals, where a control sequence moves the cursor, a line break forges a
//! row and a bidirectional mark turns a sentence around. Everything that this
//! crate writes for people goes through [`escaped`]: the `Display` of reports,
//! errors, rejections and audits, the reasons of an order, the text of log
//! events. What programs read (accessors, serialised forms, fields of events
//! that are recorded as `&str`) carries the text as it was given.

use std::borrow::Cow;
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use crate::engine::containment::shown;

/// The marks that may stand on one letter: more would cover other lines.
const MOST_MARKS: usize = 4;

/// The letters of a name that is refused which are shown.
const EXCERPT: usize = 40;

/// `text` as one line of characters that show as themselves.
///
/// Controls, line and paragraph separators, format characters (bidirectional
/// marks, zero-width ones, tags), blank letters, white space other than the
/// plain space, and characters without a glyph are escaped as in a string
/// literal: `\n`, `\u{1b}`, `\u{202e}`. Letters of every script, accents and
/// emoji stay as they are. A combining mark stays on a letter, up to four of
/// them, and is escaped where it would join what the program wrote before; a
/// joiner or a variation selector stays inside an emoji only.
///
/// The program's own panic hook still prints what a handler panics with as it
/// is, before the registry contains the panic.
///
/// A backslash stays a backslash, so what is escaped twice is what is escaped
/// once. The price: a text that spells `\n` looks like one with a line break.
/// Where that matters, compare the raw values.
///
/// ```
/// use hooks_runtime::report::escaped;
///
/// let reason = "denied\n2026-01-01 INFO granted \u{1b}[2J";
/// assert_eq!(escaped(reason).to_string(), r"denied\n2026-01-01 INFO granted \u{1b}[2J");
/// assert_eq!(escaped("żółw, 亀 and 👩‍🚀").to_string(), "żółw, 亀 and 👩‍🚀");
/// ```
pub fn escaped(text: &str) -> Escaped<'_> {
    Escaped(text)
}

/// Text that prints as one line of characters that show as themselves: see
/// [`escaped`].
///
/// The example of [`escaped`] has one.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&escape(self.0))
    }
}

/// The escaped text of something that belongs to the user, even when its own
/// `Display` panics.
pub(crate) fn escaped_display(what: &dyn fmt::Display) -> String {
    escape(&shown(what)).into_owned()
}

fn escape(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escape = Escape { written: String::new(), last: Last::Nothing };
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        escape.write(char, &mut chars);
    }
    Cow::Owned(escape.written)
}

/// The first characters of a text that is refused as a name, in plain ASCII: a
/// letter that passes for another is why it may have been refused.
pub(crate) fn excerpt(text: &str) -> String {
    let shown = |char: char| {
        let plain = (char.is_ascii() && is_plain(char)).then_some(char);
        let escape = plain.is_none().then(|| char.escape_default());
        plain.into_iter().chain(escape.into_iter().flatten())
    };
    let mut excerpt: String = text.chars().take(EXCERPT).flat_map(shown).collect();
    if text.chars().nth(EXCERPT).is_some() {
        excerpt.push('…');
    }
    excerpt
}

/// Whether a character shows as itself wherever it stands. Marks that reorder,
/// hide or combine do not, and two names that differ only by them would look
/// the same; nor do the letters that are blank.
pub(crate) fn is_plain(char: char) -> bool {
    let is_escaped = char.escape_debug().len() > 1 && !matches!(char, '\\' | '\'' | '"');
    !is_escaped && !is_blank(char)
}

/// The letters and symbols that have no ink, or none of their own.
fn is_blank(char: char) -> bool {
    matches!(
        char,
        '\u{115f}'
            | '\u{1160}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{ffa0}'
            | '\u{13441}'
            | '\u{13442}'
            | '\u{1d159}'
    )
}

/// The marks that cannot be seen: they combine with a letter and do not change
/// how it looks, or choose between its forms.
fn is_invisible_mark(char: char) -> bool {
    matches!(
        char,
        '\u{34f}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200c}'..='\u{200d}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{16fe4}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A visible mark that combines with the letter before it, such as an accent.
fn is_mark(char: char) -> bool {
    // Of a character that extends the one before it, only the first of a text
    // is escaped for that alone.
    let after_a_letter: String = ['a', char].iter().collect();
    !is_plain(char)
        && !is_blank(char)
        && !is_invisible_mark(char)
        && after_a_letter.escape_debug().eq(after_a_letter.chars())
}

/// A symbol that emoji are made of, roughly: those beside it are symbols too.
fn is_pictograph(char: char) -> bool {
    matches!(
        char,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
            | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}'
            | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
            | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    ) && is_plain(char)
}

/// How a text is drawn: as a picture, or joined with the next one.
const AS_TEXT: char = '\u{fe0e}';
const AS_PICTURE: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';

/// What was written last, as far as it matters for what may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing that can carry a mark: the beginning, a space, an escape.
    Nothing,
    /// A letter, or a symbol that is no picture, with that many marks.
    Letter(usize),
    /// A picture, before its selector.
    Picture,
    /// A picture with its selector.
    Selected,
}

struct Escape {
    written: String,
    last: Last,
}

impl Escape {
    fn write(&mut self, char: char, next: &mut Peekable<Chars<'_>>) {
        let last = match (char, self.last) {
            (' ', _) => Some(Last::Nothing),
            (_, _) if is_pictograph(char) => Some(Last::Picture),
            (_, _) if is_plain(char) => Some(Last::Letter(0)),
            (AS_PICTURE | AS_TEXT, Last::Picture) => Some(Last::Selected),
            (JOINER, Last::Picture | Last::Selected) => {
                next.peek().is_some_and(|next| is_pictograph(*next)).then_some(Last::Nothing)
            }
            // The keys of a telephone: a digit, a selector and the frame.
            (AS_PICTURE, Last::Letter(0)) => {
                let is_key = self.written.ends_with(|c: char| matches!(c, '0'..='9' | '#' | '*'));
                (is_key && next.peek() == Some(&KEYCAP)).then_some(Last::Letter(0))
            }
            (_, Last::Letter(marks)) if marks < MOST_MARKS && is_mark(char) => {
                Some(Last::Letter(marks + 1))
            }
            _ => None,
        };
        if last.is_some() {
            self.written.push(char);
        } else {
            self.written.extend(char.escape_default());
        }
        self.last = last.unwrap_or(Last::Nothing);
    }
}
