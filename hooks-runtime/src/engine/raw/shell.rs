//! The future of a fire: the thin typed part around the engine.
//!
//! It owns what a fire is about: the accumulator, and the core of the engine's
//! state from the first poll that has something to do. Handlers' futures in that
//! core point to the accumulator and to each other's surroundings, so such a
//! value refers to itself. It is written by hand, so that a fire whose handlers are
//! all ready pays for no state that it does not use.
//!
//! # Why this is sound
//!
//! * **It does not move.** It is `!Unpin`, and polled only from behind a `Pin`.
//!   Polls reborrow it while calls hold pointers into it; because it is
//!   `!Unpin`, such a reference does not assert that it is the only one.
//! * **The futures go first.** They are dropped with the core, before the
//!   accumulator and before what was given by reference ends.
//! * **The types agree.** The constructors take what a fire of `P` is given, and
//!   an accumulator of `P`'s own model; the engine is given `P` with the first
//!   poll, and calls handlers of `P` only (`invoke.rs`).
//! * **The phase says what is there.** Of the engine's part, nothing while the
//!   phase is `New`, the state while it is `Recorded`, all while it is `Active`;
//!   the accumulator owns nothing once it is `Done`. The quickest way runs while the
//!   phase is still `New`: users' code in it is caught, and nothing else unwinds, so
//!   no drop comes in between.
#![allow(unsafe_code)]

use std::any::{Any, TypeId};
use std::fmt;
use std::future::Future;
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use super::frame::Frame;
use super::snapshot::Unguarded;
use super::storage::Arena;
use crate::engine::containment::drop_contained;
use crate::engine::fire::{FireInfo, RunScope};
use crate::engine::state::{self, FireState, Quick};
use crate::error::FireError;
use crate::model::FieldSet;
use crate::model::compose::{Accumulated, Accumulator, Compose};
use crate::observe::recorder::Recorder;
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, PointDescriptor};
use crate::registry::snapshot::Snapshot;

/// A fire of `P` with the accumulator `A`.
pub struct FireFuture<'f, P, A> {
    active: ActiveFire<'f, A>,
    point: PhantomData<fn() -> P>,
}

/// A fire whose point is forgotten.
struct ActiveFire<'f, A> {
    core: Core<'f>,
    accumulator: ManuallyDrop<A>,
    _pinned: PhantomPinned,
}

/// A fire whose types are forgotten.
struct Core<'f> {
    hooks: &'f ScopedHooks,
    /// What the fire was given by reference, if it was.
    input: MaybeUninit<NonNull<()>>,
    phase: Phase,
    /// In place of padding in front of the accumulator, which would be copied
    /// with that.
    _gap: MaybeUninit<usize>,
    engine: MaybeUninit<Engine<'f>>,
}

/// What the engine has of a fire.
struct Engine<'f> {
    info: FireInfo<'f>,
    frame: Frame,
    /// There once the fire is more than one walk over handlers that are ready.
    state: Option<FireState<'f>>,
    /// Reached by the frame only.
    arena: Arena,
}

impl<'f> Engine<'f> {
    /// Makes all but the state where it is to stay.
    ///
    /// # Safety
    /// `engine` is valid for writes, its fire is pinned, and the pointers are to
    /// the input and to the accumulator of that fire.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    unsafe fn make(
        engine: *mut Self,
        info: FireInfo<'f>,
        input: MaybeUninit<NonNull<()>>,
        accumulator: NonNull<()>,
        composition: &'static Composition,
    ) {
        // SAFETY: passed on to the caller.
        unsafe {
            (&raw mut (*engine).info).write(info);
            Arena::make(&raw mut (*engine).arena);
            let info = NonNull::new_unchecked(&raw mut (*engine).info).cast();
            let arena = NonNull::new_unchecked(&raw mut (*engine).arena);
            let frame = &raw mut (*engine).frame;
            Frame::make(frame, input, accumulator, composition, info, arena);
        }
    }

    /// Its parts. Not by way of a reference to all of it: a handler may be reading
    /// `info`.
    ///
    /// # Safety
    /// It is there for as long as the parts are used, and nothing else has `state`
    /// or `frame`.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    unsafe fn split<'e>(
        engine: *mut Self,
    ) -> (&'e FireInfo<'f>, &'e mut Frame, &'e mut Option<FireState<'f>>) {
        // SAFETY: passed on to the caller.
        unsafe { (&(*engine).info, &mut (*engine).frame, &mut (*engine).state) }
    }

    /// Drops one that has no state.
    ///
    /// # Safety
    /// It is there but for the state, and not used afterwards.
    #[cold]
    #[inline(never)]
    unsafe fn drop_quick(engine: *mut Self) {
        // SAFETY: passed on to the caller.
        unsafe {
            (&raw mut (*engine).state).write(None);
            engine.drop_in_place();
        }
    }
}

