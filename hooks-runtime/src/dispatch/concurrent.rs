//! All handlers at once: void.
//!
//! One plain function starts them all: as long as nobody suspends, nothing is
//! kept in the fire's own state. Those that suspend are then waited for.
#![allow(unsafe_code)]

use std::task::{Context, Poll};

use crate::dispatch::call::{Call, Done, first};
use crate::dispatch::calling::{Calling, Step};
use crate::dispatch::children::{Children, Settled};
use crate::dispatch::fire::Fire;
use crate::dispatch::ground::{Calls, Ground, Loan};
use crate::dispatch::woken::WokenSet;
use crate::error::FireError;
use crate::list::{HandlerList, Slot};
use crate::models::{Composes, FiresAs, Model};
use crate::nesting;
use crate::point::HookPoint;

/// The calls of a fire that starts all its handlers before it waits for any.
pub(crate) struct Concurrent<'f, P: HookPoint> {
    children: Children<'f, <P::Model as Model>::Output<P>>,
    settled: Settled<'f, P>,
}

impl<'f, P, V> Calls<'f, P, V> for Concurrent<'f, P>
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
            // those that do keep a clone.
            let list: &'f HandlerList<P> = unsafe { any.outliving() };
            let course = <P::Model as FiresAs<V, P>>::course(course);
            let mut waiting = None;
            let mut calling = Calling::parking(fire, course, storage, &mut waiting, list.len());
            let (mut chunks, mut stopped) = (list.chunks(), None);
            if fire.admits_all(list) && fire.watch.is_none() {
                while let [chunk, rest @ ..] = chunks {
                    let (at, step) = calling.run(&chunk.slots, true, task);
                    if step != Step::On {
                        stopped = Some((at, step));
                        break;
                    }
                    chunk.count_whole_walk();
                    chunks = rest;
                }
            }
            if chunks.is_empty() && waiting.is_none() {
                return Ok(());
            }
            let mut settled = Settled::new(fire, list);
            if !chunks.is_empty() {
                let skipped = list.chunks().len() - chunks.len();
                start_rest(list, skipped, stopped, &mut calling, &mut settled, task);
            }
            match waiting {
                None => settled.result(),
                Some(mut children) => {
                    children.keep(any);
                    *place = Some(Self { children, settled });
                    Ok(())
                }
            }
        });
        begun.unwrap_or(Ok(()))
    }

    unsafe fn poll(
        &mut self,
        _: Loan<'_, 'f, P, V>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        let Self { children, settled } = self;
        let nested = settled.nested();
        if nesting::within(nested, || children.turn(settled, task)).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(settled.result())
    }
}

/// Starts the handlers of the chunks from `skipped` on, in order; the first of
/// those chunks was walked until it `stopped`.
#[inline(never)]
fn start_rest<'f, P>(
    list: &'f HandlerList<P>,
    skipped: usize,
    mut stopped: Option<(usize, Step)>,
    calling: &mut Calling<'f, '_, P>,
    settled: &mut Settled<'f, P>,
    task: &mut Context<'_>,
) where
    P: HookPoint,
    P::Model: Composes<P>,
{
    let fire = calling.fire();
    let everyone = fire.admits_all(list);
    if let Some(watch) = fire.watch {
        watch.walks(list.slots().map(|slot| slot.entry.id));
    }
    for chunk in &list.chunks()[skipped..] {
        let mut place = 0;
        while let Some(next) = chunk.slots.get(place) {
            if fire.watch.is_none() {
                let run = || run(&chunk.slots[place..], everyone, calling, task);
                let (at, step) = stopped.take().unwrap_or_else(run);
                place += at;
                if step == Step::Aside {
                    settle(calling.done(&chunk.slots[place].entry), calling, settled);
                }
            } else if everyone || fire.admits(next) {
                start(next, calling, settled, task);
            }
            place += 1;
        }
        // The walk has no way out but its end, and whoever was not called was
        // taken back.
        chunk.count_whole_walk();
    }
}

/// Calls handlers, as [`Calling::run`] does. Where those that wait have
/// wakers of their own, only the next one, which is shown its waker.
fn run<'f, P>(
    slots: &'f [Slot<P>],
    everyone: bool,
    calling: &mut Calling<'f, '_, P>,
    task: &mut Context<'_>,
) -> (usize, Step)
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    if calling.wakers().is_none() {
        return calling.run_on(slots, everyone, task);
    }
    let (_, step) =
        by_own_waker(calling, task, |calling, task| calling.run_on(&slots[..1], everyone, task));
    (0, step)
}

/// Starts a handler, by a waker of its own where those that wait have one.
fn by_own_waker<'f, P, T>(
    calling: &mut Calling<'f, '_, P>,
    task: &mut Context<'_>,
    start: impl FnOnce(&mut Calling<'f, '_, P>, &mut Context<'_>) -> T,
) -> T
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    let Some(waker) = calling.wakers().map(WokenSet::next) else { return start(calling, task) };
    let started = start(calling, &mut Context::from_waker(&waker));
    if let Some(wakers) = calling.wakers() {
        wakers.give_back(waker);
    }
    started
}

/// Starts a handler whose call is told of, and takes what came of it.
fn start<'f, P>(
    slot: &'f Slot<P>,
    calling: &mut Calling<'f, '_, P>,
    settled: &mut Settled<'f, P>,
    task: &mut Context<'_>,
) where
    P: HookPoint,
    P::Model: Composes<P>,
{
    by_own_waker(calling, task, |calling, task| {
        if let Some(running) = calling.start(slot, task) {
            settle(Done::Careful(running), calling, settled);
        }
    });
}

/// Takes what was put aside of a handler.
fn settle<'f, P>(done: Done<'f>, calling: &mut Calling<'f, '_, P>, settled: &mut Settled<'f, P>)
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    match first(calling.aside()) {
        Ok(outcome) => settled.note(done, outcome),
        Err(future) => match Call::new(done, future) {
            Ok(call) => {
                calling.lend_instead().add(call);
            }
            Err((done, kind)) => settled.note(done, Err::<(), _>(kind)),
        },
    }
}
