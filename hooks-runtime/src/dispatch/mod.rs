//! How a fire runs its handlers.

pub(crate) mod call;
pub(crate) mod calling;
pub(crate) mod children;
pub(crate) mod concurrent;
pub(crate) mod fire;
pub(crate) mod ground;
mod relend;
pub(crate) mod sequential;
pub(crate) mod watch;
mod woken;
