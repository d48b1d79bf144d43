//! Typed values that a scope carries to the handlers of its fires.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

use crate::engine::containment::drop_contained;
use crate::engine::raw::{Contained, HookContext};
use crate::flow::{FlowContext, FlowPoint};
use crate::plugin::scope::ScopedHooks;
use crate::point::SourceLocation;
use crate::readable;

/// One value of a scope, and those of the scopes around it.
pub(crate) struct Values {
    id: TypeId,
    name: &'static str,
    set_at: SourceLocation,
    value: Contained<Box<dyn Any + Send + Sync>>,
    outer: Option<Arc<Self>>,
}

impl Values {
    /// The values of a chain of scopes, innermost first.
    fn chain(innermost: Option<&Arc<Self>>) -> impl Iterator<Item = &Self> {
        std::iter::successors(innermost.map(|values| &**values), |values| values.outer.as_deref())
    }
}

impl fmt::Debug for Values {
    /// The types only: a value may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outer = Self::chain(self.outer.as_ref()).map(|values| values.name);
        f.debug_list().entry(&self.name).entries(outer).finish()
    }
}

/// A scope has a value of that type already; gives the other one back.
///
/// ```
/// # use hooks_runtime::{HookRegistry, Plugins};
/// # let hooks = HookRegistry::new();
/// struct Tenant(&'static str);
///
/// let hooks = hooks.scope(Plugins::All).with(Tenant("north"));
/// let duplicate = hooks.try_with(Tenant("south")).unwrap_err();
/// assert!(duplicate.set_at().file().ends_with(".rs"));
/// assert_eq!(duplicate.into_value().0, "south");
/// ```
pub struct DuplicateValue<T> {
    value: T,
    first: SourceLocation,
    second: SourceLocation,
}

impl<T> DuplicateValue<T> {
    /// The value that was not set.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Where the value was set that stays.
    pub fn set_at(&self) -> SourceLocation {
        self.first
    }
}

impl<T> fmt::Debug for DuplicateValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return readable::write(f, self, None);
        }
        f.debug_struct("DuplicateValue")
            .field("type", &type_name::<T>())
            .field("first", &self.first)
            .field("second", &self.second)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Display for DuplicateValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, .. } = self;
        write!(
            f,
            "this scope has a value of type `{}` already, set at {first}: handlers rely on it, so \
             it cannot be set again at {second}; give the other value a type of its own",
            type_name::<T>()
        )
    }
}

impl<T> std::error::Error for DuplicateValue<T> {}

impl ScopedHooks {
    /// These hooks with a value that the handlers of their fires can read, as
    /// [`HookContext::get`]: a request id, a tenant.
    ///
    /// Fires through [`HookContext::hooks`] inherit it, whichever handler makes them;
    /// no thread or task has it by itself. It cannot be changed or taken out again.
    ///
    /// ```
    /// # use hooks_runtime::{HookContext, HookRegistry, Plugins, hook_points, on};
    /// # hook_points! { pub void Opened { drawer: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// #[derive(Debug, PartialEq)]
    /// struct RequestId(u64);
    ///
    /// hooks.register(on::<Opened>().handler(|_: &OpenedPayload, cx: &HookContext| {
    ///     assert_eq!(cx.get::<RequestId>(), Some(&RequestId(7)));
    /// }))?;
    /// let request_hooks = hooks.scope(Plugins::All).with(RequestId(7));
    /// request_hooks.fire_void::<Opened>(&OpenedPayload { drawer: 1 }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    /// Where the scope, or one that it was made from, has a value of this type: what
    /// handlers were promised would change under them. A handler that does not know the
    /// scope it is called in asks with [`try_with`](Self::try_with).
    #[must_use = "the value is in the hooks that this returns"]
    #[track_caller]
    pub fn with<T: Send + Sync + 'static>(&self, value: T) -> Self {
        match self.try_with(value) {
            Ok(hooks) => hooks,
            Err(duplicate) => {
                let message = duplicate.to_string();
                // Not while the panic unwinds: its drop may panic as well.
                drop_contained("a value of a scope", duplicate.into_value());
                panic!("{message}")
            }
        }
    }

    /// As [`with`](Self::with), where a value of this type that is there already is an
    /// error, which gives the new one back.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Plugins};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let request = hooks.scope(Plugins::All).try_with(7_u64)?;
    /// assert_eq!(request.get::<u64>(), Some(&7));
    /// assert!(request.try_with(8_u64).is_err()); // handlers rely on the first
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn try_with<T: Send + Sync + 'static>(&self, value: T) -> Result<Self, DuplicateValue<T>> {
        let (id, set_at) = (TypeId::of::<T>(), SourceLocation::caller());
        if let Some(there) = self.values().find(|values| values.id == id) {
            return Err(DuplicateValue { value, first: there.set_at, second: set_at });
        }
        let (value, outer) = (Contained::new(Box::new(value) as _), self.values.clone());
        let values = Arc::new(Values { id, name: type_name::<T>(), set_at, value, outer });
        Ok(self.carrying(values))
    }

    /// The value of that type that these hooks carry, if there is one.
    ///
    /// The example of [`ScopedHooks::with`] has a handler that reads one.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        let values = self.values().find(|values| values.id == TypeId::of::<T>())?;
        values.value.get().downcast_ref()
    }

    fn values(&self) -> impl Iterator<Item = &Values> {
        Values::chain(self.values.as_ref())
    }
}

impl HookContext {
    /// The value of that type that the scope of this fire carries, if there is one; see
    /// [`ScopedHooks::with`].
    ///
    /// The example of [`ScopedHooks::with`] has a handler that reads one.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.hooks().get()
    }
}

impl<F: FlowPoint> FlowContext<F> {
    /// The value of that type that the scope of this run carries, if there is one; see
    /// [`ScopedHooks::with`]. What the handlers of this run share is in
    /// [`state`](Self::state).
    ///
    /// The example of [`ScopedHooks::with`] has a handler that reads one.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.hooks().get()
    }
}
