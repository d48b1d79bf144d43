//! What a handler may know of the fire that calls it.
//!
//! # Why this is sound
//!
//! [`HookContext`] has no lifetime, so that a handler's signature is plain
//! `&HookContext`. It holds the references of a [`Frame`] with their lifetime
//! erased. The only way to make one is `HookContext::new`, whose callers put
//! it next to the handler's future, inside the very `'s` that the frame
//! borrows, and hand out `&HookContext` only (for `'s`, by `lend`, to a handler
//! that must accept any lifetime and so can store the reference nowhere but in
//! its own future). It is neither `Clone` nor
//! replaceable through a shared reference, and each accessor ties what it
//! returns to the borrow of the context. So no reference taken from it lives
//! longer than the context, and the context not longer than the frame's `'s`.
#![allow(unsafe_code)]

use std::any::Any;
use std::fmt;
use std::ptr;

use crate::dispatch::fire::Fire;
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, ModelKind};
use crate::registry::entry::{Entry, Owner};

/// What one call of a handler borrows from its fire.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'s> {
    pub(crate) fire: &'s Fire<'s>,
    pub(crate) entry: &'s Entry,
    pub(crate) merged: Option<&'s (dyn Any + Send + Sync)>,
}

/// What a handler may know of the fire that calls it.
///
/// Take it as a second parameter: `async fn h(payload: &P, cx: &HookContext)`.
pub struct HookContext {
    frame: Frame<'static>,
}

impl HookContext {
    /// # Safety
    /// The context must be gone before `'s` ends, and only `&HookContext`
    /// may be handed out.
    pub(crate) unsafe fn new(frame: Frame<'_>) -> Self {
        // SAFETY: the same type but for the lifetime; see the module's text.
        Self { frame: unsafe { std::mem::transmute::<Frame<'_>, Frame<'static>>(frame) } }
    }

    /// A reference that lasts as long as the fire lends its payload: a
    /// handler is given both for one and the same lifetime.
    ///
    /// # Safety
    /// The handler's future must be dropped before `self`, and `self` must not
    /// move until then. A handler accepts every lifetime, so it can keep the
    /// reference nowhere but in its own future.
    #[inline]
    pub(crate) unsafe fn lend<'s>(&self) -> &'s Self {
        // SAFETY: passed on to the caller.
        unsafe { &*ptr::from_ref(self) }
    }

    /// The frame, no longer than this context is borrowed.
    fn frame(&self) -> &Frame<'_> {
        &self.frame
    }

    /// The wire name of the point that was fired.
    pub fn point(&self) -> &'static str {
        self.frame().fire.point.name()
    }

    /// The model of the point.
    pub fn model(&self) -> ModelKind {
        self.frame().fire.point.model()
    }

    /// The name of the handler that is called.
    pub fn handler(&self) -> &str {
        &self.frame().entry.name
    }

    /// Who registered the handler.
    pub fn owner(&self) -> Owner {
        self.frame().entry.owner()
    }

    /// The hooks as this fire sees them: what is fired through them keeps the
    /// scope of this fire, whichever plugin asks.
    pub fn hooks(&self) -> &ScopedHooks {
        self.frame().fire.hooks
    }

    /// What earlier handlers of a modifying fire of `P` have set so far.
    ///
    /// `None` in fires of any other point.
    pub fn merged<P: HookPoint>(&self) -> Option<&P::Result> {
        let merged = self.frame().merged?;
        // Two points may have results of one type.
        if ptr::eq(self.frame().fire.point, P::descriptor()) { merged.downcast_ref() } else { None }
    }
}

impl fmt::Debug for HookContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookContext")
            .field("point", &self.point())
            .field("handler", &self.handler())
            .finish_non_exhaustive()
    }
}
