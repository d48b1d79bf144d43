//! The futures that calls make in a fire's arena, around those of handlers.
#![allow(unsafe_code)]

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::context::HookContext;

/// A future whose output is converted. As thin as can be: an async block around
/// another future has a state of its own to look at in every poll.
pub(super) struct Converted<F, C> {
    pub(super) future: F,
    pub(super) convert: C,
}

impl<F: Future, T, C: Fn(F::Output) -> T> Future for Converted<F, C> {
    type Output = T;

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        // SAFETY: nothing is moved out of it, and the future in it is pinned
        // with it; there is no other way to that future, and no `Drop`.
        let Self { future, convert } = unsafe { self.get_unchecked_mut() };
        // SAFETY: as above.
        unsafe { Pin::new_unchecked(future) }.poll(task).map(convert)
    }
}

/// A future beside the context that it borrows.
pub(super) struct WithContext<F, C> {
    pub(super) future: Converted<F, C>,
    pub(super) context: HookContext,
    /// The future refers to the context beside it.
    _pinned: PhantomPinned,
}

impl<F: Future, T, C: Fn(F::Output) -> T> Future for WithContext<F, C> {
    type Output = T;

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        // SAFETY: the future is pinned with it, and reached only here.
        unsafe { self.map_unchecked_mut(|this| &mut this.future) }.poll(task)
    }
}
