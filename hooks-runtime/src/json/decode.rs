//! From JSON to types and back.

use serde::Serialize;
use serde::de::{DeserializeOwned, Deserializer};
use serde_json::Value;
use serde_path_to_error::{Deserializer as Tracking, Track};

use super::error::{JsonError, Mismatch};
use super::strict::Strict;
use crate::engine::containment::{contained, drop_contained};
use crate::error::BoxError;
use crate::escape::escaped;
use crate::point::HookPoint;

/// Reads the payload of `P` from text.
///
/// How it is read is the host's code, and no handler is called yet that could
/// have failed: a panic is an error like any other.
pub(super) fn payload<P>(text: &[u8]) -> Result<P::Payload, JsonError>
where
    P: HookPoint,
    P::Payload: DeserializeOwned,
{
    document(P::NAME, "the payload", text)
}

/// Reads a whole text.
pub(super) fn document<T: DeserializeOwned>(
    point: &'static str,
    what: &'static str,
    text: &[u8],
) -> Result<T, JsonError> {
    let mut document = serde_json::Deserializer::from_slice(text);
    let read = contained(|| tracked(point, what, &mut document));
    let read = read.map_err(|message| panicked(point, what, &message))??;
    if let Err(error) = document.end() {
        drop_contained(what, read);
        return Err(whole(point, what, &error.to_string()).into());
    }
    Ok(read)
}

/// Reads a part of a text that was read.
pub(super) fn part<T: DeserializeOwned>(
    point: &'static str,
    what: &'static str,
    part: Value,
) -> Result<T, JsonError> {
    let read = contained(|| tracked(point, what, part));
    Ok(read.map_err(|message| panicked(point, what, &message))??)
}

fn panicked(point: &'static str, what: &'static str, message: &str) -> Mismatch {
    whole(point, what, &format!("reading it panicked: {message}"))
}

/// What is wrong with the whole of a text.
pub(super) fn whole(point: &'static str, what: &'static str, problem: &str) -> Mismatch {
    Mismatch { point, what, path: ".".to_owned(), problem: short(problem) }
}

/// Reads the answer of a handler of `P`.
pub(super) fn answer<P: HookPoint, T: DeserializeOwned>(answer: Value) -> Result<T, BoxError> {
    Ok(value(P::NAME, "the answer", answer)?)
}

/// Reads a value that a handler or an operation returned.
pub(super) fn value<T: DeserializeOwned>(
    point: &'static str,
    what: &'static str,
    value: Value,
) -> Result<T, Mismatch> {
    tracked(point, what, value)
}

fn tracked<'de, T, D>(point: &'static str, what: &'static str, from: D) -> Result<T, Mismatch>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let mut track = Track::new();
    T::deserialize(Tracking::new(Strict(from), &mut track)).map_err(|error| {
        let path = track.path().to_string();
        Mismatch { point, what, path: short(known(&path)), problem: short(&error.to_string()) }
    })
}

/// The path without the `?` for a key that was not read to its end.
fn known(path: &str) -> &str {
    match path.trim_end_matches(".?") {
        "" | "?" => ".",
        known => known,
    }
}

/// The most of a message that is kept at either end.
const ENDS: usize = 200;

/// A message that is safe to print: it quotes the document, which may be long
/// and hold anything. What was expected stands at its end, so the middle goes.
fn short(message: &str) -> String {
    let length = message.chars().count();
    let at = |place| message.char_indices().nth(place).map_or(message.len(), |(at, _)| at);
    match length.checked_sub(ENDS) {
        Some(tail) if tail > ENDS => {
            format!("{} … {}", escaped(&message[..at(ENDS)]), escaped(&message[at(tail)..]))
        }
        _ => escaped(message).to_string(),
    }
}

/// Writes the outcome of a fire or a run of `P`.
///
/// How it is written is the host's code, as how it is read.
pub(super) fn outcome<P: HookPoint, T: Serialize>(outcome: T) -> Result<Value, JsonError> {
    let written = contained(|| serde_json::to_value(&outcome));
    drop_contained("an outcome", outcome);
    let problem = match written {
        Ok(Ok(written)) => return Ok(written),
        Ok(Err(error)) => error.to_string(),
        Err(message) => format!("writing it panicked: {message}"),
    };
    Err(JsonError::Unwritable { point: P::NAME, problem: short(&problem) })
}
