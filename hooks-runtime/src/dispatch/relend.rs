//! Lending one thing to many handlers, one after another, in one function.
//!
//! A loop that lends `&'s mut T` to each handler, and returns from the middle
//! with a handler that still holds its loan, is sound but beyond what today's
//! borrow checker follows: it takes the loan that is returned for one that
//! every earlier round made too.
//!
//! # Why this is sound
//!
//! [`Relend`] owns the one `&'s mut T`. [`Relend::lend`] hands it out again
//! under the condition that the loan before has ended, which is what the
//! borrow checker would have to see. The loop keeps the condition because a
//! handler that is done has dropped its future, and its answer borrows
//! nothing; one that is not done makes the function return, and the borrow of
//! `'s` that its future carries keeps the owner of `T` away from it.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::NonNull;

pub(crate) struct Relend<'s, T: ?Sized> {
    lent: NonNull<T>,
    owner: PhantomData<&'s mut T>,
}

impl<'s, T: ?Sized> Relend<'s, T> {
    #[inline]
    pub(crate) fn new(owner: &'s mut T) -> Self {
        Self { lent: NonNull::from(owner), owner: PhantomData }
    }

    /// # Safety
    /// Whatever an earlier call returned is no longer used.
    #[inline]
    pub(crate) unsafe fn lend(&mut self) -> &'s mut T {
        // SAFETY: the pointer comes from a `&'s mut T` that nobody else has,
        // and the caller says that no earlier loan is in use.
        unsafe { self.lent.as_mut() }
    }

    /// The means to lend the same thing, for a function that is called while
    /// this is borrowed. A reference would not do: as an argument it is alive
    /// until that function returns, whatever it has ended before.
    ///
    /// # Safety
    /// What the one lends is no longer used when the other lends.
    #[inline]
    pub(crate) unsafe fn twin(&self) -> Self {
        Self { lent: self.lent, owner: PhantomData }
    }
}
