//! Runs one command: its input written and its outputs read at once, under one deadline,
//! in a process group that is gone when the run is.

mod environment;
mod failure;
mod group;
mod limits;
mod output;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

pub use environment::Environment;
pub use failure::{Cause, Failure};
pub use limits::{Descendants, Limits};

use group::Group;
use output::{TooLarge, feed, tail, text, whole};

/// How long a killed process may take to end: more only where the kernel holds it.
const KILLED: Duration = Duration::from_secs(1);

/// The longest limit; the clock ends somewhere behind it.
pub(crate) const LONGEST: Duration = Duration::from_hours(365 * 24);

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
    places: Arc<Semaphore>,
    /// For commands that nothing waits for, so that they hold up none that is waited for.
    beside: Arc<Semaphore>,
}

/// What is run.
///
/// The example of [`Runner`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program, found by `PATH` where it has no `/`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Program {
    /// A line for a shell, which is no login shell: profiles do not print into stdout.
    pub fn shell(shell: &str, line: &str) -> Self {
        Self { program: shell.into(), arguments: vec!["-c".into(), line.into()] }
    }
}

/// One run of a command.
///
/// The example of [`Runner`] has one.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// What is run.
    pub program: Program,
    /// Where.
    pub directory: Option<PathBuf>,
    /// All variables that it sees.
    pub environment: Vec<(OsString, OsString)>,
    /// What is written to its stdin, which is closed then.
    pub stdin: Vec<u8>,
    /// How long it has for everything.
    pub timeout: Duration,
    /// The most bytes of stdout that its dialect takes.
    pub stdout: usize,
}

impl Invocation {
    /// A run with no input, the environment of [`Environment::default`], 600 seconds and
    /// 1 MiB of stdout.
    ///
    /// The example of [`Runner`] begins with it.
    pub fn new(program: Program) -> Self {
        Self {
            program,
            directory: None,
            environment: Environment::default().variables([]),
            stdin: Vec::new(),
            timeout: Duration::from_mins(10),
            stdout: 1 << 20,
        }
    }
}

/// What a command that ended came to.
///
/// The example of [`Runner`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub exit: Exit,
    /// All it wrote to stdout.
    pub stdout: Vec<u8>,
    /// The end of what it wrote to stderr.
    pub stderr: String,
}

/// How a process ended.
///
/// The example of [`Runner`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match status.code() {
            Some(code) => Self::Code(code),
            None => Self::Signal(status.signal().unwrap_or(0)),
        }
    }
}

/// Why the wait for a command ended.
enum Stopped {
    Ended,
    TimedOut,
    TooLarge,
}

impl Runner {
    /// A runner within these limits.
    ///
    /// The example of [`Runner`] makes one.
    pub fn new(limits: Limits) -> Self {
        let [places, beside] = [(); 2].map(|()| Arc::new(Semaphore::new(limits.concurrent.max(1))));
        Self { limits, places, beside }
    }

    /// The same for commands that nothing waits for.
    pub(crate) fn beside(&self) -> Self {
        Self { places: Arc::clone(&self.beside), ..self.clone() }
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

    /// Runs a command to its end, or to its limits.
    ///
    /// Dropped, it kills the process group at once. It needs a tokio runtime with I/O and
    /// time.
    ///
    /// The example of [`Runner`] runs two.
    pub async fn run(&self, invocation: Invocation) -> Result<Ran, Failure> {
        let Invocation { program, directory, environment, stdin, timeout: limit, stdout } =
            invocation;
        let limit = self.limits.timeout.map_or(limit, |longest| limit.min(longest));
        // A limit beyond the clock is none that is ever met.
        let limit = limit.min(LONGEST);
        let deadline = Instant::now() + limit;
        // The semaphore is never closed.
        let Ok(_place) = timeout_at(deadline, self.places.acquire()).await else {
            return Err(Failure::new(Cause::Busy(limit)));
        };

        let mut command = Command::new(&program.program);
        command.args(&program.arguments).env_clear().envs(environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        if let Some(directory) = &directory {
            command.current_dir(directory);
        }
        let spawned = group::child_signals().and_then(|signals| Ok((command.spawn()?, signals)));
        let (child, signals) =
            spawned.map_err(|error| spawn_failure(&program, directory, &error))?;
        self.attend(Group::new(child, signals), &stdin, (limit, deadline), stdout).await
    }

    /// Attends to a command that was started.
    async fn attend(
        &self,
        mut group: Group,
        input: &[u8],
        (limit, deadline): (Duration, Instant),
        stdout: usize,
    ) -> Result<Ran, Failure> {
        let most = self.limits.stdout.unwrap_or(stdout);
        let (mut out, mut err) = (Vec::new(), VecDeque::new());
        let child = group.child();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let pump = async {
            let written = async {
                feed(pipes.0, input).await;
                Ok(())
            };
            let complained = async {
                tail(pipes.2, self.limits.stderr, &mut err).await;
                Ok(())
            };
            tokio::try_join!(written, whole(pipes.1, most, &mut out), complained).map(|_| ())
        };
        let (stopped, status) = self.watch(&mut group, pump, deadline).await;
        let stderr = text(err);
        let cause = match (stopped, status) {
            (Stopped::Ended, Ok(Ok(status))) => {
                return Ok(Ran { exit: status.into(), stdout: out, stderr });
            }
            (Stopped::Ended, Ok(Err(error))) => Cause::Spawn(error.to_string()),
            (Stopped::Ended | Stopped::TimedOut, _) => Cause::Timeout(limit),
            (Stopped::TooLarge, _) => Cause::TooLarge(most),
        };
        Err(Failure { cause, started: true, stderr })
    }

    /// Waits until the command has ended or must, and reaps it.
    async fn watch(
        &self,
        group: &mut Group,
        pump: impl Future<Output = Result<(), TooLarge>>,
        deadline: Instant,
    ) -> (Stopped, Result<io::Result<ExitStatus>, Elapsed>) {
        tokio::pin!(pump);
        let mut pumping = true;
        let mut stopped = loop {
            tokio::select! {
                () = group.ended() => break Stopped::Ended,
                pumped = &mut pump, if pumping => match pumped {
                    Ok(()) => pumping = false,
                    Err(TooLarge) => break Stopped::TooLarge,
                },
                () = sleep_until(deadline) => break Stopped::TimedOut,
            }
        };
        if matches!(stopped, Stopped::TimedOut) {
            group.signal(Signal::TERM);
            let grace = Instant::now() + self.limits.grace;
            loop {
                tokio::select! {
                    () = group.ended() => break,
                    // What is still written is read, so that it can end.
                    _ = &mut pump, if pumping => pumping = false,
                    () = sleep_until(grace) => break,
                }
            }
        }
        let ended = matches!(stopped, Stopped::Ended);
        if !ended || self.limits.descendants == Descendants::Kill {
            group.signal(Signal::KILL);
        }
        if ended && pumping {
            // A process that was left behind may hold the pipes for ever.
            if let Ok(Err(TooLarge)) = timeout(self.limits.drain, &mut pump).await {
                stopped = Stopped::TooLarge;
            }
        }
        (stopped, timeout(KILLED, group.reap()).await)
    }
}

/// The error is the same where the folder is not there, so that it would be looked for in
/// the wrong place.
fn spawn_failure(program: &Program, directory: Option<PathBuf>, error: &io::Error) -> Failure {
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        let what = format!("its folder `{}` does not exist", directory.display());
        return Failure::new(Cause::Spawn(what));
    }
    let program = program.program.to_string_lossy();
    Failure::new(Cause::Spawn(format!("`{program}`: {error}")))
}
