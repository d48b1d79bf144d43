//! Where something in a recording is, and what is wrong there.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use thiserror::Error;

use crate::escape::{escaped, escaped_display};
use crate::record::format::LineError;

/// A line of a file of a recording.
///
/// The example of [`ReadError`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// How many bytes of the file are before it.
    pub offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", escaped_display(&self.file.display()), self.line)
    }
}

/// A last line without its end, which was not read.
///
/// The example of [`Reader`](super::Reader) has one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Torn {
    /// Where it begins.
    pub place: Place,
    /// How many bytes of it are there.
    pub bytes: u64,
}

impl fmt::Display for Torn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, bytes } = self;
        let offset = place.offset;
        write!(
            f,
            "{place}: the last line, at byte {offset}, has no end: {bytes} bytes were left out"
        )
    }
}

/// Why a recording, or a line of it, cannot be read.
///
/// ```
/// use hooks_runtime::record::{ReadError, Reader};
///
/// let error = Reader::open("no/such/recording.jsonl").unwrap_err();
/// assert!(matches!(error, ReadError::Open { .. }));
/// assert_eq!(error.place(), None); // it is of no line
/// assert!(error.to_string().starts_with("no recording is at `no/such/recording.jsonl`: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file cannot be opened.
    #[error("no recording is at `{}`: {}", escaped_display(&file.display()), escaped(problem))]
    Open {
        /// The file.
        file: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// A file cannot be read on.
    #[error(
        "{place}: at byte {}, the file cannot be read on: {}",
        place.offset,
        escaped(problem)
    )]
    Io {
        /// The line that could not be read.
        place: Place,
        /// What the system said.
        problem: String,
    },
    /// A line is damaged.
    #[error(
        "{place}: the line at byte {} is damaged: expected {}: {}",
        place.offset,
        escaped(expected),
        escaped(problem)
    )]
    Damaged {
        /// The line.
        place: Place,
        /// What should have been there.
        expected: String,
        /// What is there.
        problem: String,
    },
    /// A line has another version of the format.
    #[error("{place}: {}", LineError::UnknownVersion { version: *version })]
    UnknownVersion {
        /// The line.
        place: Place,
        /// The version it has.
        version: u32,
    },
    /// A line is of a kind that this version does not know.
    #[error("{place}: {}", LineError::UnknownKind { kind: kind.clone() })]
    UnknownKind {
        /// The line.
        place: Place,
        /// The kind it has.
        kind: String,
    },
    /// A fire has fewer lines behind it than it says: the file goes on without them, or was cut
    /// between two lines.
    #[error("{place}: the fire at byte {} says that {expected} lines of it follow, and {found} do", place.offset)]
    Incomplete {
        /// The line of the fire.
        place: Place,
        /// How many lines should follow.
        expected: u64,
        /// How many do.
        found: u64,
    },
}

impl ReadError {
    pub(super) fn open(file: &Path, error: &io::Error) -> Self {
        Self::Open { file: file.to_owned(), problem: error.to_string() }
    }

    pub(super) fn line(place: Place, error: LineError) -> Self {
        match error {
            LineError::Damaged { expected, problem } => Self::Damaged { place, expected, problem },
            LineError::UnknownVersion { version } => Self::UnknownVersion { place, version },
            LineError::UnknownKind { kind } => Self::UnknownKind { place, kind },
        }
    }

    pub(super) fn not_text(place: Place, error: Utf8Error) -> Self {
        Self::Damaged { place, expected: "text in UTF-8".to_owned(), problem: error.to_string() }
    }

    pub(super) fn too_long(place: Place, most: u64) -> Self {
        let (expected, problem) = (format!("a line of at most {most} bytes"), "no end".to_owned());
        Self::Damaged { place, expected, problem }
    }

    /// Where it is, if it is of a line.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Open { .. } => None,
            Self::Io { place, .. }
            | Self::Damaged { place, .. }
            | Self::UnknownVersion { place, .. }
            | Self::UnknownKind { place, .. }
            | Self::Incomplete { place, .. } => Some(place),
        }
    }
}
