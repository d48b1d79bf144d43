//! The time of day.

use std::fmt;
use std::time::SystemTime;

/// Where the host takes the time of day from.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now.
    fn now(&self) -> SystemTime;

    /// Now, in ISO 8601 as JavaScript writes it.
    fn timestamp(&self) -> String {
        humantime::format_rfc3339_millis(self.now()).to_string()
    }
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A clock that stands still, for scripts and tests.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(pub SystemTime);

impl Clock for FixedClock {
    fn now(&self) -> SystemTime {
        self.0
    }
}
