//! A fire as a future: what its calls stand on, and the one place that lends
//! it to them.
//!
//! The future of a fire holds both: the *ground* (the fire's terms, its course,
//! storage for a handler's future) and the calls that borrow it. Such a value
//! refers to itself, so it is written by hand instead of as an `async fn`: the
//! first pass over the handlers then runs on the stack, and a fire whose
//! handlers are all ready pays for no state that it does not use.
//!
//! # Why this is sound
//!
//! * **It does not move.** [`Ground`] is `!Unpin`, and so is what holds it; the
//!   ground is lent only from behind a `Pin`.
//! * **Coming by is no claim.** Every poll comes by the ground with a `&mut`
//!   while calls borrow it. Because it is `!Unpin` itself, that reference is no
//!   promise to be the only one, as it is with the state of an `async fn`.
//! * **The loan ends in time.** [`Ground::lend`] hands out references for the
//!   whole `'f`, longer than the firing may live. They go nowhere but into the
//!   calls, which are dropped before the ground; and to handlers, which must
//!   accept every lifetime and so can keep them nowhere but in their own
//!   futures, which the calls own.
//! * **One loan at a time.** The ground is lent only while no call is under
//!   way, which is what the callers of [`Ground::lend`] promise. A call that
//!   comes to its end may still know the fire, so whoever lends the ground then
//!   only shares that.
//! * **The course is taken once.** [`Ground::end`] takes it, and whoever calls
//!   it notes that it is gone.
//! * **The watch is kept.** It is in a box that stays in its field until the
//!   firing is dropped, after the calls.
#![allow(unsafe_code)]

use std::future::Future;
use std::marker::PhantomPinned;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll};

use crate::dispatch::fire::Fire;
use crate::dispatch::watch::Watch;
use crate::error::FireError;
use crate::models::{Composes, FiresAs};
use crate::nesting;
use crate::panics::drop_contained;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::point_state::Listening;
use crate::slot::Storage;

/// What the calls of a fire of `P` borrow.
pub(crate) struct Ground<'f, P: HookPoint, V: Composes<P>> {
    pub(crate) fire: Fire<'f>,
    pub(crate) course: ManuallyDrop<V::Course<'f, P>>,
    pub(crate) storage: Storage,
    _pinned: PhantomPinned,
}

impl<'f, P: HookPoint, V: Composes<P>> Ground<'f, P, V> {
    fn new(fire: Fire<'f>, course: V::Course<'f, P>) -> Self {
        let course = ManuallyDrop::new(course);
        Self { fire, course, storage: Storage::new(), _pinned: PhantomPinned }
    }

    /// Makes one where it is to stay, field by field: as a whole it would be
    /// copied, with storage that has nothing in it.
    ///
    /// # Safety
    /// `place` is valid for writes.
    #[inline]
    unsafe fn make(place: *mut Self, fire: Fire<'f>, course: V::Course<'f, P>) {
        // SAFETY: passed on to the caller.
        unsafe {
            (&raw mut (*place).fire).write(fire);
            (&raw mut (*place).course).write(ManuallyDrop::new(course));
            Storage::make(&raw mut (*place).storage);
        }
    }

    /// # Safety
    /// The ground is pinned in a firing, nothing else borrows it but, shared,
    /// its fire, and what is made of the loan goes into the calls of that firing or ends before this
    /// poll does.
    #[inline]
    unsafe fn lend(&mut self) -> &'f mut Self {
        // SAFETY: passed on to the caller; see the module's text.
        unsafe { &mut *ptr::from_mut(self) }
    }

    /// What the fire came to. The course is gone afterwards.
    ///
    /// # Safety
    /// No call is under way, and the course is not used any more.
    #[inline]
    unsafe fn end(&mut self, result: Result<(), FireError>) -> Result<V::Outcome, FireError> {
        match result {
            Ok(()) => {
                let outcome = V::finish(&mut self.course);
                // SAFETY: passed on to the caller. What is left of it is empty.
                unsafe { ManuallyDrop::drop(&mut self.course) };
                Ok(outcome)
            }
            Err(error) => {
                // SAFETY: passed on to the caller.
                unsafe { self.abandon() };
                Err(error)
            }
        }
    }

    /// Drops the course with what it has.
    ///
    /// # Safety
    /// As for [`end`](Self::end).
    #[cold]
    #[inline(never)]
    unsafe fn abandon(&mut self) {
        // SAFETY: passed on to the caller.
        let course = unsafe { ManuallyDrop::take(&mut self.course) };
        // The user's values in it may panic even in their drop.
        drop_contained("what handlers had returned", course);
    }
}

