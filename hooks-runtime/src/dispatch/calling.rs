//! What a fire lends to its handlers, one after another, and how it takes what
//! they answer.
//!
//! # Why this is sound
//!
//! Each handler is lent the course of the fire (its payload, what has been
//! merged so far) and storage for its future. [`Relend`] asks that the loan
//! before has ended. It has: a handler that is done has dropped its future,
//! and its answer borrows nothing; one that suspends keeps its loans, and then
//! either nothing is lent until it is done (the sequential models, which leave
//! the walk there), or the storage is another and the course is one that only
//! copies a shared reference out of itself (void).
//!
//! The task and the place where void handlers are parked are kept as pointers
//! to what the pass over the list has: it lends the task to each call of `run`
//! or `start`, and leaves the parking alone from `parking` to the end of its
//! last call. Those that are parked are dropped before the storage that they
//! stand in (`children.rs`).
#![allow(unsafe_code)]

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::task::Context;
use std::time::{Duration, Instant};

use crate::dispatch::call::{Call, Done, FirstTurn, Inside, Plain, Running, enter, polling};
use crate::dispatch::children::Children;
use crate::dispatch::fire::Fire;
use crate::dispatch::relend::Relend;
use crate::dispatch::woken::WokenSet;
use crate::invoke::{Input, Output};
use crate::list::Slot;
use crate::models::{Composes, Lent, Model, Next};
use crate::observe::report::SkipReason;
use crate::panics::{PanicPayload, log_spared, message_of};
use crate::point::HookPoint;
use crate::registry::entry::Entry;
use crate::slot::{Converted, Place, Started, Storage, Suspended};

/// What a fire of `P` carries from one handler to the next.
pub(crate) type Course<'p, P> = <<P as HookPoint>::Model as Model>::Course<'p, P>;

/// What came of starting a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing is left to do for it: the model has taken its answer, or it was
    /// gone.
    On,
    /// It waits, and the fire goes on without it.
    Waits,
    /// The same, and the next one that waits has a waker of its own.
    Crowded,
    /// It is done, and the fire ends here.
    End(SkipReason),
    /// Something else, which was put aside.
    Aside,
}

impl Step {
    /// Whether a walk cannot just go on to the next handler. Asked only where
    /// one is not simply done.
    #[cold]
    #[inline(never)]
    fn is_a_stop(self) -> bool {
        self != Self::Waits
    }
}

