//! What a fire in a serving process knows of the call that it serves.

use std::time::Duration;

use tokio::time::Instant;

/// The call from another process that a fire serves: a value of its scope. What its handlers
/// fire in turn has it too, so that nested calls share its time.
///
/// ```
/// # use hooks_runtime::{HookContext, HookRegistry, hook_points, on};
/// use hooks_fleet::Incoming;
///
/// # hook_points! { pub void Printed { page: u32 } }
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Printed>().handler(|_: &PrintedPayload, cx: &HookContext| {
///     if let Some(incoming) = cx.get::<Incoming>() {
///         println!("{} attempt {}, {:?} left", incoming.call(), incoming.attempt(), incoming.remaining());
///     }
/// }))?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Incoming {
    pub(crate) call: String,
    pub(crate) attempt: u32,
    pub(crate) deadline: Instant,
    pub(crate) depth: u32,
}

impl Incoming {
    /// The id of the call. A handler of a durable point, or one that is declared idempotent,
    /// knows by it what it has seen before.
    pub fn call(&self) -> &str {
        &self.call
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How much time is left for the answer.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}
