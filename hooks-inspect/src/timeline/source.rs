//! Where the fires come from: a trace of the registry.

use std::time::Duration;

use hooks_runtime::HookRegistry;
use hooks_runtime::operator::{Trace, TraceFilter, TraceLimit, TracedFire};

/// A page shows no more than so many fires in such a time; the others are counted.
const FIRES: u32 = 200;
const PER: Duration = Duration::from_millis(100);
/// How many fires wait until the pages are handed them.
const BUFFER: usize = 512;

/// The fires, one by one. Nothing is traced once this is dropped.
#[derive(Debug)]
pub(super) struct Source {
    trace: Trace,
    /// How many were missed when that was asked last.
    missed: u64,
}

impl Source {
    pub(super) fn open(hooks: &HookRegistry) -> Result<Self, String> {
        let filter = TraceFilter::all().buffer(BUFFER);
        let trace = hooks.operator().trace(filter, TraceLimit::throttle(FIRES, PER));
        Ok(Self { trace: trace.map_err(|error| error.to_string())?, missed: 0 })
    }

    /// The next fire, or why there is none any more.
    pub(super) async fn next(&mut self) -> Result<TracedFire, String> {
        let next = self.trace.next().await;
        next.ok_or_else(|| self.trace.ended().map_or_else(String::new, |end| end.to_string()))
    }

    /// How many fires were missed since this was asked last.
    pub(super) fn newly_missed(&mut self) -> u64 {
        let missed = self.trace.dropped() + self.trace.passed_over();
        missed - std::mem::replace(&mut self.missed, missed)
    }
}
