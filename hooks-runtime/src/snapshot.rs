//! All handlers of a registry at one instant, behind one pointer.
//!
//! Every change, of one handler or of a whole plugin, publishes one new
//! [`Root`]: a fire sees either all of a change or nothing of it.
//!
//! # Why [`Held`] is sound
//!
//! A fire reads its list through a guard, which costs no reference count, and
//! trades the guard for an `Arc` of the list when a handler first suspends.
//! Both keep the same list alive at the same address, so references taken
//! before the trade stay valid after it; the trade never lets go of the one
//! before it has the other. `Held::list` therefore does not borrow the `Held`,
//! and its caller promises to keep the `Held` as long as what it returns.
#![allow(unsafe_code)]

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::list::{AnyList, HandlerList, typed};
use crate::point::HookPoint;
use crate::sync::{Guard, Swap};

/// The lists of all points, by the points' static index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Root {
    pub(crate) lists: Vec<Option<AnyList>>,
}

/// The published root.
#[derive(Debug, Default)]
pub(crate) struct Published(Swap<Root>);

impl Published {
    /// Publishes `root`. The old one comes back so that the caller drops it,
    /// and the handlers it may be the last to hold, outside any lock.
    #[must_use = "drop the old root outside the lock"]
    pub(crate) fn swap(&self, root: Root) -> Arc<Root> {
        self.0.swap(Arc::new(root))
    }

    pub(crate) fn current(&self) -> Arc<Root> {
        self.0.load_full()
    }

    /// The list of `P` at an earlier instant, held for a fire; `None` when it
    /// had no handlers.
    pub(crate) fn hold_of<P: HookPoint>(root: &Root) -> Option<Held<P>> {
        let list = root.lists.get(P::descriptor().index())?.as_ref()?;
        Some(Held {
            list: NonNull::from(typed::<P>(list)),
            keep: Keep::List { _list: list.clone() },
        })
    }

    /// The list of `P`, held for a fire; `None` when it has no handlers.
    #[inline]
    pub(crate) fn hold<P: HookPoint>(&self) -> Option<Held<P>> {
        let index = P::descriptor().index();
        let guard = self.0.load();
        let list = NonNull::from(typed::<P>(guard.lists.get(index)?.as_ref()?));
        Some(Held { list, keep: Keep::Guard(guard) })
    }
}

enum Keep {
    Guard(Guard<Root>),
    List { _list: AnyList },
}

/// A list kept alive by a fire.
pub(crate) struct Held<P: HookPoint> {
    list: NonNull<HandlerList<P>>,
    keep: Keep,
}

// SAFETY: a `Held` is a counted reference to a list, which is `Send + Sync`.
unsafe impl<P: HookPoint> Send for Held<P> {}
// SAFETY: as above; changing `keep` takes `&mut`.
unsafe impl<P: HookPoint> Sync for Held<P> {}

impl<P: HookPoint> Held<P> {
    /// # Safety
    /// `self` must not be dropped before `'h` ends.
    #[inline]
    pub(crate) unsafe fn list<'h>(&self) -> &'h HandlerList<P> {
        // SAFETY: `keep` holds the list until `self` is dropped, which the
        // caller says is after `'h`.
        unsafe { self.list.as_ref() }
    }

    /// Trades the guard for a count: a guard kept while a task sleeps would
    /// slow down everybody's next look-up.
    pub(crate) fn settle(&mut self) {
        if let Keep::Guard(guard) = &self.keep {
            let list = guard.lists[P::descriptor().index()].clone();
            let list = list.expect("the guarded root has the list that is held");
            self.keep = Keep::List { _list: list };
        }
    }
}

impl<P: HookPoint> fmt::Debug for Held<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("point", &P::NAME).finish_non_exhaustive()
    }
}
