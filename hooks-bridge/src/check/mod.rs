//! What configuration files would do, in each dialect, and what would surprise.

mod checker;
mod consequences;
mod differences;
mod display;
mod readers;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::{Entry, EntryState, Notice, Suspicion};

pub use checker::Checker;
pub use consequences::Consequences;

/// What configuration files would do; it prints as a table, and serialises.
///
/// ```
/// use hooks_bridge::check::Check;
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// std::fs::create_dir(project.join(".claude"))?;
/// let text = r#"{ "hooks": { "PreToolUse": [ { "hooks": [
///     { "type": "command", "command": "python3 gone.py" } ] } ] } }"#;
/// std::fs::write(project.join(".claude/settings.json"), text)?;
///
/// let check = Check::folder(project);
/// assert!(check.is_suspicious());
/// let entry = &check.files[0].entries[0];
/// assert_eq!((entry.line, entry.state), (2, "suspicious"));
/// // The same command that fails is a wall in one product and nothing in another.
/// let differs = "exit code 1 denies in Copilot CLI; is ignored in Claude Code, Codex CLI, Gemini CLI, Cursor";
/// assert!(check.files[0].differences.iter().any(|text| text.ends_with(differs)));
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct Check {
    /// The files, in order.
    pub files: Vec<CheckedFile>,
}

/// What one file would do.
///
/// The example of [`Check`] has one.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedFile {
    /// The file.
    pub file: PathBuf,
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// Whether it is read as that for want of better: neither its place nor an event in it
    /// tells a dialect.
    pub guessed: bool,
    /// The dialects whose products read it.
    pub read_by: Vec<&'static str>,
    /// Why nothing of it runs, where that is so.
    pub errors: Vec<CheckedLine>,
    /// Its handlers.
    pub entries: Vec<CheckedEntry>,
    /// What is to be said beside that, such as keys that are not known.
    pub notices: Vec<CheckedLine>,
    /// What differs between the products in a way that would surprise.
    pub differences: Vec<String>,
}

/// A line of a file, and what is to be said of it.
///
/// The example of [`Check`] has a file without any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckedLine {
    /// The line, from 1.
    pub line: usize,
    /// What.
    pub text: String,
}

/// What one handler would do.
///
/// The example of [`Check`] has one.
#[derive(Clone, Debug, Serialize)]
pub struct CheckedEntry {
    /// Its line.
    pub line: usize,
    /// Its event.
    pub event: String,
    /// Its matcher.
    pub matcher: Option<String>,
    /// What it runs.
    pub command: String,
    /// `loaded`, `suspicious` or `skipped`.
    pub state: &'static str,
    /// Why it does not run, where it does not.
    pub skipped: Option<String>,
    /// What is odd about it.
    pub suspicions: Vec<CheckedLine>,
    /// Where the same handler is found again.
    pub also: Vec<String>,
    /// What comes of it in each dialect that has such an event.
    pub dialects: Vec<Consequences>,
}

impl Check {
    /// Checks all files of all dialects in a project.
    ///
    /// The example of [`Check`] does.
    pub fn folder(project: &Path) -> Self {
        Checker::default().folder(project)
    }

    /// Checks these files, each as the dialect that its name or its content says.
    ///
    /// ```
    /// use hooks_bridge::check::Check;
    ///
    /// let check = Check::files(&["/no/such/hooks.json".into()], "/".as_ref());
    /// assert!(check.files[0].errors[0].text.starts_with("it cannot be read"));
    /// ```
    pub fn files(files: &[PathBuf], project: &Path) -> Self {
        Checker::default().files(files, project)
    }

    /// Whether anything is odd.
    ///
    /// The example of [`Check`] asks it.
    pub fn is_suspicious(&self) -> bool {
        self.files.iter().any(|file| {
            !file.errors.is_empty() || file.entries.iter().any(|entry| !entry.suspicions.is_empty())
        })
    }
}

impl From<&Notice> for CheckedLine {
    fn from(notice: &Notice) -> Self {
        Self { line: notice.place.line, text: notice.text.clone() }
    }
}

impl From<&Suspicion> for CheckedLine {
    fn from(suspicion: &Suspicion) -> Self {
        Self { line: suspicion.line, text: suspicion.text.clone() }
    }
}

impl From<&Entry> for CheckedEntry {
    fn from(entry: &Entry) -> Self {
        Self {
            line: entry.place.line,
            event: entry.event.clone(),
            matcher: entry.matcher.clone(),
            command: entry.command(),
            state: match entry.state() {
                EntryState::Loaded => "loaded",
                EntryState::Suspicious => "suspicious",
                EntryState::Skipped => "skipped",
            },
            skipped: entry.skipped.clone(),
            suspicions: entry.suspicions.iter().map(CheckedLine::from).collect(),
            also: entry.also.iter().map(ToString::to_string).collect(),
            dialects: consequences::of(entry),
        }
    }
}
