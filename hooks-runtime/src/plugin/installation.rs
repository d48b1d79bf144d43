//! A plugin: a value with handlers, installed and removed as one.

use std::sync::{Arc, Weak};

use crate::error::RegisterError;
use crate::handler::registration::Registration;
use crate::plugin::any::{AnyPlugin, PluginParts};
use crate::plugin::id::PluginId;
use crate::plugin::leaving::Leaving;
use crate::plugin::lifecycle::LifecycleStep;
use crate::plugin::removal::Removal;
use crate::plugin::tracker::CallTracker;
use crate::registry::entry::Owner;
use crate::registry::handle::Handles;
use crate::registry::store::Replaces;
use crate::registry::{HookRegistry, Inner};

/// A value whose methods are handlers. Written by
/// [`#[hook_handlers]`](macro@crate::hook_handlers) on its impl block.
///
/// An `Arc` of a plugin is a plugin too: a host that wants to look at the value
/// while it is installed keeps a clone of the `Arc`.
///
/// There is no `dyn Plugin`, because what a plugin says about itself is constants.
/// Where the type of a plugin is to be forgotten, it is a `Box<dyn AnyPlugin>`: see
/// [`AnyPlugin`].
///
/// ```
/// # use hooks_runtime::{Plugin, hook_handlers, hook_points};
/// # hook_points! { pub void Saved { page: u32 } }
/// /// Counts the pages.
/// struct Counter;
///
/// #[hook_handlers(plugin = "counter", version = "0.1.0", description = "counts the pages")]
/// impl Counter {
///     #[hook_handler(Saved)]
///     fn count(&self, _: &SavedPayload) {}
/// }
///
/// assert_eq!((Counter::ID, Counter::VERSION), (Some("counter"), Some("0.1.0")));
/// assert_eq!(Counter::DESCRIPTION, Some("counts the pages"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plugin",
    label = "expected a type with `#[hook_handlers]` on its impl block",
    note = "a plugin is a type with `#[hook_handlers(plugin = \"…\")]` on its impl block and \
            `#[hook_handler(Point)]` on its methods",
    note = "a single plugin goes in as it is, or in an `Arc` of its own type; different plugins in \
            one list are a `Vec<Box<dyn AnyPlugin>>`"
)]
pub trait Plugin: Send + Sync + 'static {
    /// The plugin's id; `None` for a block of built-in handlers.
    // The compiler quotes this line where it is asked for a `dyn Plugin`.
    const ID: Option<&'static str>; /* so there is no `dyn Plugin`: write `Box<dyn AnyPlugin>` */

    /// The plugin's version: what the block gives as `version`.
    const VERSION: Option<&'static str> = None;

    /// What the plugin is for: what the block gives as `description`, else its doc
    /// comment.
    const DESCRIPTION: Option<&'static str> = None;

    /// The plugin's handlers, each sharing the value.
    #[doc(hidden)]
    fn registrations(this: &Arc<Self>) -> Vec<Registration>
    where
        Self: Sized;

    /// Its `#[start]`, if it has one.
    #[doc(hidden)]
    fn start(this: &Arc<Self>) -> Option<LifecycleStep>
    where
        Self: Sized,
    {
        let _ = this;
        None
    }

    /// Its `#[stop]`, if it has one.
    #[doc(hidden)]
    fn stop(this: &Arc<Self>) -> Option<LifecycleStep>
    where
        Self: Sized,
    {
        let _ = this;
        None
    }
}

