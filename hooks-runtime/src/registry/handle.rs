//! Handles: what a registration returns.

use std::fmt;
use std::ops::Deref;
use std::slice;
use std::sync::{Arc, Weak};

use crate::plugin::leaving::Leaving;
use crate::plugin::removal::Removal;
use crate::plugin::tracker::CallTracker;
use crate::registry::Inner;
use crate::registry::entry::{Entry, Owner};

/// A registered handler. Dropping the handle keeps the handler;
/// [`unregister`](Self::unregister) removes it.
///
/// It keeps neither the registry nor the handler alive, and it never removes
/// another handler, however late it is used.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub void Ticked { second: u64 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let handle = hooks.register_void::<Ticked>(async |_: &TickedPayload| ())?;
/// assert!(handle.name().unwrap().contains(".rs:")); // where it is written
/// assert_eq!(handle.unregister().removed(), 1);
/// assert_eq!((handle.unregister().removed(), handle.name()), (0, None));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Handle {
    inner: Weak<Inner>,
    index: usize,
    entry: Weak<Entry>,
    id: u64,
    owner: Owner,
    tracker: Arc<CallTracker>,
}

impl Handle {
    pub(crate) fn new(inner: &Arc<Inner>, index: usize, entry: &Arc<Entry>) -> Self {
        Self {
            inner: Arc::downgrade(inner),
            index,
            entry: Arc::downgrade(entry),
            id: entry.id,
            owner: entry.owner(),
            tracker: Arc::clone(&entry.tracker),
        }
    }

    /// What is left of handlers that nothing has any more, but that are still being
    /// dropped by another thread.
    pub(crate) fn left_of(handles: &[Self]) -> Vec<Leaving> {
        let is_left =
            |handle: &&Self| handle.entry.strong_count() == 0 && handle.tracker.is_alive(handle.id);
        let left = handles.iter().filter(is_left);
        left.map(|it| Leaving::of(it.owner.clone(), &it.tracker, vec![it.id])).collect()
    }

    fn unregister_all(handles: &[Self]) -> Removal {
        // A group is registered in one registry.
        match handles.first().and_then(|handle| handle.inner.upgrade()) {
            Some(inner) => inner.unregister(handles),
            None => Removal::without_registry(Self::left_of(handles)),
        }
    }

    /// Whether it is a handle of that registry.
    pub(crate) fn is_of(&self, inner: &Arc<Inner>) -> bool {
        std::ptr::eq(self.inner.as_ptr(), Arc::as_ptr(inner))
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
        Self::unregister_all(slice::from_ref(self))
    }

    /// The handler's name, while it is registered.
    pub fn name(&self) -> Option<Arc<str>> {
        self.entry.upgrade().map(|entry| Arc::clone(&entry.name))
    }

    /// Binds the handler to a scope: it is removed when the result is dropped.
    ///
    /// The example of [`ScopedHandle`] uses it.
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
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub void Ticked { second: u64 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// {
///     let _watch = hooks.register_void::<Ticked>(async |_: &TickedPayload| ())?.scoped();
///     assert!(hooks.has_handlers::<Ticked>());
/// }
/// assert!(!hooks.has_handlers::<Ticked>());
/// # Ok(()) }
/// ```
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
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Ticked { second: u64 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let tick = |name: &str| on::<Ticked>().name(name).handler(|_: &TickedPayload| ());
/// let handles = hooks.register([tick("clock"), tick("alarm")])?;
/// assert_eq!(handles[1].name().as_deref(), Some("alarm"));
/// assert_eq!(handles.unregister().removed(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Handles(pub(crate) Vec<Handle>);

impl Handles {
    /// Removes all of them at one instant.
    pub fn unregister(&self) -> Removal {
        Handle::unregister_all(&self.0)
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
