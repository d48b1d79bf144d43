//! A file as a list of settings, and all that is wrong with it.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::operator::file::entry::{self, FileSetting, Target};
use crate::operator::file::error::FileMistake;
use crate::operator::file::problem::FileProblem;
use crate::operator::file::source::{Mistakes, Source};
use crate::operator::file::value::{Field, fields, type_of};

/// The longest file: more than any list of settings that a registry takes.
pub(super) const LONGEST: usize = 1 << 20;

const TABLES: &[&str] = &["setting"];

/// What a text says, and all that is wrong with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    pub(super) settings: Vec<FileSetting>,
    /// The targets of entries of which nothing that is set could be read.
    pub(super) targets: Vec<Target>,
    pub(super) mistakes: Vec<FileMistake>,
}

/// Reads a file. What can be read is read, so that all mistakes are found at once.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    if bytes.len() > LONGEST {
        let problem = FileProblem::TooLong { most: LONGEST };
        parsed.mistakes.push(FileMistake { line: 1, key: None, problem });
        return parsed;
    }
    let mut mistakes = Mistakes::default();
    let source = Source::new(bytes, &mut mistakes);
    let (document, errors) = DeTable::parse_recoverable(&source.text);
    for error in &errors {
        syntax(error, &source, &mut mistakes);
    }
    for field in fields(document.get_ref(), None, &source) {
        if field.name == "setting" {
            for (table, lines) in entries(&field, &mut mistakes) {
                entry::read(table, &lines, &source, &mut parsed, &mut mistakes);
            }
        } else if source.is_head(field.line) || !mistakes.is_unreadable(&(1..field.line)) {
            // Else it may be of an entry whose head could not be read.
            field.unknown(TABLES, &mut mistakes);
        }
    }
    parsed.mistakes = mistakes.all;
    parsed
}

/// A place that is no TOML.
fn syntax(error: &toml::de::Error, source: &Source, mistakes: &mut Mistakes) {
    let span = error.span().unwrap_or_default();
    let problem = match error.message() {
        "duplicate key" => FileProblem::DuplicateKey,
        problem => FileProblem::Syntax { problem: problem.to_owned() },
    };
    let line = source.line(span.start);
    mistakes.unreadable(line, source, problem);
}

/// The entries, each with its lines: those up to the next one.
fn entries<'s>(field: &Field<'s>, mistakes: &mut Mistakes) -> Vec<(&'s DeTable<'s>, Range<usize>)> {
    const EXPECTED: &str = "an array of tables, each of which begins with `[[setting]]`";
    let items: &[Spanned<DeValue<'s>>] = match field.value {
        DeValue::Array(items) => items,
        DeValue::Table(table) => {
            field.wrong_type::<()>(EXPECTED, mistakes);
            // What is in it was meant to be an entry.
            return vec![(table, field.line..usize::MAX)];
        }
        _ => {
            field.wrong_type::<()>(EXPECTED, mistakes);
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let line = |item: &Spanned<DeValue<'_>>| field.source.line(item.span().start);
        let end = items.get(number + 1).map_or(usize::MAX, |next| line(next).max(line(item) + 1));
        match item.get_ref() {
            DeValue::Table(table) => entries.push((table, line(item)..end)),
            other => {
                let (expected, found) = (EXPECTED.to_owned(), type_of(other));
                let problem = FileProblem::WrongType { expected, found };
                mistakes.add(line(item), Some(field.key.clone()), problem);
            }
        }
    }
    entries
}
