//! The contract on the wire, version 1: what processes say to each other, whatever carries it.
//!
//! Everything is JSON. `hooks-fleet/contract` has the JSON Schemas of these types and golden
//! vectors, for services in other languages; the [guide](crate::guide#another-language)
//! shows one.
//!
//! What a handler receives and answers is what the module `json` of `hooks-runtime` says of
//! its model: `{"verdict": "pass"}`, `{"handled": false}`, `null` and so on.

mod announcement;
mod reply;
mod request;
pub mod subject;
mod unique;

pub use announcement::{AnnouncedHandler, AnnouncedPoint, Announcement};
pub(crate) use reply::ReplyRef;
pub use reply::{RefusalReason, Reply, ReplyOutcome, SkippedReason};
pub use request::Request;
pub(crate) use request::RequestRef;

use serde::{Deserialize, Serialize};

use crate::presence::line;

/// The version of this contract. A message of another one is refused, never guessed at.
pub const VERSION: u32 = 1;

/// How deep fires may be nested across processes.
pub const MAX_DEPTH: u32 = 16;

/// What a cancellation says: which attempt of which call is no longer waited for.
///
/// ```
/// assert_eq!(hooks_fleet::wire::cancellation("a1-7", 2), "a1-7 2");
/// ```
pub fn cancellation(call: &str, attempt: u32) -> String {
    [call, " ", &*attempt.to_string()].concat()
}

/// Headers that repeat what the body says, for those on the way: a request needs none of them,
/// nor does a reply. The body counts; a header that says something else is refused.
pub mod header {
    /// [`Request::call`](super::Request::call).
    pub const CALL: &str = "Hook-Fire-Id";
    /// [`Request::point`](super::Request::point).
    pub const POINT: &str = "Hook-Point";
    /// [`Request::schema`](super::Request::schema).
    pub const SCHEMA: &str = "Hook-Schema";
    /// [`Request::attempt`](super::Request::attempt).
    pub const ATTEMPT: &str = "Hook-Attempt";
    /// [`Request::budget_ms`](super::Request::budget_ms).
    pub const BUDGET: &str = "Hook-Timeout-Ms";
    /// [`Request::traceparent`](super::Request::traceparent), where there is one.
    pub const TRACEPARENT: &str = "traceparent";
    /// [`Request::tracestate`](super::Request::tracestate), where there is one.
    pub const TRACESTATE: &str = "tracestate";
}

/// Why a message cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub(crate) String);

/// A message that says its version.
pub(crate) trait Versioned {
    fn version(&self) -> u32;
}

macro_rules! versioned {
    ($($message:ty),*) => {$(
        impl Versioned for $message {
            fn version(&self) -> u32 {
                self.v
            }
        }
    )*};
}

versioned!(Announcement, ReplyRef<'_>, RequestRef<'_>);

/// Reads a message of this version: what another one means is not known here.
pub(crate) fn read<'t, T: Deserialize<'t> + Versioned>(text: &'t [u8]) -> Result<T, Unreadable> {
    #[derive(serde::Deserialize)]
    struct Version {
        v: u32,
    }
    let other = |version| {
        let message = format!("it has version {version} of the contract, {VERSION} is spoken here");
        Err(Unreadable(message))
    };
    let text = str::from_utf8(text)
        .map_err(|error| Unreadable(format!("it is no message of the fleet: {error}")))?;
    match serde_json::from_str::<T>(text) {
        Ok(message) if message.version() == VERSION => Ok(message),
        Ok(message) => other(message.version()),
        // A message of another version may have another form, which is what is wrong then.
        Err(error) => match serde_json::from_str(text) {
            Ok(Version { v }) if v != VERSION => other(v),
            Ok(_) => Err(Unreadable(line(&error.to_string()))),
            Err(error) => Err(Unreadable(line(&format!("it is no message of the fleet: {error}")))),
        },
    }
}

/// Writes a message.
pub(crate) fn write<T: Serialize>(message: &T) -> Vec<u8> {
    // What most of them fit in: growing in steps costs more than writing.
    let mut text = Vec::with_capacity(512);
    // All of them are made of text, numbers and JSON values.
    serde_json::to_writer(&mut text, message).expect("messages of the contract are JSON");
    text
}