/// A walk over handlers, as their functions meet it.
pub(crate) struct Calling<'s, 'p, P: HookPoint> {
    fire: &'s Fire<'s>,
    course: Relend<'s, Course<'p, P>>,
    storage: Relend<'s, Storage>,
    /// The task that is polled. Valid only while `run` or `start` lasts: most
    /// handlers do not ask for it.
    task: NonNull<Context<'static>>,
    /// Whether answers are put aside, to be looked at before they are taken.
    careful: bool,
    /// What the clock said of the last call with a limit.
    turn: Option<FirstTurn>,
    /// What came of the last call, until the pass looks at it. It may own a
    /// future, so it is dropped with this where the pass unwinds: before the
    /// storage that the future stands in.
    aside: Option<Started<'s, Output<P>>>,
    /// Where those go that suspend, if the fire goes on without them; and how
    /// many they can be.
    parking: Option<(NonNull<Parking<'s, P>>, usize)>,
}

/// Where those go that suspend.
type Parking<'s, P> = Option<Children<'s, <<P as HookPoint>::Model as Model>::Output<P>>>;

impl<'s, 'p, P> Calling<'s, 'p, P>
where
    P: HookPoint,
    P::Model: Composes<P>,
{
    #[inline]
    pub(crate) fn new(
        fire: &'s Fire<'s>,
        course: &'s mut Course<'p, P>,
        storage: &'s mut Storage,
    ) -> Self {
        let (course, storage) = (Relend::new(course), Relend::new(storage));
        Self {
            fire,
            course,
            storage,
            task: NonNull::dangling(),
            careful: false,
            turn: None,
            aside: None,
            parking: None,
        }
    }

    /// As [`new`](Self::new), for a fire that goes on without those that
    /// suspend: of at most so many, they are put into `parking`, which is left
    /// alone as long as anything is started here.
    #[inline]
    pub(crate) fn parking(
        fire: &'s Fire<'s>,
        course: &'s mut Course<'p, P>,
        storage: &'s mut Storage,
        parking: &mut Parking<'s, P>,
        most: usize,
    ) -> Self {
        let parking = Some((NonNull::from(parking), most));
        Self { parking, ..Self::new(fire, course, storage) }
    }

    /// Calls handlers in order, as long as each is done at once or parked, and
    /// the fire goes on. Unless `everyone` takes part, each is looked at. Where
    /// that ended, and what came of the handler there.
    ///
    /// This loop holds only what every handler needs; all else is out of its
    /// way, in functions of its own.
    #[inline]
    pub(crate) fn run(
        &mut self,
        slots: &'s [Slot<P>],
        everyone: bool,
        task: &mut Context<'_>,
    ) -> (usize, Step) {
        self.task = NonNull::from(task).cast();
        let mut left = slots.iter();
        while let Some(slot) = left.next() {
            if !everyone && !self.fire.admits(slot) {
                continue;
            }
            let step = if slot.entry.presence.is_plain() {
                slot.invoke().start(self, &slot.entry)
            } else {
                self.run_carefully(slot)
            };
            if step != Step::On && step.is_a_stop() {
                return (slots.len() - left.len() - 1, step);
            }
        }
        (slots.len(), Step::On)
    }

    /// As [`run`](Self::run), for those that are not in a hurry.
    #[inline(never)]
    pub(crate) fn run_on(
        &mut self,
        slots: &'s [Slot<P>],
        everyone: bool,
        task: &mut Context<'_>,
    ) -> (usize, Step) {
        self.run(slots, everyone, task)
    }

    /// Calls a handler that somebody may wait for, that may be gone, or that
    /// has a limit.
    #[inline(never)]
    fn run_carefully(&mut self, slot: &'s Slot<P>) -> Step {
        let entry = &slot.entry;
        if !enter(entry) {
            self.fire.filtered(entry, SkipReason::Unregistered);
            return Step::On;
        }
        let inside = Inside::of(entry);
        let step = match entry.timeout {
            None => polling(entry, || slot.invoke().start(self, entry)),
            Some(limit) => self.run_limited(slot, limit),
        };
        if !matches!(step, Step::On | Step::End(_)) {
            // Whoever goes on with the call ends it.
            std::mem::forget(inside);
        }
        step
    }

    /// Calls a handler with a limit. Its answer counts however late it is; that
    /// it is late is reported.
    fn run_limited(&mut self, slot: &'s Slot<P>, limit: Duration) -> Step {
        let since = Instant::now();
        self.turn = Some(FirstTurn { since, took: None });
        self.careful = true;
        let step = polling(&slot.entry, || slot.invoke().start(self, &slot.entry));
        self.careful = false;
        if matches!(self.aside, Some(Started::Panicked(_) | Started::Suspended(_))) {
            return step;
        }
        let took = since.elapsed();
        self.turn = Some(FirstTurn { since, took: Some(took) });
        let step = match self.aside.take() {
            None => step,
            Some(Started::Ready(Ok(output))) => {
                let take = AssertUnwindSafe(|| {
                    polling(&slot.entry, || self.take(&slot.entry, Ok(output)))
                });
                catch_unwind(take).unwrap_or_else(|panic| self.panicked(panic))
            }
            Some(started) => self.put_aside(started),
        };
        // Of what is put aside it is reported with the end of the call.
        if took > limit && step != Step::Aside {
            self.fire.overran(&slot.entry, 0, limit, took);
        }
        step
    }

    /// Starts a handler whose call is told of; `None` when it was unregistered
    /// meanwhile. What it answers is put aside.
    #[inline(never)]
    pub(crate) fn start(
        &mut self,
        slot: &'s Slot<P>,
        task: &mut Context<'_>,
    ) -> Option<Running<'s>> {
        self.task = NonNull::from(task).cast();
        let entry = &slot.entry;
        let Some(running) = Running::begin(self.fire, entry) else {
            self.fire.filtered(entry, SkipReason::Unregistered);
            return None;
        };
        self.careful = true;
        running.poll(|| slot.invoke().start(self, entry));
        self.careful = false;
        Some(running)
    }

