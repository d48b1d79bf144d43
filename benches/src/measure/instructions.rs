//! Counting instructions with callgrind: a figure that a busy machine does not
//! change.
//!
//! A row is a loop around one call, run by the hidden command `row NAME TIMES`
//! of this very program. It is run twice under callgrind, with two numbers of
//! rounds: start-up and set-up cancel out in the difference, and what is left
//! is divided by the rounds between them. Set-up that is not the same in each run
//! is not counted.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The function in which nothing is counted, as callgrind knows it.
const UNCOUNTED: &str = "hooks_benches::rows::uncounted*";

/// The two numbers of rounds.
const FEW: u32 = 1_000;
const MANY: u32 = 11_000;

/// Why there are no counts.
#[derive(Debug)]
pub(crate) enum NotCounted {
    /// valgrind is not installed.
    NoValgrind,
    /// valgrind is there, but this went wrong.
    Failed(String),
}

impl fmt::Display for NotCounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValgrind => {
                f.write_str("valgrind is not installed: instructions are not measured")
            }
            Self::Failed(what) => write!(f, "instructions are not measured: {what}"),
        }
    }
}

/// Counts rows, each once.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    known: HashMap<&'static str, f64>,
}

impl Counter {
    /// A counter, if callgrind can be had here.
    pub(crate) fn new() -> Result<Self, NotCounted> {
        let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
        match version {
            Ok(status) if status.success() => Ok(Self::default()),
            _ => Err(NotCounted::NoValgrind),
        }
    }

    /// Instructions of one round of `row`, its loop included.
    pub(crate) fn of(&mut self, row: &'static str) -> Result<f64, NotCounted> {
        if let Some(known) = self.known.get(row) {
            return Ok(*known);
        }
        let (few, many) = (total(row, FEW)?, total(row, MANY)?);
        let each = (many - few) / f64::from(MANY - FEW);
        self.known.insert(row, each);
        Ok(each)
    }

    /// Instructions of one round of `row`, less those of one round of `base`.
    pub(crate) fn over(
        &mut self,
        row: &'static str,
        base: &'static str,
    ) -> Result<f64, NotCounted> {
        Ok(self.of(row)? - self.of(base)?)
    }
}

/// All instructions of a run of this program with so many rounds of `row`.
fn total(row: &str, rounds: u32) -> Result<f64, NotCounted> {
    let failed = |what: &dyn fmt::Display| NotCounted::Failed(format!("row `{row}`: {what}"));
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let counts = std::env::temp_dir().join(format!("hooks-benches.{}", std::process::id()));
    let run = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        // Entering it ends the collection, leaving it begins it again.
        .arg(format!("--toggle-collect={UNCOUNTED}"))
        .arg("--collect-atstart=yes")
        .arg(program)
        .args(["row", row, &rounds.to_string()])
        .output()
        .map_err(|error| failed(&error))?;
    if !run.status.success() {
        return Err(failed(&String::from_utf8_lossy(&run.stderr).trim()));
    }
    let total = read_total(&counts).ok_or_else(|| failed(&"callgrind left no total"));
    // It is a temporary file: nothing hangs on its removal.
    let _ = std::fs::remove_file(&counts);
    total
}

/// The number on the line `summary:` of what callgrind wrote.
fn read_total(counts: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(counts).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("summary:"))?;
    line.trim().parse().ok()
}
