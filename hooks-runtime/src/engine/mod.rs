//! How a fire runs its handlers. Not generic: compiled once, whatever points a
//! program has.

pub(crate) mod call;
pub(crate) mod containment;
pub(crate) mod fire;
pub(crate) mod nesting;
pub(crate) mod pending;
#[cfg(feature = "tokio")]
pub(crate) mod probe;
pub(crate) mod raw;
mod ready_set;
pub(crate) mod state;
mod walk;
