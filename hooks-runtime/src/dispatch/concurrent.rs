//! All handlers at once: void.
//!
//! One plain function starts them all: as long as nobody suspends, nothing is
//! kept in the fire's own state. Those that suspend are then waited for.
#![allow(unsafe_code)]

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::context::Frame;
use crate::dispatch::call::{Running, Waiting, enter, first, leave, polling};
use crate::dispatch::fire::Fire;
use crate::dispatch::relend::Relend;
use crate::dispatch::woken::WokenSet;
use crate::entry::Entry;
use crate::error::{FailureKind, FireError, HandlerFailure};
use crate::invoke::Output;
use crate::list::{Chunk, HandlerList, Slot};
use crate::models::{FiresAs, Model, Void};
use crate::nesting;
use crate::panics::drop_contained;
use crate::point::HookPoint;
use crate::report::{Contribution, Filter};
use crate::slot::{Place, Shelf, Started, Storage};
use crate::snapshot::Held;

/// Above this many waiting handlers only those that were woken are polled;
/// below it, polling all is cheaper than a waker for each.
const FEW: usize = 32;

/// A waiting handler with its place in the order.
type Child<'s, P> = (usize, Waiting<'s, 's, <<P as HookPoint>::Model as Model>::Output<P>>);

/// Starts every handler of `held`, then waits until all have settled.
pub(crate) async fn run<P>(
    fire: &Fire<'_>,
    held: &mut Held<P>,
    payload: &P::Payload,
) -> Result<(), FireError>
where
    P: HookPoint,
    P::Model: FiresAs<Void, P>,
{
    let mut storage = Storage::new();
    let shelf = Shelf::new();
    // SAFETY: `held` outlives this function's future, and so all that borrows
    // the list.
    let list = unsafe { held.list() };
    let settled = Settled { fire, first: None };
    let mut starting = Starting { fire, list, shelf: &shelf, settled, waiting: Vec::new() };
    let mut lent = Some(&mut storage);
    poll_fn(|task| {
        let storage = lent.take().expect("handlers are started once");
        nesting::within(P::NAME, || starting.all(payload, storage, task));
        Poll::Ready(())
    })
    .await;
    let Starting { waiting, mut settled, .. } = starting;
    if !waiting.is_empty() {
        held.settle();
        if waiting.len() > FEW {
            wait_for_many::<P>(waiting, &mut settled).await;
        } else {
            wait_for_few::<P>(waiting, &mut settled).await;
        }
    }
    settled.first.map_or(Ok(()), |(_, failure)| Err(FireError::Failed(failure)))
}

/// The first pass over the handlers: each is started, in order.
struct Starting<'s, P: HookPoint> {
    fire: &'s Fire<'s>,
    list: &'s HandlerList<P>,
    shelf: &'s Shelf,
    settled: Settled<'s>,
    /// Those that suspended.
    waiting: Vec<Child<'s, P>>,
}