    /// The call of a handler, of which something was put aside.
    pub(crate) fn done(&self, entry: &'s Entry) -> Done<'s> {
        match self.turn {
            Some(turn) if entry.timeout.is_some() => {
                Done::Careful(Running::limited(self.fire, entry, turn))
            }
            _ => Done::Plain(entry),
        }
    }

    /// Runs a synchronous handler: no future, no storage.
    #[inline]
    pub(crate) fn start_sync(
        &mut self,
        entry: &'s Entry,
        call: impl FnOnce(Lent<'s, Input<'s, P>>, &'s Fire<'s>) -> Output<P>,
    ) -> Step {
        let called = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: see the module's text.
            let course = unsafe { self.course.lend() };
            let output = call(P::Model::lend(course), self.fire);
            self.take(entry, output)
        }));
        called.unwrap_or_else(|panic| self.panicked(panic))
    }

    /// Builds a handler's future in the storage and polls it once. What it
    /// returns is converted as it comes.
    #[inline]
    pub(crate) fn start_async<F>(
        &mut self,
        entry: &'s Entry,
        make: impl FnOnce(Lent<'s, Input<'s, P>>, &'s Fire<'s>) -> F,
        convert: impl Fn(F::Output) -> Output<P> + Send + 's,
    ) -> Step
    where
        F: Future + Send + 's,
    {
        let fire = self.fire;
        // SAFETY (both): see the module's text; `take` lends the course again
        // when the future is gone.
        let (mut course, storage) = unsafe { (self.course.twin(), self.storage.lend()) };
        // SAFETY: as above.
        let make = || Converted::new(make(P::Model::lend(unsafe { course.lend() }), fire), convert);
        // SAFETY: `run` or `start`, which has the only other reference to the
        // task, called this and does not use it.
        let task = unsafe { self.task.cast::<Context<'_>>().as_mut() };
        let stands = |output: &Output<P>| {
            output.as_ref().is_ok_and(|output| P::Model::stands(output, entry.policy))
        };
        let take = |output| self.take(entry, output);
        let started = Place::new(storage).start(make, stands, take, task);
        started.unwrap_or_else(|started| match started {
            Started::Panicked(panic) => self.panicked(panic),
            Started::Suspended(future) => self.suspended(entry, future),
            Started::Ready(_) => unreachable!("what is ready was taken"),
        })
    }

    /// Lets the model take an answer, unless somebody wants to look at it
    /// first.
    // Always inlined: where the answer is made, the compiler sees what of it is
    // empty and what the model does with that.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn take(&mut self, entry: &Entry, output: Output<P>) -> Step {
        match output {
            Ok(output) if !self.careful || P::Model::silent().is_some() => {
                // SAFETY: see the module's text.
                let course = unsafe { self.course.lend() };
                match P::Model::accept(course, entry, output, None) {
                    Next::On => Step::On,
                    Next::End(filter) => Step::End(filter),
                    Next::Failed(error) => self.put_aside(Started::Ready(Err(error))),
                }
            }
            output => self.put_aside(Started::Ready(output)),
        }
    }

    /// A panic in the handler, or in what the model does with its answer.
    #[cold]
    fn panicked(&mut self, panic: PanicPayload) -> Step {
        if P::Model::spares(self.course()) {
            log_spared(&message_of(panic));
            return Step::On;
        }
        self.put_aside(Started::Panicked(panic))
    }

    /// A handler that waits.
    #[inline(never)]
    fn suspended(&mut self, entry: &'s Entry, future: Suspended<'s, Output<P>>) -> Step {
        if self.careful || self.parking.is_none() {
            return self.put_aside(Started::Suspended(future));
        }
        let children = self.lend_instead();
        let crowded = children.add(Call::Plain(Plain::new(entry, future)));
        if crowded { Step::Crowded } else { Step::Waits }
    }

    /// Lends other storage to the handlers to come: the one before keeps its
    /// own. Those that wait.
    pub(crate) fn lend_instead(
        &mut self,
    ) -> &mut Children<'s, <<P as HookPoint>::Model as Model>::Output<P>> {
        let (mut parking, most) = self.parking.expect("the fire goes on without those that wait");
        // SAFETY: it is left alone while anything is started here.
        let children = unsafe { parking.as_mut() }.get_or_insert_with(|| Children::of(most));
        // SAFETY: whoever is lent it is done when the first pass is, or is one
        // of the children.
        self.storage = Relend::new(unsafe { children.storage() });
        children
    }

    /// The wakers of those that wait, where each has its own.
    pub(crate) fn wakers(&mut self) -> Option<&mut WokenSet> {
        let (mut parking, _) = self.parking?;
        // SAFETY: as above.
        unsafe { parking.as_mut() }.as_mut()?.wakers()
    }

    #[cold]
    fn put_aside(&mut self, started: Started<'s, Output<P>>) -> Step {
        self.aside = Some(started);
        Step::Aside
    }

    /// What was put aside by the call before, or nothing where handlers have
    /// nothing to say.
    pub(crate) fn aside(&mut self) -> Started<'s, Output<P>> {
        self.aside.take().unwrap_or_else(|| {
            Started::Ready(Ok(P::Model::silent().expect("an answer was put aside")))
        })
    }

    pub(crate) fn fire(&self) -> &'s Fire<'s> {
        self.fire
    }

    /// The course, between two handlers.
    pub(crate) fn course(&mut self) -> &mut Course<'p, P> {
        // SAFETY: see the module's text; and this borrows `self`.
        unsafe { self.course.lend() }
    }
}
