//! One handler after another: modifying, claiming, gating and stages.
//!
//! A *sweep* runs handlers as far as they are ready, in one plain function:
//! as long as nobody suspends, nothing is kept in the fire's own state. Where
//! one suspends the fire waits for it, and the next sweep goes on behind it.
#![allow(unsafe_code)]

use std::task::{Context, Poll};

use crate::dispatch::call::{Call, Done, Ended, first, polling};
use crate::dispatch::calling::{Calling, Course, Step};
use crate::dispatch::fire::Fire;
use crate::dispatch::ground::{Calls, Ground, Loan};
use crate::error::{FailureKind, FireError};
use crate::list::{AnyList, HandlerList, Slot};
use crate::models::{Composes, FiresAs, Model, Next};
use crate::nesting::{self, Nested};
use crate::observe::report::{Contribution, SkipReason};
use crate::panics::{contained, log_spared};
use crate::point::HookPoint;

/// Why a fire goes no further: what is said of the handlers after, and what
/// the fire returns.
type End = (SkipReason, Result<(), FireError>);

const ONE_BY_ONE: &str = "nobody is started while another waits";

/// What a handler of `P` answers.
type Answer<P> = <<P as HookPoint>::Model as Model>::Output<P>;

/// The calls of a fire that makes one after another, and waits for one.
pub(crate) struct Sequential<'f, P: HookPoint> {
    /// The one that suspended. What it borrows is dropped after it.
    waiting: Call<'f, Answer<P>>,
    /// Whether it had its turn a moment ago, by this very task.
    fresh: bool,
    /// Where it stands.
    at: At,
    nested: Nested,
    list: &'f HandlerList<P>,
    _keep: AnyList,
}

/// A place in a list.
#[derive(Clone, Copy)]
struct At {
    chunk: usize,
    slot: usize,
}

/// How far a sweep came.
enum Swept<'f, P: HookPoint> {
    Ended(Result<(), FireError>),
    Waits(At, Call<'f, Answer<P>>),
}

impl<'f, P, V> Calls<'f, P, V> for Sequential<'f, P>
where
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    V: Composes<P>,
{
    #[inline]
    fn begin(
        ground: &'f mut Ground<'f, P, V>,
        place: &mut Option<Self>,
        task: &mut Context<'_>,
    ) -> Result<(), FireError> {
        let Ground { fire, course, storage, .. } = ground;
        let fire: &'f Fire<'f> = fire;
        let begun = fire.over_handlers::<P, _>(|any| {
            let _link = nesting::enter(fire.nested::<P>(), fire.depth::<P>())?;
            // SAFETY: those that do not wait are done when this returns, and
            // the one that does goes with a clone.
            let list: &'f HandlerList<P> = unsafe { any.outliving() };
            let course = <P::Model as FiresAs<V, P>>::course(course);
            let mut calling = Calling::new(fire, course, storage);
            let mut from = At { chunk: 0, slot: 0 };
            let mut stopped = false;
            if fire.admits_all(list) && fire.watch.is_none() {
                for chunk in list.chunks() {
                    let (at, step) = calling.run(&chunk.slots, true, task);
                    match step {
                        Step::On => chunk.count_whole_walk(),
                        Step::End(_) => {
                            chunk.count_walk(at);
                            return Ok(());
                        }
                        Step::Waits | Step::Crowded => unreachable!("{ONE_BY_ONE}"),
                        Step::Aside => {
                            from.slot = at;
                            stopped = true;
                            break;
                        }
                    }
                    from.chunk += 1;
                }
            }
            if from.chunk == list.chunks().len() {
                return Ok(());
            }
            match sweep(list, from, stopped, &mut calling, task) {
                Swept::Ended(result) => result,
                Swept::Waits(at, waiting) => {
                    let (nested, keep) = (fire.nested::<P>(), any.clone());
                    *place = Some(Self { waiting, fresh: true, at, nested, list, _keep: keep });
                    Ok(())
                }
            }
        });
        begun.unwrap_or(Ok(()))
    }

    unsafe fn poll(
        &mut self,
        mut ground: Loan<'_, 'f, P, V>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        nesting::within(self.nested, || {
            loop {
                // What has a limit has a timer, which wants to be polled.
                if std::mem::take(&mut self.fresh) && matches!(self.waiting, Call::Plain(_)) {
                    return Poll::Pending;
                }
                let mut ended = None;
                let take = |done, outcome| ended = Some((done, outcome));
                let turn = self.waiting.turn(task, P::Model::stands, take);
                let (Poll::Ready(()), Some((done, outcome))) = (turn, ended) else {
                    return Poll::Pending;
                };
                // SAFETY: the call has ended, and with it its loan, but for the
                // fire: `done` knows it, so that is only shared.
                let &mut Ground { ref fire, ref mut course, ref mut storage, .. } =
                    unsafe { ground.lend() };
                let course = <P::Model as FiresAs<V, P>>::course(course);
                let chunk = &self.list.chunks()[self.at.chunk];
                let slot = &chunk.slots[self.at.slot];
                let end = settle(fire, slot, done, outcome, course);
                let next = At { slot: self.at.slot + 1, ..self.at };
                if let Some((filter, result)) = end {
                    skip_rest(fire, self.list, next, filter);
                    return Poll::Ready(result);
                }
                chunk.uncount_walk(self.at.slot);
                let mut calling = Calling::new(fire, course, storage);
                match sweep(self.list, next, false, &mut calling, task) {
                    Swept::Ended(result) => return Poll::Ready(result),
                    Swept::Waits(at, waiting) => {
                        self.at = at;
                        self.waiting = waiting;
                        self.fresh = true;
                    }
                }
            }
        })
    }
}

