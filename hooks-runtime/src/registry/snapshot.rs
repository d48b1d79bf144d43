//! All handlers of a registry at one instant, behind one pointer.
//!
//! Every change, of one handler or of a whole plugin, publishes one new
//! [`Snapshot`]: a fire sees either all of a change or nothing of it.

use std::sync::Arc;

use crate::registry::list::HandlerList;

/// The lists of all points, by the points' static index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) lists: Vec<Option<Arc<HandlerList>>>,
}

impl Snapshot {
    /// The handlers of the point of that index; `None` when it has none.
    #[inline]
    pub(crate) fn list(&self, index: usize) -> Option<&Arc<HandlerList>> {
        self.lists.get(index)?.as_ref()
    }
}
