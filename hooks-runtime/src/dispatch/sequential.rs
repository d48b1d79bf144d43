//! One handler after another: modifying, claiming, gating and stages.
//!
//! A *sweep* runs handlers as far as they are ready, in one plain function:
//! as long as nobody suspends, nothing is kept in the fire's own state. Where
//! one suspends the fire waits for it, and the next sweep goes on behind it.
#![allow(unsafe_code)]

use std::any::Any;
use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::context::Frame;
use crate::dispatch::call::{Running, Waiting, enter, first, leave, polling};
use crate::dispatch::fire::{Fire, report};
use crate::dispatch::relend::Relend;
use crate::dispatch::tally::Tally;
use crate::entry::Entry;
use crate::error::{BoxError, FailureKind, FireError};
use crate::invoke::{Input, Output};
use crate::list::{HandlerList, Slot};
use crate::models::{FiresAs, Model};
use crate::nesting;
use crate::point::HookPoint;
use crate::report::{Contribution, Filter, FireReport, Recorder};
use crate::scope::ScopedHooks;
use crate::slot::{Place, Started, Storage};
use crate::snapshot::Held;

/// What a sequential model does between two handlers.
pub(crate) trait Sequence<V: Model, P: HookPoint>: Send {
    /// What the next handler is given, and what it may read of the results.
    fn lend(&mut self) -> (V::Input<'_, P>, Option<&(dyn Any + Send + Sync)>);

    /// Takes a handler's answer, and tells what it came to if somebody wants
    /// to know.
    fn accept(
        &mut self,
        entry: &Entry,
        output: V::Output<P>,
        told: Option<&mut Contribution>,
    ) -> Next;
}

/// What a handler's answer means for the fire.
pub(crate) enum Next {
    /// The next handler's turn.
    On,
    /// The fire ends here; those after are not called, for this reason.
    End(Filter),
    /// The answer is no answer but a failure of the handler.
    Failed(BoxError),
}

/// Why a fire goes no further: what is said of the handlers after, and what
/// the fire returns.
type End = (Filter, Result<(), FireError>);

/// What a handler of `P` answers.
type Answer<P> = <<P as HookPoint>::Model as Model>::Output<P>;

/// How far a sweep came.
enum Swept<'s, 'l, P: HookPoint> {
    /// Through the list, or to the end that a handler made.
    Through(Option<End>),
    /// To a handler that suspended.
    To(&'l Slot<P>, Result<Waiting<'l, 's, Answer<P>>, (Running<'l>, FailureKind)>),
}

/// The next handler of a sweep, and the count of the calls so far.
struct Cursor<'l, P: HookPoint> {
    chunk: usize,
    slot: usize,
    tally: Tally<'l, P>,
}

/// Fires `P`: runs its handlers, if there are any, in order.
pub(crate) async fn fire<V, P, S>(hooks: &ScopedHooks, sequence: &mut S) -> Result<(), FireError>
where
    V: Model,
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    S: Sequence<V, P>,
{
    let Some(mut held) = hooks.hold::<P>() else { return Ok(()) };
    let fire = Fire::nested::<P>(hooks, None)?;
    run(&fire, &mut held, sequence).await
}

/// As [`fire`], with a report, whoever listens.
pub(crate) async fn fire_reported<V, P, S>(
    hooks: &ScopedHooks,
    sequence: &mut S,
) -> (Result<(), FireError>, FireReport)
where
    V: Model,
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    S: Sequence<V, P>,
{
    let recorder = Recorder::default();
    let mut held = match hooks.listens::<P>() {
        Ok(true) => hooks.hold::<P>(),
        Ok(false) => None,
        Err(error) => return (Err(error), report::<P>(recorder, None)),
    };
    let outcome = match (&mut held, Fire::nested::<P>(hooks, Some(&recorder))) {
        (None, _) => Ok(()),
        (Some(held), Ok(fire)) => run(&fire, held, sequence).await,
        (Some(_), Err(error)) => Err(error),
    };
    (outcome, report(recorder, held.as_ref()))
}

