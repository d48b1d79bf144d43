//! Typed state that the handlers of one run share.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

use crate::engine::containment::drop_contained;

/// At most one value of each type, shared by the handlers of one run of a flow.
/// No other run sees it, and it cannot be taken out of its run: what a plugin put
/// into it has been dropped when the wait for the plugin's removal ends.
///
/// ```
/// # use hooks_runtime::{BeforeExecute, Finally, FlowContext, HookRegistry, hook_points, on};
/// # hook_points! { pub flow Upload(Vec<u8>) -> usize; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// struct Parts(u32);
///
/// hooks.register(on::<BeforeExecute<Upload>>().handler(|flow: &mut FlowContext<Upload>| {
///     flow.state_mut().insert(Parts(1));
///     flow.state_mut().get_mut::<Parts>().unwrap().0 += 1;
/// }))?;
/// hooks.register(on::<Finally<Upload>>().handler(|flow: &mut FlowContext<Upload>| {
///     assert_eq!(flow.state().get::<Parts>().unwrap().0, 2);
///     assert!(flow.state_mut().remove::<Parts>().is_some());
/// }))?;
/// hooks.flow::<Upload>().run(vec![1], async |bytes| Ok::<_, std::io::Error>(bytes.len())).await?;
/// # Ok(()) }
/// ```
pub struct State {
    values: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    /// How often handlers may have changed it.
    #[cfg(feature = "record")]
    pub(super) changes: u64,
    /// In a replay: what became of it, where a handler is not called that had changed it.
    #[cfg(feature = "replay")]
    pub(super) lost: super::recorded::Lost,
}

impl State {
    // Not `Default`, by which a handler could take another's values along.
    pub(super) fn new() -> Self {
        Self {
            values: HashMap::new(),
            #[cfg(feature = "record")]
            changes: 0,
            #[cfg(feature = "replay")]
            lost: super::recorded::Lost::default(),
        }
    }

    fn values(&self) -> &HashMap<TypeId, Box<dyn Any + Send + Sync>> {
        #[cfg(feature = "replay")]
        self.lost.ask();
        &self.values
    }

    fn values_mut(&mut self) -> &mut HashMap<TypeId, Box<dyn Any + Send + Sync>> {
        #[cfg(feature = "record")]
        {
            self.changes += 1;
        }
        #[cfg(feature = "replay")]
        self.lost.ask();
        &mut self.values
    }

    /// Inserts a value; returns the one of its type that it replaces.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> Option<T> {
        self.values_mut().insert(TypeId::of::<T>(), Box::new(value)).and_then(unboxed)
    }

    /// The value of that type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.values().get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// The value of that type, to change.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.values_mut().get_mut(&TypeId::of::<T>())?.downcast_mut()
    }

    /// Takes the value of that type out.
    pub fn remove<T: 'static>(&mut self) -> Option<T> {
        self.values_mut().remove(&TypeId::of::<T>()).and_then(unboxed)
    }
}

fn unboxed<T: 'static>(value: Box<dyn Any + Send + Sync>) -> Option<T> {
    value.downcast().ok().map(|value| *value)
}

/// What the handlers put into it is their code, so that the drop of each may
/// panic.
impl Drop for State {
    fn drop(&mut self) {
        for (_, value) in self.values.drain() {
            drop_contained("the state of a flow", value);
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("values", &self.values.len()).finish_non_exhaustive()
    }
}
