//! A value of the user whose drop cannot unwind into the registry.
#![allow(unsafe_code)]

use std::mem::ManuallyDrop;

use crate::engine::containment::drop_contained;

/// A value whose drop cannot unwind.
///
/// Two of them side by side are dropped one after the other: a plain struct
/// would drop the second while the panic of the first unwinds, and abort where
/// both panic.
#[derive(Debug)]
pub(crate) struct Contained<T>(ManuallyDrop<T>);

impl<T> Contained<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    #[inline]
    pub(crate) fn get(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the value, and it runs once.
        drop_contained("a handler's state", unsafe { ManuallyDrop::take(&mut self.0) });
    }
}