impl<'f> Core<'f> {
    /// The first poll of the fire, unless it is recorded.
    ///
    /// What it is about comes in registers: copied from one place in memory to
    /// another just after it was written, it costs more than the rest.
    ///
    /// # Safety
    /// It is pinned, its phase is `New`, the point is the one that its fire was made
    /// for, and the pointer is to the accumulator of that fire.
    #[inline(never)]
    unsafe fn poll_new(
        core: *mut Self,
        accumulator: NonNull<()>,
        composition: &'static Composition,
        point: &'static PointDescriptor,
        point_type: &'static TypeId,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        // SAFETY: the phase says what is there, and the fire is pinned.
        unsafe {
            let engine = (&raw mut (*core).engine).cast::<Engine<'f>>();
            let info = FireInfo { hooks: (*core).hooks, point, point_type };
            Engine::make(engine, info, (*core).input, accumulator, composition);
            match state::poll_quick(&(*engine).info, &mut (*engine).frame, task) {
                Quick::Done => {
                    (*core).phase = Phase::Done;
                    Poll::Ready(Ok(()))
                }
                Quick::Memory => {
                    (*core).phase = Phase::Done;
                    Engine::drop_quick(engine);
                    Poll::Ready(Ok(()))
                }
                Quick::Waits(list) => {
                    (&raw mut (*engine).state).write(Some(FireState::waiting(list)));
                    (*core).phase = Phase::Active;
                    Poll::Pending
                }
                Quick::Left(reading, seen) => Self::poll_first(core, Some((reading, seen)), task),
                Quick::All => Self::poll_first(core, None, task),
            }
        }
    }

