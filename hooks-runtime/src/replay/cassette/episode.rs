//! One request and what came of it, as a line of the file.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CassetteError;
use crate::error::BoxError;
use crate::record::is_too_deep;

/// The version of the lines.
const VERSION: u64 = 1;

/// One request and what came of it.
pub(super) struct Episode {
    pub(super) who: String,
    pub(super) request: Value,
    pub(super) answered: Answered,
}

/// What came of a request.
#[derive(Clone, Debug)]
pub(super) enum Answered {
    With(Value),
    /// With a failure, which is told apart from every answer.
    Failed(String),
}

/// A line of the file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    v: u64,
    who: String,
    request: Value,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// An answer that is `null` is there.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Episode {
    /// Whom it asks and what, for a look-up.
    pub(super) fn key(&self) -> (String, String) {
        (self.who.clone(), self.request.to_string())
    }

    /// Whether its line could not be read again, nor any other with it.
    pub(super) fn is_too_deep(&self) -> bool {
        let answer = match &self.answered {
            Answered::With(answer) => Some(answer),
            Answered::Failed(_) => None,
        };
        answer.into_iter().chain([&self.request]).any(is_too_deep)
    }
}

impl Answered {
    pub(super) fn of(answer: &Result<Value, BoxError>) -> Self {
        match answer {
            Ok(answer) => Self::With(answer.clone()),
            Err(error) => Self::Failed(error.to_string()),
        }
    }

    pub(super) fn into_answer(self) -> Result<Value, BoxError> {
        match self {
            Self::With(answer) => Ok(answer),
            Self::Failed(message) => Err(message.into()),
        }
    }
}

/// Reads all lines.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<Episode>, CassetteError> {
    // What an editor may have put at the start of a file.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| episode(line).map_err(|problem| bad(path, at, problem))).collect()
}

fn bad(path: &Path, at: usize, problem: String) -> CassetteError {
    CassetteError::BadLine { path: path.to_owned(), line: at + 1, problem }
}

fn episode(line: &str) -> Result<Episode, String> {
    let Line { v, who, request, answer, failed } =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    if v != VERSION {
        return Err(format!("it has version {v}, and this reads version {VERSION}"));
    }
    let answered = match (answer, failed) {
        (Some(answer), None) => Answered::With(answer),
        (None, Some(message)) => Answered::Failed(message),
        _ => return Err("it needs either `answer` or `failed`".to_owned()),
    };
    Ok(Episode { who, request, answered })
}

/// Writes all lines beside the file, and then in its place.
pub(super) fn write(path: &Path, episodes: &[Episode]) -> Result<(), CassetteError> {
    let failed = |source| CassetteError::Unwritable { path: path.to_owned(), source };
    let mut text = Vec::new();
    for Episode { who, request, answered } in episodes {
        let (answer, failed) = match answered {
            Answered::With(answer) => (Some(answer.clone()), None),
            Answered::Failed(message) => (None, Some(message.clone())),
        };
        let line = Line { v: VERSION, who: who.clone(), request: request.clone(), answer, failed };
        serde_json::to_writer(&mut text, &line).map_err(|error| self::failed(path, error))?;
        text.push(b'\n');
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let written = std::fs::File::create(&beside)
        .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&beside, path));
    written.map_err(failed)
}

fn failed(path: &Path, error: serde_json::Error) -> CassetteError {
    CassetteError::Unwritable { path: path.to_owned(), source: error.into() }
}