/// Runs handlers until one suspends or the fire ends. Where a handler was
/// `stopped` at, what came of it is put aside.
#[inline(never)]
fn sweep<'f, P>(
    list: &'f HandlerList<P>,
    from: At,
    mut stopped: bool,
    calling: &mut Calling<'f, '_, P>,
    task: &mut Context<'_>,
) -> Swept<'f, P>
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    let fire = calling.fire();
    let everyone = fire.admits_all(list);
    if let Some(watch) = fire.watch {
        watch.walks(list.slots().map(|slot| slot.entry.id));
    }
    let mut place = from.slot;
    for (index, chunk) in list.chunks().iter().enumerate().skip(from.chunk) {
        while let Some(next) = chunk.slots.get(place) {
            let done = if std::mem::take(&mut stopped) {
                Some(calling.done(&next.entry))
            } else if fire.watch.is_none() {
                let (at, step) = calling.run_on(&chunk.slots[place..], everyone, task);
                place += at;
                match step {
                    Step::On => break,
                    Step::End(_) => {
                        chunk.count_walk(place);
                        return Swept::Ended(Ok(()));
                    }
                    Step::Waits | Step::Crowded => unreachable!("{ONE_BY_ONE}"),
                    Step::Aside => Some(calling.done(&chunk.slots[place].entry)),
                }
            } else if everyone || fire.admits(next) {
                calling.start(next, task).map(Done::Careful)
            } else {
                None
            };
            if let Some(done) = done {
                let slot = &chunk.slots[place];
                let end = match first(calling.aside()) {
                    Ok(outcome) => settle(fire, slot, done, outcome, calling.course()),
                    Err(future) => match Call::new(done, future) {
                        // Its loans go with it: nothing is lent from here on.
                        Ok(waiting) => {
                            chunk.count_walk(place);
                            return Swept::Waits(At { chunk: index, slot: place }, waiting);
                        }
                        Err((done, kind)) => settle(fire, slot, done, Err(kind), calling.course()),
                    },
                };
                if let Some((filter, result)) = end {
                    chunk.count_walk(place);
                    skip_rest(fire, list, At { chunk: index, slot: place + 1 }, filter);
                    return Swept::Ended(result);
                }
            }
            place += 1;
        }
        chunk.count_whole_walk();
        place = 0;
    }
    Swept::Ended(Ok(()))
}

/// Takes the outcome of one handler; the end of the fire, if it makes one.
#[inline(never)]
fn settle<P>(
    fire: &Fire<'_>,
    slot: &Slot<P>,
    done: Done<'_>,
    outcome: Result<Answer<P>, FailureKind>,
    course: &mut Course<'_, P>,
) -> Option<End>
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    let mut contribution = Contribution::Nothing;
    let mut spared = None;
    let next = outcome.and_then(|output| {
        let told = fire.watch.is_some().then_some(&mut contribution);
        // Values that it displaces are dropped in there: the user's code.
        let accept = || P::Model::accept(&mut *course, &slot.entry, output, told);
        match contained(|| polling(&slot.entry, accept)) {
            Ok(Next::Failed(error)) => Err(FailureKind::Error(error)),
            Ok(Next::On) => Ok(None),
            Ok(Next::End(filter)) => Ok(Some(filter)),
            Err(message) if P::Model::spares(course) => {
                spared = Some(message);
                Ok(None)
            }
            Err(message) => Err(FailureKind::Panicked(message)),
        }
    });
    let ended = done.finish(&next);
    if let Some(message) = spared {
        log_spared(&message);
    }
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
    Some((SkipReason::AfterFailure, Err(FireError::Failed(failure))))
}

/// Tells of the handlers that the fire does not come to.
fn skip_rest<P: HookPoint>(fire: &Fire<'_>, list: &HandlerList<P>, from: At, filter: SkipReason) {
    if fire.watch.is_some() {
        for (index, chunk) in list.chunks().iter().enumerate().skip(from.chunk) {
            let done = if index == from.chunk { from.slot } else { 0 };
            for slot in &chunk.slots[done..] {
                fire.tell_of_filtered(&slot.entry, filter);
            }
        }
    }
}