    /// The first poll of a fire that needs more than the quickest way.
    ///
    /// # Safety
    /// As for [`poll_new`](Self::poll_new); the engine's part is there, but for the
    /// state.
    #[inline(never)]
    unsafe fn poll_first(
        core: *mut Self,
        reading: Option<(Unguarded<'_, Snapshot>, usize)>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        // SAFETY: as above.
        unsafe {
            let engine = (&raw mut (*core).engine).cast::<Engine<'f>>();
            (&raw mut (*engine).state).write(None);
            (*core).phase = Phase::Active;
            let (info, frame, state) = Engine::split(engine);
            let polled = match reading {
                Some(reading) => state::poll_rest(info, frame, state, reading, task),
                None => state::poll_with_state(info, frame, state, task),
            };
            Self::settle(core, &polled);
            polled
        }
    }

    /// Polls a fire that has a state.
    ///
    /// # Safety
    /// As for [`poll_new`](Self::poll_new), but for the phase.
    #[inline(never)]
    unsafe fn poll_later(
        core: *mut Self,
        accumulator: NonNull<()>,
        composition: &'static Composition,
        point: &'static PointDescriptor,
        point_type: &'static TypeId,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        // SAFETY: as above.
        unsafe {
            let engine = (&raw mut (*core).engine).cast::<Engine<'f>>();
            if (*core).phase == Phase::Recorded {
                let info = FireInfo { hooks: (*core).hooks, point, point_type };
                Engine::make(engine, info, (*core).input, accumulator, composition);
                (*core).phase = Phase::Active;
            }
            assert!((*core).phase == Phase::Active, "a fire was polled after its end");
            let (info, frame, state) = Engine::split(engine);
            let polled = state::poll_again(info, frame, state, task);
            Self::settle(core, &polled);
            polled
        }
    }

    /// Drops what is not needed after a poll with that result.
    ///
    /// # Safety
    /// The phase is `Active`, and no call is under way.
    unsafe fn settle(core: *mut Self, polled: &Poll<Result<(), FireError>>) {
        // SAFETY: passed on to the caller.
        unsafe {
            match polled {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => {
                    (*core).phase = Phase::Done;
                    (&raw mut (*core).engine).cast::<Engine<'f>>().drop_in_place();
                }
                Poll::Ready(Err(_)) => Self::abandon(core),
            }
        }
    }

    /// Drops what is there of the engine's part.
    ///
    /// # Safety
    /// No call is under way.
    #[cold]
    #[inline(never)]
    unsafe fn abandon(core: *mut Self) {
        // SAFETY: the phase says what is there. The futures go before all that
        // they borrow.
        unsafe {
            let engine = (&raw mut (*core).engine).cast::<Engine<'f>>();
            match std::mem::replace(&mut (*core).phase, Phase::Done) {
                Phase::New | Phase::Done => {}
                Phase::Recorded => (&raw mut (*engine).state).drop_in_place(),
                Phase::Active => {
                    let (info, frame, state) = Engine::split(engine);
                    state::cancel(info, frame, state);
                    engine.drop_in_place();
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Phase {
    /// Not polled yet.
    New,
    /// The same, with a state.
    Recorded,
    Active,
    Done,
}

// SAFETY: it owns the accumulator and the core, which are `Send`, and borrows a
// payload, which is `Send + Sync`.
unsafe impl<A: Send> Send for ActiveFire<'_, A> {}

impl<'f, P: HookPoint> FireFuture<'f, P, Accumulated<P>>
where
    P::Model: Compose<P>,
{
    /// A fire that is given a payload by reference.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn of(
        hooks: &'f ScopedHooks,
        payload: &'f P::Payload,
        accumulator: Accumulated<P>,
    ) -> Self {
        Self::new(hooks, MaybeUninit::new(NonNull::from(payload).cast()), accumulator)
    }

    /// A fire that is given its payload by exclusive reference.
    pub(crate) fn of_mut(
        hooks: &'f ScopedHooks,
        payload: &'f mut P::Payload,
        accumulator: Accumulated<P>,
    ) -> Self {
        Self::new(hooks, MaybeUninit::new(NonNull::from(payload).cast()), accumulator)
    }

    /// A fire whose accumulator owns the payload.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn owning(hooks: &'f ScopedHooks, accumulator: Accumulated<P>) -> Self {
        Self::new(hooks, MaybeUninit::uninit(), accumulator)
    }

    // Always inlined, so that it is made where it lives.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn new(
        hooks: &'f ScopedHooks,
        input: MaybeUninit<NonNull<()>>,
        accumulator: Accumulated<P>,
    ) -> Self {
        let core = Core {
            hooks,
            input,
            phase: Phase::New,
            _gap: MaybeUninit::uninit(),
            engine: MaybeUninit::uninit(),
        };
        let accumulator = ManuallyDrop::new(accumulator);
        let active = ActiveFire { core, accumulator, _pinned: PhantomPinned };
        Self { active, point: PhantomData }
    }
}

impl<'f, P: HookPoint, A: Accumulator> FireFuture<'f, P, A> {
    /// This fire, recorded, as a part of a run if it is one.
    pub(crate) fn recorded(
        mut self,
        recorder: Option<&'f Recorder<'f>>,
        run: Option<&'f RunScope<'f>>,
    ) -> Self {
        let core = &mut self.active.core;
        let engine = core.engine.as_mut_ptr();
        // SAFETY: a place to be written; the phase says that it is there.
        unsafe { (&raw mut (*engine).state).write(Some(FireState::new(recorder, run))) };
        core.phase = Phase::Recorded;
        self
    }
}

impl<P, A> Future for FireFuture<'_, P, A>
where
    P: HookPoint,
    A: Accumulator,
{
    type Output = Result<A::Outcome, FireError>;

    // Always inlined: where there are no handlers, this is all there is to a
    // fire.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of it but what is empty afterwards.
        let active = unsafe { &mut self.get_unchecked_mut().active };
        if active.core.phase == Phase::New && active.core.hooks.is_quiet::<P>() {
            active.core.phase = Phase::Done;
            // SAFETY: it is not used after the end.
            let accumulator = unsafe { ManuallyDrop::take(&mut active.accumulator) };
            return Poll::Ready(accumulator.empty());
        }
        // SAFETY: it is pinned, and a fire of `P`.
        unsafe { active.poll(P::descriptor(), const { &TypeId::of::<P>() }, task) }
    }
}

impl<A: Accumulator> ActiveFire<'_, A> {
    /// # Safety
    /// It is pinned, and the point is the one that it was made for.
    #[inline(never)]
    unsafe fn poll(
        &mut self,
        point: &'static PointDescriptor,
        point_type: &'static TypeId,
        task: &mut Context<'_>,
    ) -> Poll<Result<A::Outcome, FireError>> {
        let is_new = self.core.phase == Phase::New;
        if (is_new || self.core.phase == Phase::Recorded)
            && let Err(error) = self.accumulator.begin()
        {
            self.abandon();
            return Poll::Ready(Err(error));
        }
        // Not by way of a reference: a handler may be reading it.
        // SAFETY: the address of a field.
        let accumulator = unsafe { NonNull::new_unchecked(&raw mut self.accumulator) }.cast();
        let core = &raw mut self.core;
        let composition = A::COMPOSITION;
        // SAFETY: passed on to the caller.
        let polled = unsafe {
            if is_new {
                Core::poll_new(core, accumulator, composition, point, point_type, task)
            } else {
                Core::poll_later(core, accumulator, composition, point, point_type, task)
            }
        };
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) if self.accumulator.is_empty() => {
                // SAFETY (both): the fire has ended, and it is not used afterwards.
                Poll::Ready(unsafe { ManuallyDrop::take(&mut self.accumulator) }.empty())
            }
            Poll::Ready(Ok(())) => {
                Poll::Ready(Ok(unsafe { ManuallyDrop::take(&mut self.accumulator) }.finish()))
            }
            Poll::Ready(Err(error)) => {
                if std::mem::needs_drop::<A>() {
                    // SAFETY: the fire has ended, and not with an outcome.
                    unsafe { self.drop_accumulator() };
                }
                Poll::Ready(Err(error))
            }
        }
    }
}

