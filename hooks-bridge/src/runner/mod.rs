//! Runs one command: its input written and its outputs read at once, under one deadline,
//! in a process group that is gone when the run is.

mod attend;
mod environment;
mod failure;
mod group;
mod invocation;
mod limits;
mod mark;
mod output;
mod places;
mod stragglers;

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;

pub use environment::Environment;
pub use failure::{Cause, Failure};
pub use invocation::{Exit, Invocation, Program, Ran};
pub use limits::{Descendants, Limits};

pub(crate) use attend::KILLED;
pub(crate) use places::LONGEST;

use group::Group;
use mark::Mark;
#[cfg(feature = "http")]
pub(crate) use places::Place;
use places::Places;

/// Runs commands, a bounded number at once.
///
/// ```
/// use std::time::Duration;
/// use hooks_bridge::runner::{Cause, Exit, Invocation, Limits, Program, Runner};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let runner = Runner::new(Limits::default());
/// let greet = Invocation {
///     stdin: b"lamp".to_vec(),
///     ..Invocation::new(Program::shell("sh", "read -r item; echo \"one $item\""))
/// };
/// let ran = runner.run(greet).await.unwrap();
/// assert_eq!((ran.exit, ran.stdout.as_slice()), (Exit::Code(0), b"one lamp\n".as_slice()));
///
/// let hang = Invocation {
///     timeout: Duration::from_millis(50),
///     ..Invocation::new(Program::shell("sh", "sleep 60"))
/// };
/// let failure = runner.run(hang).await.unwrap_err();
/// assert_eq!(failure.cause, Cause::Timeout(Duration::from_millis(50)));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Runner {
    limits: Limits,
    places: Places,
}

impl Runner {
    /// The variable that every command has beside its environment, with another value in
    /// each run: by it the processes are found that left the group of their command.
    ///
    /// ```
    /// assert_eq!(hooks_bridge::runner::Runner::MARK, "HOOKS_BRIDGE_RUN");
    /// ```
    pub const MARK: &str = mark::NAME;

    /// A runner within these limits.
    ///
    /// The example of [`Runner`] makes one.
    pub fn new(limits: Limits) -> Self {
        let places = Places::new(&limits);
        Self { limits, places }
    }

    /// The same for commands that nothing waits for.
    pub(crate) fn beside(&self) -> Self {
        Self { places: self.places.beside(), limits: self.limits.clone() }
    }

    /// The same with another grace.
    pub(crate) fn with_grace(mut self, grace: Duration) -> Self {
        self.limits.grace = grace;
        self
    }

    /// The limits.
    ///
    /// ```
    /// use hooks_bridge::runner::{Limits, Runner};
    ///
    /// assert_eq!(Runner::new(Limits::default()).limits().concurrent, 16);
    /// ```
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Waits for a place among those that run, on the run's own time.
    #[cfg(feature = "http")]
    pub(crate) async fn place(&self, limit: Duration) -> Result<Place, Failure> {
        self.places.take(&self.limits, limit).await
    }

    /// Runs a command to its end, or to its limits.
    ///
    /// Dropped, it kills the process group and what left it at once. It needs a tokio
    /// runtime with I/O and time.
    ///
    /// The example of [`Runner`] runs two.
    pub async fn run(&self, invocation: Invocation) -> Result<Ran, Failure> {
        self.run_timed(invocation, &mut None, || Ok(())).await
    }

    /// The same, which says how long the process was there: without the wait for a place. Where
    /// it had to wait, it is asked `again` whether it may start.
    pub(crate) async fn run_timed(
        &self,
        invocation: Invocation,
        process: &mut Option<Duration>,
        again: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Ran, Failure> {
        let Invocation { program, directory, environment, stdin, timeout, stdout } = invocation;
        let place = self.places.take(&self.limits, timeout).await?;
        if place.waited {
            again()?;
        }
        let mark = Mark::new();
        let mut command = Command::new(&program.program);
        command.args(&program.arguments).env_clear().envs(environment).envs([mark.variable()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        if let Some(directory) = &directory {
            command.current_dir(directory);
        }
        let began = Instant::now();
        let spawned = group::child_signals().and_then(|signals| Ok((command.spawn()?, signals)));
        let (child, signals) =
            spawned.map_err(|error| spawn_failure(&program, directory, &error))?;
        let group = Group::new(child, signals, mark);
        let ran = attend::attend(&self.limits, group, &stdin, place, stdout).await;
        *process = Some(began.elapsed());
        ran
    }
}

/// The error is the same where the folder is not there, so that it would be looked for in
/// the wrong place.
fn spawn_failure(program: &Program, directory: Option<PathBuf>, error: &io::Error) -> Failure {
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let what = format!(
            "its folder `{}` does not exist: make it, or correct `cwd` in its file",
            directory.display()
        );
        return Failure::new(Cause::Spawn(what));
    }
    let program = program.program.to_string_lossy();
    Failure::new(Cause::Spawn(format!("`{program}`: {error}")))
}
