//! Fires and calls recorded in a file, one line of JSON for each, and read back.
//!
//! # The format
//!
//! A recording is text in UTF-8, one object of JSON in each line, only ever appended to. Every
//! line has the keys of [`Line`]: the version `v`, the `run` of the program, the number `seq`
//! of the line in it, the `generation` of settings, the time `at_ns`, and its `kind`:
//!
//! | kind | is | written |
//! |---|---|---|
//! | `header` | [`Header`] | first in every file: the handlers of every point in order, the settings that hold |
//! | `handlers` | [`PointHandlers`] | when the handlers of a point have changed |
//! | `fire` | [`FireLine`] | when a fire has ended, with its payload |
//! | `call` | [`CallLine`] | for each handler of that fire, called or not, right behind it |
//! | `step` | [`StepLine`] | for the validation and the operation of a run of a flow, behind those |
//! | `setting` | [`SettingLine`] | when a setting of an operator began, ended or was withheld |
//! | `breaker` | [`BreakerLine`] | when a circuit breaker has changed |
//! | `dropped` | [`DroppedLine`] | when fires could not be recorded |
//! | `end` | [`EndLine`] | when the recording was closed |
//!
//! The rules of everything that serialises in this crate hold: every key is always present,
//! what can hold more than a word is an object with a `kind`, words are in snake case, and
//! times are whole nanoseconds. Keys and kinds may be added within a version: a reader ignores
//! keys that it does not know, and tells a kind that it does not know from a damaged line.

mod capture;
mod ended;
mod error;
mod fire;
mod format;
mod polled;
mod queue;
mod read;
mod recorder;
mod recording;
mod slot;
mod stage;
mod write;

pub use capture::{CapturePolicy, Part, Redaction};
pub(crate) use capture::{RawAnswer, raw_answer, raw_run};
#[cfg(feature = "replay")]
pub(crate) use capture::{is_too_deep, raw_payload};
pub(crate) use fire::{FireRecording, Timed};
pub(crate) use polled::polling;

pub use error::RecordError;
pub use format::{
    BreakerLine, CallLine, CallStatus, Captured, Decision, DroppedLine, EndLine, Failure, FireLine,
    Header, Line, LineError, LineKind, LossReason, NotCaptured, PointHandlers, RecordedHandler,
    RecordedScope, RecordedSetting, SettingChanged, SettingLine, StepLine, StepOutcome, VERSION,
    digest,
};
pub use read::{Fires, Place, ReadError, Reader, RecordedFire, Torn};
pub use recorder::Recorder;
pub use recording::{RecordSummary, Recording};
pub(crate) use slot::RecordingSlot;
pub(crate) use stage::StageRun;
pub use write::RecordWriter;
