//! The traces that one fire may be part of.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use super::fire::Ended;
use super::limit::TraceEnd;
use super::payload::Payload;
use super::state::{FireTrace, TraceState};
use crate::engine::containment::shown;
use crate::error::{FireError, HandlerFailure};
use crate::observe::{FireEnd, ObservedFire};
use crate::point::PointDescriptor;
use crate::registry::Inner;
use crate::report::{FireReport, HandlerReport, HandlerStatus};
use crate::sync::{Mutex, MutexGuard};
use crate::timer::{now, system_now};

/// The traces that a fire may be part of, from its begin to its end.
pub(crate) struct FireTraces<'f> {
    inner: &'f Inner,
    /// Those that may match it, until it begins.
    candidates: Vec<Arc<TraceState>>,
    /// Those that match it so far.
    matching: Mutex<Vec<FireTrace>>,
}

impl<'f> FireTraces<'f> {
    /// `None` where no trace may match a fire of that point.
    pub(crate) fn of(inner: &'f Inner, point: &PointDescriptor) -> Option<Box<Self>> {
        let candidates = inner.traces.of_point(point);
        if candidates.is_empty() {
            return None;
        }
        Some(Box::new(Self { inner, candidates, matching: Mutex::default() }))
    }

    fn matching(&self) -> MutexGuard<'_, Vec<FireTrace>> {
        self.matching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fire begins, with that payload: asks the traces that may match it.
    pub(crate) fn begin(&self, point: &'static PointDescriptor, payload: &mut Payload<'_>) {
        let clock = || now(&*self.inner.config.timer);
        for trace in &self.candidates {
            if trace.is_over(clock) {
                self.inner.end_trace(trace, &TraceEnd::Time);
                continue;
            }
            match trace.begin(point, payload) {
                Ok(None) => {}
                Ok(Some(matching)) => self.matching().push(matching),
                Err(message) => self.inner.end_trace(trace, &TraceEnd::Panicked(message)),
            }
        }
    }

    /// The fire has ended: hands it to the traces that it is part of.
    pub(crate) fn end(
        &self,
        fire: &ObservedFire,
        end: &FireEnd<'_>,
        took: Duration,
        report: impl FnOnce() -> FireReport,
    ) {
        let matching = std::mem::take(&mut *self.matching());
        if matching.is_empty() {
            return;
        }
        let (outcome, report) = (end.as_str(), Arc::new(report()));
        let error = match end {
            FireEnd::Failed(FireError::Failed(failure)) => Some(text_of(failure, &report)),
            FireEnd::Failed(error) => Some(shown(error)),
            FireEnd::FlowFailed(error) => Some((*error).to_owned()),
            FireEnd::Completed(_) | FireEnd::Dropped => None,
        };
        let at = system_now().checked_sub(took).unwrap_or(SystemTime::UNIX_EPOCH);
        let ended = Ended { outcome, error, at, took, report };
        let is_seen = |trace: &FireTrace| trace.lets_through(&ended);
        let seen: Vec<_> = matching.into_iter().filter(is_seen).collect();
        if seen.is_empty() {
            return;
        }
        let now = now(&*self.inner.config.timer);
        for trace in seen {
            if let Some((trace, end)) = trace.end(fire, &ended, now) {
                self.inner.end_trace(&trace, &end);
            }
        }
    }
}

/// The text of a failure, with the message that was taken when the call failed. To print
/// the error again is code of the handler's owner, which may be gone by now.
fn text_of(failure: &HandlerFailure, report: &FireReport) -> String {
    let is_its =
        |row: &&HandlerReport| (row.handler(), row.owner()) == (failure.handler(), failure.owner());
    let message = report.handlers().iter().find(is_its).and_then(|row| match row.status() {
        HandlerStatus::Failed { message, .. } => Some(&**message),
        _ => None,
    });
    failure.with_message(message.unwrap_or(failure.kind().as_str()))
}
