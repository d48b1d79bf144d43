//! The lines of a recording, as types.
//!
//! They are written with serde and read back with it, so that both sides are one
//! declaration. Keys may be added within a version: readers ignore those they do not know.

mod call;
mod captured;
mod fire;
mod header;
mod loss;
mod setting;

pub use call::{CallLine, CallStatus, Decision, Failure};
pub use captured::{Captured, NotCaptured, digest};
pub use fire::{FireLine, RecordedScope, StepLine, StepOutcome};
pub use header::{Header, PointHandlers, RecordedHandler};
pub use loss::{DroppedLine, EndLine, LossReason};
pub use setting::{BreakerLine, RecordedSetting, SettingChanged, SettingLine};

use serde::{Deserialize, Serialize};

/// The version of the format that this crate writes and reads.
///
/// ```
/// assert_eq!(hooks_runtime::record::VERSION, 1);
/// ```
pub const VERSION: u32 = 1;

/// One line of a recording.
///
/// ```
/// use hooks_runtime::record::{Line, LineKind};
///
/// let text = r#"{"v":1,"run":"r1","seq":7,"generation":2,"at_ns":5,"kind":"dropped","fires":3,"lines":4,"why":{"kind":"queue_full"}}"#;
/// let line = Line::parse(text).unwrap();
/// assert_eq!((line.seq, line.generation), (7, 2));
/// assert!(matches!(&line.kind, LineKind::Dropped(dropped) if dropped.fires == 3));
/// assert_eq!(line.to_json(), text);
/// ```
///
/// With the feature `schema` it has a JSON Schema, `Line::schema()`, which is also in the
/// file `src/record/schema.json` of this crate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Line {
    /// The version of the format: [`VERSION`].
    pub v: u32,
    /// The run of the program that it is part of.
    pub run: String,
    /// Its number in the run, from 0: lines that were lost have left a gap.
    pub seq: u64,
    /// How often the settings of operators had changed when it, or its fire, began.
    pub generation: u64,
    /// When it, or what it is about, began: nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// What it is about.
    #[serde(flatten)]
    pub kind: LineKind,
}

/// What a line is about. Its key `kind` has the name in snake case.
///
/// The example of [`Line`] has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LineKind {
    /// The first line of every file.
    Header(Header),
    /// The handlers of one point have changed.
    Handlers(PointHandlers),
    /// A fire has ended. Its calls and its steps are the lines right behind it.
    Fire(FireLine),
    /// A handler in that fire, called or not.
    Call(CallLine),
    /// The validation or the operation of a run of a flow.
    Step(StepLine),
    /// A setting of an operator began or ended.
    Setting(SettingLine),
    /// The circuit breaker of a handler has changed.
    Breaker(BreakerLine),
    /// Fires that happened before this line were not recorded.
    Dropped(DroppedLine),
    /// The recording was ended in order.
    End(EndLine),
}

/// Every kind, as it is written.
pub(super) const KINDS: [&str; 9] =
    ["header", "handlers", "fire", "call", "step", "setting", "breaker", "dropped", "end"];

/// What all lines have, read before the rest is.
#[derive(Deserialize)]
struct Envelope {
    run: String,
    seq: u64,
    generation: u64,
    at_ns: u64,
    kind: String,
}

/// What of a line is asked first.
#[derive(Deserialize)]
struct Version {
    v: u32,
}

/// Why a text is no line.
///
/// ```
/// use hooks_runtime::record::{Line, LineError};
///
/// let newer = Line::parse(r#"{"v":9,"sort":"?"}"#).unwrap_err();
/// assert_eq!(newer, LineError::UnknownVersion { version: 9 });
/// let text = r#"{"v":1,"run":"r","seq":0,"generation":0,"at_ns":0,"kind":"fir"}"#;
/// assert_eq!(
///     Line::parse(text).unwrap_err().to_string(),
///     "a line of the kind `fir`, which this version does not know; expected one of header, \
///      handlers, fire, call, step, setting, breaker, dropped, end",
/// );
/// let cut = Line::parse(r#"{"v":1,"#).unwrap_err().to_string();
/// assert!(cut.starts_with("expected a line of a recording, one object of JSON: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It is not JSON, or not of the form of its kind.
    #[error("expected {}: {}", crate::escape::escaped(expected), crate::escape::escaped(problem))]
    Damaged {
        /// What should have been there.
        expected: String,
        /// What is there.
        problem: String,
    },
    /// It has another version.
    #[error("it has version {version} of the format, and this program reads version {VERSION}")]
    UnknownVersion {
        /// The one it has.
        version: u32,
    },
    /// It is of a kind that is not known: a program with more kinds wrote it.
    #[error(
        "a line of the kind `{}`, which this version does not know; expected one of {}",
        crate::escape::escaped(kind),
        KINDS.join(", ")
    )]
    UnknownKind {
        /// The kind it has.
        kind: String,
    },
}

