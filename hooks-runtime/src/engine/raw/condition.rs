//! Conditions of handlers, whose type is forgotten.
//!
//! # Why this is sound
//!
//! As for handlers (`handler.rs`). A condition is made for one point and joins a
//! handler of that point only. It is dropped with its handler, and asked only by
//! `invoke.rs` and `quick.rs`, while that handler is published as running and was
//! open then.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::call::Call;
use super::contained::Contained;
use super::frame::Frame;
use crate::model::compose::Compose;
use crate::point::HookPoint;

/// A condition on the payloads of one point.
trait Ask: Send + Sync {
    /// # Safety
    /// The frame is one of a fire of that point, between two calls.
    unsafe fn is_met(&self, frame: &mut Frame) -> bool;
}

struct Condition<P, F> {
    ask: Contained<F>,
    point: PhantomData<fn() -> P>,
}

impl<P, F> Ask for Condition<P, F>
where
    P: HookPoint<Model: Compose<P>>,
    F: Fn(&P::Payload) -> bool + Send + Sync,
{
    unsafe fn is_met(&self, frame: &mut Frame) -> bool {
        // SAFETY: passed on to the caller.
        let mut call = unsafe { Call::<P>::new(frame) };
        (self.ask.get())(P::Model::payload(&mut call))
    }
}

/// Two conditions, both of which must be met.
struct Both(ErasedCondition, ErasedCondition);

impl Ask for Both {
    unsafe fn is_met(&self, frame: &mut Frame) -> bool {
        // SAFETY (both): passed on to the caller.
        unsafe { self.0.pointer.is_met(frame) && self.1.pointer.is_met(frame) }
    }
}

/// A condition whose type is forgotten.
pub(crate) struct ErasedCondition {
    pointer: ConditionPointer,
    point: TypeId,
}

/// What asking a condition needs of it.
#[derive(Clone, Copy)]
pub(super) struct ConditionPointer(NonNull<dyn Ask>);

// SAFETY: it stands for a box of a condition, or for a shared reference to one,
// which is `Send + Sync`.
unsafe impl Send for ConditionPointer {}
// SAFETY: as above.
unsafe impl Sync for ConditionPointer {}

impl ConditionPointer {
    /// # Safety
    /// The condition is there, and the frame is one of a fire of its point, between
    /// two calls.
    pub(super) unsafe fn is_met(self, frame: &mut Frame) -> bool {
        // SAFETY: passed on to the caller.
        unsafe { self.0.as_ref().is_met(frame) }
    }
}

impl ErasedCondition {
    pub(crate) fn new<P, F>(ask: F) -> Self
    where
        P: HookPoint<Model: Compose<P>>,
        F: Fn(&P::Payload) -> bool + Send + Sync + 'static,
    {
        let condition = Condition::<P, F> { ask: Contained::new(ask), point: PhantomData };
        Self::boxed(Box::new(condition), TypeId::of::<P>())
    }

    fn boxed(condition: Box<dyn Ask>, point: TypeId) -> Self {
        Self { pointer: ConditionPointer(NonNull::from(Box::leak(condition))), point }
    }

    /// This one, and then another one of the same point.
    pub(crate) fn and(self, next: Self) -> Self {
        assert!(self.point == next.point, "conditions of one handler are of one point");
        let point = self.point;
        Self::boxed(Box::new(Both(self, next)), point)
    }

    pub(super) fn pointer(&self) -> ConditionPointer {
        self.pointer
    }

    pub(super) fn point(&self) -> TypeId {
        self.point
    }
}

impl Drop for ErasedCondition {
    fn drop(&mut self) {
        // What it captured is contained in it. SAFETY: `boxed` leaked it, and this
        // runs once.
        drop(unsafe { Box::from_raw(self.pointer.0.as_ptr()) });
    }
}

impl fmt::Debug for ConditionPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConditionPointer")
    }
}

impl fmt::Debug for ErasedCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedCondition")
    }
}
