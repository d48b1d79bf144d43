//! A plugin: a value with handlers, installed and removed as one.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::error::RegisterError;
use crate::handler::registration::Registration;
use crate::plugin::record::PluginRecord;
use crate::plugin::removal::{DrainError, PluginRemoval, Uninstalled};
use crate::plugin::tracker::CallTracker;
use crate::registry::entry::Owner;
use crate::registry::handle::Handles;
use crate::registry::{HookRegistry, Inner};

/// A value whose methods are handlers. Written by
/// [`#[hook_handlers]`](macro@crate::hook_handlers) on its impl block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plugin",
    label = "expected a type with `#[hook_handlers]` on its impl block",
    note = "put `#[hook_handlers(plugin = \"…\")]` on `impl {Self}` and `#[hook_handler(Point)]` on \
            its methods"
)]
pub trait Plugin: Sized + Send + Sync + 'static {
    /// The plugin's id; `None` for a block of built-in handlers.
    const ID: Option<&'static str>;

    /// The plugin's handlers, each sharing the value.
    #[doc(hidden)]
    fn registrations(this: &Arc<Self>) -> Vec<Registration>;
}

/// What `#[hook_handlers]` implements for a type. The compiler prints its name
/// for a second block, so the name says what is wrong.
#[doc(hidden)]
pub trait OneBlockOfHookHandlers: Sized + Send + Sync + 'static {
    const ID: Option<&'static str>;

    fn registrations(this: &Arc<Self>) -> Vec<Registration>;
}

#[diagnostic::do_not_recommend]
impl<T: OneBlockOfHookHandlers> Plugin for T {
    const ID: Option<&'static str> = <T as OneBlockOfHookHandlers>::ID;

    fn registrations(this: &Arc<Self>) -> Vec<Registration> {
        <T as OneBlockOfHookHandlers>::registrations(this)
    }
}

/// An installed plugin. Dropping this keeps the plugin;
/// [`uninstall`](Self::uninstall) removes it.
#[must_use = "keep it to uninstall the plugin, or drop it to let the plugin stay"]
pub struct Installed<T> {
    plugin: Arc<T>,
    inner: Weak<Inner>,
    handles: Handles,
    /// `None` for a block of built-in handlers.
    record: Option<Arc<PluginRecord>>,
    tracker: Arc<CallTracker>,
}

impl HookRegistry {
    /// Registers all handlers of a plugin, or none of them.
    pub fn install<T: Plugin>(&self, plugin: T) -> Result<Installed<T>, RegisterError> {
        self.install_as(plugin, false)
    }

    /// Installs a plugin in place of the one with its id, if there is one.
    ///
    /// The swap is one instant: every fire sees the old version or the new
    /// one, never both, never neither. A fire under way ends with the version
    /// it started with, unless that version is uninstalled meanwhile.
    pub fn install_or_replace<T: Plugin>(&self, plugin: T) -> Result<Installed<T>, RegisterError> {
        self.install_as(plugin, true)
    }

    fn install_as<T: Plugin>(
        &self,
        plugin: T,
        replace: bool,
    ) -> Result<Installed<T>, RegisterError> {
        let plugin = Arc::new(plugin);
        // A plugin's handlers are waited for as the plugin's; those of a
        // built-in block need a tracker of their own.
        let block = Arc::new(CallTracker::new());
        let group = T::registrations(&plugin)
            .into_iter()
            .map(|registration| match T::ID {
                Some(id) => registration.owned_by(id),
                None => registration.among(&block),
            })
            .collect();
        let (handles, record) = self.inner.install(group, T::ID, replace)?;
        let tracker = record.as_ref().map_or(block, |record| Arc::clone(record.tracker()));
        Ok(Installed { plugin, inner: Arc::downgrade(&self.inner), handles, record, tracker })
    }
}

impl<T: Plugin> Installed<T> {
    /// The plugin's value.
    pub fn plugin(&self) -> &T {
        &self.plugin
    }

    /// The handles of its handlers, in the order in which they are written.
    pub fn handles(&self) -> &Handles {
        &self.handles
    }

    /// Removes the plugin at one instant, then waits until none of its
    /// handlers is running.
    ///
    /// Called from inside one of them it removes the plugin, but does not wait
    /// for itself: that is logged, and reported by the returned value.
    pub async fn uninstall(self) -> Uninstalled {
        Uninstalled::after(self.remove().drained().await)
    }

    /// As [`uninstall`](Self::uninstall), but gives up waiting after `limit`
    /// and names the handlers that still run.
    pub async fn uninstall_within(self, limit: Duration) -> Result<(), DrainError> {
        self.remove().drained_within(limit).await
    }

    /// Removes what this installed: a version that was replaced meanwhile is
    /// removed already, and its successor is not touched.
    fn remove(&self) -> PluginRemoval {
        let Some(inner) = self.inner.upgrade() else { return PluginRemoval::nothing() };
        let (who, removed) = match &self.record {
            Some(record) => {
                let removed =
                    inner.unregister_generation(record.id().as_str(), record.generation());
                (Owner::Plugin(record.id().clone()), removed)
            }
            None => (Owner::BuiltIn, self.handles.unregister()),
        };
        inner.removal(who, removed, &self.tracker)
    }
}

impl<T> fmt::Debug for Installed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Installed").field("handles", &self.handles).finish_non_exhaustive()
    }
}