impl<A> ActiveFire<'_, A> {
    /// # Safety
    /// It is there, and not used afterwards.
    #[cold]
    #[inline(never)]
    unsafe fn drop_accumulator(&mut self) {
        // SAFETY: passed on to the caller.
        let accumulator = unsafe { ManuallyDrop::take(&mut self.accumulator) };
        // The user's values in it may panic even in their drop.
        drop_contained("what handlers had returned", accumulator);
    }

    #[cold]
    #[inline(never)]
    fn abandon(&mut self) {
        // SAFETY: the phase was not `Done`, and is afterwards; the futures go
        // before all that they borrow.
        unsafe {
            Core::abandon(&raw mut self.core);
            self.drop_accumulator();
        }
    }
}

impl<A> Drop for ActiveFire<'_, A> {
    #[inline]
    fn drop(&mut self) {
        if self.core.phase != Phase::Done {
            self.abandon();
        }
    }
}

impl<P, A> fmt::Debug for FireFuture<'_, P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FireFuture").finish_non_exhaustive()
    }
}

/// The functions of an accumulator whose type is forgotten.
#[derive(Debug)]
pub struct Composition {
    pub(crate) concurrent: bool,
    pub(super) fields: &'static [&'static str],
    pub(super) label: unsafe fn(NonNull<()>) -> &'static str,
    pub(super) filled: unsafe fn(NonNull<()>) -> FieldSet,
    pub(super) merged: unsafe fn(NonNull<()>) -> Option<NonNull<dyn Any + Send + Sync>>,
}

impl Composition {
    pub(crate) const fn of<A: Accumulator>() -> Self {
        Self {
            concurrent: A::CONCURRENT,
            fields: A::FIELDS,
            // SAFETY (all): there is an `A` at the pointer, as the fire's parts
            // say, and no call borrows it exclusively.
            label: |a| unsafe { a.cast::<A>().as_ref() }.label(),
            filled: |a| unsafe { a.cast::<A>().as_ref() }.filled(),
            merged: |a| unsafe { a.cast::<A>().as_ref() }.merged().map(NonNull::from),
        }
    }
}
