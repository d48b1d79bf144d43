//! What is run, and what it came to.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use super::environment::Environment;

/// What is run.
///
/// The example of [`Runner`](super::Runner) has one.
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
/// The example of [`Runner`](super::Runner) has one.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// What is run.
    pub program: Program,
    /// Where.
    pub directory: Option<PathBuf>,
    /// All variables that it sees, beside [`Runner::MARK`](super::Runner::MARK).
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
    /// The example of [`Runner`](super::Runner) begins with it.
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
/// The example of [`Runner`](super::Runner) has one.
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
/// The example of [`Runner`](super::Runner) has one.
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