/// The calls of a fire: how they are taken from their start to their end.
pub(crate) trait Calls<'f, P: HookPoint, V: Composes<P>>: Send + Sized {
    /// Starts them, and takes them as far as nobody waits: to their end, or
    /// until those that wait are in `place`. Nobody else is ever moved there.
    fn begin(
        ground: &'f mut Ground<'f, P, V>,
        place: &mut Option<Self>,
        task: &mut Context<'_>,
    ) -> Result<(), FireError>;

    /// Goes on as far as possible, once somebody waited.
    ///
    /// # Safety
    /// The calls were begun on that ground, and both are pinned in one firing.
    unsafe fn poll(
        &mut self,
        ground: Loan<'_, 'f, P, V>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>>;
}

/// The means to lend the ground again, once no call borrows it.
pub(crate) struct Loan<'g, 'f, P: HookPoint, V: Composes<P>>(&'g mut Ground<'f, P, V>);

impl<'f, P: HookPoint, V: Composes<P>> Loan<'_, 'f, P, V> {
    /// # Safety
    /// As for [`Ground::lend`].
    pub(crate) unsafe fn lend(&mut self) -> &'f mut Ground<'f, P, V> {
        // SAFETY: passed on to the caller.
        unsafe { self.0.lend() }
    }
}

/// A fire that has begun.
pub(crate) struct Begun<'f, P: HookPoint, V: Composes<P>, C> {
    /// There once somebody waited.
    calls: Option<C>,
    /// Whom it tells of itself, where the registry has observers.
    watch: Option<Box<Watch<'f>>>,
    /// Whether it has ended, and with it its course.
    over: bool,
    ground: Ground<'f, P, V>,
}

impl<'f, P, V, C> Begun<'f, P, V, C>
where
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    V: Composes<P>,
    C: Calls<'f, P, V>,
{
    pub(crate) fn new(fire: Fire<'f>, course: V::Course<'f, P>) -> Self {
        Self { calls: None, watch: None, over: false, ground: Ground::new(fire, course) }
    }

    /// Tells observers of it from now on.
    fn watch(&mut self) {
        let watch = self.watch.insert(Box::new(Watch::observing::<P>(self.ground.fire.hooks)));
        // SAFETY: it stays in its field until the calls are gone.
        self.ground.fire.watch = Some(unsafe { &*ptr::from_ref(&**watch) });
    }

    /// # Safety
    /// It is pinned.
    unsafe fn go_on(&mut self, task: &mut Context<'_>) -> Poll<Result<V::Outcome, FireError>> {
        assert!(!self.over, "a fire was polled after its end");
        if self.calls.is_none() {
            // SAFETY: no call is under way, and those that begin now are over
            // when this returns or stand in `calls`.
            let begun = C::begin(unsafe { self.ground.lend() }, &mut self.calls, task);
            if self.calls.is_none() {
                return Poll::Ready(self.end(begun));
            }
        }
        let Self { calls, ground, .. } = self;
        let calls = calls.as_mut().expect("somebody waits");
        // SAFETY: they are fields of this, which is pinned.
        match unsafe { calls.poll(Loan(ground), task) } {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                self.calls = None;
                Poll::Ready(self.end(result))
            }
        }
    }

    fn end(&mut self, result: Result<(), FireError>) -> Result<V::Outcome, FireError> {
        let ground = &mut self.ground;
        if let Some(watch) = ground.fire.watch {
            watch.fire_ended_with(&result, || V::word(&ground.course));
        }
        self.over = true;
        // SAFETY: the calls are gone, and `over` says that the course is.
        unsafe { ground.end(result) }
    }
}

impl<P: HookPoint, V: Composes<P>, C> Drop for Begun<'_, P, V, C> {
    fn drop(&mut self) {
        // The calls borrow the ground. What they drop is handlers' code, which
        // a fire runs.
        if self.calls.is_some() {
            let nested = self.ground.fire.nested::<P>();
            nesting::within(nested, || self.calls = None);
        }
        if !self.over {
            // SAFETY: the calls are gone, and nobody took the course.
            unsafe { self.ground.abandon() };
        }
    }
}

impl<'f, P, V, C> Future for Begun<'f, P, V, C>
where
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    V: Composes<P>,
    C: Calls<'f, P, V>,
{
    type Output = Result<V::Outcome, FireError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: it is pinned, and nothing is moved out of it.
        unsafe { self.get_unchecked_mut().go_on(task) }
    }
}

/// A fire of `P` as a `V`: what it was given, then, once it is polled and has
/// somebody to call, what it is made of.
pub(crate) struct Firing<'f, P: HookPoint, V: Composes<P>, C> {
    hooks: &'f ScopedHooks,
    state: State,
    /// There while `state` is `New`.
    given: MaybeUninit<V::Given<'f, P>>,
    /// There while `state` is `Begun`.
    begun: MaybeUninit<Begun<'f, P, V, C>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Begun,
    Over,
}

impl<'f, P: HookPoint, V: Composes<P>, C> Firing<'f, P, V, C> {
    // Always inlined, so that it is made where it lives.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn new(hooks: &'f ScopedHooks, given: V::Given<'f, P>) -> Self {
        let (given, begun) = (MaybeUninit::new(given), MaybeUninit::uninit());
        Self { hooks, state: State::New, given, begun }
    }
}

