//! The first line of a file: who was there.

use serde::{Deserialize, Serialize};

use super::setting::RecordedSetting;
use crate::point::FailurePolicy;

/// The name of the format.
const FORMAT: &str = "hooks-record";

/// The first line of every file of a recording: what had been recorded of the state when
/// the file began, so that each file can be read alone.
///
/// The example of [`Reader`](crate::record::Reader) reads one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Header {
    /// `hooks-record`, by which other programs know what this is.
    pub format: String,
    /// Which file of the run it is, from 0.
    pub file: u32,
    /// The points that have handlers, in the order of their wire names.
    pub points: Vec<PointHandlers>,
    /// The settings that hold, in the order in which a later one counts before an earlier.
    pub settings: Vec<RecordedSetting>,
}

impl Header {
    pub(in crate::record) fn new(
        points: Vec<PointHandlers>,
        settings: Vec<RecordedSetting>,
    ) -> Self {
        Self { format: FORMAT.to_owned(), file: 0, points, settings }
    }
}

/// The handlers of one point, in the order in which a fire walks them.
///
/// The example of [`Reader`](crate::record::Reader) reads some.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PointHandlers {
    /// The wire name of the point; of a stage `flow/stage`.
    pub point: String,
    /// Its model.
    pub model: String,
    /// Its handlers.
    pub handlers: Vec<RecordedHandler>,
}

/// A handler, as it was registered.
///
/// The example of [`Reader`](crate::record::Reader) reads one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(clippy::struct_excessive_bools, reason = "each is a property of its own")]
#[non_exhaustive]
pub struct RecordedHandler {
    /// Its name.
    pub handler: String,
    /// The plugin that registered it; `null` where it is built-in.
    pub plugin: Option<String>,
    /// Its priority: the lower number first.
    pub priority: i32,
    /// Whether it is a guard.
    pub guard: bool,
    /// What its failures mean for a fire, as it was registered.
    pub policy: FailurePolicy,
    /// Its time limit, as it was registered.
    pub time_limit_ns: Option<u64>,
    /// Whether it is declared to have no side effects.
    pub pure: bool,
    /// Whether it has a condition on the payload.
    pub conditional: bool,
    /// Whether it is called once.
    pub once: bool,
    /// The name of the target that it is bound to.
    pub target: Option<String>,
    /// Where it is written: `file:line:column`.
    pub location: String,
}
