//! What a handler can do wrong.

use std::fmt;
use std::time::Duration;

/// The limit of a handler that is to break it.
pub const LIMIT: Duration = Duration::from_millis(2);

/// What a handler does wrong, or what is done to its fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Error,
    ErrorWhoseTextPanics,
    ErrorWhoseDropPanics,
    PanicStr,
    PanicString,
    PanicOther,
    PanicWhoseDropPanics,
    PanicBeforeTheFuture,
    PanicAfterAWait,
    PanicInTheDrop,
    NeverEndsWithALimit,
    NeverEndsAndPanicsInTheDrop,
    NeverEnds,
    Blocks,
    BlocksAndPanicsInTheErrorsDrop,
    HugeFuture,
    Registers,
    UnregistersItself,
    UnregistersTheNext,
    FiresAnother,
    FiresItself,
    UnloadsItself,
    RuntimeShutDown,
    RegistryDropped,
    FireDropped,
    LogPanics,
    ObserverPanics,
    LogAndObserverPanic,
}

impl Fault {
    pub const ALL: [Self; 28] = [
        Self::Error,
        Self::ErrorWhoseTextPanics,
        Self::ErrorWhoseDropPanics,
        Self::PanicStr,
        Self::PanicString,
        Self::PanicOther,
        Self::PanicWhoseDropPanics,
        Self::PanicBeforeTheFuture,
        Self::PanicAfterAWait,
        Self::PanicInTheDrop,
        Self::NeverEndsWithALimit,
        Self::NeverEndsAndPanicsInTheDrop,
        Self::NeverEnds,
        Self::Blocks,
        Self::BlocksAndPanicsInTheErrorsDrop,
        Self::HugeFuture,
        Self::Registers,
        Self::UnregistersItself,
        Self::UnregistersTheNext,
        Self::FiresAnother,
        Self::FiresItself,
        Self::UnloadsItself,
        Self::RuntimeShutDown,
        Self::RegistryDropped,
        Self::FireDropped,
        Self::LogPanics,
        Self::ObserverPanics,
        Self::LogAndObserverPanic,
    ];
}

impl Fault {
    /// The limit that a handler with this fault breaks.
    pub fn limit(self) -> Option<Duration> {
        match self {
            Self::NeverEndsWithALimit
            | Self::NeverEndsAndPanicsInTheDrop
            | Self::Blocks
            | Self::BlocksAndPanicsInTheErrorsDrop => Some(LIMIT),
            Self::RuntimeShutDown => Some(Duration::from_secs(60)),
            _ => None,
        }
    }
}

impl Fault {
    pub fn log_panics(self) -> bool {
        matches!(self, Self::LogPanics | Self::LogAndObserverPanic)
    }

    pub fn observer_panics(self) -> bool {
        matches!(self, Self::ObserverPanics | Self::LogAndObserverPanic)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "returns an error",
            Self::ErrorWhoseTextPanics => "returns an error that panics when it is printed",
            Self::ErrorWhoseDropPanics => "returns an error that panics when it is dropped",
            Self::PanicStr => "panics with a &str",
            Self::PanicString => "panics with a String",
            Self::PanicOther => "panics with another type",
            Self::PanicWhoseDropPanics => "panics with what panics when it is dropped",
            Self::PanicBeforeTheFuture => "panics before there is a future",
            Self::PanicAfterAWait => "panics after it has waited",
            Self::PanicInTheDrop => "panics when its finished future is dropped",
            Self::NeverEndsWithALimit => "never ends, and has a limit",
            Self::NeverEndsAndPanicsInTheDrop => {
                "never ends, has a limit, and panics when it is dropped for it"
            }
            Self::NeverEnds => "never ends; the fire is dropped after three polls",
            Self::Blocks => "blocks its thread past its limit",
            Self::BlocksAndPanicsInTheErrorsDrop => {
                "blocks past its limit, then returns an error that panics when it is dropped"
            }
            Self::HugeFuture => "has a future of 64 KiB, and waits",
            Self::Registers => "registers another at its own point",
            Self::UnregistersItself => "unregisters itself",
            Self::UnregistersTheNext => "unregisters the next",
            Self::FiresAnother => "fires another point, where a handler panics",
            Self::FiresItself => "fires its own point, again and again",
            Self::UnloadsItself => "unloads its own plugin, and waits for that",
            Self::RuntimeShutDown => "the runtime is shut down while it waits with a limit",
            Self::RegistryDropped => "the registry is dropped while it waits",
            Self::FireDropped => "the fire is dropped at every point where it waits",
            Self::LogPanics => "waits and fails; the log subscriber panics",
            Self::ObserverPanics => "waits and fails; the observer panics",
            Self::LogAndObserverPanic => {
                "waits and fails; the log subscriber and the observer panic"
            }
        })
    }
}
