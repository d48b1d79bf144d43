//! One handler after another: modifying, claiming, gating and stages.
//!
//! A *sweep* runs handlers as far as they are ready, in one plain function:
//! as long as nobody suspends, nothing is kept in the fire's own state. Where
//! one suspends the fire waits for it, and the next sweep goes on behind it.
#![allow(unsafe_code)]

use std::task::{Context, Poll};

use crate::dispatch::call::{Ended, Running, Waiting, first, polling};
use crate::dispatch::calling::{Calling, Course, Step};
use crate::dispatch::fire::Fire;
use crate::dispatch::ground::{Calls, Ground};
use crate::error::{FailureKind, FireError};
use crate::list::{HandlerList, Slot};
use crate::models::{Composes, FiresAs, Model, Next};
use crate::nesting;
use crate::panics::{contained, log_spared};
use crate::point::HookPoint;
use crate::report::{Contribution, Filter};
use crate::snapshot::Held;

/// Why a fire goes no further: what is said of the handlers after, and what
/// the fire returns.
type End = (Filter, Result<(), FireError>);

/// What a handler of `P` answers.
type Answer<P> = <<P as HookPoint>::Model as Model>::Output<P>;

/// The calls of a fire that makes one after another.
pub(crate) struct Sequential<'f, P: HookPoint> {
    /// Boxed, so that a fire that does not wait has little to carry.
    rest: Option<Box<Rest<'f, P>>>,
}

/// A fire that waits for a handler.
struct Rest<'f, P: HookPoint> {
    /// The one that suspended. What it borrows is dropped after it.
    waiting: Option<(&'f Slot<P>, Waiting<'f, 'f, Answer<P>>)>,
    walk: Option<Walk<P>>,
}

/// The handlers of a fire, and how far it came.
struct Walk<P: HookPoint> {
    held: Held<P>,
    chunk: usize,
    slot: usize,
    /// Whether the walk waited at the handler before, and was counted there.
    waited: bool,
}

impl<'f, P, V> Calls<'f, P, V> for Sequential<'f, P>
where
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    V: Composes<P>,
{
    const NONE: Self = Self { rest: None };

    #[inline]
    fn is_none(&self) -> bool {
        self.rest.is_none()
    }

    #[inline]
    unsafe fn poll(
        &mut self,
        ground: &mut Ground<'f, P, V>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        if self.rest.is_none() {
            // SAFETY: no call is under way, and those that begin now end in
            // `sweep` or stand in `rest`.
            let swept = self.sweep(unsafe { ground.lend() }, task);
            if self.rest.is_none() {
                return Poll::Ready(swept);
            }
        }
        // SAFETY: passed on to the caller.
        unsafe { self.wait(ground, task) }
    }
}

