//! Handles: what a registration returns.

use std::fmt;
use std::iter;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use crate::plugin::removal::Removal;
use crate::registry::Inner;
use crate::registry::entry::Entry;

/// A registered handler. Dropping the handle keeps the handler;
/// [`unregister`](Self::unregister) removes it.
///
/// It keeps neither the registry nor the handler alive, and it never removes
/// another handler, however late it is used.
#[derive(Clone)]
pub struct Handle {
    inner: Weak<Inner>,
    index: usize,
    entry: Weak<Entry>,
}

impl Handle {
    pub(crate) fn new(inner: &Arc<Inner>, index: usize, entry: &Arc<Entry>) -> Self {
        Self { inner: Arc::downgrade(inner), index, entry: Arc::downgrade(entry) }
    }

    /// The point's index and the handler, while anything keeps it.
    pub(crate) fn entry(&self) -> Option<(usize, Arc<Entry>)> {
        Some((self.index, self.entry.upgrade()?))
    }

    /// Removes the handler: a fire under way ends the call it has started and
    /// starts no other.
    ///
    /// Removing twice is harmless; the result says whether the handler was still
    /// registered, and, awaited, waits for its calls.
    pub fn unregister(&self) -> Removal {
        let inner = self.inner.upgrade();
        inner.map_or_else(Removal::nothing, |inner| inner.unregister(iter::once(self)))
    }

    /// The handler's name, while it is registered.
    pub fn name(&self) -> Option<Arc<str>> {
        self.entry.upgrade().map(|entry| Arc::clone(&entry.name))
    }

    /// Binds the handler to a scope: it is removed when the result is dropped.
    #[must_use = "dropping it removes the handler at once"]
    pub fn scoped(self) -> ScopedHandle {
        ScopedHandle(self)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A registered handler that is removed when this is dropped.
#[derive(Debug)]
#[must_use = "dropping it removes the handler at once"]
pub struct ScopedHandle(Handle);

impl Deref for ScopedHandle {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.0
    }
}

impl Drop for ScopedHandle {
    fn drop(&mut self) {
        self.0.unregister();
    }
}

/// The handles of a group, in the order of its registrations.
#[derive(Clone, Debug)]
pub struct Handles(pub(crate) Vec<Handle>);

impl Handles {
    /// Removes all of them at one instant.
    pub fn unregister(&self) -> Removal {
        // A group is registered in one registry.
        let inner = self.0.first().and_then(|handle| handle.inner.upgrade());
        inner.map_or_else(Removal::nothing, |inner| inner.unregister(self.0.iter()))
    }
}

impl Deref for Handles {
    type Target = [Handle];

    fn deref(&self) -> &[Handle] {
        &self.0
    }
}

impl IntoIterator for Handles {
    type Item = Handle;
    type IntoIter = std::vec::IntoIter<Handle>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
