//! All handlers at once: void.
//!
//! One plain function starts them all: as long as nobody suspends, nothing is
//! kept in the fire's own state. Those that suspend are then waited for.
#![allow(unsafe_code)]

use std::task::{Context, Poll};

use crate::dispatch::call::{Running, Waiting, first};
use crate::dispatch::calling::{Calling, Step};
use crate::dispatch::fire::Fire;
use crate::dispatch::ground::{Calls, Ground};
use crate::dispatch::woken::WokenSet;
use crate::error::{FailureKind, FireError, HandlerFailure};
use crate::list::HandlerList;
use crate::models::{Composes, FiresAs, Model};
use crate::nesting;
use crate::panics::drop_contained;
use crate::point::HookPoint;
use crate::report::Contribution;
use crate::slot::Shelf;
use crate::snapshot::Held;

/// Above this many waiting handlers only those that were woken are polled;
/// below it, polling all is cheaper than a waker for each.
const FEW: usize = 32;

/// A waiting handler with its place in the order.
type Child<'f, P> = (usize, Waiting<'f, 'f, <<P as HookPoint>::Model as Model>::Output<P>>);

/// The calls of a fire that starts all its handlers before it waits for any.
pub(crate) struct Concurrent<'f, P: HookPoint> {
    /// Boxed, so that a fire that does not wait has little to carry.
    waiting: Option<Box<Rest<'f, P>>>,
}

/// The handlers that suspended. What they borrow is dropped after them.
struct Rest<'f, P: HookPoint> {
    children: Children<'f, P>,
    settled: Settled<'f>,
    _shelf: Shelf,
    _held: Held<P>,
}

enum Children<'f, P: HookPoint> {
    Few(Vec<Child<'f, P>>),
    Many(WokenSet, Vec<Option<Child<'f, P>>>),
}

impl<'f, P, V> Calls<'f, P, V> for Concurrent<'f, P>
where
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    V: Composes<P>,
{
    const NONE: Self = Self { waiting: None };

    #[inline]
    fn is_none(&self) -> bool {
        self.waiting.is_none()
    }

    #[inline]
    unsafe fn poll(
        &mut self,
        ground: &mut Ground<'f, P, V>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        if self.waiting.is_none() {
            // SAFETY: no call is under way, and those that begin now end in
            // `start_all` or stand in `waiting`.
            let result = start_all(unsafe { ground.lend() }, &mut self.waiting, task);
            if self.waiting.is_none() {
                return Poll::Ready(result);
            }
        }
        self.wait(task)
    }
}

impl<P: HookPoint> Concurrent<'_, P> {
    #[inline(never)]
    fn wait(&mut self, task: &mut Context<'_>) -> Poll<Result<(), FireError>> {
        let Some(rest) = &mut self.waiting else { unreachable!("somebody waits") };
        if nesting::within(P::NAME, || rest.poll(task)).is_pending() {
            return Poll::Pending;
        }
        let rest = self.waiting.take().expect("it was there above");
        Poll::Ready(rest.settled.result())
    }
}

/// Starts all handlers, in order, and returns when all have settled; unless
/// some wait.
#[inline]
fn start_all<'f, P, V>(
    ground: &'f mut Ground<'f, P, V>,
    waiting: &mut Option<Box<Rest<'f, P>>>,
    task: &mut Context<'_>,
) -> Result<(), FireError>
where
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    V: Composes<P>,
{
    let Ground { fire, course, storage, .. } = ground;
    let fire: &'f Fire<'f> = fire;
    let Some(held) = fire.hold::<P>() else { return Ok(()) };
    let _link = nesting::enter(P::NAME, fire.depth())?;
    // SAFETY: who borrows the list is gone before `held`: what this function
    // has is dropped before it returns, and those that wait go with it.
    let list = unsafe { held.list() };
    let everyone = fire.admits_all(list);
    let course = <P::Model as FiresAs<V, P>>::course(course);
    let mut calling = Calling::new(fire, course, storage);
    let mut aside = None;
    let mut before = 0;
    if let Some(watch) = fire.watch {
        watch.walks(list.slots().map(|slot| slot.entry.id));
    }
    for chunk in list.chunks() {
        let plain = chunk.plain && fire.watch.is_none();
        let mut slots = &*chunk.slots;
        while let [next, ..] = slots {
            let (at, running) = if plain {
                let (at, step) = calling.run(slots, everyone, task);
                (at, (step == Step::Aside).then(|| Running::untimed(fire, &slots[at].entry)))
            } else {
                let admitted = everyone || fire.admits(next);
                (0, if admitted { calling.start(next, task) } else { None })
            };
            if let Some(running) = running {
                let aside = aside.get_or_insert_with(|| Aside::new(fire, list));
                let order = before + chunk.slots.len() - slots.len() + at;
                aside.settle(order, running, &mut calling);
            }
            slots = slots.get(at + 1..).unwrap_or_default();
        }
        // The walk has no way out but its end, and whoever was not called was
        // taken back.
        if let Some(last) = chunk.slots.len().checked_sub(1) {
            chunk.count_walk(last);
        }
        before += chunk.slots.len();
    }
    match aside {
        None => Ok(()),
        Some(aside) => aside.finish(held, waiting),
    }
}