impl Line {
    /// Reads one line, without its end.
    ///
    /// The example of [`Line`] reads one, that of [`LineError`] one that is none.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        let Version { v } = read(text, "a line of a recording, one object of JSON")?;
        if v != VERSION {
            return Err(LineError::UnknownVersion { version: v });
        }
        let Envelope { run, seq, generation, at_ns, kind } =
            read(text, "a line of a recording, one object of JSON")?;
        let kind = LineKind::parse(&kind, text)?;
        Ok(Self { v, run, seq, generation, at_ns, kind })
    }

    /// The line as it is written, without its end.
    ///
    /// The example of [`Line`] writes one.
    #[allow(clippy::missing_panics_doc, reason = "it does not panic")]
    pub fn to_json(&self) -> String {
        // Every part of it is text, numbers and JSON values under keys of text.
        serde_json::to_string(self).expect("a line has nothing that is not JSON")
    }
}

#[cfg(feature = "schema")]
impl Line {
    /// The JSON Schema of a line.
    ///
    /// ```
    /// use hooks_runtime::record::Line;
    ///
    /// assert_eq!(Line::schema()["title"], "Line");
    /// ```
    pub fn schema() -> serde_json::Value {
        let mut schema = schemars::schema_for!(Self).to_value();
        leave_out_examples(&mut schema);
        schema
    }
}

/// Of each description, what is said before the first example.
#[cfg(feature = "schema")]
fn leave_out_examples(schema: &mut serde_json::Value) {
    use serde_json::Value;

    match schema {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if key == "description" => {
                        let end = text.find("\n\n").unwrap_or(text.len());
                        text.truncate(end);
                    }
                    value => leave_out_examples(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(leave_out_examples),
        _ => {}
    }
}

impl LineKind {
    fn parse(kind: &str, text: &str) -> Result<Self, LineError> {
        let expected = &*format!("a line of the kind `{kind}`");
        Ok(match kind {
            "header" => Self::Header(read(text, expected)?),
            "handlers" => Self::Handlers(read(text, expected)?),
            "fire" => Self::Fire(read(text, expected)?),
            "call" => Self::Call(read(text, expected)?),
            "step" => Self::Step(read(text, expected)?),
            "setting" => Self::Setting(read(text, expected)?),
            "breaker" => Self::Breaker(read(text, expected)?),
            "dropped" => Self::Dropped(read(text, expected)?),
            "end" => Self::End(read(text, expected)?),
            _ => return Err(LineError::UnknownKind { kind: kind.to_owned() }),
        })
    }

    /// Its name, as it is written.
    ///
    /// ```
    /// # use hooks_runtime::record::Line;
    /// # let text = r#"{"v":1,"run":"r1","seq":7,"generation":2,"at_ns":5,"kind":"end","lines":3,"fires":0,"dropped":0}"#;
    /// assert_eq!(Line::parse(text).unwrap().kind.as_str(), "end");
    /// ```
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Header(_) => "header",
            Self::Handlers(_) => "handlers",
            Self::Fire(_) => "fire",
            Self::Call(_) => "call",
            Self::Step(_) => "step",
            Self::Setting(_) => "setting",
            Self::Breaker(_) => "breaker",
            Self::Dropped(_) => "dropped",
            Self::End(_) => "end",
        }
    }
}

fn read<'t, T: Deserialize<'t>>(text: &'t str, expected: &str) -> Result<T, LineError> {
    serde_json::from_str(text).map_err(|error| LineError::Damaged {
        expected: expected.to_owned(),
        problem: error.to_string(),
    })
}
