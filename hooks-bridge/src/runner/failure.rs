//! Why a command gave no answer.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hooks_runtime::report::escaped;

/// A command that failed: why, whether it may have run, and the end of its stderr.
///
/// ```
/// use hooks_bridge::runner::{Cause, Failure};
///
/// let failure = Failure::new(Cause::Exit(1)).with_stderr("jq: not found\n");
/// assert!(failure.started);
/// assert_eq!(failure.to_string(), "exit code 1; stderr ends: jq: not found");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub cause: Cause,
    /// Whether the command was started, so that it may have had effects.
    pub started: bool,
    /// The end of what it wrote to stderr.
    pub stderr: String,
}

/// Why a command failed.
///
/// The example of [`Failure`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The program could not be started.
    Spawn(String),
    /// The script that the command names does not exist.
    Missing(PathBuf),
    /// What its file says of it cannot be read.
    Unread(String),
    /// A file that the grant covers is no longer what was granted.
    Changed(PathBuf),
    /// A signal ended it.
    Signal(i32),
    /// It ended with a code that is no answer.
    Exit(i32),
    /// It had not ended within its time.
    Timeout(Duration),
    /// It had not ended within the part of its fire's time that was its own: the rest was
    /// to end it in.
    FireTimeout {
        /// How long it had.
        within: Duration,
        /// How long the fire waits: the limit of the point, or that of an operator.
        of: Duration,
    },
    /// It was not started, because its fire waits for no longer than this.
    NoTime(Duration),
    /// It was not started within its time, because others were running.
    Busy(Duration),
    /// Its fire was dropped, or did not wait for its end. It is killed.
    GivenUp,
    /// What it wrote to stdout is no answer.
    BadOutput(String),
    /// It wrote more to stdout than it may.
    TooLarge(usize),
    /// Asked about what later commands left, it wants other input again.
    Conflict(String),
    /// The address did not answer, or not with an answer.
    Http(String),
    /// The cassette that answers in its place has no answer, or could not record one.
    Cassette(String),
}

impl Failure {
    /// A failure with nothing on stderr.
    pub fn new(cause: Cause) -> Self {
        let started = !matches!(
            cause,
            Cause::Spawn(_)
                | Cause::Missing(_)
                | Cause::Unread(_)
                | Cause::Changed(_)
                | Cause::NoTime(_)
                | Cause::Busy(_)
                | Cause::Cassette(_)
        );
        Self { cause, started, stderr: String::new() }
    }

    /// The same with the end of stderr.
    #[must_use]
    pub fn with_stderr(mut self, stderr: impl Into<String>) -> Self {
        self.stderr = stderr.into();
        self
    }
}

impl Cause {
    /// Whether there was no answer in time.
    pub(crate) const fn is_timeout(&self) -> bool {
        matches!(
            self,
            Self::Timeout(_) | Self::FireTimeout { .. } | Self::NoTime(_) | Self::GivenUp
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn(error) => write!(f, "could not be started: {}", escaped(error)),
            Self::Missing(path) => {
                write!(f, "its script `{}` does not exist", escaped(&path.display().to_string()))
            }
            Self::Unread(what) => write!(f, "cannot be read: {}", escaped(what)),
            Self::Changed(path) => write!(
                f,
                "`{}` has changed since it was granted; grant it again to run it",
                escaped(&path.display().to_string())
            ),
            Self::Signal(signal) => write!(f, "ended by signal {signal}"),
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Timeout(limit) => write!(f, "no answer within {limit:?}"),
            Self::FireTimeout { within, of } => {
                write!(f, "no answer within {within:?}, of the {of:?} that its fire waits")
            }
            Self::NoTime(limit) => write!(
                f,
                "not started: its fire waits {limit:?}, in which no command can be run and ended"
            ),
            Self::GivenUp => {
                f.write_str("given up without an answer: its fire was dropped, or waited no longer")
            }
            Self::Busy(limit) => {
                write!(f, "not started within {limit:?}: too many commands were running")
            }
            Self::BadOutput(what) => write!(f, "stdout is no answer: {}", escaped(what)),
            Self::TooLarge(most) => write!(f, "wrote more than {most} bytes to stdout"),
            Self::Conflict(what) => write!(
                f,
                "asked again about the input that later commands left, it {}",
                escaped(what)
            ),
            Self::Http(what) | Self::Cassette(what) => write!(f, "{}", escaped(what)),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        let stderr = self.stderr.trim_end();
        if !stderr.is_empty() {
            // Its end says most, and a report is no place for all of it.
            let from = stderr.char_indices().rev().nth(199).map_or(0, |(at, _)| at);
            write!(f, "; stderr ends: {}", escaped(&stderr[from..]))?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
