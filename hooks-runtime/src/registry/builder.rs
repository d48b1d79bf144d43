//! The configuration of a registry, and the builder that takes it.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::nesting::MAX_DEPTH;
use crate::observe::Observer;
use crate::registry::HookRegistry;
use crate::timer::{Timer, default_timer};

/// What a host sets once, when it makes the registry.
#[derive(Debug)]
pub(crate) struct RegistryConfig {
    pub(crate) timeout: Option<Duration>,
    pub(crate) depth: usize,
    #[cfg(feature = "tokio")]
    pub(crate) max_background: usize,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    /// Of a copy for a replay.
    #[cfg(feature = "replay")]
    pub(crate) replay: Option<Arc<dyn crate::registry::copy::ForReplay>>,
}

/// Builds a registry from its configuration.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::builder()
///     .timeout(Duration::from_secs(30))
///     .max_depth(8)
///     .build();
/// hooks.register(on::<Saved>().handler(|_: &SavedPayload| ()))?;
/// assert_eq!(hooks.handlers()[0].timeout, Some(Duration::from_secs(30)));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "call `build`"]
pub struct HookRegistryBuilder {
    config: RegistryConfig,
}

/// How deep fires may be nested unless the host says otherwise.
const DEFAULT_DEPTH: usize = 32;

/// How many void fires may be under way in the background, unless the host says
/// otherwise.
#[cfg(feature = "tokio")]
const DEFAULT_BACKGROUND: usize = 1_024;

impl HookRegistryBuilder {
    /// The default configuration.
    pub(super) fn new() -> Self {
        let config = RegistryConfig {
            timeout: None,
            depth: DEFAULT_DEPTH,
            #[cfg(feature = "tokio")]
            max_background: DEFAULT_BACKGROUND,
            timer: default_timer(),
            observers: Vec::new(),
            #[cfg(feature = "replay")]
            replay: None,
        };
        Self { config }
    }

    /// A time limit for every handler whose point and registration set none.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.config.timeout = Some(limit);
        self
    }

    /// How deep fires may be nested: 32 by default, 128 at most.
    ///
    /// Each level takes stack, in a debug build some 10 KiB, and 20 KiB in a
    /// flow: 128 of those do not fit the 2 MiB that a thread has by default.
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.config.depth = depth.clamp(1, MAX_DEPTH);
        self
    }

    /// How many void fires may be under way in the background before
    /// [`try_spawn_void`](crate::ScopedHooks::try_spawn_void) gives the payload back:
    /// 1,024 by default.
    ///
    /// The example of [`try_spawn_void`](crate::ScopedHooks::try_spawn_void) sets it.
    #[cfg(feature = "tokio")]
    pub fn max_background(mut self, fires: usize) -> Self {
        self.config.max_background = fires;
        self
    }

    /// Where time limits get their time from.
    ///
    /// The example of [`Timer`] gives it one.
    pub fn timer(mut self, timer: impl Timer) -> Self {
        self.config.timer = Arc::new(timer);
        self
    }

    /// Adds an observer, which is notified of everything that happens in the
    /// registry. Observers are notified in the order in which they were added.
    ///
    /// The example of [`ObservedFire`](crate::observe::ObservedFire) adds one.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.config.observers.push(Arc::new(observer));
        self
    }

    /// The registry.
    pub fn build(self) -> HookRegistry {
        HookRegistry::new_with(self.config)
    }
}
