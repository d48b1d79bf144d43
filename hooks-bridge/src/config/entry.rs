//! One handler of a configuration file, and what is to be said of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hooks_runtime::report::escaped;

use crate::config::Source;
use crate::config::script::Scripts;
use crate::dialect::Dialect;
use crate::facts::EventKind;
use crate::matcher::Matcher;
use crate::rules::EventRule;

/// One handler of a configuration file.
///
/// The example of [`Plan`](super::Plan) reads some.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Whose file it is in.
    pub dialect: Dialect,
    /// The event, as it is written there.
    pub event: String,
    /// The matcher, as it is written there.
    pub matcher: Option<String>,
    /// What runs, where the entry says so.
    pub handler: Option<Handler>,
    /// Where it is.
    pub place: Place,
    /// Where the same handler was found again; it runs once.
    pub also: Vec<Place>,
    /// Why it does not run.
    pub skipped: Option<String>,
    /// What is odd about it.
    pub suspicions: Vec<Suspicion>,
    /// Whether it does not run because of a mistake in its file.
    pub(crate) broken: bool,
    pub(crate) origin: Origin,
    pub(crate) compiled: Matcher,
    pub(crate) rule: Option<&'static EventRule>,
    /// The gate that its event is nearly the name of, where there is no such event.
    pub(crate) meant: Option<&'static EventRule>,
    pub(crate) scripts: Scripts,
}

/// What becomes of an entry.
///
/// The example of [`Plan`](super::Plan) asks for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// It runs, and nothing is odd about it.
    Loaded,
    /// Something is odd about it; whether it runs, [`Entry::runs`] says.
    Suspicious,
    /// It does not run, for a reason that is no mistake.
    Skipped,
}

/// Something odd about an entry.
///
/// The example of [`Plan`](super::Plan) has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// The line of what is odd.
    pub line: usize,
    /// What is odd, and what to do.
    pub text: String,
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, escaped(&self.text))
    }
}

/// A line of a file.
///
/// ```
/// use hooks_bridge::config::Place;
///
/// let place = Place { file: ".claude/settings.json".into(), line: 7 };
/// assert_eq!(place.to_string(), ".claude/settings.json:7");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", escaped(&self.file.display().to_string()), self.line)
    }
}

/// Whose file it is.
///
/// ```
/// use hooks_bridge::config::Origin;
///
/// // What comes with a project runs only where it was granted.
/// assert!(Origin::Project.needs_trust());
/// assert!(!Origin::User.needs_trust());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It comes with the project, and is no more trusted than that.
    Project,
    /// An operator manages it for the whole machine: no file turns it off.
    Managed,
    /// The user wrote it.
    User,
    /// A plugin in this folder brings it. The host has installed the plugin.
    Plugin(PathBuf),
}

impl Origin {
    /// Whether it runs only where it was granted.
    ///
    /// The example of [`Origin`] asks it.
    pub const fn needs_trust(&self) -> bool {
        matches!(self, Self::Project)
    }

    pub(crate) fn plugin(&self) -> Option<&Path> {
        match self {
            Self::Plugin(root) => Some(root),
            Self::Project | Self::User | Self::Managed => None,
        }
    }
}

/// What an entry runs, and how.
///
/// The example of [`Plan`](super::Plan) has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Handler {
    /// What runs.
    pub kind: HandlerKind,
    /// Its name, where the file gives it one.
    pub name: Option<String>,
    /// Its time limit, where the file sets one.
    pub timeout: Option<Duration>,
    /// Whether its failure blocks: `onFailure: "block"`, `failClosed: true`.
    pub fails_closed: bool,
    /// Whether it runs beside the agent, which does not wait for it.
    pub background: bool,
    /// Whether it runs once only.
    pub once: bool,
    /// The permission rule of `if`.
    pub rule: Option<String>,
    /// Variables that the entry sets.
    pub environment: Vec<(String, String)>,
    /// Where it runs, where the entry says so.
    pub directory: Option<String>,
    /// How often in a row it may have the agent go on, where the dialect has such a key;
    /// `u32::MAX` is without a limit.
    pub loop_limit: Option<u32>,
}

impl Handler {
    /// One of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self {
            kind: HandlerKind::Exec { program: String::new(), arguments: Vec::new() },
            name: None,
            timeout: None,
            fails_closed: false,
            background: false,
            once: false,
            rule: None,
            environment: Vec::new(),
            directory: None,
            loop_limit: None,
        }
    }
}

