//! The values of an entry: each is read, or a mistake says what was expected.

use std::ops::RangeInclusive;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::escape::escaped;
use crate::operator::apply::is_readable;
use crate::operator::breaker::BreakerState;
use crate::operator::file::problem::{FileProblem, listed};
use crate::operator::file::source::{Mistakes, Source};
use crate::operator::file::time::{self, AN_END};
use crate::operator::mode::Mode;
use crate::operator::setting::{End, SettingChange};
use crate::point::FailurePolicy;
use crate::suggest::nearest;

const MODES: [Mode; 4] = [Mode::Enforce, Mode::Disable, Mode::Shadow, Mode::Warn];
const POLICIES: [(&str, FailurePolicy); 2] =
    [("open", FailurePolicy::Open), ("closed", FailurePolicy::Closed)];
const STATES: [(&str, BreakerState); 2] =
    [("open", BreakerState::Open), ("closed", BreakerState::Closed)];

/// A key with its value, and where mistakes in it go.
pub(super) struct Field<'s> {
    /// The key, and the same with those of the tables that it is in.
    pub(super) name: &'s str,
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: &'s DeValue<'s>,
    pub(super) source: &'s Source,
}

/// The type of a value, in the words of TOML.
pub(super) fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date-time",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// The fields of a table, in the order of the file.
pub(super) fn fields<'s>(
    table: &'s DeTable<'s>,
    within: Option<&str>,
    source: &'s Source,
) -> Vec<Field<'s>> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(key, _)| key.span().start);
    let field = |(key, value): (&'s Spanned<DeString<'s>>, &'s Spanned<DeValue<'s>>)| {
        let name: &str = key.get_ref();
        let key_of_all = within.map_or_else(|| name.to_owned(), |outer| format!("{outer}.{name}"));
        let line = source.line(key.span().start);
        Field { name, key: key_of_all, line, value: value.get_ref(), source }
    };
    all.into_iter().map(field).collect()
}

impl<'s> Field<'s> {
    pub(super) fn mistake(&self, problem: FileProblem, mistakes: &mut Mistakes) {
        mistakes.add(self.line, Some(self.key.clone()), problem);
    }

    pub(super) fn wrong_type<T>(
        &self,
        expected: impl Into<String>,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        let found = type_of(self.value);
        self.mistake(FileProblem::WrongType { expected: expected.into(), found }, mistakes);
        None
    }

    pub(super) fn bad<T>(&self, problem: String, mistakes: &mut Mistakes) -> Option<T> {
        self.mistake(FileProblem::BadValue { problem }, mistakes);
        None
    }

    /// It is none of these keys.
    pub(super) fn unknown(&self, known: &'static [&'static str], mistakes: &mut Mistakes) {
        let nearest = nearest(self.name, known.iter().copied(), str::len);
        self.mistake(FileProblem::UnknownKey { nearest, known }, mistakes);
    }

    pub(super) fn text(&self, mistakes: &mut Mistakes) -> Option<&'s str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => self.wrong_type("a string", mistakes),
        }
    }

    /// A text that says something.
    pub(super) fn words(&self, mistakes: &mut Mistakes) -> Option<&'s str> {
        let text = self.text(mistakes)?;
        if is_readable(text) {
            return Some(text);
        }
        self.bad("expected a text that people can read".to_owned(), mistakes)
    }

    pub(super) fn truth(&self, mistakes: &mut Mistakes) -> Option<bool> {
        match self.value {
            DeValue::Boolean(value) => Some(*value),
            _ => self.wrong_type("`true` or `false`", mistakes),
        }
    }

    /// One of some words.
    fn choice<T: Copy>(
        &self,
        choices: impl IntoIterator<Item = (&'static str, T)>,
        mistakes: &mut Mistakes,
    ) -> Option<T> {
        let choices: Vec<_> = choices.into_iter().collect();
        let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
        let expected = listed(&words);
        let DeValue::String(text) = self.value else {
            return self.wrong_type(format!("{expected} as a string"), mistakes);
        };
        if let Some((_, choice)) = choices.iter().find(|(word, _)| word == text) {
            return Some(*choice);
        }
        let meant = nearest(text, words.iter(), str::len);
        let meant = meant.map_or_else(String::new, |word| format!("; did you mean `{word}`?"));
        let found = escaped(text);
        self.bad(format!("expected {expected}, found `{found}`{meant}"), mistakes)
    }

    pub(super) fn number(
        &self,
        range: RangeInclusive<u32>,
        mistakes: &mut Mistakes,
    ) -> Option<u32> {
        let DeValue::Integer(number) = self.value else {
            return self.wrong_type("an integer", mistakes);
        };
        let read = u32::from_str_radix(number.as_str(), number.radix()).ok();
        read.filter(|read| range.contains(read)).or_else(|| {
            let (least, most) = (range.start(), range.end());
            let expected = format!("expected an integer from {least} to {most}, found {number}");
            self.bad(expected, mistakes)
        })
    }

    pub(super) fn duration(&self, mistakes: &mut Mistakes) -> Option<Duration> {
        match self.value {
            DeValue::String(text) => time::duration(text).map_or_else(
                |problem| self.bad(format!("`{}` {problem}", escaped(text)), mistakes),
                Some,
            ),
            DeValue::Integer(number) => {
                let problem = "a duration is a string with a unit";
                self.bad(format!("{problem}, as \"{number}ms\" or \"{number}s\""), mistakes)
            }
            _ => self.wrong_type("a duration as a string, as \"200ms\"", mistakes),
        }
    }

    pub(super) fn end(&self, mistakes: &mut Mistakes) -> Option<(End, String)> {
        match self.value {
            DeValue::Datetime(at) => match time::end(at) {
                Ok(end) => Some((End::At(end), at.to_string())),
                Err(problem) => self.bad(problem, mistakes),
            },
            DeValue::String(text) if time::duration(text).is_ok() => self.bad(
                format!(
                    "a duration would begin anew each time that the file is read: write {AN_END}"
                ),
                mistakes,
            ),
            _ => self.wrong_type(AN_END, mistakes),
        }
    }

    /// What it sets, if it is a key that sets something.
    pub(super) fn change(&self, mistakes: &mut Mistakes) -> Option<SettingChange> {
        match self.name {
            "mode" => {
                let modes = MODES.map(|mode| (mode.as_str(), mode));
                self.choice(modes, mistakes).map(SettingChange::Mode)
            }
            "time_limit" => self.duration(mistakes).map(SettingChange::TimeLimit),
            "on_failure" => self.choice(POLICIES, mistakes).map(SettingChange::OnFailure),
            "sample" => self.sample(mistakes),
            "rate_limit" => self.rate_limit(mistakes).map(SettingChange::RateLimit),
            "breaker" => self.breaker(mistakes).map(SettingChange::Breaker),
            "force_breaker" => self.choice(STATES, mistakes).map(SettingChange::ForceBreaker),
            _ => None,
        }
    }

    fn sample(&self, mistakes: &mut Mistakes) -> Option<SettingChange> {
        let part = match self.value {
            DeValue::Float(part) => part.as_str().parse::<f64>().ok(),
            DeValue::Integer(part) => part.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let Some(part) = part else {
            return self.wrong_type("a number from 0 to 1, as 0.25", mistakes);
        };
        let change = SettingChange::sample(part);
        change.map_err(|error| self.mistake(FileProblem::Refused(error), mistakes)).ok()
    }
}
