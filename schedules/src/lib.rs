//! The registry under model checkers.
//!
//! Empty in a normal build. `.ci/schedules` builds this package, and with it
//! the runtime, with `--cfg schedules`: the runtime's `sync` module then hands
//! every step that threads can see of each other to a checker.

#[cfg(schedules)]
mod explore;
#[cfg(schedules)]
mod log;

#[cfg(schedules)]
pub use explore::{delay, explore, schedules};
#[cfg(schedules)]
pub use log::Log;
