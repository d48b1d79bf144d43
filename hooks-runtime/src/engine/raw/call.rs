//! One call of one handler: what is generic about it, compiled for each
//! handler.
//!
//! A walk hands a [`Frame`] to the function of a handler. That function sees it
//! as a [`Call`] of its own point, makes the handler's future in the fire's
//! arena, polls it once and, when it is ready, lets the model compose the
//! answer. All that is left to say is a [`CallStep`].
//!
//! # Why this is sound
//!
//! * A frame is made for one fire. Its pointers to the input and to the
//!   accumulator are typed by the fire's point, which is the point of every
//!   handler in the list that the frame is used with: `Invocation::new` compares
//!   the two.
//! * Between two calls no reference to either exists: each call borrows them
//!   anew from the raw pointers. A handler that is pending keeps the borrows
//!   that it was given. A sequential model calls no other until it has ended;
//!   the concurrent one lends shared references to the input only.
//! * The lifetime `'s` of a call stands for "until the handler's future is
//!   dropped". The input, the fire, the entry and the handler outlive it: the
//!   future is dropped by the fire that owns the first three or a count of
//!   them, and a handler is released only when it is not running and no call of
//!   it is pending.
//! * A future is never moved once it is made, and is dropped once: by the call
//!   that made or polled it, once it is ready; by `Invocation`, which takes
//!   `built` after a panic; or by the arena that keeps it.
#![allow(unsafe_code)]

use std::alloc::Layout;
#[cfg(feature = "record")]
use std::any::{Any, TypeId};
use std::future::Future;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit, needs_drop};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::context::HookContext;
use super::frame::Frame;
use super::future::{Converted, WithContext};
use super::storage::Built;
use crate::engine::containment::{catch, drop_contained, log_in_drop};
use crate::error::BoxError;
use crate::model::FieldSet;
#[cfg(feature = "record")]
use crate::model::Model;
use crate::model::compose::{Accumulated, Answer, Compose, Input, Output};
#[cfg(feature = "record")]
use crate::point::ModelKind;
use crate::point::{FailurePolicy, HookPoint};
use crate::registry::entry::{Entry, Owner, Phase};
use crate::report::{Contribution, SkipReason};

/// What came of a call, or of one more poll of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CallStep {
    /// It has ended, and its answer is composed.
    Continue,
    /// The same, and the fire ends here. Why is in the frame.
    Break,
    /// It has failed with the error that is in the frame.
    Failed,
    /// It is not ready; its future is in `built`.
    Pending,
    /// It panicked; what it carried is in the invocation.
    Panicked,
    /// It was not called.
    Deferred,
    /// It was not called, because there is more to ask before.
    Special,
}

/// What is done to a future whose type is forgotten.
pub(crate) struct FutureVTable {
    pub(super) poll: unsafe fn(Built, &mut Frame) -> CallStep,
    pub(super) drop: unsafe fn(NonNull<u8>),
    pub(super) layout: Layout,
}

/// One call of a handler of `P`. `'s` lasts until its future is dropped.
#[derive(Debug)]
pub struct Call<'c, 's, P> {
    frame: NonNull<Frame>,
    /// Whether what the answer contributes is wanted.
    is_recording: bool,
    point: PhantomData<fn(&'c (), &'s P)>,
}

