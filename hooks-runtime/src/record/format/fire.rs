//! The line of a fire, and of a step of a flow's run.

use serde::{Deserialize, Serialize};

use super::call::Failure;
use super::captured::Captured;
use crate::flow::NotRun;

/// A fire that has ended. Of a flow, this is the whole run; its stages are fires of their
/// own.
///
/// The lines of its handlers, and of the steps of a run, are those right behind it: as many
/// as `calls` and `steps` say.
///
/// The example of [`RecordedFire`](crate::record::RecordedFire) reads one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FireLine {
    /// Its number: no other fire or call of the run has it.
    pub fire: u64,
    /// The fire that it is nested in; of a stage, the run.
    pub parent: Option<u64>,
    /// The call of that fire whose handler made it, where one did; `null` in a recording that
    /// was written before this was noted.
    #[serde(default)]
    pub parent_call: Option<u64>,
    /// Of a stage, the fire that is the run of its flow.
    pub flow_run: Option<u64>,
    /// How many fires it is nested in.
    pub depth: u32,
    /// The wire name of its point; of a stage `flow/stage`.
    pub point: String,
    /// The model of the point: `void`, `modifying`, `claiming`, `gating`, `flow` or `stage`.
    pub model: String,
    /// Which plugins its scope admitted.
    pub scope: RecordedScope,
    /// Of a run of a flow, the names of what it was for.
    pub targets: Vec<String>,
    /// What it was given.
    pub payload: Captured,
    /// What it came to, in the words of [`FireEnd`](crate::observe::FireEnd).
    pub outcome: String,
    /// The text of its error, where it failed.
    pub error: Option<String>,
    /// How long it took.
    pub took_ns: u64,
    /// How many lines of calls follow.
    pub calls: u32,
    /// How many lines of steps follow those.
    pub steps: u32,
}

/// Which plugins a scope admits. Built-in handlers it always does.
///
/// ```
/// use hooks_runtime::record::RecordedScope;
///
/// let scope = RecordedScope::Only { plugins: vec!["audit".to_owned()] };
/// assert_ne!(scope, RecordedScope::All);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordedScope {
    /// Every plugin.
    All,
    /// These: none where the list is empty.
    Only {
        /// Their ids.
        plugins: Vec<String>,
    },
    /// Every plugin but these.
    Except {
        /// Their ids.
        plugins: Vec<String>,
    },
}

/// The validation or the operation of a run of a flow.
///
/// The example of [`StepOutcome`] has what may become of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StepLine {
    /// The fire that is the run.
    pub fire: u64,
    /// `validation` or `operation`.
    pub step: String,
    /// What became of it.
    pub status: StepOutcome,
    /// How long it ran; `null` where it was not run.
    pub took_ns: Option<u64>,
    /// What the operation returned, where it ran.
    pub output: Option<Captured>,
}

/// What became of a step of a flow.
///
/// ```
/// use hooks_runtime::flow::NotRun;
/// use hooks_runtime::record::StepOutcome;
///
/// let answered = StepOutcome::NotRun { by: NotRun::Answered };
/// assert_ne!(answered, StepOutcome::Ran);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepOutcome {
    /// It ran to its end.
    Ran,
    /// It failed.
    Failed(Failure),
    /// It was not run.
    NotRun {
        /// Why.
        by: NotRun,
    },
    /// The run was dropped while it ran.
    Cancelled,
}
