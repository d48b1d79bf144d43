//! A registered handler: its owner, its place in the order, its options.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::raw::{HandlerCell, Step};
use crate::handler::target::Target;
use crate::plugin::id::PluginId;
use crate::plugin::record::PluginRecord;
use crate::plugin::tracker::{self, CallTracker};
use crate::point::{FailurePolicy, PointDescriptor, SourceLocation};
use crate::registry::handler_counters::HandlerCounters;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Who registered a handler.
///
/// ```
/// use hooks_runtime::PluginId;
/// use hooks_runtime::registry::Owner;
///
/// let audit = Owner::Plugin(PluginId::new("audit")?);
/// assert_eq!((audit.as_ref(), audit.to_string()), ("audit", "plugin `audit`".to_owned()));
/// assert_eq!((Owner::BuiltIn.plugin(), Owner::BuiltIn.to_string()), (None, "built-in".to_owned()));
/// # Ok::<_, hooks_runtime::plugin::PluginIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The host itself.
    BuiltIn,
    /// A plugin.
    Plugin(PluginId),
}

impl Owner {
    /// What the host is called where a plugin has its id: no plugin can be called this.
    pub(crate) const BUILT_IN: &str = "built-in";

    /// The plugin, unless the host itself is the owner.
    pub fn plugin(&self) -> Option<&PluginId> {
        match self {
            Self::BuiltIn => None,
            Self::Plugin(id) => Some(id),
        }
    }
}

/// The plugin's id, or `built-in`, which no plugin can be called.
impl AsRef<str> for Owner {
    fn as_ref(&self) -> &str {
        self.plugin().map_or(Self::BUILT_IN, PluginId::as_str)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str(Self::BUILT_IN),
            Self::Plugin(id) => write!(f, "plugin `{id}`"),
        }
    }
}

/// Which part of a gating chain a handler belongs to; other models have only
/// the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Main,
    Guard,
}

/// One registered handler and its options.
pub(crate) struct Entry {
    /// Never reused, so that a stale handle never removes another handler.
    pub(crate) id: u64,
    /// The place among equals; a replacement inherits it.
    pub(crate) seq: u64,
    pub(crate) point: &'static PointDescriptor,
    pub(crate) name: Arc<str>,
    /// `None` for built-in handlers.
    pub(crate) plugin: Option<Arc<PluginRecord>>,
    /// The handlers that are waited for together with it.
    pub(crate) tracker: Arc<CallTracker>,
    pub(crate) priority: i32,
    /// What decides among those of its priority, before `seq` does.
    pub(crate) turn: Option<Arc<str>>,
    pub(crate) phase: Phase,
    pub(crate) policy: FailurePolicy,
    pub(crate) timeout: Option<Duration>,
    pub(crate) before: Vec<Arc<str>>,
    pub(crate) after: Vec<Arc<str>>,
    /// The priorities that the host allowed its plugin when it was registered.
    pub(crate) allowed: Option<RangeInclusive<i32>>,
    pub(crate) target: Option<Target>,
    /// Of a handler that is called once: whether it was.
    pub(crate) once: Option<AtomicBool>,
    /// Whether it is declared to have no side effects: it may run where its effect is
    /// not wanted.
    pub(crate) pure: bool,
    /// The handler of the same owner whose settings hold for it as well.
    pub(crate) part_of: Option<Arc<str>>,
    pub(crate) location: SourceLocation,
    pub(crate) counters: HandlerCounters,
    pub(crate) handler: HandlerCell,
}

impl Entry {
    pub(crate) fn owner(&self) -> Owner {
        match &self.plugin {
            None => Owner::BuiltIn,
            Some(plugin) => Owner::Plugin(plugin.id().clone()),
        }
    }

    /// The generation of its plugin; `None` for built-in handlers.
    pub(crate) fn generation(&self) -> Option<u64> {
        self.plugin.as_ref().map(|plugin| plugin.generation())
    }

    /// Whether the two are waited for together.
    pub(crate) fn is_tracked_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tracker, &other.tracker)
    }

    /// Whether a run of a flow notes that its owner has begun, when it is called.
    pub(crate) fn joins_runs(&self) -> bool {
        self.tracker.is_whole() && self.point.stage().is_some()
    }

    /// Whether it is not simply called: more is to be asked than its scope.
    pub(crate) fn is_special(&self) -> bool {
        self.timeout.is_some() || self.is_asked_about()
    }

    /// Whether it is simply called, but for its limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.timeout.is_some() && !self.is_asked_about()
    }

    /// Whether it is simply called, but for its condition.
    pub(crate) fn is_only_conditional(&self) -> bool {
        self.handler.is_conditional() && self.timeout.is_none() && !self.has_admission()
    }

    /// Whether it may be that a call of it does not start.
    fn is_asked_about(&self) -> bool {
        self.handler.is_conditional() || self.has_admission()
    }

    /// The same, but for its condition.
    fn has_admission(&self) -> bool {
        self.target.is_some() || self.once.is_some() || self.joins_runs()
    }

    /// Takes the one call of a handler that is called once. Whether a call may start.
    pub(crate) fn take_turn(&self) -> bool {
        self.once.as_ref().is_none_or(|taken| !taken.swap(true, Ordering::AcqRel))
    }

    /// Whether it is called once, and was.
    pub(crate) fn was_called_once(&self) -> bool {
        self.once.as_ref().is_some_and(|taken| taken.load(Ordering::Acquire))
    }

    /// Whether it was closed: no further call of it starts, but of `OnError` and
    /// `Finally` in runs in which its owner has begun.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.handler.is_closed()
    }

    /// Lets no further call of it start, because its owner leaves as a whole. Runs
    /// in which the owner has begun still come to the stages at their end.
    pub(crate) fn leave(&self) {
        if self.point.ends_run() {
            self.handler.leave();
        } else {
            self.handler.shut();
        }
    }

    /// Lets no call of a closed handler start at all, unless there is a run that
    /// still comes to it. Whether that is so.
    pub(crate) fn shut_if_unused(&self) -> bool {
        if self.handler.is_shut() {
            return true;
        }
        let is_unused = !self.is_kept();
        if is_unused {
            self.handler.shut();
        }
        is_unused
    }

    /// Whether there may be a run that still comes to it.
    pub(crate) fn is_kept(&self) -> bool {
        !self.handler.is_shut() && self.tracker.is_in_run(self.generation())
    }

    /// Counts a call of it as pending. The thread has it published as running
    /// still.
    #[inline]
    pub(crate) fn call_suspended(&self, step: &Step) {
        self.handler.call_suspended(step);
    }

    /// Counts a pending call as ended, after its future was dropped.
    #[inline]
    pub(crate) fn call_resumed(&self, step: &Step) {
        self.handler.call_resumed(step);
    }

    /// After a call of it: where it was closed meanwhile, this call may be the one
    /// that has to release it.
    #[inline]
    pub(crate) fn release_if_closed(&self) {
        if self.handler.is_releasable() {
            tracker::release_one(self);
        }
    }

    /// The bit of the owner in a scope; built-in handlers have bit zero.
    pub(crate) fn owner_bit(&self) -> u32 {
        self.plugin.as_ref().map_or(0, |plugin| plugin.bit())
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // Replaced, or removed where what threads run could not be read.
        if self.tracker.while_dropping(Some(self.id), || self.handler.drop_handler()) {
            self.tracker.dropped(self.id);
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
