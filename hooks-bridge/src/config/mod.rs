//! Reading configuration files: every entry becomes loaded, skipped with the reason, or
//! suspicious.

mod address;
mod discover;
mod draft;
mod duplicates;
mod entries;
mod entry;
mod json;
mod meant;
mod node;
mod read;
mod script;
mod suspicious;
mod switches;
mod toml;

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::dialect::Dialect;
use crate::files;
use crate::matcher::Room;
use duplicates::Duplicates;
use switches::Switches;

pub use entry::{Entry, EntryState, Handler, HandlerKind, Origin, Place, Suspicion};

pub(crate) use address::name as name_of_address;
pub(crate) use discover::of_project;
pub(crate) use draft::Draft;
pub(crate) use meant::key as nearly;
pub(crate) use suspicious::{nearest, no_event};

/// The largest file that is read.
pub(crate) const LARGEST: u64 = 4 << 20;

/// A file to be read, and as whose.
///
/// The example of [`Plan`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Whose file it is read as.
    pub dialect: Dialect,
    /// The file.
    pub file: PathBuf,
    /// Where it comes from.
    pub origin: Origin,
}

impl Source {
    /// A file of a dialect.
    ///
    /// The example of [`Plan`] has one.
    pub fn new(dialect: Dialect, file: impl Into<PathBuf>, origin: Origin) -> Self {
        Self { dialect, file: file.into(), origin }
    }
}

/// What configuration files come to: their entries, in order, and what is to be said of
/// the files.
///
/// ```
/// use hooks_bridge::config::{EntryState, Origin, Plan, Source};
/// use hooks_bridge::Dialect;
///
/// let text = r#"{ "hooks": {
///     "PreToolUs": [ { "matcher": "Bash", "hooks": [
///         { "type": "command", "command": "true" } ] } ] } }"#;
/// let source = Source::new(Dialect::ClaudeCode, ".claude/settings.json", Origin::User);
/// let plan = Plan::read_text(&source, text, "/srv/shop");
/// let entry = &plan.entries[0];
/// assert_eq!((entry.state(), entry.runs()), (EntryState::Suspicious, false));
/// assert_eq!((entry.suspicions[0].line, entry.command().as_str()), (2, "true"));
/// assert_eq!(
///     entry.suspicions[0].text,
///     "Claude Code has no event `PreToolUs`, so it never runs; did you mean `PreToolUse`?",
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The handlers, in the order in which they run.
    pub entries: Vec<Entry>,
    /// What is to be said beside that, such as keys that are not known.
    pub notices: Vec<Notice>,
    /// What could not be read, and why: a file, or a part of one, whose handlers do not run.
    /// What else is in the file is read.
    ///
    /// In [`Mode::Strict`](crate::Mode::Strict) a gate whose commands could have been there
    /// fails closed, where the file needs no grant or all is trusted; so does one of whose
    /// entries that is true, see [`Bridge`](crate::Bridge).
    pub errors: Vec<Notice>,
    /// What the errors leave out.
    pub(crate) unread: Vec<Entry>,
}

/// Something to be said of a line of a file.
///
/// ```
/// use hooks_bridge::config::{Origin, Plan, Source};
/// use hooks_bridge::Dialect;
///
/// let source = Source::new(Dialect::Codex, ".codex/hooks.json", Origin::User);
/// let plan = Plan::read_text(&source, "{ // no", "/srv/shop");
/// assert_eq!(
///     plan.errors[0].to_string(),
///     ".codex/hooks.json:1: comments are not allowed here: remove it",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where.
    pub place: Place,
    /// What.
    pub text: String,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, hooks_runtime::report::escaped(&self.text))
    }
}

impl Plan {
    /// Reads files, in this order. A file that cannot be read is among the
    /// [`errors`](Self::errors). A relative folder of a project is one in the current folder,
    /// as that is now.
    ///
    /// ```
    /// use hooks_bridge::config::Plan;
    ///
    /// let plan = Plan::read(&[], "/srv/shop");
    /// assert!(plan.entries.is_empty());
    /// ```
    pub fn read(sources: &[Source], project: impl AsRef<Path>) -> Self {
        Self::read_knowing(sources, project, &[])
    }

    /// The same for a host with tools of its own, which no product has: a matcher may name
    /// them, and is not suspicious for that.
    ///
    /// ```
    /// use hooks_bridge::config::{Origin, Plan, Source};
    /// use hooks_bridge::Dialect;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let project = folder.path();
    /// let text = r#"{ "hooks": { "PreToolUse": [ { "matcher": "Refund", "hooks": [
    ///     { "type": "command", "command": "true" } ] } ] } }"#;
    /// std::fs::write(project.join("settings.json"), text)?;
    /// let source = Source::new(Dialect::ClaudeCode, project.join("settings.json"), Origin::User);
    /// let sources = std::slice::from_ref(&source);
    /// assert!(Plan::read(sources, project).is_suspicious());
    /// assert!(!Plan::read_knowing(sources, project, &["Refund".to_owned()]).is_suspicious());
    /// # Ok::<_, std::io::Error>(())
    /// ```
    pub fn read_knowing(sources: &[Source], project: impl AsRef<Path>, tools: &[String]) -> Self {
        let project = crate::absolute(project.as_ref());
        let (mut plan, mut reading) = (Self::default(), Reading::new(&project, tools));
        for source in sources {
            match text_of(source) {
                Ok(text) => plan.add(source, &text, &mut reading),
                Err(why) => {
                    plan.error(source, 1, why);
                    // A file that is not there has no commands.
                    if let (Ok(false), Some(file)) =
                        (source.file.try_exists(), plan.unread.last_mut())
                    {
                        file.broken = false;
                    }
                }
            }
        }
        reading.switches.apply(&mut plan);
        plan
    }

