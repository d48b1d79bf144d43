//! What is known of calls of remote handlers beside their answers.

use std::fmt;
use std::time::Duration;

/// One attempt to call a remote handler, when it has ended: for the counters of a host, of all
/// fires. See [`FleetOptions::observe`](crate::FleetOptions::observe). Of one fire, the row of
/// its report has [`note`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteCall {
    /// The wire name of the point.
    pub point: &'static str,
    /// The service: the plugin that owns the handler here.
    pub service: String,
    /// The handler.
    pub handler: String,
    /// The id of the call, which its attempts share.
    pub call: String,
    /// Which attempt of the call this is, from 1.
    pub attempt: u32,
    /// The process that answered, where one did.
    pub instance: Option<String>,
    /// From the request to the answer, or to the end of the wait.
    pub round_trip: Duration,
    /// How long the handler took there, where it is known.
    pub took: Option<Duration>,
    /// `answered`, `skipped`, `stored`, `dropped` before it ended, as with its fire, or the word of
    /// the failure.
    pub outcome: &'static str,
}

impl fmt::Display for RemoteCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, service, handler, attempt, round_trip, outcome, .. } = self;
        write!(f, "{point}: {service}/{handler} {outcome}")?;
        if let Some(instance) = &self.instance {
            write!(f, " in {instance}")?;
        }
        write!(f, ", attempt {attempt}, {round_trip:.1?}")
    }
}

/// What a remote handler notes in its row of a report, which traces and the inspector show too:
/// the keys of [`HandlerReport::note`](hooks_runtime::report::HandlerReport::note).
///
/// ```
/// use hooks_fleet::note;
/// use hooks_runtime::report::FireReport;
///
/// fn who_answered(report: &FireReport) -> Option<&str> {
///     report.handler("no_rm")?.note(note::PROCESS)
/// }
/// ```
pub mod note {
    /// The process that answered, where one did: its [`instance`](crate::Fleet::instance).
    pub const PROCESS: &str = "process";
    /// The attempt that came to an end, from 1.
    pub const ATTEMPT: &str = "attempt";
    /// From its request to its answer, or to the end of the wait, such as `412.3µs`.
    pub const ROUND_TRIP: &str = "round_trip";
    /// What came of it: `answered`, `skipped (…)` with the reason, `stored`, or the word of the
    /// failure; `from the cassette` where nobody was asked.
    pub const OUTCOME: &str = "outcome";
}
