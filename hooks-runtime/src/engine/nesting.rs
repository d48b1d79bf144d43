//! How deep fires are nested.
//!
//! The chain of fires is kept per poll, not per task: a fire is on it while it
//! polls its handlers, and off it before it returns to the executor. So it works
//! on any executor, and a fire that a handler spawns elsewhere is not nested, unless it
//! hands it over with `spawn_void`, which inherits the chain. An
//! observer that is called outside of its fire's polls runs with that fire on the
//! chain as well, so that its own fires count.

use crate::engine::fire::FireInfo;
use crate::engine::raw::{ActiveStep, Nested, RunStep, chain};
use crate::error::{FireError, NestingError};
#[cfg(feature = "tokio")]
use crate::point::PointDescriptor;

/// The deepest nesting that a registry can be set to allow.
pub(crate) const MAX_DEPTH: usize = 128;

/// The error of a fire that is nested too deep, where it is the innermost of the
/// chain.
#[inline(never)]
pub(crate) fn check(info: &FireInfo<'_>) -> Result<(), FireError> {
    check_depth(info.hooks.registry(), info.hooks.inner.config.depth)
}

/// The error of a run of a flow that would be nested too deep.
pub(crate) fn check_run(run: Nested, limit: usize) -> Result<(), FireError> {
    let _step = ActiveStep::push(run);
    check_depth(run.registry, limit)
}

/// The innermost fire of the chain is the one to be checked.
fn check_depth(registry: usize, limit: usize) -> Result<(), FireError> {
    if chain::depth_of(registry) <= limit { Ok(()) } else { Err(too_deep(registry, limit)) }
}

#[cold]
fn too_deep(registry: usize, limit: usize) -> FireError {
    let own = chain::fires().into_iter().filter(|fire| fire.registry == registry);
    let chain = own.map(|fire| fire.point.name()).collect();
    FireError::Nesting(Box::new(NestingError { limit, chain }))
}

/// Runs one poll of a run of a flow, or its drop.
pub(crate) fn within<T>(nested: Nested, run: usize, poll: impl FnOnce() -> T) -> T {
    let _step = RunStep::push(nested, run);
    poll()
}

/// The fires that one in the background was made in: they are on the chain while it is
/// polled, although they may have ended.
#[cfg(feature = "tokio")]
#[derive(Debug)]
pub(crate) struct Inherited {
    /// Those of every registry: two that hand fires over to each other end as well.
    fires: Box<[Nested]>,
    /// The fire in the background itself, as no fire of any registry.
    own: Nested,
    id: usize,
    /// Whether an observer made it.
    observing: bool,
}

#[cfg(feature = "tokio")]
impl Inherited {
    /// The fires that this thread is polling.
    pub(crate) fn of(point: &'static PointDescriptor, id: usize) -> Self {
        // The steps of other fires in the background are of no registry.
        let fires = chain::fires().into_iter().filter(|fire| fire.registry != 0);
        let own = Nested { point, registry: 0, fire: 0 };
        Self { fires: fires.collect(), own, id, observing: chain::is_observing() }
    }

    /// Runs one poll of the fire, or its drop.
    pub(crate) fn within<T>(&self, poll: impl FnOnce() -> T) -> T {
        /// Given up innermost first.
        struct Steps(Vec<ActiveStep>);

        impl Drop for Steps {
            fn drop(&mut self) {
                while self.0.pop().is_some() {}
            }
        }

        let _steps = Steps(self.fires.iter().copied().map(ActiveStep::push).collect());
        if self.observing {
            // Else one that an observer makes of each fire would have no end.
            return chain::observing(self.own, || within(self.own, self.id, poll));
        }
        within(self.own, self.id, poll)
    }
}

/// How many fires of that registry are under way on this thread.
pub(crate) fn depth(registry: usize) -> usize {
    chain::depth_of(registry)
}

/// The number of the innermost fire that is under way on this thread, where it is
/// recorded.
pub(crate) fn innermost() -> Option<u64> {
    chain::innermost().map(|fire| fire.fire).filter(|fire| *fire != 0)
}

/// Whether a fire of that registry would be refused, and an observer is the one
/// that fires: reporting it to observers would have no end.
pub(crate) fn is_endless(registry: usize, limit: usize) -> bool {
    chain::is_observing() && chain::depth_of(registry) >= limit
}
