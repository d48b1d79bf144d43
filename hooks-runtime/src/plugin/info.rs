//! The plugins of a registry, as data.

use std::time::Duration;

use crate::plugin::id::PluginId;
use crate::registry::HookRegistry;

/// A plugin that is installed, as of the call that returned this.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_handlers, hook_points};
/// # hook_points! { pub void Saved { page: u32 } }
/// /// Keeps every version of a page.
/// struct History;
///
/// #[hook_handlers(plugin = "history", version = "1.2.0")]
/// impl History {
///     #[hook_handler(Saved)]
///     fn keep(&self, _: &SavedPayload) {}
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.install(History)?;
/// let info = &hooks.plugins()[0];
/// assert_eq!((info.id.as_str(), info.version), ("history", Some("1.2.0")));
/// assert_eq!((info.handlers, &*info.points, info.has_stop), (1, &["saved"][..], false));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PluginInfo {
    /// Its id.
    pub id: PluginId,
    /// Its version, where it says one.
    pub version: Option<&'static str>,
    /// What it is for, where it says so.
    pub description: Option<&'static str>,
    /// How many handlers it has.
    pub handlers: usize,
    /// The wire names of the points where it has handlers, sorted.
    pub points: Vec<&'static str>,
    /// Whether it has a `#[start]`.
    pub has_start: bool,
    /// Whether it has a `#[stop]`.
    pub has_stop: bool,
    /// A number that is greater than that of every earlier installation, and so
    /// tells one from the next.
    pub generation: u64,
    /// How long it has been installed.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "age_ns", serialize_with = "crate::wire::whole_nanoseconds")
    )]
    pub age: Duration,
}

impl HookRegistry {
    /// The plugins that are installed or have handlers here, by id.
    ///
    /// The example of [`PluginInfo`] lists them.
    pub fn plugins(&self) -> Vec<PluginInfo> {
        let store = self.inner.store();
        let mut plugins: Vec<_> = store
            .plugins()
            .map(|record| {
                let about = record.about();
                PluginInfo {
                    id: record.id().clone(),
                    version: about.version,
                    description: about.description,
                    handlers: record.handlers(),
                    points: store.points_of(record.generation()),
                    has_start: about.has_start,
                    has_stop: about.has_stop,
                    generation: record.generation(),
                    age: record.age(),
                }
            })
            .collect();
        plugins.sort_by(|one, next| one.id.cmp(&next.id));
        plugins
    }

    /// Whether a plugin of that id is installed, or has handlers here.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Saved>().plugin("mirror").handler(|_: &SavedPayload| ()))?;
    /// assert!(hooks.is_installed("mirror"));
    /// hooks.unregister_plugin("mirror");
    /// assert!(!hooks.is_installed("mirror"));
    /// # Ok(()) }
    /// ```
    pub fn is_installed(&self, id: impl AsRef<str>) -> bool {
        self.inner.store().plugin(id.as_ref()).is_some()
    }
}
