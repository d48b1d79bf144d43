//! A crate that hands the hook registry on to its users, as a framework would.

pub use hooks_runtime as hooks;

hooks_runtime::facade!();
