//! Which fires are being polled on this thread right now.
//!
//! The chain is kept per poll, not per task: a fire puts itself on it while it
//! polls its handlers and takes itself off before it returns to the executor.
//! So it works on any executor, and a fire that a handler spawns elsewhere is
//! not nested.

use std::cell::Cell;

use crate::error::{FireError, TooDeep};
use crate::sync::thread_local;

/// The deepest nesting that a registry can be set to allow.
pub(crate) const MAX_DEPTH: usize = 128;

#[derive(Clone, Copy)]
struct Step {
    point: &'static str,
    /// The crowd of the handler that is polled; zero for none.
    crowd: u64,
}

const NO_STEP: Step = Step { point: "", crowd: 0 };

struct Chain {
    depth: Cell<usize>,
    steps: [Cell<Step>; MAX_DEPTH],
}

thread_local! {
    static CHAIN: Chain = const {
        Chain { depth: Cell::new(0), steps: [const { Cell::new(NO_STEP) }; MAX_DEPTH] }
    };
}

/// Runs `poll` with `point` on the chain.
#[inline]
pub(crate) fn within<T>(point: &'static str, poll: impl FnOnce() -> T) -> T {
    let _link = CHAIN.with(|chain| Link::push(chain, chain.depth.get(), point));
    poll()
}

/// Puts a fire of `point` on the chain, unless it would be nested deeper than
/// `limit`.
#[inline]
pub(crate) fn enter(point: &'static str, limit: usize) -> Result<Link, FireError> {
    let entered = CHAIN.with(|chain| {
        let depth = chain.depth.get();
        (depth < limit).then(|| Link::push(chain, depth, point))
    });
    entered.ok_or_else(|| too_deep(point, limit))
}

/// A fire on the chain. Taken off also when its poll unwinds.
#[derive(Debug)]
pub(crate) struct Link(());

impl Link {
    #[inline]
    fn push(chain: &Chain, depth: usize, point: &'static str) -> Self {
        if let Some(step) = chain.steps.get(depth) {
            step.set(Step { point, crowd: 0 });
        }
        chain.depth.set(depth + 1);
        Self(())
    }
}

impl Drop for Link {
    #[inline]
    fn drop(&mut self) {
        CHAIN.with(|chain| chain.depth.set(chain.depth.get() - 1));
    }
}

/// How many fires are under way on this thread.
pub(crate) fn depth() -> usize {
    CHAIN.with(|chain| chain.depth.get())
}

/// A turn of a handler in the innermost fire. Over also when it unwinds.
#[derive(Debug)]
pub(crate) struct Turn(());

impl Turn {
    /// Notes that it is one of that crowd.
    #[inline]
    pub(crate) fn of(crowd: u64) -> Self {
        note(crowd);
        Self(())
    }
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        note(0);
    }
}

#[inline]
fn note(crowd: u64) {
    CHAIN.with(|chain| {
        if let Some(step) = chain.depth.get().checked_sub(1).and_then(|top| chain.steps.get(top)) {
            step.set(Step { crowd, ..step.get() });
        }
    });
}

/// Whether a handler of that crowd is being polled on this thread, at any
/// depth.
pub(crate) fn is_polling(crowd: u64) -> bool {
    CHAIN.with(|chain| {
        chain.steps[..chain.depth.get().min(MAX_DEPTH)].iter().any(|step| step.get().crowd == crowd)
    })
}

#[cold]
fn too_deep(point: &'static str, limit: usize) -> FireError {
    let mut chain: Vec<_> = CHAIN.with(|chain| {
        let depth = chain.depth.get().min(MAX_DEPTH);
        chain.steps[..depth].iter().map(|step| step.get().point).collect()
    });
    chain.push(point);
    FireError::TooDeep(Box::new(TooDeep { limit, chain }))
}
