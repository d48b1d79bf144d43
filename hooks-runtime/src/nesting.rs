//! Which fires are being polled on this thread right now.
//!
//! The chain is kept per poll, not per task: a fire puts itself on it while it
//! polls its handlers and takes itself off before it returns to the executor.
//! So it works on any executor, and a fire that a handler spawns elsewhere is
//! not nested. An observer that is told of a fire from outside of its polls
//! runs with that fire on the chain as well, so that its own fires count.

use std::cell::{Cell, RefCell};

use crate::error::{FireError, NestingError};
use crate::sync::thread_local;

/// The deepest nesting that a registry can be set to allow.
pub(crate) const MAX_DEPTH: usize = 128;

/// A fire that can be on the chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Nested {
    /// The wire name of its point.
    pub(crate) point: &'static str,
    /// The address of its registry, which is there as long as the fire is.
    pub(crate) registry: usize,
    /// Its number, where it is observed; zero otherwise.
    pub(crate) fire: u64,
}

#[derive(Clone, Copy)]
struct Step {
    fire: Nested,
    /// The crowd of the handler that is polled; zero for none.
    crowd: u64,
}

const NO_STEP: Step = Step { fire: Nested { point: "", registry: 0, fire: 0 }, crowd: 0 };

struct Chain {
    depth: Cell<usize>,
    steps: [Cell<Step>; MAX_DEPTH],
    /// How many calls of observers are under way.
    observing: Cell<usize>,
}

thread_local! {
    static CHAIN: Chain = const {
        Chain {
            depth: Cell::new(0),
            steps: [const { Cell::new(NO_STEP) }; MAX_DEPTH],
            observing: Cell::new(0),
        }
    };
}

thread_local! {
    /// The steps past those that the chain has room for: fires of several
    /// registries inside of each other can be more than one may have.
    static FURTHER: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` on the further steps, if there are any. A thread that is ending
/// has none.
#[cold]
fn further<T: Default>(work: impl FnOnce(&mut Vec<Step>) -> T) -> T {
    FURTHER.try_with(|steps| work(&mut steps.borrow_mut())).unwrap_or_default()
}

impl Chain {
    /// All steps, outermost first.
    fn steps(&self) -> Vec<Step> {
        let depth = self.depth.get();
        let mut steps: Vec<_> = self.steps[..depth.min(MAX_DEPTH)].iter().map(Cell::get).collect();
        if depth > MAX_DEPTH {
            steps.extend(further(|steps| steps.clone()));
        }
        steps
    }

    /// The innermost step.
    fn last(&self) -> Option<Step> {
        let last = self.depth.get().checked_sub(1)?;
        match self.steps.get(last) {
            Some(step) => Some(step.get()),
            None => further(|steps| steps.last().copied()),
        }
    }

    /// How many fires of that registry are on the chain.
    fn depth_of(&self, registry: usize) -> usize {
        self.steps().iter().filter(|step| step.fire.registry == registry).count()
    }

    fn push(&self, depth: usize, fire: Nested) {
        let step = Step { fire, crowd: 0 };
        match self.steps.get(depth) {
            Some(place) => place.set(step),
            None => further(|steps| steps.push(step)),
        }
        self.depth.set(depth + 1);
    }

    fn pop(&self) {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        if depth >= MAX_DEPTH {
            further(Vec::pop);
        }
    }

    /// Notes whose handler the innermost fire polls; says whose it polled
    /// before.
    #[inline]
    fn poll(&self, crowd: u64) -> u64 {
        let Some(last) = self.depth.get().checked_sub(1) else { return 0 };
        match self.steps.get(last) {
            Some(place) => {
                let step = place.get();
                place.set(Step { crowd, ..step });
                step.crowd
            }
            None => further(|steps| {
                steps.last_mut().map_or(0, |step| std::mem::replace(&mut step.crowd, crowd))
            }),
        }
    }
}

/// Runs `poll` with that fire on the chain.
#[inline]
pub(crate) fn within<T>(fire: Nested, poll: impl FnOnce() -> T) -> T {
    let _link = CHAIN.with(|chain| Link::push(chain, chain.depth.get(), fire));
    poll()
}

/// Puts a fire on the chain, unless it would be nested deeper in its registry
/// than `limit`.
#[inline]
pub(crate) fn enter(fire: Nested, limit: usize) -> Result<Link, FireError> {
    let entered = CHAIN.with(|chain| {
        let depth = chain.depth.get();
        // Few fires are nested so deep that it matters whose they are.
        (depth < limit || is_within(chain, fire, limit)).then(|| Link::push(chain, depth, fire))
    });
    entered.ok_or_else(|| too_deep(fire, limit))
}

#[cold]
#[inline(never)]
fn is_within(chain: &Chain, fire: Nested, limit: usize) -> bool {
    chain.depth_of(fire.registry) < limit
}

/// Runs a call of an observer of that fire, which is on the chain meanwhile.
pub(crate) fn observing<T>(fire: Nested, call: impl FnOnce() -> T) -> T {
    struct Observing;

    impl Drop for Observing {
        fn drop(&mut self) {
            CHAIN.with(|chain| chain.observing.set(chain.observing.get() - 1));
        }
    }

    let _link = CHAIN.with(|chain| {
        chain.observing.set(chain.observing.get() + 1);
        // In a poll of that very fire it is there already.
        let is_there = chain.last().is_some_and(|step| step.fire == fire);
        (!is_there).then(|| Link::push(chain, chain.depth.get(), fire))
    });
    let _observing = Observing;
    call()
}

/// Whether a fire of that registry would be refused, and an observer is the
/// one that fires: telling observers of it would have no end.
pub(crate) fn is_endless(registry: usize, limit: usize) -> bool {
    CHAIN.with(|chain| chain.observing.get() > 0 && chain.depth_of(registry) >= limit)
}

/// A fire on the chain. Taken off also when its poll unwinds.
#[derive(Debug)]
pub(crate) struct Link(());

impl Link {
    #[inline]
    fn push(chain: &Chain, depth: usize, fire: Nested) -> Self {
        chain.push(depth, fire);
        Self(())
    }
}

impl Drop for Link {
    #[inline]
    fn drop(&mut self) {
        CHAIN.with(Chain::pop);
    }
}

/// How many fires of that registry are under way on this thread.
pub(crate) fn depth(registry: usize) -> usize {
    CHAIN.with(|chain| chain.depth_of(registry))
}

/// A turn of a handler in the innermost fire. Over also when it unwinds.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Whose turn it is again afterwards.
    before: u64,
}

impl Turn {
    /// Notes that it is one of that crowd.
    #[inline]
    pub(crate) fn of(crowd: u64) -> Self {
        Self { before: CHAIN.with(|chain| chain.poll(crowd)) }
    }
}

impl Drop for Turn {
    #[inline]
    fn drop(&mut self) {
        CHAIN.with(|chain| chain.poll(self.before));
    }
}

/// Whether a handler of that crowd is being polled on this thread, at any
/// depth.
pub(crate) fn is_polling(crowd: u64) -> bool {
    CHAIN.with(|chain| chain.steps().iter().any(|step| step.crowd == crowd))
}

#[cold]
fn too_deep(fire: Nested, limit: usize) -> FireError {
    let steps = CHAIN.with(Chain::steps);
    let own = steps.iter().filter(|step| step.fire.registry == fire.registry);
    let chain = own.map(|step| step.fire.point).chain([fire.point]).collect();
    FireError::Nesting(Box::new(NestingError { limit, chain }))
}