/// The handlers that were not done at once.
struct Aside<'f, P: HookPoint> {
    list: &'f HandlerList<P>,
    settled: Settled<'f>,
    /// Those that suspended.
    waiting: Vec<Child<'f, P>>,
    shelf: Shelf,
}

impl<'f, P> Aside<'f, P>
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    fn new(fire: &'f Fire<'f>, list: &'f HandlerList<P>) -> Self {
        let settled = Settled { fire, first: None };
        Self { list, settled, waiting: Vec::new(), shelf: Shelf::default() }
    }

    /// Takes what came of a first poll. Whoever suspends keeps the storage;
    /// the next handler gets another.
    #[inline(never)]
    fn settle(&mut self, order: usize, running: Running<'f>, calling: &mut Calling<'f, '_, P>) {
        let future = match first(&running, calling.aside()) {
            Ok(outcome) => return self.settled.note(order, running, outcome),
            Err(future) => future,
        };
        // There are at most as many to come as handlers are left.
        let left = self.list.len() - order;
        // SAFETY: those that wait are dropped before the shelf: here, where
        // they are declared before it, and in `Rest`.
        calling.lend_instead(unsafe { self.shelf.storage(left) });
        match Waiting::new(running, future) {
            Ok(child) => {
                if self.waiting.is_empty() {
                    self.waiting.reserve_exact(left);
                }
                self.waiting.push((order, child));
            }
            Err((running, kind)) => self.settled.note(order, running, Err::<(), _>(kind)),
        }
    }

    /// Leaves those that wait with the fire.
    #[inline(never)]
    fn finish(
        self,
        mut held: Held<P>,
        waiting: &mut Option<Box<Rest<'f, P>>>,
    ) -> Result<(), FireError> {
        let Self { settled, waiting: few, shelf, .. } = self;
        if few.is_empty() {
            return settled.result();
        }
        held.settle();
        let children = if few.len() > FEW {
            let wakers = WokenSet::new(few.len());
            let many = few.into_iter().map(|(order, child)| Some((order, child.by_own_waker())));
            Children::Many(wakers, many.collect())
        } else {
            Children::Few(few)
        };
        *waiting = Some(Box::new(Rest { children, settled, _shelf: shelf, _held: held }));
        Ok(())
    }
}

impl<P: HookPoint> Rest<'_, P> {
    /// Gives a turn to those that may have something to do.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let settled = &mut self.settled;
        match &mut self.children {
            Children::Few(children) => {
                children.retain_mut(|(order, child)| match child.turn(task) {
                    Poll::Pending => true,
                    Poll::Ready((running, outcome)) => {
                        settled.note(*order, running, outcome);
                        false
                    }
                });
                if children.is_empty() { Poll::Ready(()) } else { Poll::Pending }
            }
            Children::Many(woken, children) => woken.poll(task, |index, task| {
                // A waker may outlive its child and mark it once more.
                let Some((order, child)) = &mut children[index] else { return false };
                let Poll::Ready((running, outcome)) = child.turn(task) else { return false };
                settled.note(*order, running, outcome);
                children[index] = None;
                true
            }),
        }
    }
}

/// Takes the outcomes as they come; the error of the fire is the failure of
/// the handler that stands first, whoever finishes first.
struct Settled<'f> {
    fire: &'f Fire<'f>,
    first: Option<(usize, HandlerFailure)>,
}

impl Settled<'_> {
    fn result(self) -> Result<(), FireError> {
        self.first.map_or(Ok(()), |(_, failure)| Err(FireError::Failed(failure)))
    }

    fn note<T>(&mut self, order: usize, running: Running<'_>, outcome: Result<T, FailureKind>) {
        let ended = running.finish();
        match outcome {
            Ok(_) => self.fire.ran(&ended, || Contribution::Nothing),
            Err(kind) => {
                let Some(failure) = self.fire.failed(&ended, kind) else { return };
                let earlier = self.first.as_ref().is_none_or(|(first, _)| order < *first);
                let lost = if earlier {
                    self.first.replace((order, failure)).map(|(_, failure)| failure)
                } else {
                    Some(failure)
                };
                drop_contained("a handler's error", lost);
            }
        }
    }
}
