//! A line for a shell as its commands, as far as that can be read without running it.

use std::iter::Peekable;
use std::str::Chars;

use super::word::Word;

/// A line, in its parts.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) parts: Vec<Part>,
    /// Whether the shell works out something that is not in the text: `$(…)`, a here
    /// document, a quote that is not closed.
    pub(super) dynamic: bool,
}

#[derive(Debug)]
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
    /// `;`, `&` or a new line: what follows runs however the first ended.
    Next,
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
    word: Option<Word>,
    /// Whether the next word is a file that is written, which does not run.
    writes: bool,
}

impl<'l> Reader<'l> {
    fn new(text: &'l str) -> Self {
        let chars = text.chars().peekable();
        Self { chars, line: Line::default(), words: Vec::new(), word: None, writes: false }
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
                        self.word().take(escaped);
                    }
                }
                '$' => self.dollar(),
                '`' => self.line.dynamic = true,
                '#' if self.word.is_none() => {
                    while self.chars.next_if(|it| *it != '\n').is_some() {}
                }
                '<' | '>' => self.redirect(char),
                '&' if self.chars.next_if_eq(&'>').is_some() => self.redirect('>'),
                ';' | '\n' | '&' | '|' | '(' | ')' => self.join(char),
                _ if char.is_whitespace() => self.end_word(),
                _ => self.plain(char),
            }
        }
        self.end_command();
    }

    fn plain(&mut self, char: char) {
        let next = self.chars.peek().copied();
        // A brace alone is a word of the shell, as is a bracket.
        let within = self.word.is_some() || next.is_some_and(|next| !next.is_whitespace());
        let word = self.word();
        word.home |= char == '~' && word.text.is_empty();
        word.matches |= matches!(char, '*' | '?') || (matches!(char, '[' | '{') && within);
        word.text.push(char);
    }

    fn single_quoted(&mut self) {
        self.word();
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
        self.word();
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
            // Up to its end, whatever is in it.
            Some('{') => {
                while let Some(char) = self.chars.next() {
                    self.word().text.push(char);
                    if char == '}' {
                        break;
                    }
                }
            }
            _ => {}
        }
    }

    /// Behind `<` or `>`: what is read may be run, what is written is not.
    fn redirect(&mut self, first: char) {
        // `2>`: a number, no word.
        if self.word.as_ref().is_some_and(|word| word.text.chars().all(|it| it.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        self.writes = first == '>';
        match self.chars.peek().copied() {
            // A here document, or a command as a file.
            Some('<') if first == '<' => self.line.dynamic = true,
            Some('(') => self.line.dynamic = true,
            Some('>' | '|' | '&') => drop(self.chars.next()),
            _ => {}
        }
    }

    fn join(&mut self, char: char) {
        self.end_command();
        let twice = self.chars.next_if_eq(&char).is_some();
        self.line.parts.push(Part::Join(match (char, twice) {
            ('&', true) => Join::And,
            ('|', true) => Join::Or,
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
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.writes)
        {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.writes = false;
        if !self.words.is_empty() {
            self.line.parts.push(Part::Command(std::mem::take(&mut self.words)));
        }
    }
}
