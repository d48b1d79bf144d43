//! What is known of calls of remote handlers beside their answers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hooks_runtime::report::FireReport;

/// One attempt to call a remote handler, when it has ended.
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
    /// `answered`, `skipped`, `stored`, or the word of the failure.
    pub outcome: &'static str,
}

/// Collects the remote calls of fires: a value of their scope.
///
/// ```
/// use hooks_fleet::RemoteCalls;
/// use hooks_runtime::HookRegistry;
///
/// let hooks = HookRegistry::new();
/// let calls = RemoteCalls::new();
/// let observed = hooks.with(calls.clone());
/// // Fire through `observed`; then `calls.of(&report)` belongs to the rows of the report.
/// assert!(calls.take().is_empty());
/// # drop(observed);
/// ```
#[derive(Clone, Default)]
pub struct RemoteCalls(Arc<Mutex<Vec<RemoteCall>>>);

impl RemoteCalls {
    /// A collection with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn push(&self, call: RemoteCall) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    /// The calls so far, which are forgotten here.
    pub fn take(&self) -> Vec<RemoteCall> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The calls that belong to that report, in the order of its rows.
    pub fn of(&self, report: &FireReport) -> Vec<RemoteCall> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_row = |owner: &str, handler: &str| {
            let is_of = move |call: &&RemoteCall| {
                call.point == report.point() && call.service == owner && call.handler == handler
            };
            calls.iter().filter(is_of).cloned().collect::<Vec<_>>()
        };
        let rows = report.handlers().iter();
        rows.flat_map(|row| of_row(row.owner().as_ref(), row.handler())).collect()
    }
}

impl fmt::Debug for RemoteCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RemoteCalls")
    }
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
