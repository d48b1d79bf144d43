//! A line for a shell as its commands, as far as that can be read without running it.

use std::iter::Peekable;
use std::str::Chars;

use super::programs::PREFIXES;
use super::word::Word;

/// A line, in its parts.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) parts: Vec<Part>,
    /// Whether the shell works out something that is not in the text: `$(…)`, a here
    /// document, a quote that is not closed.
    pub(super) dynamic: bool,
    /// Whether it has an `&>`, which is a redirection to some shells and an `&` to others.
    pub(super) ambiguous: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Command(Vec<Word>),
    Join(Join),
}

/// What stands between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
    Pipe,
    /// `;` or a new line: what follows runs however the first ended.
    Next,
    /// `&`: what is before it runs in a shell of its own.
    Beside,
    Open,
    Close,
}

impl Line {
    pub(super) fn read(text: &str) -> Self {
        let mut reader = Reader::new(text);
        reader.read();
        reader.line
    }

    pub(super) fn commands(&self) -> usize {
        self.parts.iter().filter(|part| matches!(part, Part::Command(_))).count()
    }
}

/// Reads a line, character by character.
struct Reader<'l> {
    chars: Peekable<Chars<'l>>,
    line: Line,
    words: Vec<Word>,
    /// The files that the command reads from, which may stand before its name.
    inputs: Vec<Word>,
    word: Option<Word>,
    /// What the next word is, where it is a file behind `<` or `>`.
    redirected: Option<Redirected>,
    /// Whether the command writes to a file.
    writes: bool,
}

/// A file behind `<` or `>`: what is read may be run, what is written is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Redirected {
    Read,
    Written,
}

impl<'l> Reader<'l> {
    fn new(text: &'l str) -> Self {
        let chars = text.chars().peekable();
        let (words, inputs) = (Vec::new(), Vec::new());
        Self {
            chars,
            line: Line::default(),
            words,
            inputs,
            word: None,
            redirected: None,
            writes: false,
        }
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn read(&mut self) {
        while let Some(char) = self.chars.next() {
            match char {
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => {
                    if let Some(escaped) = self.chars.next().filter(|char| *char != '\n') {
                        self.word().quoted = true;
                        self.word().take(escaped);
                    }
                }
                '$' => {
                    self.word().splits = true;
                    self.dollar();
                }
                '`' => self.line.dynamic = true,
                '#' if self.word.is_none() => {
                    while self.chars.next_if(|it| *it != '\n').is_some() {}
                }
                '<' | '>' => self.redirect(char),
                '&' if self.chars.next_if_eq(&'>').is_some() => {
                    self.line.ambiguous = true;
                    self.redirect('>');
                }
                ';' | '\n' | '&' | '|' | '(' | ')' => self.join(char),
                ' ' | '\t' => self.end_word(),
                _ => self.plain(char),
            }
        }
        self.end_command();
    }

    fn plain(&mut self, char: char) {
        let next = self.chars.peek().copied();
        // A brace alone is a word of the shell, as is a bracket.
        let begins = self.word.is_none();
        let within = !begins || next.is_some_and(|next| !next.is_whitespace());
        // Other blanks are characters of a word, which look as if they ended it.
        self.line.dynamic |= char.is_whitespace();
        let word = self.word();
        word.home |= char == '~' && begins;
        word.matches |= matches!(char, '*' | '?') || (matches!(char, '[' | '{') && within);
        word.text.push(char);
    }

    fn single_quoted(&mut self) {
        self.word().quoted = true;
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(char) => {
                    self.word().take(char);
                }
                None => return self.line.dynamic = true,
            }
        }
    }

    fn double_quoted(&mut self) {
        self.word().quoted = true;
        loop {
            match self.chars.next() {
                Some('"') => return,
                Some('$') => self.dollar(),
                Some('`') => self.line.dynamic = true,
                Some('\\') => {
                    match self.chars.next_if(|it| matches!(it, '$' | '"' | '\\' | '`' | '\n')) {
                        Some('\n') => {}
                        Some(escaped) => {
                            self.word().take(escaped);
                        }
                        None => self.word().text.push('\\'),
                    }
                }
                Some(char) => self.word().text.push(char),
                None => return self.line.dynamic = true,
            }
        }
    }

    /// A variable that the shell reads, or what it works out.
    fn dollar(&mut self) {
        self.word().read();
        match self.chars.peek() {
            Some('(' | '\'' | '"') => self.line.dynamic = true,
            // Up to its end. What is worked out in it, or set by it, is not known.
            Some('{') => {
                while let Some(char) = self.chars.next() {
                    self.word().text.push(char);
                    self.line.dynamic |= "$`=\"'\\([!@<>\n".contains(char);
                    if char == '}' {
                        return;
                    }
                }
                self.line.dynamic = true;
            }
            _ => {}
        }
    }

    /// Behind `<` or `>`.
    fn redirect(&mut self, first: char) {
        // `2>`: a number, no word.
        let is_number =
            |word: &Word| !word.quoted && word.text.chars().all(|it| it.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        let is_read = first == '<';
        self.redirected = Some(if is_read { Redirected::Read } else { Redirected::Written });
        match self.chars.peek().copied() {
            // A here document, or what was opened before.
            Some('<' | '&') if is_read => self.line.dynamic = true,
            // A command as a file.
            Some('(') => self.line.dynamic = true,
            Some('>' | '|' | '&') => drop(self.chars.next()),
            _ => {}
        }
    }

    fn join(&mut self, char: char) {
        if char == '(' {
            // Behind a word it is a function, a list or a pattern, which change what words
            // mean.
            let mut words = self.words.iter().chain(&self.word);
            self.line.dynamic |= words.any(|word| !word.is(&PREFIXES));
        }
        self.end_command();
        // Behind `&&`, `||` and `|` a line goes on.
        let goes_on = [Join::And, Join::Or, Join::Pipe].map(Part::Join);
        if char == '\n' && self.line.parts.last().is_some_and(|last| goes_on.contains(last)) {
            return;
        }
        let twice = self.chars.next_if_eq(&char).is_some();
        if char == '|' && !twice {
            // `|&` is a pipe too.
            let _ = self.chars.next_if_eq(&'&');
        }
        self.line.parts.push(Part::Join(match (char, twice) {
            ('&', true) => Join::And,
            ('|', true) => Join::Or,
            ('&', false) => Join::Beside,
            ('|', false) => Join::Pipe,
            ('(', _) => Join::Open,
            (')', _) => Join::Close,
            _ => Join::Next,
        }));
        if twice && matches!(char, '(' | ')') {
            // Arithmetic, or two of them: what it means is not known here.
            self.line.dynamic = true;
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.redirected.take() {
            None => self.words.push(word),
            Some(Redirected::Read) => self.inputs.push(Word { input: true, ..word }),
            Some(Redirected::Written) => self.writes = true,
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirected = None;
        self.words.append(&mut self.inputs);
        // It does not end the line where the file cannot be written.
        let writes = std::mem::take(&mut self.writes);
        self.line.dynamic |= writes && self.words.first().is_some_and(|word| word.is(&["exit"]));
        if !self.words.is_empty() {
            self.line.parts.push(Part::Command(std::mem::take(&mut self.words)));
        }
    }
}
