//! What of values is written to a recording.

use std::any::{Any, TypeId};
use std::fmt;
use std::io;
use std::sync::Arc;

use serde_json::Value;

use super::format::{Captured, NotCaptured, digest};
use crate::engine::containment::contained;
use crate::engine::raw::Contained;
use crate::flow::StageKind;
use crate::json::JsonPoint;
use crate::operator::trace::Payload as PayloadOf;
use crate::point::{ModelKind, PointDescriptor};

/// What of the values at a point is written to a recording: of its payloads, of what
/// its handlers answer, of the outputs of a flow's operation.
///
/// ```
/// use hooks_runtime::record::{CapturePolicy, Part, Recorder};
///
/// let no_passwords = CapturePolicy::redacted(|_point, part, value| {
///     if part == Part::Payload && let Some(password) = value.get_mut("password") {
///         *password = "…".into();
///     }
/// });
/// let recorder = Recorder::to("day.jsonl")
///     .capture("*", CapturePolicy::Full)
///     .capture("logged_in", no_passwords)
///     .capture("audio_*", CapturePolicy::Hash);
/// # drop(recorder);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum CapturePolicy {
    /// Nothing.
    None,
    /// A [`digest`](super::digest), by which values can be compared.
    Hash,
    /// What a function leaves of it.
    Redacted(Redaction),
    /// All of it.
    Full,
}

/// A function that takes out of values what others must not read.
///
/// The example of [`CapturePolicy`] has one.
#[derive(Clone)]
pub struct Redaction(Arc<Contained<Redact>>);

type Redact = Box<dyn Fn(&'static str, Part, &mut Value) + Send + Sync>;

/// What a [`Redaction`] is given.
///
/// The example of [`CapturePolicy`] asks for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// A payload: that of the fire, or one that a handler put in its place.
    Payload,
    /// Any other answer of a handler.
    Answer,
    /// The output of a flow's operation.
    Output,
    /// The reason of a rejection or an abort, or the message of a failure, as text.
    Text,
}

/// What there is in what a handler of a stage did to its run.
const STAGE_PARTS: [(&str, Part); 5] = [
    ("input", Part::Payload),
    ("changed", Part::Output),
    ("output", Part::Output),
    ("recover", Part::Output),
    ("abort", Part::Text),
];

/// So deep a value may be: `serde_json` reads 128 levels, and a line has some around it.
const DEEPEST: u32 = 120;

/// What a handler answered, as JSON, or why there is none.
pub(crate) type RawAnswer = Result<Value, NotCaptured>;

/// What a handler of the point of that type answered, where the two fit together.
pub(crate) fn raw_answer(json: JsonPoint, point: TypeId, answer: &dyn Any) -> Option<RawAnswer> {
    made(|| json.answer(point, answer))
}

/// The payload of a fire that begins.
pub(crate) fn raw_payload(json: JsonPoint, payload: &mut PayloadOf<'_>) -> Option<RawAnswer> {
    made(|| json.payload(payload))
}

/// How a run is when that stage of it begins, or after a handler that failed.
pub(crate) fn raw_run(
    json: JsonPoint,
    stage: StageKind,
    payload: &mut PayloadOf<'_>,
) -> Option<RawAnswer> {
    made(|| json.begun(stage, payload))
}

/// Without the message, which may quote what was to be taken out.
fn redaction_panicked() -> NotCaptured {
    NotCaptured::Panicked { problem: "in the redaction".to_owned() }
}

/// A value that is made into JSON by code of the user.
pub(super) fn made(
    make: impl FnOnce() -> Option<Result<Value, String>>,
) -> Option<Result<Value, NotCaptured>> {
    match contained(make) {
        Ok(value) => Some(value?.map_err(|problem| NotCaptured::Failed { problem })),
        Err(problem) => Some(Err(NotCaptured::Panicked { problem })),
    }
}

