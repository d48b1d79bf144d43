//! A handler that the linker brings only to programs that name this crate.

use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    /// A letter arrives.
    pub void Arrived(u32);
}

/// Stamps it.
#[hook_handler(Arrived)]
pub fn stamp(_: &u32) {}
