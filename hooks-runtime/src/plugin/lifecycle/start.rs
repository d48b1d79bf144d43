//! Plugins that are started, then installed.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::{LifecycleStep, Stop};
use crate::error::{FailureKind, RegisterError};
use crate::plugin::any::{AnyPlugin, PluginParts};
use crate::plugin::installation::{Installed, only};
use crate::readable::readable_debug;
use crate::registry::HookRegistry;
use crate::registry::store::Replaces;

/// Why plugins were not started. None of them is registered, and those that had
/// started were stopped again.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_handlers, hook_points};
/// # hook_points! { pub void Saved { page: u32 } }
/// struct Mirror;
///
/// #[hook_handlers(plugin = "mirror")]
/// impl Mirror {
///     #[start]
///     async fn connect(&self) -> Result<(), &'static str> {
///         Err("no route to the host")
///     }
///
///     #[hook_handler(Saved)]
///     fn copy(&self, _: &SavedPayload) {}
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let error = hooks.start(Mirror).await.unwrap_err();
/// assert_eq!(error.to_string(), "plugin `mirror` did not start: no route to the host");
/// assert!(!hooks.is_installed("mirror"));
/// # Ok(()) }
/// ```
#[non_exhaustive]
pub enum StartError {
    /// A `#[start]` failed.
    Failed {
        /// The plugin's id.
        plugin: &'static str,
        /// How: by an error or by a panic.
        kind: FailureKind,
    },
    /// The registry refused the plugins.
    Refused(RegisterError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { plugin, kind } => write!(f, "plugin `{plugin}` did not start: {kind}"),
            Self::Refused(refused) => refused.fmt(f),
        }
    }
}

impl StdError for StartError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Failed { kind: FailureKind::Error(error), .. } => Some(&**error),
            Self::Failed { .. } => None,
            Self::Refused(refused) => refused.source(),
        }
    }
}

readable_debug! { enum StartError { Failed { plugin, kind }, Refused(error) } }

impl From<RegisterError> for StartError {
    fn from(refused: RegisterError) -> Self {
        Self::Refused(refused)
    }
}

impl HookRegistry {
    /// Runs the `#[start]` of a plugin, if it has one, then registers all of its
    /// handlers, or none of them.
    ///
    /// A plugin whose start fails is not registered, and not stopped either. One whose registration is
    /// refused after its start is stopped again. Where the future is dropped before
    /// its end, nothing is registered either; a plugin that had started by then is
    /// not stopped, which is reported as a skipped stop.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_handlers, hook_points};
    /// # use std::sync::OnceLock;
    /// # hook_points! { pub claiming Translate(String) -> String; }
    /// #[derive(Default)]
    /// struct Dictionary(OnceLock<Vec<&'static str>>);
    ///
    /// #[hook_handlers(plugin = "dictionary")]
    /// impl Dictionary {
    ///     #[start]
    ///     fn load(&self) {
    ///         self.0.set(vec!["lampe"]).expect("it is started once");
    ///     }
    ///
    ///     #[hook_handler(Translate)]
    ///     fn look_up(&self, word: &String) -> Option<String> {
    ///         self.0.get()?.iter().find(|known| known.starts_with(&**word)).map(|it| (*it).to_owned())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.start(Dictionary::default()).await?;
    /// let word = hooks.fire_claiming::<Translate>(&"lamp".to_owned()).await?;
    /// assert_eq!(word.claimed().as_deref(), Some("lampe"));
    /// # Ok(()) }
    /// ```
    pub fn start(
        &self,
        plugin: impl AnyPlugin,
    ) -> impl Future<Output = Result<Installed, StartError>> + Send {
        let parts = Box::new(plugin).into_parts();
        async move {
            let installed = self.start_parts(vec![parts]).await.map_err(|(_, error)| error)?;
            Ok(only(installed))
        }
    }

    /// Starts plugins one after another, then installs them as one group: all
    /// handlers of all of them, or none.
    ///
    /// The first start that fails ends it: those that had started before are stopped,
    /// the last one first. So are all of them if the group is refused.
    ///
    /// ```
    /// # use std::sync::{Arc, Mutex};
    /// # use hooks_runtime::{AnyPlugin, HookRegistry, hook_handlers, hook_points};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # type Log = Arc<Mutex<Vec<&'static str>>>;
    /// # struct Disk(Log);
    /// # #[hook_handlers(plugin = "disk")]
    /// # impl Disk {
    /// #     #[start] fn open(&self) { self.0.lock().unwrap().push("disk opened"); }
    /// #     #[hook_handler(Saved)] fn write(&self, _: &SavedPayload) {}
    /// #     #[stop] fn close(&self) { self.0.lock().unwrap().push("disk closed"); }
    /// # }
    /// # struct Mirror;
    /// # #[hook_handlers(plugin = "mirror")]
    /// # impl Mirror {
    /// #     #[start] fn connect(&self) -> Result<(), &'static str> { Err("no route") }
    /// #     #[hook_handler(Saved)] fn copy(&self, _: &SavedPayload) {}
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (hooks, log) = (HookRegistry::new(), Log::default());
    /// // The second one cannot start, so the first one is stopped again.
    /// let plugins: Vec<Box<dyn AnyPlugin>> = vec![Box::new(Disk(log.clone())), Box::new(Mirror)];
    /// assert!(hooks.start_all(plugins).await.is_err());
    /// assert_eq!(*log.lock().unwrap(), ["disk opened", "disk closed"]);
    /// assert!(hooks.handlers().is_empty());
    /// # Ok(()) }
    /// ```
    pub fn start_all<I>(
        &self,
        plugins: I,
    ) -> impl Future<Output = Result<Vec<Installed>, StartError>> + Send
    where
        I: IntoIterator,
        I::Item: AnyPlugin,
    {
        let parts = plugins.into_iter().map(|plugin| Box::new(plugin).into_parts());
        let parts: Vec<_> = parts.collect();
        async move {
            self.start_parts(parts).await.map_err(|(plugin, error)| match error {
                StartError::Refused(refused) => RegisterError::of_plugin(plugin, refused).into(),
                failed @ StartError::Failed { .. } => failed,
            })
        }
    }

    async fn start_parts(
        &self,
        mut plugins: Vec<PluginParts>,
    ) -> Result<Vec<Installed>, (Option<&'static str>, StartError)> {
        let refused = |(plugin, error)| (plugin, StartError::Refused(not_replaceable(error)));
        // Before any of them opens what it could not use.
        self.inner.check_free(&plugins).map_err(refused)?;
        let mut started = Vec::new();
        for parts in &mut plugins {
            if let Some(step) = parts.start.take()
                && let Err(kind) = LifecycleStep::run(step).await
            {
                stop_all(started).await;
                return Err((None, StartError::Failed { plugin: parts.label(), kind }));
            }
            parts.owed = self.inner.owe_stop(parts);
            started.extend(parts.owed.clone());
        }
        match self.inner.install(plugins, Replaces::Nothing) {
            Ok(installed) => Ok(installed),
            Err(error) => {
                stop_all(started).await;
                Err(refused(error))
            }
        }
    }
}

/// A replacement starts nothing, so it is no way out where a plugin is to be started.
fn not_replaceable(mut refused: RegisterError) -> RegisterError {
    if let RegisterError::Installed { can_be_replaced, .. } = &mut refused {
        *can_be_replaced = false;
    }
    refused
}

/// Stops those that started, the last one first. What fails in that is reported.
async fn stop_all(mut started: Vec<Arc<Stop>>) {
    while let Some(stop) = started.pop() {
        let _ = stop.run().await;
    }
}