impl<'f, P, V, C> Future for Firing<'f, P, V, C>
where
    P: HookPoint,
    P::Model: FiresAs<V, P>,
    V: Composes<P>,
    C: Calls<'f, P, V>,
{
    type Output = Result<V::Outcome, FireError>;

    // Always inlined: where nobody listens, this is all there is to a fire.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: only what was given is moved, before anything has begun.
        let this = unsafe { self.get_unchecked_mut() };
        if this.state == State::New && this.hooks.is_quiet::<P>() {
            // SAFETY: the state is `New`.
            return Poll::Ready(Ok(V::unheard(unsafe { this.take_given() })));
        }
        // SAFETY: it is pinned.
        unsafe { this.go_on(task) }
    }
}

impl<'f, P: HookPoint, V: Composes<P>, C> Firing<'f, P, V, C> {
    /// What a new firing was given.
    ///
    /// # Safety
    /// The state is `New`.
    #[inline]
    unsafe fn take_given(&mut self) -> V::Given<'f, P> {
        self.state = State::Over;
        // SAFETY: the state was `New`, and is not any more.
        unsafe { self.given.assume_init_read() }
    }

    /// The first pass; nearly always the last.
    ///
    /// # Safety
    /// It is pinned.
    #[inline(never)]
    unsafe fn go_on(&mut self, task: &mut Context<'_>) -> Poll<Result<V::Outcome, FireError>>
    where
        P::Model: FiresAs<V, P>,
        C: Calls<'f, P, V>,
    {
        if self.state != State::New || !self.hooks.is_heard::<P>() {
            // SAFETY: passed on to the caller.
            return unsafe { self.go_on_with_care(task) };
        }
        // SAFETY: the state is `New`.
        let given = unsafe { self.take_given() };
        let (fire, course) = (Fire::of::<P>(self.hooks, None), V::begin(given));
        let begun = self.begun.as_mut_ptr();
        // SAFETY: the place is there to be written, and pinned. No call is under
        // way, and those that begin now are over when `begin` returns, or stand
        // in `calls`.
        unsafe {
            Ground::make(&raw mut (*begun).ground, fire, course);
            (&raw mut (*begun).calls).write(None);
            let result = C::begin((*begun).ground.lend(), &mut (*begun).calls, task);
            if (*begun).calls.is_none() {
                // First, so that the outcome is made where it is returned.
                (&raw mut (*begun).ground.storage).drop_in_place();
                return Poll::Ready((*begun).ground.end(result));
            }
            (&raw mut (*begun).watch).write(None);
            (&raw mut (*begun).over).write(false);
            self.state = State::Begun;
            self.go_on_with_care(task)
        }
    }

    /// All that is not the first pass of a fire that only calls handlers.
    ///
    /// # Safety
    /// It is pinned.
    #[inline(never)]
    unsafe fn go_on_with_care(
        &mut self,
        task: &mut Context<'_>,
    ) -> Poll<Result<V::Outcome, FireError>>
    where
        P::Model: FiresAs<V, P>,
        C: Calls<'f, P, V>,
    {
        assert!(self.state != State::Over, "a fire was polled after its end");
        if self.state == State::New {
            // SAFETY: the state is `New`.
            let given = unsafe { self.take_given() };
            let watched = match self.hooks.listening::<P>() {
                Ok(Listening::Nobody) => return Poll::Ready(Ok(V::unheard(given))),
                Ok(listening) => listening == Listening::Watched,
                Err(error) => return Poll::Ready(Err(error)),
            };
            let fire = Fire::of::<P>(self.hooks, None);
            let begun = self.begun.write(Begun::new(fire, V::begin(given)));
            if watched {
                begun.watch();
            }
            self.state = State::Begun;
        }
        // SAFETY: the state is `Begun`, and it is pinned with this.
        let polled = unsafe { self.begun.assume_init_mut().go_on(task) };
        if polled.is_ready() {
            self.state = State::Over;
            // SAFETY: the state was `Begun`, and is not any more.
            unsafe { self.begun.assume_init_drop() };
        }
        polled
    }
}

impl<P: HookPoint, V: Composes<P>, C> Drop for Firing<'_, P, V, C> {
    #[inline]
    fn drop(&mut self) {
        if self.state != State::Over {
            self.abandon();
        }
    }
}

impl<P: HookPoint, V: Composes<P>, C> Firing<'_, P, V, C> {
    /// Drops what is there.
    #[cold]
    #[inline(never)]
    fn abandon(&mut self) {
        // SAFETY (both): the state says what is there, and this is its end.
        match self.state {
            State::New => unsafe { self.given.assume_init_drop() },
            State::Begun => unsafe { self.begun.assume_init_drop() },
            State::Over => {}
        }
    }
}
