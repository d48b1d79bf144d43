//! How a fire runs its handlers.

pub(crate) mod call;
pub(crate) mod concurrent;
pub(crate) mod fire;
mod relend;
pub(crate) mod sequential;
mod tally;
mod woken;
