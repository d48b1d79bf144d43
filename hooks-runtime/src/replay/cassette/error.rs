//! What can go wrong with a cassette.

use std::io;
use std::path::PathBuf;

use serde_json::Value;
use thiserror::Error;

use super::CassetteMode;
use crate::escape::{escaped, escaped_display, excerpt};
use crate::readable::readable_debug;

/// Why a cassette was not opened, or has no answer.
///
/// ```
/// use hooks_runtime::replay::{Cassette, CassetteError, CassetteMode};
///
/// let missing = Cassette::open("no such file.jsonl", CassetteMode::None).unwrap_err();
/// assert!(matches!(missing, CassetteError::NoFile { .. }));
/// assert_eq!(
///     missing.to_string(),
///     "there is no cassette `no such file.jsonl`: record it once, with `CassetteMode::Once`",
/// );
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// There is no file, and nothing may be recorded.
    #[error(
        "there is no cassette `{}`: record it once, with `CassetteMode::Once`",
        escaped_display(&.path.display())
    )]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error(
        "the cassette `{}` cannot be read: {}",
        escaped_display(&.path.display()),
        escaped_display(.source)
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A line of the file is not one of a cassette.
    #[error(
        "line {line} of the cassette `{}` cannot be used: {}; correct it, or delete the file and \
         record it again, with `CassetteMode::Once`",
        escaped_display(&.path.display()),
        escaped(.problem)
    )]
    BadLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A request is not in the file, or more often than it was recorded, and nothing may
    /// be called.
    #[error(
        "`{}` was asked what is not in the cassette `{}`: {}; to record it, open the cassette with \
         {}",
        escaped(.who),
        escaped_display(&.path.display()),
        excerpt(&.request.to_string()),
        how(*.mode)
    )]
    NotRecorded {
        /// The file.
        path: PathBuf,
        /// The mode, in which nothing is recorded.
        mode: CassetteMode,
        /// Who was asked.
        who: String,
        /// The request.
        request: Value,
    },
    /// The file cannot be written.
    #[error(
        "the cassette `{}` cannot be written: {}",
        escaped_display(&.path.display()),
        escaped_display(.source)
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

fn how(mode: CassetteMode) -> &'static str {
    match mode {
        CassetteMode::Once => {
            "`CassetteMode::New`, or delete it: in `CassetteMode::Once` only what there is no file \
             for is recorded"
        }
        _ => "`CassetteMode::New`",
    }
}

readable_debug! {
    enum CassetteError {
        NoFile { path },
        Unreadable { path, source },
        BadLine { path, line, problem },
        NotRecorded { path, mode, who, request },
        Unwritable { path, source },
    }
}