    /// Reads one file whose text is at hand.
    ///
    /// The example of [`Plan`] does.
    pub fn read_text(source: &Source, text: &str, project: impl AsRef<Path>) -> Self {
        Self::read_text_knowing(source, text, project, &[])
    }

    /// The same for a host with tools of its own, as in [`read_knowing`](Self::read_knowing).
    ///
    /// ```
    /// use hooks_bridge::config::{Origin, Plan, Source};
    /// use hooks_bridge::Dialect;
    ///
    /// let text = r#"{ "hooks": { "PreToolUse": [ { "matcher": "Refund", "hooks": [
    ///     { "type": "command", "command": "true" } ] } ] } }"#;
    /// let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    /// let plan = Plan::read_text_knowing(&source, text, "/srv/shop", &["Refund".to_owned()]);
    /// assert!(!plan.is_suspicious());
    /// ```
    pub fn read_text_knowing(
        source: &Source,
        text: &str,
        project: impl AsRef<Path>,
        tools: &[String],
    ) -> Self {
        let project = crate::absolute(project.as_ref());
        let (mut plan, mut reading) = (Self::default(), Reading::new(&project, tools));
        plan.add(source, text, &mut reading);
        reading.switches.apply(&mut plan);
        plan
    }

    /// The files of a dialect: those of the machine that operators manage, the user's own
    /// where `home` is given, and those of a project, in the order in which the product has
    /// them.
    ///
    /// ```
    /// use hooks_bridge::config::Plan;
    /// use hooks_bridge::Dialect;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let project = folder.path();
    /// std::fs::create_dir(project.join(".cursor"))?;
    /// std::fs::write(project.join(".cursor/hooks.json"), r#"{ "version": 1, "hooks": {} }"#)?;
    /// let files = Plan::files(Dialect::Cursor, project, None);
    /// assert_eq!(files[0].file, project.join(".cursor/hooks.json"));
    /// # Ok::<_, std::io::Error>(())
    /// ```
    pub fn files(dialect: Dialect, project: &Path, home: Option<&Path>) -> Vec<Source> {
        discover::files(dialect, Path::new("/"), project, home)
    }

    /// Whether anything is odd: an entry, or a file that cannot be read.
    ///
    /// ```
    /// assert!(!hooks_bridge::config::Plan::default().is_suspicious());
    /// ```
    pub fn is_suspicious(&self) -> bool {
        !self.errors.is_empty() || self.entries.iter().any(|entry| !entry.suspicions.is_empty())
    }

    /// A whole file cannot be read.
    fn error(&mut self, source: &Source, line: usize, text: impl Into<String>) {
        let text = text.into();
        self.unread.push(Entry::unread(source, None, line, text.clone()));
        self.errors.push(notice(source, line, text));
    }

    /// Something of an event cannot be read.
    fn error_in(&mut self, source: &Source, event: &node::Member, line: usize, text: String) {
        self.unread.push(Entry::unread(source, Some(&event.key), line, text.clone()));
        self.errors.push(notice(source, line, text));
    }

    fn notice(&mut self, source: &Source, line: usize, text: impl Into<String>) {
        self.notices.push(notice(source, line, text));
    }
}

/// What is known across the files that are read together.
struct Reading<'r> {
    project: &'r Path,
    /// The host's own tools.
    tools: &'r [String],
    duplicates: Duplicates,
    switches: Switches,
    /// For the expressions of the project's own files, which take nothing from the others.
    untrusted: Room,
    trusted: Room,
}

impl<'r> Reading<'r> {
    fn new(project: &'r Path, tools: &'r [String]) -> Self {
        let (duplicates, switches) = (Duplicates::default(), Switches::default());
        let (untrusted, trusted) = (Room::default(), Room::default());
        Self { project, tools, duplicates, switches, untrusted, trusted }
    }
}

/// The text of a file, or why it has none.
fn text_of(source: &Source) -> Result<String, String> {
    let bytes = bytes_of(source).map_err(|error| format!("it cannot be read: {error}"))?;
    // Of TOML nothing is a document too.
    if bytes.trim_ascii().is_empty() && source.file.extension().is_none_or(|it| it != "toml") {
        return Err("it is empty: an object with `hooks` is expected".into());
    }
    let wrong = "it is not UTF-8: a text file with JSON or TOML is expected";
    String::from_utf8(bytes).map_err(|_| wrong.into())
}

/// The bytes of a file that a person could have written.
fn bytes_of(source: &Source) -> io::Result<Vec<u8>> {
    let (file, rules) = (&source.file, source.dialect.rules());
    let metadata = file.metadata().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other("there is no such file"),
        _ => error,
    })?;
    let is_roots = metadata.uid() == 0 && metadata.mode() & 0o022 == 0;
    if source.origin == Origin::Managed && rules.format.files.managed_by_root && !is_roots {
        let product = rules.product;
        let text = format!("{product} takes it only where it is root's, and no other may write it");
        return Err(io::Error::other(text));
    }
    files::read(file, LARGEST)
}

fn notice(source: &Source, line: usize, text: impl Into<String>) -> Notice {
    Notice { place: Place { file: source.file.clone(), line }, text: text.into() }
}