impl<'s, P> Starting<'s, P>
where
    P: HookPoint,
    P::Model: FiresAs<Void, P>,
{
    /// Starts them all. The first loop holds only what plain handlers need;
    /// all else is out of its way, in functions of its own.
    #[inline]
    fn all(&mut self, payload: &'s P::Payload, storage: &'s mut Storage, task: &mut Context<'_>) {
        let Self { fire, list, .. } = *self;
        let everyone = fire.admits_all(list);
        let unwatched = fire.recorder.is_none();
        let mut storage = Relend::new(storage);
        let mut before = 0;
        for chunk in list.chunks() {
            let Some(last) = chunk.slots.last() else { continue };
            let mut frame = Frame { fire, entry: &last.entry, merged: None };
            for slot in &chunk.slots {
                frame.entry = &slot.entry;
                if !everyone && !fire.admits(slot) {
                    frame.entry.counters.uncount_call();
                    continue;
                }
                if !(unwatched && chunk.plain) {
                    let order = order_of(before, chunk, slot);
                    self.start(order, slot, payload, &mut storage, task);
                    continue;
                }
                if !enter(frame.entry) {
                    self.passed_over(frame.entry);
                    continue;
                }
                let input = <P::Model as FiresAs<Void, P>>::give(payload);
                // SAFETY: the handler before has ended, or has kept its
                // storage, and then this is another.
                let place = Place::new(unsafe { storage.lend() });
                let start = || slot.invoke().start(input, &frame, place, task);
                let started = polling(frame.entry, start);
                if matches!(started, Started::Ready(Ok(_))) {
                    leave(frame.entry);
                } else {
                    let running = Running::untimed(fire, frame.entry);
                    self.settle(order_of(before, chunk, slot), running, started, &mut storage);
                }
            }
            // The walk has no way out but its end, and whoever was not called
            // was taken back.
            last.count_end_of_walk();
            before += chunk.slots.len();
        }
    }

    /// A handler that was unregistered meanwhile. The walk counts it.
    #[cold]
    fn passed_over(&self, entry: &Entry) {
        entry.counters.uncount_call();
        self.fire.filtered(entry, Filter::Unregistered);
    }

    /// Starts a handler whose call may be counted, timed or told of.
    #[inline(never)]
    fn start(
        &mut self,
        order: usize,
        slot: &'s Slot<P>,
        payload: &'s P::Payload,
        storage: &mut Relend<'s, Storage>,
        task: &mut Context<'_>,
    ) {
        let entry = &*slot.entry;
        let Some(running) = Running::begin(self.fire, entry) else {
            return self.passed_over(entry);
        };
        let input = <P::Model as FiresAs<Void, P>>::give(payload);
        let frame = Frame { fire: self.fire, entry, merged: None };
        // SAFETY: the handler before has ended, or has kept its storage, and
        // then this is another.
        let place = Place::new(unsafe { storage.lend() });
        let started = running.poll(|| slot.invoke().start(input, &frame, place, task));
        self.settle(order, running, started, storage);
    }

    /// Takes what came of a first poll. Whoever suspends keeps the storage;
    /// the next handler gets another.
    #[inline(never)]
    fn settle(
        &mut self,
        order: usize,
        running: Running<'s>,
        started: Started<'s, Output<P>>,
        storage: &mut Relend<'s, Storage>,
    ) {
        let future = match first(&running, started) {
            Ok(outcome) => return self.settled.note(order, running, outcome),
            Err(future) => future,
        };
        // There are at most as many to come as handlers are left.
        let left = self.list.len() - order;
        *storage = Relend::new(self.shelf.storage(left));
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
}

/// The place of a handler in the order of the list.
fn order_of<P: HookPoint>(before: usize, chunk: &Chunk<P>, slot: &Slot<P>) -> usize {
    let within = chunk.slots.iter().position(|other| std::ptr::eq(other, slot));
    before + within.expect("the slot is one of the chunk's")
}

async fn wait_for_few<P: HookPoint>(mut waiting: Vec<Child<'_, P>>, settled: &mut Settled<'_>) {
    // They were polled a moment ago, by this very task: for now only their
    // timers need to know it.
    let mut just_started = true;
    poll_fn(|task| {
        nesting::within(P::NAME, || {
            waiting.retain_mut(|(order, child)| match child.turn(just_started, task) {
                Poll::Pending => true,
                Poll::Ready((running, outcome)) => {
                    settled.note(*order, running, outcome);
                    false
                }
            });
        });
        just_started = false;
        if waiting.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn wait_for_many<P: HookPoint>(waiting: Vec<Child<'_, P>>, settled: &mut Settled<'_>) {
    let mut woken = WokenSet::new(waiting.len());
    let mut waiting: Vec<_> = waiting.into_iter().map(Some).collect();
    poll_fn(|task| {
        nesting::within(P::NAME, || {
            woken.poll(task, |index, task| {
                // A waker may outlive its child and mark it once more.
                let Some((order, child)) = &mut waiting[index] else { return false };
                let Poll::Ready((running, outcome)) = child.turn(false, task) else { return false };
                settled.note(*order, running, outcome);
                waiting[index] = None;
                true
            })
        })
    })
    .await;
}

/// Takes the outcomes as they come; the error of the fire is the failure of
/// the handler that stands first, whoever finishes first.
struct Settled<'f> {
    fire: &'f Fire<'f>,
    first: Option<(usize, HandlerFailure)>,
}

impl Settled<'_> {
    fn note<T>(&mut self, order: usize, running: Running<'_>, outcome: Result<T, FailureKind>) {
        let entry = running.entry;
        let elapsed = running.finish();
        match outcome {
            Ok(_) => self.fire.ran(entry, elapsed, || Contribution::Nothing),
            Err(kind) => {
                let Some(failure) = self.fire.failed(entry, kind, elapsed) else { return };
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