/// What `#[hook_handlers]` implements for a type. The compiler prints its name
/// for a second block, so the name says what is wrong.
#[doc(hidden)]
pub trait OneBlockOfHookHandlers: Sized + Send + Sync + 'static {
    const ID: Option<&'static str>;
    const VERSION: Option<&'static str> = None;
    const DESCRIPTION: Option<&'static str> = None;

    fn registrations(this: &Arc<Self>) -> Vec<Registration>;

    fn start(_: &Arc<Self>) -> Option<LifecycleStep> {
        None
    }

    fn stop(_: &Arc<Self>) -> Option<LifecycleStep> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<T: OneBlockOfHookHandlers> Plugin for T {
    const ID: Option<&'static str> = <T as OneBlockOfHookHandlers>::ID;
    const VERSION: Option<&'static str> = <T as OneBlockOfHookHandlers>::VERSION;
    const DESCRIPTION: Option<&'static str> = <T as OneBlockOfHookHandlers>::DESCRIPTION;

    fn registrations(this: &Arc<Self>) -> Vec<Registration> {
        <T as OneBlockOfHookHandlers>::registrations(this)
    }

    fn start(this: &Arc<Self>) -> Option<LifecycleStep> {
        <T as OneBlockOfHookHandlers>::start(this)
    }

    fn stop(this: &Arc<Self>) -> Option<LifecycleStep> {
        <T as OneBlockOfHookHandlers>::stop(this)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Plugin> Plugin for Arc<T> {
    const ID: Option<&'static str> = T::ID;
    const VERSION: Option<&'static str> = T::VERSION;
    const DESCRIPTION: Option<&'static str> = T::DESCRIPTION;

    fn registrations(this: &Arc<Self>) -> Vec<Registration> {
        T::registrations(this)
    }

    fn start(this: &Arc<Self>) -> Option<LifecycleStep> {
        T::start(this)
    }

    fn stop(this: &Arc<Self>) -> Option<LifecycleStep> {
        T::stop(this)
    }
}

/// An installed plugin. Dropping this keeps the plugin;
/// [`uninstall`](Self::uninstall) removes it.
///
/// It keeps neither the registry nor the plugin's value alive.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_handlers, hook_points};
/// # hook_points! { pub void Saved { page: u32 } }
/// # struct Counter;
/// # #[hook_handlers(plugin = "counter")]
/// # impl Counter { #[hook_handler(Saved)] fn count(&self, _: &SavedPayload) {} }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let installed = hooks.install(Counter)?;
/// assert_eq!(installed.id().unwrap().as_str(), "counter");
/// assert_eq!(installed.handles()[0].name().as_deref(), Some("count"));
/// installed.uninstall().await.into_result()?; // nothing of it is left
/// assert!(!hooks.has_handlers::<Saved>());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Installed {
    inner: Weak<Inner>,
    handles: Handles,
    /// The plugin with the number of its generation; `None` for a block of built-in
    /// handlers.
    plugin: Option<(PluginId, u64)>,
    tracker: Arc<CallTracker>,
}

impl HookRegistry {
    /// Registers all handlers of a plugin, or none of them.
    ///
    /// A plugin with a `#[start]` is refused: [`start`](Self::start) takes any.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # use hooks_runtime::{HookRegistry, hook_handlers, hook_points};
    /// # hook_points! { pub void Sold { item: String } }
    /// #[derive(Default)]
    /// struct Turnover(AtomicU32);
    ///
    /// #[hook_handlers(plugin = "turnover")]
    /// impl Turnover {
    ///     #[hook_handler(Sold)]
    ///     fn add(&self, _: &SoldPayload) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let turnover = Arc::new(Turnover::default());
    /// hooks.install(Arc::clone(&turnover))?;
    /// hooks.fire_void::<Sold>(&SoldPayload { item: "lamp".into() }).await?;
    /// assert_eq!(turnover.0.load(Ordering::Relaxed), 1);
    /// # Ok(()) }
    /// ```
    pub fn install(&self, plugin: impl AnyPlugin) -> Result<Installed, RegisterError> {
        let parts = Box::new(plugin).into_parts();
        self.install_one(parts, Replaces::Nothing)
    }

    /// Installs a group of plugins as one: all handlers of all of them, or none.
    ///
    /// An error says which plugin could not be installed.
    ///
    /// ```
    /// # use hooks_runtime::{AnyPlugin, HookRegistry, hook_handlers, hook_points};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # struct Spelling;
    /// # #[hook_handlers(plugin = "spelling")]
    /// # impl Spelling { #[hook_handler(Saved)] fn check(&self, _: &SavedPayload) {} }
    /// # struct Backup;
    /// # #[hook_handlers(plugin = "backup")]
    /// # impl Backup { #[hook_handler(Saved)] fn copy(&self, _: &SavedPayload) {} }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let plugins: Vec<Box<dyn AnyPlugin>> = vec![Box::new(Spelling), Box::new(Backup)];
    /// assert_eq!(hooks.install_all(plugins)?.len(), 2);
    /// // `spelling` is there already, so `backup` is not replaced either.
    /// assert!(hooks.install_all([Spelling]).is_err());
    /// # Ok(()) }
    /// ```
    pub fn install_all<I>(&self, plugins: I) -> Result<Vec<Installed>, RegisterError>
    where
        I: IntoIterator,
        I::Item: AnyPlugin,
    {
        let parts = plugins.into_iter().map(|plugin| Box::new(plugin).into_parts()).collect();
        let installed = self.inner.install(parts, Replaces::Nothing);
        installed.map_err(|(plugin, error)| RegisterError::of_plugin(plugin, error))
    }

    /// Installs a plugin in place of the one with its id, if there is one.
    ///
    /// The swap is one instant: every fire sees the old version or the new
    /// one, never both, never neither. A fire under way ends with the version
    /// it started with, unless that version is uninstalled meanwhile.
    ///
    /// It does not wait, so it runs neither a `#[start]` nor a `#[stop]`: a plugin with
    /// a `#[start]` cannot replace another, and one with a `#[stop]` cannot be replaced.
    /// With either, uninstall the old one and then start the new one:
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_handlers};
    /// # hooks_runtime::hook_points! { pub void Saved { page: u32 } }
    /// # struct Audit { path: &'static str }
    /// # #[hook_handlers(plugin = "audit")]
    /// # impl Audit {
    /// #     #[start] fn open(&self) { assert!(!self.path.is_empty()); }
    /// #     #[hook_handler(Saved)] fn saved(&self, _: &SavedPayload) {}
    /// #     #[stop] fn close(&self) {}
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let audit = hooks.start(Audit { path: "old.log" }).await?;
    /// audit.uninstall().await; // or `hooks.unregister_plugin("audit").await`
    /// hooks.start(Audit { path: "new.log" }).await?;
    /// # Ok(()) }
    /// ```
    pub fn install_or_replace(&self, plugin: impl AnyPlugin) -> Result<Installed, RegisterError> {
        let parts = Box::new(plugin).into_parts();
        self.install_one(parts, Replaces::SameId)
    }

    fn install_one(
        &self,
        parts: PluginParts,
        replaces: Replaces,
    ) -> Result<Installed, RegisterError> {
        let installed = self.inner.install(vec![parts], replaces);
        installed.map(only).map_err(|(_, error)| error)
    }
}

