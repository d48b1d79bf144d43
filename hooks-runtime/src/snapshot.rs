//! All handlers of a registry at one instant, behind one pointer.
//!
//! Every change, of one handler or of a whole plugin, publishes one new
//! [`Root`]: a fire sees either all of a change or nothing of it.

use std::sync::Arc;

use crate::list::AnyList;
use crate::point::HookPoint;
use crate::sync::{Guard, Swap};

/// The lists of all points, by the points' static index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Root {
    pub(crate) lists: Vec<Option<AnyList>>,
}

impl Root {
    /// The handlers of `P`; `None` when it has none.
    #[inline]
    pub(crate) fn list<P: HookPoint>(&self) -> Option<&AnyList> {
        self.lists.get(P::descriptor().index())?.as_ref()
    }
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

    /// The root, without a count of references. A guard kept while a task
    /// sleeps would slow down everybody's next look-up: who has to wait keeps
    /// its list instead.
    #[inline]
    pub(crate) fn read(&self) -> Guard<Root> {
        self.0.load()
    }
}