/// Runs the handlers of `held` in order.
pub(crate) async fn run<V, P, S>(
    fire: &Fire<'_>,
    held: &mut Held<P>,
    sequence: &mut S,
) -> Result<(), FireError>
where
    V: Model,
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    S: Sequence<V, P>,
{
    // SAFETY: `held` outlives this function's future, and so all that borrows
    // the list.
    let list = unsafe { held.list() };
    let mut storage = Storage::new();
    let mut cursor = Cursor { chunk: 0, slot: 0, tally: Tally::new() };
    let end = loop {
        // A block of its own: what was swept lets go of the sequence with it.
        let (slot, (running, outcome)) = {
            let mut lent = Some((&mut *sequence, &mut storage, &mut cursor));
            let swept = poll_fn(|task| {
                let (sequence, storage, cursor) = lent.take().expect("a sweep is made once");
                Poll::Ready(nesting::within(P::NAME, move || {
                    sweep::<V, P, S>(fire, list, cursor, sequence, storage, task)
                }))
            })
            .await;
            match swept {
                Swept::Through(end) => break end,
                Swept::To(slot, waiting) => {
                    held.settle();
                    let ended = match waiting {
                        Ok(waiting) => waiting.finish(P::NAME).await,
                        Err((running, kind)) => (running, Err(kind)),
                    };
                    (slot, ended)
                }
            }
        };
        let end = settle::<V, P, S>(fire, slot, running, outcome, sequence);
        if end.is_some() {
            break end;
        }
    };
    let Some((filter, result)) = end else { return Ok(()) };
    if fire.recorder.is_some() {
        for entry in cursor.rest(list) {
            fire.skipped(entry, filter);
        }
    }
    result
}

/// Runs handlers until one suspends or the fire ends. The loop holds only what
/// every handler needs; all else is out of its way, in functions of its own.
#[inline]
fn sweep<'s, 'l: 's, V, P, S>(
    fire: &'l Fire<'l>,
    list: &'l HandlerList<P>,
    cursor: &mut Cursor<'l, P>,
    sequence: &'s mut S,
    storage: &'s mut Storage,
    task: &mut Context<'_>,
) -> Swept<'s, 'l, P>
where
    V: Model,
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    S: Sequence<V, P>,
{
    let everyone = fire.admits_all(list);
    let unwatched = fire.recorder.is_none();
    let (mut sequence, mut storage) = (Relend::new(sequence), Relend::new(storage));
    while let Some(slot) = cursor.next(list) {
        if !everyone && !fire.admits(slot) {
            cursor.tally.passed_over(slot);
            continue;
        }
        // SAFETY (here and below): the handler before has ended, and with it
        // every loan made to it; its answer borrows nothing.
        let (input, merged) = unsafe { sequence.lend() }.lend();
        let input = <P::Model as FiresAs<V, P>>::give(input);
        let frame = Frame { fire, entry: &slot.entry, merged };
        // SAFETY: as above.
        let place = Place::new(unsafe { storage.lend() });
        let (running, started) = if unwatched && slot.plain && enter(&slot.entry) {
            cursor.tally.called(slot);
            let start = || slot.invoke().start(input, &frame, place, task);
            match polling(&slot.entry, start) {
                Started::Ready(Ok(output)) => {
                    let output = <P::Model as FiresAs<V, P>>::take(output);
                    // SAFETY: as above.
                    match unsafe { sequence.lend() }.accept(&slot.entry, output, None) {
                        Next::On => {
                            leave(&slot.entry);
                            continue;
                        }
                        Next::End(filter) => {
                            leave(&slot.entry);
                            return Swept::Through(Some((filter, Ok(()))));
                        }
                        Next::Failed(error) => {
                            (Running::untimed(fire, &slot.entry), Started::Ready(Err(error)))
                        }
                    }
                }
                started => (Running::untimed(fire, &slot.entry), started),
            }
        } else {
            match start(fire, slot, &mut cursor.tally, input, &frame, place, task) {
                Some(started) => started,
                None => continue,
            }
        };
        match first(&running, started) {
            // Its loans go with it, and nothing is lent from here on.
            Err(future) => return Swept::To(slot, Waiting::new(running, future)),
            Ok(outcome) => {
                // SAFETY: as above.
                let sequence = unsafe { sequence.lend() };
                let end = settle::<V, P, S>(fire, slot, running, outcome, sequence);
                if end.is_some() {
                    return Swept::Through(end);
                }
            }
        }
    }
    Swept::Through(None)
}

