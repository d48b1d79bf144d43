//! A restricted view of the registry, for one plugin.

use crate::error::RegisterError;
use crate::handler::registration::IntoRegistrations;
use crate::plugin::any::AnyPlugin;
use crate::plugin::id::{PluginId, PluginIdError};
use crate::plugin::installation::Installed;
use crate::plugin::lifecycle::StartError;
use crate::plugin::removal::Removal;
use crate::plugin::scope::ScopedHooks;
use crate::registry::HookRegistry;
use crate::registry::handle::Handles;

/// Registers handlers for one plugin, and for no other owner.
///
/// Code that has only this can register neither as built-in nor as another plugin.
///
/// ```
/// # use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};
/// # use hooks_runtime::plugin::Registrar;
/// # hook_points! { pub void Saved { page: u32 } }
/// // What a script may call: it gets the registrar and not the registry.
/// fn script(registrar: &Registrar) -> Result<(), RegisterError> {
///     assert_eq!(registrar.plugin().as_str(), "script");
///     registrar.register(on::<Saved>().name("note").handler(|_: &SavedPayload| ()))?;
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let registrar = hooks.registrar("script")?;
/// script(&registrar)?;
/// assert_eq!(hooks.handlers_of("script").len(), 1);
/// registrar.hooks().fire_void::<Saved>(&SavedPayload { page: 1 }).await?;
/// assert_eq!(registrar.unregister().removed(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Registrar {
    hooks: HookRegistry,
    plugin: PluginId,
}

impl HookRegistry {
    /// A registrar bound to one plugin.
    ///
    /// The example of [`Registrar`] makes one.
    pub fn registrar(&self, plugin: &str) -> Result<Registrar, PluginIdError> {
        Ok(Registrar { hooks: self.clone(), plugin: PluginId::new(plugin)? })
    }
}

impl Registrar {
    /// The plugin that this is bound to.
    pub fn plugin(&self) -> &PluginId {
        &self.plugin
    }

    /// Registers a group of handlers for the plugin, whole or not at all.
    ///
    /// A handler that names no owner becomes the plugin's; one that names
    /// another is refused.
    pub fn register(&self, handlers: impl IntoRegistrations) -> Result<Handles, RegisterError> {
        let bound =
            handlers.into_registrations().into_iter().map(|handler| handler.bound_to(&self.plugin));
        self.hooks.register(bound.collect::<Result<Vec<_>, _>>()?)
    }

    /// Installs the plugin that this is bound to.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, RegisterError, hook_handlers, hook_points};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # struct Counter;
    /// # #[hook_handlers(plugin = "counter")]
    /// # impl Counter { #[hook_handler(Saved)] fn count(&self, _: &SavedPayload) {} }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.registrar("counter")?.install(Counter)?;
    /// let other = hooks.registrar("other")?.install(Counter);
    /// assert!(matches!(other, Err(RegisterError::WrongOwner { .. })));
    /// # Ok(()) }
    /// ```
    pub fn install(&self, plugin: impl AnyPlugin) -> Result<Installed, RegisterError> {
        self.check(&plugin)?;
        self.hooks.install(plugin)
    }

    /// Starts the plugin that this is bound to, then installs it.
    ///
    /// The example of [`HookRegistry::start`] has a plugin with a `#[start]`.
    pub fn start(
        &self,
        plugin: impl AnyPlugin,
    ) -> impl Future<Output = Result<Installed, StartError>> + Send {
        let started = self.check(&plugin).map(|()| self.hooks.start(plugin));
        async move { started?.await }
    }

    /// Refuses a plugin of another id.
    fn check<P: AnyPlugin>(&self, plugin: &P) -> Result<(), RegisterError> {
        if plugin.id() == Some(self.plugin.as_str()) {
            return Ok(());
        }
        Err(RegisterError::WrongOwner {
            handler: std::any::type_name::<P>().to_owned(),
            owner: plugin.id().unwrap_or("built-in").to_owned(),
            bound: self.plugin.to_string(),
        })
    }

    /// Removes all handlers of the plugin, at one instant.
    pub fn unregister(&self) -> Removal {
        self.hooks.unregister_plugin(&self.plugin)
    }

    /// The hooks, to fire. They cannot be used to register.
    pub fn hooks(&self) -> &ScopedHooks {
        &self.hooks
    }
}
