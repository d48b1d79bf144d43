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
struct Link {
    point: &'static str,
    /// The crowd of the handler that is polled; zero for none.
    crowd: u64,
}

const NO_LINK: Link = Link { point: "", crowd: 0 };

struct Chain {
    depth: Cell<usize>,
    links: [Cell<Link>; MAX_DEPTH],
}

thread_local! {
    static CHAIN: Chain = const {
        Chain { depth: Cell::new(0), links: [const { Cell::new(NO_LINK) }; MAX_DEPTH] }
    };
}

/// Runs `poll` with `point` on the chain.
#[inline]
pub(crate) fn within<T>(point: &'static str, poll: impl FnOnce() -> T) -> T {
    let _link = Pushed::new(point);
    poll()
}

/// Takes the link off also when the poll unwinds.
struct Pushed;

impl Pushed {
    #[inline]
    fn new(point: &'static str) -> Self {
        CHAIN.with(|chain| {
            let depth = chain.depth.get();
            if let Some(link) = chain.links.get(depth) {
                link.set(Link { point, crowd: 0 });
            }
            chain.depth.set(depth + 1);
        });
        Self
    }
}

impl Drop for Pushed {
    #[inline]
    fn drop(&mut self) {
        CHAIN.with(|chain| chain.depth.set(chain.depth.get() - 1));
    }
}

/// Notes that the innermost fire polls a handler of that crowd.
#[inline]
pub(crate) fn polling(crowd: u64) {
    CHAIN.with(|chain| {
        if let Some(link) = chain.depth.get().checked_sub(1).and_then(|top| chain.links.get(top)) {
            link.set(Link { crowd, ..link.get() });
        }
    });
}

/// Whether a handler of that crowd is being polled on this thread, at any
/// depth.
pub(crate) fn is_polling(crowd: u64) -> bool {
    CHAIN.with(|chain| {
        chain.links[..chain.depth.get().min(MAX_DEPTH)].iter().any(|link| link.get().crowd == crowd)
    })
}

/// Refuses a fire of `point` that would be nested deeper than `limit`.
#[inline]
pub(crate) fn check(point: &'static str, limit: usize) -> Result<(), FireError> {
    if CHAIN.with(|chain| chain.depth.get()) < limit { Ok(()) } else { Err(too_deep(point, limit)) }
}

#[cold]
fn too_deep(point: &'static str, limit: usize) -> FireError {
    let mut chain: Vec<_> = CHAIN.with(|chain| {
        let depth = chain.depth.get().min(MAX_DEPTH);
        chain.links[..depth].iter().map(|link| link.get().point).collect()
    });
    chain.push(point);
    FireError::TooDeep(Box::new(TooDeep { limit, chain }))
}