impl<'f, P: HookPoint> Sequential<'f, P> {
    /// Waits for the handler that suspended, and sweeps on behind it, as long
    /// as somebody is ready.
    ///
    /// # Safety
    /// As for [`Calls::poll`].
    #[inline(never)]
    unsafe fn wait<V>(
        &mut self,
        ground: &mut Ground<'f, P, V>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>>
    where
        P::Model: FiresAs<V, P>,
        V: Composes<P>,
    {
        loop {
            let rest = self.rest.as_mut().expect("somebody waits");
            let (slot, waiting) = rest.waiting.as_mut().expect("somebody waits");
            let slot = *slot;
            let turn = nesting::within(P::NAME, || waiting.turn(task));
            let Poll::Ready((running, outcome)) = turn else { return Poll::Pending };
            rest.waiting = None;
            // SAFETY: the call has ended, and with it its loan.
            let ground = unsafe { ground.lend() };
            let (fire, course) = (&ground.fire, &mut ground.course);
            let course = <P::Model as FiresAs<V, P>>::course(course);
            let end = nesting::within(P::NAME, || settle(fire, slot, running, outcome, course));
            if let Some((filter, result)) = end {
                if let Some(walk) = &rest.walk {
                    walk.skip_rest(fire, filter);
                }
                return Poll::Ready(result);
            }
            let swept = self.sweep(ground, task);
            if self.rest.as_ref().is_none_or(|rest| rest.waiting.is_none()) {
                return Poll::Ready(swept);
            }
        }
    }

    /// Runs handlers until one suspends, which is then in `rest`, or the fire
    /// ends.
    #[inline(never)]
    fn sweep<V>(
        &mut self,
        ground: &'f mut Ground<'f, P, V>,
        task: &mut Context<'_>,
    ) -> Result<(), FireError>
    where
        P::Model: FiresAs<V, P>,
        V: Composes<P>,
    {
        let Ground { fire, course, storage, .. } = ground;
        let fire: &'f Fire<'f> = fire;
        let begun = self.rest.as_mut().and_then(|rest| rest.walk.take());
        let mut walk = match begun {
            Some(walk) => walk,
            None => match fire.hold::<P>() {
                Some(held) => Walk::over(held),
                None => return Ok(()),
            },
        };
        // A fire that was let in may go on, wherever it is polled.
        let limit = if walk.waited { usize::MAX } else { fire.depth() };
        let _link = nesting::enter(P::NAME, limit)?;
        // SAFETY: who borrows the list is gone before the walk is: what this
        // function has is dropped before it returns, and one that waits stands
        // before the walk that it leaves with the fire.
        let list = unsafe { walk.held.list() };
        let everyone = fire.admits_all(list);
        let course = <P::Model as FiresAs<V, P>>::course(course);
        let mut calling = Calling::new(fire, course, storage);
        if let Some(watch) = fire.watch {
            watch.walks(list.slots().map(|slot| slot.entry.id));
        }
        if walk.waited {
            list.chunks()[walk.chunk].uncount_walk(walk.slot - 1);
        }
        let mut done = walk.slot;
        for (index, chunk) in list.chunks().iter().enumerate().skip(walk.chunk) {
            let plain = chunk.plain && fire.watch.is_none();
            let mut slots = &chunk.slots[done..];
            while let [next, ..] = slots {
                let (at, running) = if plain {
                    match calling.run(slots, everyone, task) {
                        (at, Step::On) => (at, None),
                        (at, Step::Aside) => (at, Some(Running::untimed(fire, &slots[at].entry))),
                        (at, Step::End(_)) => {
                            chunk.count_walk(chunk.slots.len() - slots.len() + at);
                            return Ok(());
                        }
                    }
                } else {
                    let admitted = everyone || fire.admits(next);
                    (0, if admitted { calling.start(next, task) } else { None })
                };
                if let Some(running) = running {
                    let slot = &slots[at];
                    let end = match first(&running, calling.aside()) {
                        Ok(outcome) => settle(fire, slot, running, outcome, calling.course()),
                        Err(future) => match Waiting::new(running, future) {
                            // Its loans go with it: nothing is lent from here on.
                            Ok(waiting) => {
                                walk.stop_behind(index, slot);
                                self.wait_for(slot, waiting, walk);
                                return Ok(());
                            }
                            Err((running, kind)) => {
                                settle(fire, slot, running, Err(kind), calling.course())
                            }
                        },
                    };
                    if let Some((filter, result)) = end {
                        walk.stop_behind(index, slot);
                        walk.skip_rest(fire, filter);
                        return result;
                    }
                }
                slots = slots.get(at + 1..).unwrap_or_default();
            }
            if let Some(last) = chunk.slots.len().checked_sub(1) {
                chunk.count_walk(last);
            }
            done = 0;
        }
        Ok(())
    }
}

impl<'f, P: HookPoint> Sequential<'f, P> {
    #[inline(never)]
    fn wait_for(&mut self, slot: &'f Slot<P>, waiting: Waiting<'f, 'f, Answer<P>>, walk: Walk<P>) {
        let empty = || Box::new(Rest { waiting: None, walk: None });
        let rest = self.rest.get_or_insert_with(empty);
        rest.waiting = Some((slot, waiting));
        rest.walk = Some(walk);
    }
}

/// Takes the outcome of one handler; the end of the fire, if it makes one.
#[inline(never)]
fn settle<P>(
    fire: &Fire<'_>,
    slot: &Slot<P>,
    running: Running<'_>,
    outcome: Result<Answer<P>, FailureKind>,
    course: &mut Course<'_, P>,
) -> Option<End>
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    let mut contribution = Contribution::Nothing;
    let next = outcome.and_then(|output| {
        let told = fire.watch.is_some().then_some(&mut contribution);
        // Values that it displaces are dropped in there: the user's code.
        let accept = || P::Model::accept(&mut *course, &slot.entry, output, told);
        match contained(|| polling(&slot.entry, accept)) {
            Ok(Next::Failed(error)) => Err(FailureKind::Error(error)),
            Ok(Next::On) => Ok(None),
            Ok(Next::End(filter)) => Ok(Some(filter)),
            Err(message) if P::Model::spares(course) => {
                log_spared(&message);
                Ok(None)
            }
            Err(message) => Err(FailureKind::Panicked(message)),
        }
    });
    let ended = running.finish();
    match next {
        Ok(end) => {
            fire.ran(&ended, || contribution);
            end.map(|filter| (filter, Ok(())))
        }
        Err(kind) => failed(fire, &ended, kind),
    }
}

/// Reports a failure; the end of the fire, if the handler fails closed.
fn failed(fire: &Fire<'_>, ended: &Ended<'_>, kind: FailureKind) -> Option<End> {
    let failure = fire.failed(ended, kind)?;
    Some((Filter::AfterFailure, Err(FireError::Failed(failure))))
}

impl<P: HookPoint> Walk<P> {
    #[inline]
    fn over(held: Held<P>) -> Self {
        Self { held, chunk: 0, slot: 0, waited: false }
    }

    /// Notes that the fire came as far as `slot` in the chunk of that index,
    /// and counts it there.
    fn stop_behind(&mut self, chunk: usize, slot: &Slot<P>) {
        // SAFETY: not used beyond this function.
        let list: &HandlerList<P> = unsafe { self.held.list() };
        let place = list.chunks()[chunk].place_of(slot).expect("it is one of the chunk's");
        list.chunks()[chunk].count_walk(place);
        self.chunk = chunk;
        self.slot = place + 1;
        self.waited = true;
        self.held.settle();
    }

    /// Tells of the handlers that the fire does not come to.
    fn skip_rest(&self, fire: &Fire<'_>, filter: Filter) {
        if fire.watch.is_some() {
            // SAFETY: not used beyond this function.
            let list: &HandlerList<P> = unsafe { self.held.list() };
            for (index, chunk) in list.chunks().iter().enumerate().skip(self.chunk) {
                let done = if index == self.chunk { self.slot } else { 0 };
                for slot in &chunk.slots[done..] {
                    fire.skipped(&slot.entry, filter);
                }
            }
        }
    }
}
