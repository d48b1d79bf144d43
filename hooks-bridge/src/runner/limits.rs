//! What a run may take.

use std::time::Duration;

/// What becomes of the processes that a command leaves behind.
///
/// All in its process group are killed; on Linux also those that left it (`setsid`, a double
/// fork), found by [`Runner::MARK`](super::Runner::MARK) in their environment. A process that
/// starts with an empty environment or overwrites it, and one of another user, is not found.
///
/// The example of [`Limits`] chooses one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descendants {
    /// They are killed when the command ends: what a hook began ends with it.
    #[default]
    Kill,
    /// They go on where the command ended by itself. After a time limit, too much output
    /// or a dropped fire they are killed all the same.
    Leave,
}

/// What the commands of one [`Runner`](super::Runner) may take.
///
/// ```
/// use std::time::Duration;
/// use hooks_bridge::runner::{Descendants, Limits};
///
/// let limits = Limits {
///     concurrent: 4,
///     grace: Duration::from_millis(200),
///     descendants: Descendants::Leave,
///     ..Limits::default()
/// };
/// assert_eq!(limits.stdout, None); // as much as the dialect allows
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many commands run at once; further ones wait, on their own time. As many again
    /// may run beside the agent, which does not wait for them.
    pub concurrent: usize,
    /// How long a command has between TERM and KILL.
    pub grace: Duration,
    /// How long the outputs are read after the command has ended, where a process that
    /// it left behind holds them open.
    pub drain: Duration,
    /// The most bytes of stdout; without it, as many as the dialect allows.
    pub stdout: Option<usize>,
    /// How many bytes of the end of stderr are kept.
    pub stderr: usize,
    /// What becomes of processes that a command leaves behind.
    pub descendants: Descendants,
    /// The longest time for any command, whatever its configuration says.
    pub timeout: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrent: 16,
            grace: Duration::from_millis(500),
            drain: Duration::from_millis(100),
            stdout: None,
            stderr: 8 * 1024,
            descendants: Descendants::Kill,
            timeout: None,
        }
    }
}
