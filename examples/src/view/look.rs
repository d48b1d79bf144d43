//! How the text is to look.

use std::ffi::OsStr;

use super::colour::paint;
use super::summary::Summary;
use super::{legend, text};
use crate::agent::Record;

/// How the text is to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// How many letters there are to a line; none where a line may be as long as it
    /// likes, as in a pipe or a file.
    pub width: Option<usize>,
    /// Whether there is colour.
    pub colour: bool,
    /// Whether a fire without handlers has a row. If not, they share a line.
    pub all: bool,
}

impl Look {
    /// The look for an output: `width` is that of the terminal, if it is one,
    /// and `no_color` the variable `NO_COLOR`, which asks for no colour when it
    /// is set to anything. A pipe gets no colour.
    pub fn new(width: Option<usize>, no_color: Option<&OsStr>) -> Self {
        let colour = width.is_some() && no_color.is_none_or(OsStr::is_empty);
        Self { width, colour, all: false }
    }

    /// What the columns, models and marks of the rows mean.
    pub fn legend(self) -> String {
        paint(&legend::lines(self), self.colour)
    }

    /// What came of one message, one goal or one background job.
    pub fn record(self, record: &Record) -> String {
        paint(&text::record(record, self), self.colour)
    }

    /// What the plugins have seen by the end.
    pub fn summary(self, summary: &Summary) -> String {
        paint(&text::summary(summary, self), self.colour)
    }
}
