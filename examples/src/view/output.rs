//! Where the text goes: the standard output, by way of a pager where there is one.

use std::env;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command, Stdio};

/// What shows long texts where `PAGER` names nothing.
const PAGER: &str = "less";

/// What `less` is asked for where `LESS` asks for nothing: to end at once if all fits
/// on the screen, to pass colours on, and to leave the text there.
const LESS: &str = "FRX";

/// Where the text goes.
///
/// A reader that has seen enough closes its end. That is no error: what is written
/// afterwards is dropped.
#[derive(Debug)]
pub struct Output {
    pager: Option<Child>,
    /// Why nothing is written any more.
    closed: Option<io::Error>,
}

impl Output {
    /// The standard output.
    pub fn plain() -> Self {
        Self { pager: None, closed: None }
    }

    /// The pager that `variable`, the variable `PAGER`, names with its arguments, or
    /// `less`. One that cannot be started is done without.
    pub fn paged(variable: Option<&OsStr>) -> Self {
        let words = match variable.map(|it| it.to_str().and_then(shlex::split)) {
            None => vec![PAGER.to_owned()],
            Some(words) => words.unwrap_or_default(),
        };
        let pager = words.split_first().and_then(|(program, arguments)| {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::piped());
            if env::var_os("LESS").is_none() {
                command.env("LESS", LESS);
            }
            command.spawn().ok()
        });
        Self { pager, closed: None }
    }

    /// Whether a pager shows it.
    pub fn is_paged(&self) -> bool {
        self.pager.is_some()
    }

    /// Writes the text, unless an earlier one could not be written.
    pub fn write(&mut self, text: &str) {
        if self.closed.is_some() {
            return;
        }
        let pager = self.pager.as_mut().and_then(|pager| pager.stdin.as_mut());
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
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            pager.wait()?;
        }
        match self.closed {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}