/// What runs.
///
/// The example of [`Plan`](super::Plan) has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HandlerKind {
    /// A line for a shell.
    Shell {
        /// The shell.
        shell: String,
        /// The line.
        line: String,
    },
    /// A program with arguments, without a shell.
    Exec {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// An address that is posted to.
    Http {
        /// The address.
        url: String,
        /// Headers, in which `$NAME` is a variable.
        headers: Vec<(String, String)>,
        /// The variables that headers may use.
        variables: Vec<String>,
    },
}

impl fmt::Display for HandlerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell { line, .. } => f.write_str(line),
            Self::Exec { program, arguments } => {
                f.write_str(program)?;
                arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
            }
            Self::Http { url, .. } => write!(f, "POST {url}"),
        }
    }
}

impl Entry {
    /// What becomes of it.
    ///
    /// The example of [`Plan`](super::Plan) asks it.
    pub fn state(&self) -> EntryState {
        match (&self.skipped, self.suspicions.is_empty()) {
            (_, false) => EntryState::Suspicious,
            (Some(_), true) => EntryState::Skipped,
            (None, true) => EntryState::Loaded,
        }
    }

    /// Whether it runs.
    ///
    /// The example of [`Plan`](super::Plan) asks it.
    pub fn runs(&self) -> bool {
        self.skipped.is_none()
    }

    /// What it runs, as text.
    ///
    /// The example of [`Plan`](super::Plan) has one.
    pub fn command(&self) -> String {
        self.handler.as_ref().map(|handler| handler.kind.to_string()).unwrap_or_default()
    }

    /// What its event is for, where the dialect has it: a host that has no point for such
    /// events never runs the entry.
    ///
    /// ```
    /// use hooks_bridge::config::{Plan, Origin, Source};
    /// use hooks_bridge::{Dialect, EventKind};
    ///
    /// let text = r#"{ "version": 1, "hooks": { "stop": [ { "command": "true" } ] } }"#;
    /// let source = Source::new(Dialect::Cursor, ".cursor/hooks.json", Origin::User);
    /// let plan = Plan::read_text(&source, text, "/srv/shop");
    /// assert_eq!(plan.entries[0].kind(), Some(EventKind::Stop));
    /// ```
    pub fn kind(&self) -> Option<EventKind> {
        self.rule.map(|rule| rule.kind)
    }

    /// How long it has.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hooks_bridge::config::{Plan, Origin, Source};
    /// use hooks_bridge::Dialect;
    ///
    /// let text = r#"{ "hooks": { "BeforeTool": [ { "hooks": [
    ///     { "type": "command", "command": "true", "timeout": 5000 } ] } ] } }"#;
    /// let source = Source::new(Dialect::Gemini, ".gemini/settings.json", Origin::User);
    /// let plan = Plan::read_text(&source, text, "/srv/shop");
    /// assert_eq!(plan.entries[0].timeout(), Duration::from_secs(5)); // it counts milliseconds
    /// ```
    pub fn timeout(&self) -> Duration {
        let of_event = self.rule.and_then(|rule| rule.timeout);
        let set = self.handler.as_ref().and_then(|handler| handler.timeout);
        set.or(of_event).unwrap_or(self.dialect.rules().timeout)
    }

    /// What a part of a file would have had that cannot be read: that of an event, or of all
    /// of them where there is none.
    pub(super) fn unread(source: &Source, event: Option<&str>, line: usize, why: String) -> Self {
        Self {
            dialect: source.dialect,
            event: event.unwrap_or_default().to_owned(),
            matcher: None,
            handler: None,
            place: Place { file: source.file.clone(), line },
            also: Vec::new(),
            skipped: Some(why),
            suspicions: Vec::new(),
            broken: true,
            origin: source.origin.clone(),
            compiled: Matcher::All,
            rule: event.and_then(|event| source.dialect.rules().event(event)),
            meant: None,
            scripts: Scripts::default(),
        }
    }

    /// Whether it stands for a whole file that cannot be read.
    pub(crate) fn is_file(&self) -> bool {
        self.handler.is_none() && self.event.is_empty()
    }

    /// It cannot run, because of a mistake on that line.
    pub(super) fn reject(&mut self, line: usize, why: String) {
        self.suspect(line, why.clone());
        self.broken |= self.skipped.is_none();
        self.skipped.get_or_insert(why);
    }

    /// It does not run, whatever is wrong with it.
    pub(super) fn turn_off(&mut self, why: String) {
        self.broken = false;
        self.skipped.get_or_insert(why);
    }

    pub(crate) fn suspect(&mut self, line: usize, text: impl Into<String>) {
        self.suspicions.push(Suspicion { line, text: text.into() });
    }
}
