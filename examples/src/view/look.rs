//! How the output is to look.

use std::ffi::OsStr;

use super::summary::Summary;
use super::{plain, terminal};
use crate::agent::Record;

/// How the output is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Plain text: for pipes, and for terminals that are too narrow.
    Plain,
    /// Two columns, and colour if wanted: for terminals.
    Columns {
        /// How many letters there are to a line.
        width: usize,
        /// Whether there is colour.
        colour: bool,
    },
}

/// Less than this is not enough for two columns.
const NARROWEST: usize = 90;

impl Look {
    /// The look for an output: `width` is that of the terminal, if it is one,
    /// and `no_color` the variable `NO_COLOR`, which asks for no colour when it
    /// is set to anything.
    pub fn new(width: Option<usize>, no_color: Option<&OsStr>) -> Self {
        match width {
            Some(width) if width >= NARROWEST => {
                Self::Columns { width, colour: no_color.is_none_or(OsStr::is_empty) }
            }
            _ => Self::Plain,
        }
    }

    /// What came of one message, one goal or one background job.
    pub fn record(self, record: &Record) -> String {
        match self {
            Self::Plain => plain::record(record),
            Self::Columns { width, colour } => terminal::record(record, width, colour),
        }
    }

    /// What the plugins have seen by the end.
    pub fn summary(self, summary: &Summary) -> String {
        match self {
            Self::Plain => plain::summary(summary),
            Self::Columns { width, colour } => terminal::summary(summary, width, colour),
        }
    }
}