impl CapturePolicy {
    /// What `redact` leaves. It is given the wire name of the point, what the value is, and
    /// the value; where it panics, nothing of the value is written, nor what it panics with. Why
    /// a value could not be made into JSON is text, and given to it as that.
    ///
    /// The example of [`CapturePolicy`] has one.
    pub fn redacted(
        redact: impl Fn(&'static str, Part, &mut Value) + Send + Sync + 'static,
    ) -> Self {
        let redact: Redact = Box::new(redact);
        Self::Redacted(Redaction(Arc::new(Contained::new(redact))))
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// What is written of a value, and how many bytes that is about.
    pub(super) fn capture(
        &self,
        point: &PointDescriptor,
        part: Part,
        value: Option<Result<Value, NotCaptured>>,
        most: u64,
    ) -> (Captured, usize) {
        let missing = |why| (Captured::Missing { why }, 0);
        if self.is_none() {
            return missing(NotCaptured::Policy);
        }
        let mut value = match value {
            None => return missing(NotCaptured::NoJson),
            Some(Err(why)) => return missing(self.told(point, why, most)),
            Some(Ok(value)) => value,
        };
        // A stage that was left as it was shows nothing.
        if part == Part::Answer && point.stage().is_some() && value.is_null() {
            return (Captured::Full { value }, 4);
        }
        if let Self::Hash = self {
            return (Captured::Hash { hash: digest(&value) }, 64);
        }
        if let Self::Redacted(redaction) = self
            && contained(|| redaction.redact(point, part, &mut value)).is_err()
        {
            return missing(redaction_panicked());
        }
        if is_deeper(&value, DEEPEST) {
            return missing(NotCaptured::TooDeep { most: DEEPEST });
        }
        let bytes = length(&value);
        if bytes > most {
            return missing(NotCaptured::TooLarge { bytes, most });
        }
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        match self {
            Self::Redacted(_) => (Captured::Redacted { value }, bytes),
            _ => (Captured::Full { value }, bytes),
        }
    }

    /// Why a value is missing. What its own code says of that may quote it.
    fn told(&self, point: &PointDescriptor, why: NotCaptured, most: u64) -> NotCaptured {
        match why {
            NotCaptured::Failed { problem } => {
                NotCaptured::Failed { problem: self.text(point, &problem, most) }
            }
            NotCaptured::Panicked { problem } => {
                NotCaptured::Panicked { problem: self.text(point, &problem, most) }
            }
            why => why,
        }
    }

    /// What is written of a text.
    pub(super) fn text(&self, point: &PointDescriptor, text: &str, most: u64) -> String {
        let mut text = text.to_owned();
        if let Self::Redacted(redaction) = self {
            let mut value = Value::String(text);
            text = match contained(|| redaction.redact(point, Part::Text, &mut value)) {
                Ok(()) => match value {
                    Value::String(text) => text,
                    other => other.to_string(),
                },
                Err(_) => redaction_panicked().to_string(),
            };
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            text.push('…');
        }
        text
    }
}

impl Redaction {
    fn redact(&self, point: &PointDescriptor, part: Part, value: &mut Value) {
        let redact = self.0.get();
        if part == Part::Answer
            && let Some(flow) = point.flow()
        {
            // What a stage does to the run is redacted as what the flow is given and returns.
            for (key, part) in STAGE_PARTS {
                if let Some(value) = value.get_mut(key) {
                    redact(flow, part, value);
                }
            }
            return;
        }
        // What takes the place of a payload is redacted as that is.
        if part == Part::Answer
            && point.model() == ModelKind::Gating
            && let Some(payload) = value.get_mut("payload")
        {
            return redact(point.name(), Part::Payload, payload);
        }
        redact(point.name(), part, value);
    }
}

/// Whether a value has so many others within each other that a line with it cannot be read.
#[cfg(feature = "replay")]
pub(crate) fn is_too_deep(value: &Value) -> bool {
    is_deeper(value, DEEPEST)
}

/// Whether a value has more values within each other than that.
fn is_deeper(value: &Value, most: u32) -> bool {
    let is_below = |value: &Value| is_deeper(value, most - 1);
    match value {
        Value::Array(values) => most == 0 || values.iter().any(is_below),
        Value::Object(map) => most == 0 || map.values().any(is_below),
        _ => false,
    }
}

/// How many bytes of JSON a value is.
fn length(value: &Value) -> u64 {
    struct Count(u64);

    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    // It does not fail: neither does the count, nor has a value keys that are no text.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

impl fmt::Debug for CapturePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Hash => "Hash",
            Self::Redacted(_) => "Redacted",
            Self::Full => "Full",
        })
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction").finish_non_exhaustive()
    }
}
