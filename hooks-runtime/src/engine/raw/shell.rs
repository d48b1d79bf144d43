//! The future of a fire: the thin typed part around the engine.
//!
//! It owns what a fire is about: the accumulator, and the core of the engine's
//! state from the first poll that has something to do. Handlers' futures in that
//! core point to the accumulator and to each other's surroundings, so such a
//! value refers to itself. It is written by hand: the first walk over the
//! handlers runs on the stack, and a fire whose handlers are all ready pays for
//! no state that it does not use.
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
//! * **The phase says what is there.** The core is there while the phase is
//!   `Active`; the accumulator owns nothing after the end.
#![allow(unsafe_code)]

use std::any::{Any, TypeId};
use std::fmt;
use std::future::Future;
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use super::invoke::FireParts;
use super::storage::Arena;
use crate::engine::containment::drop_contained;
use crate::engine::fire::{FireInfo, RunScope};
use crate::engine::state::{self, FireState};
use crate::error::FireError;
use crate::model::FieldSet;
use crate::model::compose::{Accumulated, Accumulator, Compose};
use crate::observe::recorder::Recorder;
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, PointDescriptor};

/// A fire of `P` with the accumulator `A`.
pub struct FireFuture<'f, P, A> {
    active: ActiveFire<'f, A>,
    point: PhantomData<fn() -> P>,
}

/// A fire whose point is forgotten.
struct ActiveFire<'f, A> {
    hooks: &'f ScopedHooks,
    phase: Phase,
    /// What the fire was given by reference.
    input: NonNull<()>,
    accumulator: ManuallyDrop<A>,
    /// There while the phase is `Active`.
    core: MaybeUninit<Core<'f>>,
    _pinned: PhantomPinned,
}

/// What the engine has of an active fire.
struct Core<'f> {
    info: FireInfo<'f>,
    /// There once the fire is more than one walk over handlers that are ready.
    state: Option<FireState<'f>>,
    arena: Arena,
}

impl<'f> Core<'f> {
    /// Its parts. Not by way of a reference to all of it: a handler may be reading
    /// `info`.
    ///
    /// # Safety
    /// It is there for as long as the parts are used, and nothing else has `state`
    /// or `arena`.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    unsafe fn split<'c>(
        core: *mut Self,
    ) -> (&'c FireInfo<'f>, &'c mut Option<FireState<'f>>, &'c mut Arena) {
        // SAFETY: passed on to the caller.
        unsafe { (&(*core).info, &mut (*core).state, &mut (*core).arena) }
    }

    /// Polls the fire for the first time.
    ///
    /// What it is about comes in registers, here and below: copied from one place
    /// in memory to another just after it was written, it costs more than the
    /// rest.
    ///
    /// # Safety
    /// It is there and pinned, and the pointers are to the input and to the
    /// accumulator of its fire.
    #[inline(never)]
    unsafe fn poll_first(
        core: *mut Self,
        input: NonNull<()>,
        accumulator: NonNull<()>,
        composition: &'static Composition,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        let parts = FireParts { input, accumulator, composition };
        // SAFETY: passed on to the caller.
        let (info, state, arena) = unsafe { Self::split(core) };
        state::poll_first(info, state, arena, parts, task)
    }

    /// Polls a fire that has a state.
    ///
    /// # Safety
    /// As for [`poll_first`](Self::poll_first).
    #[inline(never)]
    unsafe fn poll_again(
        core: *mut Self,
        input: NonNull<()>,
        accumulator: NonNull<()>,
        composition: &'static Composition,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>> {
        let parts = FireParts { input, accumulator, composition };
        // SAFETY: as above.
        let (info, state, arena) = unsafe { Self::split(core) };
        state::poll_state(info, state, arena, parts, task)
    }

    /// Drops one at the end of its fire.
    ///
    /// # Safety
    /// It is there, and not used afterwards.
    #[inline]
    unsafe fn drop_used(core: *mut Self) {
        #[cold]
        #[inline(never)]
        unsafe fn drop(core: *mut Core<'_>) {
            // SAFETY: passed on to the caller.
            unsafe { core.drop_in_place() };
        }

        // SAFETY: passed on to the caller.
        unsafe {
            if (*core).state.is_some() || (*core).arena.is_used() {
                drop(core);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
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
        Self::new(hooks, NonNull::from(payload).cast(), accumulator)
    }

    /// A fire that is given its payload by exclusive reference.
    pub(crate) fn of_mut(
        hooks: &'f ScopedHooks,
        payload: &'f mut P::Payload,
        accumulator: Accumulated<P>,
    ) -> Self {
        Self::new(hooks, NonNull::from(payload).cast(), accumulator)
    }

    /// A fire whose accumulator owns the payload.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn owning(hooks: &'f ScopedHooks, accumulator: Accumulated<P>) -> Self {
        Self::new(hooks, NonNull::dangling(), accumulator)
    }

    // Always inlined, so that it is made where it lives.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn new(hooks: &'f ScopedHooks, input: NonNull<()>, accumulator: Accumulated<P>) -> Self {
        let active = ActiveFire {
            hooks,
            phase: Phase::New,
            input,
            accumulator: ManuallyDrop::new(accumulator),
            core: MaybeUninit::uninit(),
            _pinned: PhantomPinned,
        };
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
        let active = &mut self.active;
        let info = FireInfo::of::<P>(active.hooks);
        active.accumulator.begin();
        active.activate(info, Some(FireState::new(recorder, run)));
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
        if active.phase == Phase::New && active.hooks.is_quiet::<P>() {
            active.phase = Phase::Done;
            return Poll::Ready(Ok(active.accumulator.empty()));
        }
        // SAFETY: it is pinned, and a fire of `P`.
        unsafe { active.poll(P::descriptor(), TypeId::of::<P>, task) }
    }
}