/// Starts a handler whose call may be counted, timed or told of; `None` when
/// it was unregistered meanwhile.
#[inline(never)]
fn start<'s, 'l, P: HookPoint>(
    fire: &'l Fire<'l>,
    slot: &'l Slot<P>,
    tally: &mut Tally<'l, P>,
    input: Input<'s, P>,
    frame: &Frame<'s>,
    place: Place<'s>,
    task: &mut Context<'_>,
) -> Option<(Running<'l>, Started<'s, Output<P>>)>
where
    'l: 's,
{
    let Some(running) = Running::begin(fire, &slot.entry) else {
        tally.passed_over(slot);
        fire.filtered(&slot.entry, Filter::Unregistered);
        return None;
    };
    tally.called(slot);
    let started = running.poll(|| slot.invoke().start(input, frame, place, task));
    Some((running, started))
}

/// Takes the outcome of one handler; the end of the fire, if it makes one.
#[inline(never)]
fn settle<V, P, S>(
    fire: &Fire<'_>,
    slot: &Slot<P>,
    running: Running<'_>,
    outcome: Result<Answer<P>, FailureKind>,
    sequence: &mut S,
) -> Option<End>
where
    V: Model,
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    S: Sequence<V, P>,
{
    let entry = &*slot.entry;
    let elapsed = running.finish();
    match outcome {
        Ok(output) => {
            let output = <P::Model as FiresAs<V, P>>::take(output);
            let mut contribution = Contribution::Nothing;
            let told = fire.recorder.is_some().then_some(&mut contribution);
            let next = sequence.accept(entry, output, told);
            match next {
                Next::Failed(error) => failed(fire, entry, FailureKind::Error(error), elapsed),
                Next::On => {
                    fire.ran(entry, elapsed, || contribution);
                    None
                }
                Next::End(filter) => {
                    fire.ran(entry, elapsed, || contribution);
                    Some((filter, Ok(())))
                }
            }
        }
        Err(kind) => failed(fire, entry, kind, elapsed),
    }
}

/// Reports a failure; the end of the fire, if the handler fails closed.
fn failed(
    fire: &Fire<'_>,
    entry: &Entry,
    kind: FailureKind,
    elapsed: Option<Duration>,
) -> Option<End> {
    let failure = fire.failed(entry, kind, elapsed)?;
    Some((Filter::AfterFailure, Err(FireError::Failed(failure))))
}

impl<'l, P: HookPoint> Cursor<'l, P> {
    #[inline]
    fn next(&mut self, list: &'l HandlerList<P>) -> Option<&'l Slot<P>> {
        loop {
            let chunk = list.chunks().get(self.chunk)?;
            if let Some(slot) = chunk.slots.get(self.slot) {
                self.slot += 1;
                return Some(slot);
            }
            self.chunk += 1;
            self.slot = 0;
            self.tally = Tally::new();
        }
    }

    /// The handlers that were not reached.
    fn rest(&self, list: &'l HandlerList<P>) -> impl Iterator<Item = &'l Entry> {
        let (first, done) = (self.chunk, self.slot);
        list.chunks().iter().enumerate().skip(first).flat_map(move |(index, chunk)| {
            let done = if index == first { done } else { 0 };
            chunk.slots.iter().skip(done).map(|slot| &*slot.entry)
        })
    }
}