/// The plugin of a group of one.
pub(crate) fn only(mut group: Vec<Installed>) -> Installed {
    group.pop().expect("a group of one is one plugin")
}

impl Installed {
    pub(crate) fn new(
        inner: &Arc<Inner>,
        handles: Handles,
        plugin: Option<(PluginId, u64)>,
        tracker: Arc<CallTracker>,
    ) -> Self {
        Self { inner: Arc::downgrade(inner), handles, plugin, tracker }
    }

    /// The plugin's id; `None` for a block of built-in handlers.
    pub fn id(&self) -> Option<&PluginId> {
        self.plugin.as_ref().map(|(id, _)| id)
    }

    /// The handles of its handlers, in the order in which they are written.
    pub fn handles(&self) -> &Handles {
        &self.handles
    }

    /// Removes the plugin at one instant; awaited, it also waits until nothing of it
    /// is left, and then runs its `#[stop]`, if it has one: see [`Removal`].
    ///
    /// It removes what this installed: a version that was replaced meanwhile is
    /// removed already, and its successor is not touched. Inside one of its
    /// handlers it removes the plugin, but does not wait for itself: that is
    /// logged, and the outcome says so.
    pub fn uninstall(self) -> Removal {
        let Some(inner) = self.inner.upgrade() else {
            let (owner, newest) = match self.plugin {
                Some((id, generation)) => (Owner::Plugin(id), Some(generation)),
                None => (Owner::BuiltIn, None),
            };
            let left = Leaving::with_registry(owner, &self.tracker, newest);
            return Removal::without_registry(vec![left]);
        };
        if let Some((id, generation)) = self.plugin {
            return inner.unregister_generation(&id, generation, &self.tracker);
        }
        inner.unregister_block(&self.handles, &self.tracker)
    }
}
