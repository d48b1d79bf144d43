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
//!   calls, which are a field declared before the ground and so dropped before
//!   it; and to handlers, which must accept every lifetime and so can keep them
//!   nowhere but in their own futures, which the calls own.
//! * **One loan at a time.** The ground is lent only while no call is under
//!   way, which is what the callers of [`Ground::lend`] promise.
//! * **The watch is kept.** It is in a box that stays in its field until the
//!   firing is dropped, after the calls.
#![allow(unsafe_code)]

use std::future::Future;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll};

use crate::dispatch::fire::Fire;
use crate::dispatch::watch::Watch;
use crate::error::FireError;
use crate::models::{Composes, FiresAs};
use crate::point::HookPoint;
use crate::point_state::Listening;
use crate::scope::ScopedHooks;
use crate::slot::Storage;

/// What the calls of a fire of `P` borrow.
pub(crate) struct Ground<'f, P: HookPoint, V: Composes<P>> {
    pub(crate) fire: Fire<'f>,
    pub(crate) course: V::Course<'f, P>,
    pub(crate) storage: Storage,
    _pinned: PhantomPinned,
}

impl<'f, P: HookPoint, V: Composes<P>> Ground<'f, P, V> {
    /// # Safety
    /// The ground is pinned in a [`Firing`], nothing else borrows it, and what
    /// is made of the loan goes into the calls of that firing or ends before
    /// this poll does.
    #[inline]
    pub(crate) unsafe fn lend(&mut self) -> &'f mut Self {
        // SAFETY: passed on to the caller; see the module's text.
        unsafe { &mut *ptr::from_mut(self) }
    }
}

/// The calls of a fire: how they are taken from their start to their end.
pub(crate) trait Calls<'f, P: HookPoint, V: Composes<P>>: Send {
    /// None is under way yet.
    const NONE: Self;

    /// Whether none is, and none ever waited.
    fn is_none(&self) -> bool;

    /// Goes on as far as possible.
    ///
    /// # Safety
    /// Both are fields of one pinned [`Begun`].
    unsafe fn poll(
        &mut self,
        ground: &mut Ground<'f, P, V>,
        task: &mut Context<'_>,
    ) -> Poll<Result<(), FireError>>;
}

/// A fire that has begun.
pub(crate) struct Begun<'f, P: HookPoint, V: Composes<P>, C> {
    /// Before what they borrow: dropped first.
    calls: C,
    /// Whom it tells of itself, where the registry has observers.
    watch: Option<Box<Watch<'f>>>,
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
        let ground = Ground { fire, course, storage: Storage::new(), _pinned: PhantomPinned };
        Self { calls: C::NONE, watch: None, ground }
    }

    /// Makes one where it is to stay, field by field: as a whole it would be
    /// copied, with storage that has nothing in it.
    #[inline]
    fn make(place: &mut MaybeUninit<Self>, fire: Fire<'f>, course: V::Course<'f, P>) {
        let place = place.as_mut_ptr();
        // SAFETY: the fields of a place that is there to be written.
        unsafe {
            (&raw mut (*place).calls).write(C::NONE);
            (&raw mut (*place).watch).write(None);
            (&raw mut (*place).ground.fire).write(fire);
            (&raw mut (*place).ground.course).write(course);
            Storage::make(&raw mut (*place).ground.storage);
        }
    }

    /// Drops one; where nobody waited and nobody watched, that is little.
    ///
    /// # Safety
    /// It is valid, and this is its last use.
    #[inline]
    unsafe fn end(begun: *mut Self) {
        // SAFETY: passed on to the caller. Fields that are left out own nothing.
        unsafe {
            if (*begun).calls.is_none() && (*begun).watch.is_none() {
                (&raw mut (*begun).ground.course).drop_in_place();
                (&raw mut (*begun).ground.storage).drop_in_place();
            } else {
                begun.drop_in_place();
            }
        }
    }

    /// Tells observers of it from now on.
    #[cold]
    fn watch(&mut self) {
        let watch = self.watch.insert(Box::new(Watch::observing::<P>(self.ground.fire.hooks)));
        // SAFETY: it stays in its field until the calls are gone.
        self.ground.fire.watch = Some(unsafe { &*ptr::from_ref(&**watch) });
    }

    /// # Safety
    /// It is pinned.
    #[inline]
    unsafe fn go_on(&mut self, task: &mut Context<'_>) -> Poll<Result<V::Outcome, FireError>> {
        let Self { calls, ground, .. } = self;
        // SAFETY: they are fields of this, which is pinned.
        let Poll::Ready(result) = (unsafe { calls.poll(ground, task) }) else {
            return Poll::Pending;
        };
        if let Some(watch) = ground.fire.watch {
            watch.fire_ended_with(&result, || V::word(&ground.course));
        }
        Poll::Ready(result.map(|()| V::finish(&mut ground.course)))
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
            return Poll::Ready(Ok(V::unheard(this.take_given())));
        }
        // SAFETY: it is pinned.
        unsafe { this.go_on(task) }
    }
}

impl<'f, P: HookPoint, V: Composes<P>, C> Firing<'f, P, V, C> {
    /// What a new firing was given.
    #[inline]
    fn take_given(&mut self) -> V::Given<'f, P> {
        assert!(self.state == State::New, "a fire was polled after its end");
        self.state = State::Over;
        // SAFETY: the state was `New`, and is not any more.
        unsafe { self.given.assume_init_read() }
    }

    /// # Safety
    /// It is pinned.
    #[inline(never)]
    unsafe fn go_on(&mut self, task: &mut Context<'_>) -> Poll<Result<V::Outcome, FireError>>
    where
        P::Model: FiresAs<V, P>,
        C: Calls<'f, P, V>,
    {
        if self.state != State::Begun {
            let given = self.take_given();
            let watched = match self.hooks.listening::<P>() {
                Ok(Listening::Nobody) => return Poll::Ready(Ok(V::unheard(given))),
                Ok(listening) => listening == Listening::Watched,
                Err(error) => return Poll::Ready(Err(error)),
            };
            Begun::make(&mut self.begun, Fire::of::<P>(self.hooks, None), V::begin(given));
            self.state = State::Begun;
            if watched {
                // SAFETY: it was made above.
                unsafe { self.begun.assume_init_mut() }.watch();
            }
        }
        // SAFETY: the state is `Begun`, and it is pinned with this.
        let polled = unsafe { self.begun.assume_init_mut().go_on(task) };
        if polled.is_ready() {
            self.state = State::Over;
            // SAFETY: the state was `Begun`, and is not any more.
            unsafe { Begun::end(self.begun.as_mut_ptr()) };
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
