//! A handler with its options, ready to be registered.

use std::fmt;
use std::sync::Arc;

use crate::engine::raw::ErasedHandler;
use crate::error::RegisterError;
use crate::escape::excerpt;
use crate::handler::options::{Named, Options};
use crate::plugin::id::PluginId;
use crate::plugin::tracker::CallTracker;
use crate::point::PointDescriptor;

/// A handler with its options, ready for [`HookRegistry::register`].
///
/// Made by [`on`](crate::on), or by [`handlers!`](crate::handlers) from annotated
/// functions.
///
/// [`HookRegistry::register`]: crate::HookRegistry::register
///
/// ```
/// # use hooks_runtime::{HookRegistry, Registration, hook_points, on};
/// # hook_points! { pub void Moved { steps: u32 } }
/// // A plugin without state may be a function that lists its handlers.
/// fn tracker() -> Vec<Registration> {
///     let tracker = || on::<Moved>().plugin("tracker");
///     vec![
///         tracker().name("count").handler(|_: &MovedPayload| ()),
///         tracker().name("draw").handler(|_: &MovedPayload| ()),
///     ]
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// assert_eq!(hooks.register(tracker())?.len(), 2);
/// # Ok(()) }
/// ```
#[must_use = "give it to `register`"]
pub struct Registration {
    pub(crate) point: &'static PointDescriptor,
    pub(crate) options: Box<Options>,
    pub(crate) handler: ErasedHandler,
}

impl Registration {
    /// This registration for a plugin, unless it names another owner.
    pub(crate) fn bound_to(self, plugin: &PluginId) -> Result<Self, RegisterError> {
        match &self.options.plugin {
            Some(other) if **other != *plugin.as_str() => Err(RegisterError::WrongOwner {
                // Neither was checked yet, so neither is printed verbatim.
                handler: match &self.options.name {
                    Named::Given(name) => excerpt(name),
                    Named::ByPlace => self.options.location.to_string(),
                },
                owner: excerpt(other),
                bound: plugin.to_string(),
            }),
            _ => Ok(self.owned_by(plugin.as_str())),
        }
    }

    /// This registration, waited for together with others.
    pub(crate) fn among(mut self, tracker: &Arc<CallTracker>) -> Self {
        self.options.tracker = Some(Arc::clone(tracker));
        self
    }

    /// This registration, owned by a plugin.
    pub(crate) fn owned_by(mut self, id: &str) -> Self {
        self.options.plugin = Some(id.into());
        self
    }
}

/// What [`HookRegistry::register`](crate::HookRegistry::register) takes: one
/// registration, or any iterable of them.
///
/// The example of [`Registration`] has a list of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a registration, nor a group of them",
    label = "expected what `handlers![…]` or `on::<Point>().handler(…)` makes",
    note = "list functions with `#[hook_handler(Point)]` in `handlers![…]`; for a plain function or \
            closure write `on::<Point>().handler(f)`, for a guard `on::<Point>().guard(f)`, or \
            call `register_void::<Point>(f)` and its like"
)]
pub trait IntoRegistrations {
    #[doc(hidden)]
    fn into_registrations(self) -> Vec<Registration>;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item = Registration>> IntoRegistrations for I {
    fn into_registrations(self) -> Vec<Registration> {
        self.into_iter().collect()
    }
}

/// One registration is a group of one.
impl IntoIterator for Registration {
    type Item = Self;
    type IntoIter = std::iter::Once<Self>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("point", &self.point.name())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
