//! The text of a file: its lines, and the mistakes that are found in them.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::operator::file::error::FileMistake;
use crate::operator::file::problem::FileProblem;

/// A text, with where its lines begin.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) text: String,
    /// Of each line the first byte.
    starts: Vec<usize>,
}

/// Mistakes, as they are found.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    pub(super) all: Vec<FileMistake>,
    /// The lines that are no TOML: what is read of them is not what was meant.
    unreadable: BTreeSet<usize>,
}

impl Source {
    /// The text of these bytes. What is no text is replaced, so that the rest is read, and
    /// its lines are noted.
    pub(super) fn new(bytes: &[u8], mistakes: &mut Mistakes) -> Self {
        let (mut text, mut bad) = (String::with_capacity(bytes.len()), Vec::new());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                bad.push(text.len());
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        let source = Self { text, starts };
        for at in bad {
            let line = source.line(at);
            mistakes.unreadable(line, &source, FileProblem::NotUtf8);
        }
        source
    }

    /// The number of the line with that byte, from 1 on.
    pub(super) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// The text of a line.
    fn text_of(&self, line: usize) -> &str {
        let start = line.checked_sub(1).and_then(|index| self.starts.get(index));
        let rest = start.and_then(|start| self.text.get(*start..));
        rest.and_then(|rest| rest.lines().next()).unwrap_or_default()
    }

    /// Whether a line is the head of a table.
    pub(super) fn is_head(&self, line: usize) -> bool {
        self.text_of(line).trim_start().starts_with('[')
    }

    /// The key that a line begins with.
    fn key_in(&self, line: usize) -> Option<String> {
        let line = self.text_of(line);
        let key = line.split_once('=')?.0.trim();
        let is_of_key =
            |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        (!key.is_empty() && key.chars().all(is_of_key)).then(|| key.to_owned())
    }
}

impl Mistakes {
    /// A line that is no TOML; the first reason is enough, and only then is the line looked
    /// at: it may be as long as the file, with a mistake in each byte.
    pub(super) fn unreadable(&mut self, line: usize, source: &Source, problem: FileProblem) {
        if self.unreadable.insert(line) {
            let key = source.key_in(line);
            self.all.push(FileMistake { line, key, problem });
        }
    }

    /// A mistake in a line that could be read.
    pub(super) fn add(&mut self, line: usize, key: Option<String>, problem: FileProblem) {
        if !self.unreadable.contains(&line) {
            self.all.push(FileMistake { line, key, problem });
        }
    }

    /// Whether a line that is no TOML is among these.
    pub(super) fn is_unreadable(&self, lines: &Range<usize>) -> bool {
        self.unreadable.range(lines.clone()).next().is_some()
    }
}