impl<'s, P: HookPoint> Call<'_, 's, P>
where
    P::Model: Compose<P>,
{
    /// The input of the next handler.
    #[inline]
    fn lend(&mut self) -> Input<'s, P> {
        // SAFETY: what the model lends is in the fire, not in this handle of it;
        // see the module's text for `'s`.
        let call = unsafe { &mut *ptr::from_mut(self).cast::<Call<'s, 's, P>>() };
        P::Model::input(call)
    }

    /// Calls a synchronous handler.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn sync(mut self, call: impl FnOnce(Input<'s, P>) -> Output<P>) -> CallStep {
        let output = call(self.lend());
        self.compose(output)
    }

    /// Calls a synchronous handler that takes the context.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn sync_with_context(
        mut self,
        call: impl FnOnce(Input<'s, P>, &'s HookContext) -> Output<P>,
    ) -> CallStep {
        let context = self.context();
        // SAFETY: the handler is done when `call` returns, before the context
        // is gone; see `HookContext::lend`.
        let output = call(self.lend(), unsafe { context.lend() });
        self.compose(output)
    }

    /// Makes the future of an async handler and polls it once. What it returns
    /// is converted as it comes.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn future<F, C>(
        mut self,
        make: impl FnOnce(Input<'s, P>) -> F,
        convert: C,
    ) -> CallStep
    where
        F: Future + Send + 's,
        C: Fn(F::Output) -> Output<P> + Send + 's,
    {
        let place = self.place::<Converted<F, C>>();
        let future = make(self.lend());
        // SAFETY: the place fits it, is empty and belongs to this fire.
        unsafe { place.write(Converted { future, convert }) };
        // SAFETY: it was just made.
        unsafe { self.poll_first(place) }
    }

    /// The same, for one that takes the context.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn future_with_context<F, C>(
        mut self,
        make: impl FnOnce(Input<'s, P>, &'s HookContext) -> F,
        convert: C,
    ) -> CallStep
    where
        F: Future + Send + 's,
        C: Fn(F::Output) -> Output<P> + Send + 's,
    {
        let place = self.place::<WithContext<F, C>>();
        let context = self.context();
        // SAFETY: as above; the context is written before the future, which
        // borrows it, and has no drop of its own.
        unsafe {
            let (at, rest) = (&raw mut (*place.as_ptr()).context, place.as_ptr());
            at.write(context);
            let future = make(self.lend(), (*at).lend());
            (&raw mut (*rest).future).write(Converted { future, convert });
            self.poll_first(place)
        }
    }

    #[inline]
    fn context(&mut self) -> HookContext {
        let frame = self.frame();
        // SAFETY: it shows what this fire's accumulator has, until its model
        // composes the answer of this call.
        let merged = unsafe { (frame.composition.merged)(frame.accumulator) };
        let mut context = HookContext::new(frame.fire, frame.entry(), merged);
        if frame.watch.is_any() {
            context.set_rules(frame.watch.is_shadow(), frame.limit());
        }
        context
    }

    #[inline]
    fn place<F>(&mut self) -> NonNull<F> {
        self.frame().arena().place(Layout::new::<F>()).cast()
    }

    /// # Safety
    /// There is an `F` at `place`, which was not polled yet.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    unsafe fn poll_first<F>(mut self, place: NonNull<F>) -> CallStep
    where
        F: Future<Output = Output<P>> + Send + 's,
    {
        let vtable = const {
            &FutureVTable {
                poll: poll::<P, F>,
                drop: drop_in_place::<F>,
                layout: Layout::new::<F>(),
            }
        };
        let built = Built { place: place.cast(), vtable };
        // SAFETY: passed on to the caller.
        let step = unsafe { self.poll_built::<F>(built) };
        if step == CallStep::Pending {
            self.frame().built = Some(built);
        }
        step
    }

    /// # Safety
    /// There is an `F` as `built` says, and the frame does not know it.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    unsafe fn poll_built<F>(&mut self, built: Built) -> CallStep
    where
        F: Future<Output = Output<P>>,
    {
        let place = built.place.cast::<F>();
        // Of its own: a future may replace the context that it is polled with.
        // SAFETY: this call has the frame alone.
        let mut task = Context::from_waker(unsafe { self.frame.as_ref() }.waker());
        let polling = Polling { frame: self.frame, built };
        // SAFETY: it stays in its place until it is dropped there.
        let polled = unsafe { Pin::new_unchecked(&mut *place.as_ptr()) }.poll(&mut task);
        mem::forget(polling);
        let Poll::Ready(output) = polled else { return CallStep::Pending };
        if needs_drop::<F>() {
            let is_plain = output.is_ok() && !needs_drop::<Answer<P>>();
            if is_plain {
                // A panic is the handler's, and what it unwinds past has no drop
                // of its own. SAFETY: it is there, and not used afterwards.
                unsafe { place.drop_in_place() };
                // SAFETY: as above.
            } else if let Err(panic) = catch(|| unsafe { place.drop_in_place() }) {
                let policy = self.policy();
                if output.as_ref().is_ok_and(|output| !P::Model::stands(output, policy)) {
                    // Not while it unwinds: its drop may panic as well.
                    drop_contained("what a handler returned", output);
                    resume_unwind(panic);
                }
                log_in_drop(panic);
            }
        }
        self.compose(output)
    }

    // Always inlined: where the answer is made, the compiler sees what of it is
    // empty and what the model does with that.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn compose(&mut self, output: Output<P>) -> CallStep {
        // Where there is nothing to compose, that takes no time.
        if P::Model::COMPOSES && self.frame().watch.is_any() {
            return Self::compose_watched(self.frame, output);
        }
        match output {
            Ok(output) => P::Model::compose(self, output),
            Err(error) => self.fail(error),
        }
    }

    /// The same where more than the answer is wanted. Without `self`, which would
    /// have to be in memory for it.
    #[cold]
    #[inline(never)]
    fn compose_watched(frame: NonNull<Frame>, output: Output<P>) -> CallStep {
        let mut call = Self { frame, is_recording: false, point: PhantomData };
        let watch = call.frame().watch;
        // Composing is not the handler's time.
        if watch.time() {
            call.frame().answered = Some(Instant::now());
        }
        call.is_recording = watch.contribution();
        #[cfg(feature = "record")]
        if let Ok(answer) = &output {
            call.capture(answer);
        }
        match output {
            Ok(output) if watch.is_shadow() => P::Model::decided(&mut call, output),
            Ok(output) => P::Model::compose(&mut call, output),
            Err(error) => call.fail(error),
        }
    }

    /// Keeps what the handler answered as JSON, where a recording asks for that.
    #[cfg(feature = "record")]
    fn capture(&mut self, answer: &Answer<P>) {
        let Some(json) = self.frame().aside.as_ref().and_then(|aside| aside.json) else { return };
        let is_stage = P::Model::KIND == ModelKind::Stage;
        // What a handler of a stage answers is what it has made of the run.
        let answer: &dyn Any = if is_stage { self.payload_mut() } else { answer };
        let answer = crate::record::raw_answer(json, TypeId::of::<P>(), answer);
        self.frame().aside().answer = answer;
    }

    /// What the fire was given by reference.
    #[inline]
    pub(crate) fn payload(&mut self) -> &P::Payload {
        // SAFETY: the models whose fires are given a reference call this, and
        // theirs is to this point's payload.
        unsafe { self.frame().input.assume_init().cast().as_ref() }
    }

    /// What the fire was given by exclusive reference.
    #[inline]
    pub(crate) fn payload_mut(&mut self) -> &mut P::Payload {
        // SAFETY: as above, for the model whose fires are given an exclusive
        // reference.
        unsafe { self.frame().input.assume_init().cast().as_mut() }
    }

    /// What the answers are composed into.
    #[inline]
    pub(crate) fn accumulator(&mut self) -> &mut Accumulated<P> {
        // SAFETY: see the module's text.
        unsafe { self.frame().accumulator.cast().as_mut() }
    }
}