impl<A: Accumulator> ActiveFire<'_, A> {
    /// # Safety
    /// It is pinned, and the point is the one that it was made for.
    #[inline(never)]
    unsafe fn poll(
        &mut self,
        point: &'static PointDescriptor,
        point_type: fn() -> TypeId,
        task: &mut Context<'_>,
    ) -> Poll<Result<A::Outcome, FireError>> {
        let is_new = self.phase != Phase::Active;
        if is_new {
            assert!(self.phase == Phase::New, "a fire was polled after its end");
            self.accumulator.begin();
            self.activate(FireInfo { hooks: self.hooks, point, point_type }, None);
        }
        let core = self.core.as_mut_ptr();
        // Not by way of a reference: a handler may be reading it.
        // SAFETY: the address of a field.
        let accumulator = unsafe { NonNull::new_unchecked(&raw mut self.accumulator) }.cast();
        // SAFETY: the phase is `Active`.
        let polled = unsafe {
            if is_new {
                Core::poll_first(core, self.input, accumulator, A::COMPOSITION, task)
            } else {
                Core::poll_again(core, self.input, accumulator, A::COMPOSITION, task)
            }
        };
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => {
                self.phase = Phase::Done;
                // SAFETY: it was there; no call is under way.
                unsafe { Core::drop_used(core) };
                Poll::Ready(Ok(self.accumulator.finish()))
            }
            Poll::Ready(Err(error)) => {
                self.abandon();
                Poll::Ready(Err(error))
            }
        }
    }
}

impl<'f, A> ActiveFire<'f, A> {
    #[inline]
    fn activate(&mut self, info: FireInfo<'f>, state: Option<FireState<'f>>) {
        let core = self.core.as_mut_ptr();
        // SAFETY: the places are there to be written.
        unsafe {
            (&raw mut (*core).info).write(info);
            (&raw mut (*core).state).write(state);
            Arena::make(&raw mut (*core).arena);
        }
        self.phase = Phase::Active;
    }

    /// Drops what is there.
    #[cold]
    #[inline(never)]
    fn abandon(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Done);
        if phase == Phase::Active {
            let core = self.core.as_mut_ptr();
            // SAFETY: the phase was `Active`. The futures go before all that they
            // borrow.
            unsafe {
                let (info, state, arena) = Core::split(core);
                state::cancel(info, state, arena);
                self.core.assume_init_drop();
            }
        }
        // SAFETY: the phase was not `Done`, and is now.
        let accumulator = unsafe { ManuallyDrop::take(&mut self.accumulator) };
        // The user's values in it may panic even in their drop.
        drop_contained("what handlers had returned", accumulator);
    }
}

impl<A> Drop for ActiveFire<'_, A> {
    #[inline]
    fn drop(&mut self) {
        if self.phase != Phase::Done {
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
