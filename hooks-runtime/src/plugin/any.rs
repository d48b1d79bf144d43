//! A plugin whose type is forgotten.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

use crate::handler::registration::Registration;
use crate::plugin::installation::Plugin;
use crate::plugin::lifecycle::{LifecycleStep, Stop};

/// A plugin whose type is forgotten. Every [`Plugin`] is one.
///
/// So what a configuration names can be built one by one, kept in one list, and
/// installed as one group:
///
/// ```
/// use hooks_runtime::{AnyPlugin, HookRegistry, hook_handlers};
///
/// # hooks_runtime::hook_points! { pub void Saved { page: u32 } }
/// struct Audit;
/// # #[hook_handlers(plugin = "audit")]
/// # impl Audit { #[hook_handler(Saved)] fn saved(&self, _: &SavedPayload) {} }
/// struct Backup { folder: String }
/// # #[hook_handlers(plugin = "backup")]
/// # impl Backup { #[hook_handler(Saved)] fn saved(&self, _: &SavedPayload) { let _ = &self.folder; } }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let plugins: Vec<Box<dyn AnyPlugin>> =
///     vec![Box::new(Audit), Box::new(Backup { folder: "/srv".into() })];
/// let hooks = HookRegistry::new();
/// let installed = hooks.install_all(plugins)?;
/// assert_eq!(installed.len(), 2);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plugin",
    label = "expected a type with `#[hook_handlers]` on its impl block",
    note = "a plugin is a type with `#[hook_handlers(plugin = \"…\")]` on its impl block and \
            `#[hook_handler(Point)]` on its methods",
    note = "a single plugin goes in as it is, or in an `Arc` of its own type; different plugins in \
            one list are a `Vec<Box<dyn AnyPlugin>>`"
)]
pub trait AnyPlugin: Send + Sync + 'static {
    /// The plugin's id; `None` for a block of built-in handlers.
    fn id(&self) -> Option<&'static str>;

    /// The plugin's version, where it has one.
    fn version(&self) -> Option<&'static str>;

    /// What the plugin is for, where it says so.
    fn description(&self) -> Option<&'static str>;

    /// What is installed of it. A type that no other crate can make, so that
    /// `#[hook_handlers]` is the only way to write a plugin.
    #[doc(hidden)]
    fn into_parts(self: Box<Self>) -> PluginParts;
}

/// A plugin taken apart, to be installed.
#[doc(hidden)]
#[derive(Debug)]
pub struct PluginParts {
    pub(crate) type_name: &'static str,
    pub(crate) id: Option<&'static str>,
    pub(crate) about: About,
    pub(crate) registrations: Vec<Registration>,
    pub(crate) start: Option<LifecycleStep>,
    pub(crate) stop: Option<LifecycleStep>,
    /// The stop, once the plugin has started.
    pub(crate) owed: Option<Arc<Stop>>,
}

/// What a plugin says about itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About {
    pub(crate) version: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    pub(crate) has_start: bool,
    pub(crate) has_stop: bool,
}

impl PluginParts {
    /// What errors call it: its id, or the type of a built-in block.
    pub(crate) fn label(&self) -> &'static str {
        self.id.unwrap_or(self.type_name)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Plugin> AnyPlugin for T {
    fn id(&self) -> Option<&'static str> {
        T::ID
    }

    fn version(&self) -> Option<&'static str> {
        T::VERSION
    }

    fn description(&self) -> Option<&'static str> {
        T::DESCRIPTION
    }

    fn into_parts(self: Box<Self>) -> PluginParts {
        let plugin: Arc<T> = Arc::from(self);
        let of = |step: LifecycleStep| step.of(plugin.clone());
        let (start, stop) = (T::start(&plugin).map(of), T::stop(&plugin).map(of));
        PluginParts {
            type_name: type_name::<T>(),
            id: T::ID,
            about: About {
                version: T::VERSION,
                description: T::DESCRIPTION,
                has_start: start.is_some(),
                has_stop: stop.is_some(),
            },
            registrations: T::registrations(&plugin),
            start,
            stop,
            owed: None,
        }
    }
}

#[diagnostic::do_not_recommend]
impl AnyPlugin for Box<dyn AnyPlugin> {
    fn id(&self) -> Option<&'static str> {
        (**self).id()
    }

    fn version(&self) -> Option<&'static str> {
        (**self).version()
    }

    fn description(&self) -> Option<&'static str> {
        (**self).description()
    }

    fn into_parts(self: Box<Self>) -> PluginParts {
        (*self).into_parts()
    }
}

impl fmt::Debug for dyn AnyPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyPlugin")
            .field("id", &self.id())
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
