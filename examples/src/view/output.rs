//! Where the text goes: the standard output, by way of a pager where there is one.

use std::env;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};

/// What shows long texts where `PAGER` is not set. `less` is asked to end at once if all
/// fits on the screen, to pass colours on, and to leave the text there: as an argument,
/// which counts whatever `LESS` is set to.
const PAGER: [&str; 2] = ["less", "-FRX"];

/// The same for a `less` that `PAGER` names, where `LESS` asks for nothing.
const LESS: &str = "FRX";

/// Where the text goes.
///
/// A reader that has seen enough closes its end. That is no error: what is written
/// afterwards is dropped. A pager that fails is no error either, but is reported on the
/// standard error, and the text goes to the standard output.
#[derive(Debug)]
pub struct Output {
    pager: Option<Pager>,
    /// Why nothing is written any more.
    closed: Option<io::Error>,
}

#[derive(Debug)]
struct Pager {
    command: String,
    child: Child,
    /// All that it was to show.
    text: String,
}

impl Pager {
    /// Starts the one that `variable` names; `Ok(None)` where it is set to nothing.
    fn start(variable: Option<&OsStr>) -> Result<Option<Self>, String> {
        let words = match variable {
            None => PAGER.map(str::to_owned).to_vec(),
            Some(variable) => variable
                .to_str()
                .and_then(shlex::split)
                .ok_or_else(|| format!("`PAGER` is no command: {}", variable.display()))?,
        };
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        if env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        let child = command
            .spawn()
            .map_err(|error| format!("the pager `{program}` cannot be started: {error}"))?;
        Ok(Some(Self { command: words.join(" "), child, text: String::new() }))
    }
}

impl Output {
    /// The standard output.
    pub fn plain() -> Self {
        Self { pager: None, closed: None }
    }

    /// The pager that `variable`, the variable `PAGER`, names with its arguments, or
    /// `less`. One that cannot be started is done without.
    pub fn paged(variable: Option<&OsStr>) -> Self {
        let pager = Pager::start(variable).unwrap_or_else(|why| {
            eprintln!("{why}");
            None
        });
        Self { pager, closed: None }
    }

    /// Whether a pager shows it.
    pub fn is_paged(&self) -> bool {
        self.pager.is_some()
    }

    /// Writes the text, unless an earlier one could not be written.
    pub fn write(&mut self, text: &str) {
        if let Some(pager) = &mut self.pager {
            pager.text.push_str(text);
        }
        if self.closed.is_some() {
            return;
        }
        let pager = self.pager.as_mut().and_then(|pager| pager.child.stdin.as_mut());
        let written = if let Some(pager) = pager {
            pager.write_all(text.as_bytes())
        } else {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        };
        self.closed = written.err();
    }

    /// Waits until the pager is left; says why something could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(Pager { command, mut child, text }) = self.pager.take() {
            drop(child.stdin.take());
            let status = child.wait()?;
            if !status.success() {
                eprintln!("the pager `{command}` has failed: {status}");
            }
            // Whether a pager that fails has shown anything is not known. One that a
            // signal has ended, as the key that interrupts does, was running.
            if status.code().is_some_and(|code| code != 0) {
                self.closed = None;
                self.write(&text);
            }
        }
        match self.closed {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}