impl<P> Call<'_, '_, P> {
    /// # Safety
    /// The frame is one of a fire of `P`, and used by this call alone.
    #[inline]
    pub(super) unsafe fn new(frame: &mut Frame) -> Self {
        Self { frame: NonNull::from(frame), is_recording: false, point: PhantomData }
    }

    #[inline]
    fn frame(&mut self) -> &mut Frame {
        // SAFETY: this call has it alone.
        unsafe { self.frame.as_mut() }
    }

    fn entry(&mut self) -> &Entry {
        // SAFETY: the handler that is called is in the list, which the fire
        // keeps.
        unsafe { self.frame().entry().as_ref() }
    }

    fn policy(&self) -> FailurePolicy {
        // SAFETY: as above.
        let frame = unsafe { self.frame.as_ref() };
        // SAFETY: as above.
        frame.watch.policy().unwrap_or(unsafe { frame.entry().as_ref() }.policy)
    }

    /// Whether the handler is a guard.
    pub(crate) fn is_guard(&mut self) -> bool {
        self.entry().phase == Phase::Guard
    }

    /// The name of the handler, and who registered it.
    pub(crate) fn handler(&mut self) -> (Arc<str>, Owner) {
        let entry = self.entry();
        (Arc::clone(&entry.name), entry.owner())
    }

    /// Whether what the answer contributes is wanted.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// What the answer contributes, where that is wanted.
    #[inline]
    pub(crate) fn contribute(&mut self, contribution: Contribution) {
        if self.is_recording() {
            self.frame().aside().contribution = Some(contribution);
        }
    }

    /// The fire ends with this answer; handlers after it are not called.
    #[cold]
    pub(crate) fn end(&mut self, skip: SkipReason) -> CallStep {
        self.frame().skip = skip;
        CallStep::Break
    }

    /// The answer is a failure of the handler.
    #[cold]
    pub(crate) fn fail(&mut self, error: BoxError) -> CallStep {
        self.frame().aside().error = Some(error);
        CallStep::Failed
    }

    /// An answer is being merged, over these fields: a panic from here on is one
    /// of a value that was dropped.
    #[inline]
    pub(crate) fn merging(&mut self, before: FieldSet) {
        let is_recording = self.is_recording;
        let frame = self.frame();
        frame.merging = true;
        if is_recording {
            frame.fields = MaybeUninit::new(before);
        }
    }

    /// It is merged.
    #[inline]
    pub(crate) fn merged(&mut self) {
        self.frame().merging = false;
    }
}

/// # Safety
/// There is an `F` as `built` says, made by a call of a handler of `P`, and the
/// frame is one of the same fire.
unsafe fn poll<P, F>(built: Built, frame: &mut Frame) -> CallStep
where
    P: HookPoint<Model: Compose<P>>,
    F: Future<Output = Output<P>>,
{
    // SAFETY: passed on to the caller.
    unsafe { Call::<P>::new(frame).poll_built::<F>(built) }
}

/// A future that is being polled. Where that unwinds, the frame gets it:
/// it is dropped afterwards, because its drop may panic as well.
struct Polling {
    frame: NonNull<Frame>,
    built: Built,
}

impl Drop for Polling {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: the call has the frame alone, and has not returned.
        unsafe { self.frame.as_mut() }.built = Some(self.built);
    }
}

/// # Safety
/// There is an `F` at `place`, which is not used afterwards.
unsafe fn drop_in_place<F>(place: NonNull<u8>) {
    // SAFETY: passed on to the caller.
    unsafe { place.cast::<F>().drop_in_place() };
}
