//! What would run, from where, with which rights, and the line that would trust it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hooks_runtime::report::escaped;

use crate::bridge::Bridge;
use crate::config::{Entry, HandlerKind, Place};
use crate::dialect::Dialect;
use crate::facts::{Facts, Surroundings};
use crate::runner::Runner;
use crate::trust::{Grants, needs_grant};

/// What would run, entry by entry; it prints as text for an operator.
///
/// ```
/// use hooks_bridge::config::{Origin, Plan, Source};
/// use hooks_bridge::{Bridge, Dialect};
///
/// let text = r#"{ "version": 1, "hooks": { "stop": [ { "command": "true" } ] } }"#;
/// let source = Source::new(Dialect::Cursor, ".cursor/hooks.json", Origin::Project);
/// let bridge = Bridge::new("/srv/shop", Plan::read_text(&source, text, "/srv/shop"));
/// let preview = bridge.preview();
/// let entry = &preview.entries[0];
/// assert_eq!((entry.event.as_str(), entry.command.as_str(), entry.trusted), ("stop", "true", false));
/// assert!(entry.grant.as_ref().unwrap().ends_with(" cursor stop true"));
/// assert!(preview.to_string().starts_with("cursor stop, .cursor/hooks.json:1\n"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    /// The entries, in the order in which they run.
    pub entries: Vec<PreviewEntry>,
}

/// What one entry would run.
///
/// The example of [`Preview`] has one.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewEntry {
    /// Where it was found, first and again.
    pub places: Vec<Place>,
    /// Its dialect.
    pub dialect: Dialect,
    /// Its event.
    pub event: String,
    /// Its matcher.
    pub matcher: Option<String>,
    /// What it runs.
    pub command: String,
    /// What runs that: a shell, the program itself, or a request.
    pub by: String,
    /// Where it runs.
    pub directory: PathBuf,
    /// How long it may.
    pub timeout: Duration,
    /// The variables that it sees.
    pub variables: Vec<String>,
    /// The files whose bytes a grant covers.
    pub covers: Vec<PathBuf>,
    /// Whether what it runs is worked out when it runs, so that a grant covers its text
    /// and those files only.
    pub dynamic: bool,
    /// Why it does not run, whatever is trusted.
    pub skipped: Option<String>,
    /// Whether it needs no grant, or has one.
    pub trusted: bool,
    /// Whether there is a grant for the command, which is not of what is there now: other
    /// bytes, or another project.
    pub changed: bool,
    /// The line of the grants that would trust it as it is now.
    pub grant: Option<String>,
}

impl Bridge {
    /// What would run.
    ///
    /// The example of [`Preview`] prints one.
    pub fn preview(&self) -> Preview {
        Preview { entries: self.entries().map(|entry| self.preview_of(entry)).collect() }
    }

    fn preview_of(&self, entry: &Entry) -> PreviewEntry {
        let project = &self.shared.project;
        let around = Surroundings { project, plugin: entry.origin.plugin() };
        let of_dialect = (entry.dialect.rules().environment)(&Facts::default(), &around);
        let of_host = self.shared.environment.variables([]);
        let of_host = of_host.iter().map(|(name, _)| name.to_string_lossy().into_owned());
        let handler = entry.handler.as_ref();
        let of_entry = handler.map(|handler| handler.environment.as_slice()).unwrap_or_default();
        let directory = handler.and_then(|handler| handler.directory.as_deref());
        let added = of_dialect.iter().map(|(name, _)| (*name).to_owned());
        let mark = Runner::MARK.to_owned();
        let set = of_entry.iter().map(|(name, _)| name.clone());
        let trusted = self.shared.trust.covers(entry, project);
        let grant =
            needs_grant(entry, project).then(|| Grants::line(entry, project).ok()).flatten();
        PreviewEntry {
            places: std::iter::once(&entry.place).chain(&entry.also).cloned().collect(),
            dialect: entry.dialect,
            event: entry.event.clone(),
            matcher: entry.matcher.clone(),
            command: entry.command(),
            by: match handler.map(|handler| &handler.kind) {
                Some(HandlerKind::Shell { shell, .. }) => format!("{shell} -c"),
                Some(HandlerKind::Exec { .. }) => "the program itself".into(),
                Some(HandlerKind::Http { .. }) => "a request".into(),
                None => "nothing".into(),
            },
            directory: directory.map_or_else(|| project.clone(), |it| project.join(it)),
            timeout: entry.timeout(),
            variables: match handler.map(|handler| &handler.kind) {
                // A request shows those that its headers may have.
                Some(HandlerKind::Http { variables, .. }) => variables.clone(),
                _ => of_host.chain(added).chain(set).chain([mark]).collect(),
            },
            covers: entry.scripts.files.clone(),
            dynamic: entry.scripts.dynamic,
            skipped: entry.skipped.clone(),
            trusted,
            changed: !trusted && self.shared.trust.names(entry),
            grant: grant.filter(|_| !trusted && entry.skipped.is_none()),
        }
    }
}

impl fmt::Display for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() {
            return f.write_str("nothing would run\n");
        }
        self.entries.iter().try_for_each(|entry| write!(f, "{entry}"))
    }
}

impl fmt::Display for PreviewEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |path: &PathBuf| escaped(&path.display().to_string()).to_string();
        write!(f, "{} {}", self.dialect, escaped(&self.event))?;
        if let Some(matcher) = self.matcher.as_deref().filter(|matcher| !matcher.is_empty()) {
            write!(f, " [{}]", escaped(matcher))?;
        }
        let places: Vec<_> = self.places.iter().map(ToString::to_string).collect();
        writeln!(f, ", {}", places.join(" and "))?;
        let nothing = if self.command.is_empty() { "(nothing that can be run here)" } else { "" };
        writeln!(f, "  runs     {}{nothing}", escaped(&self.command))?;
        if let Some(reason) = &self.skipped {
            return writeln!(f, "  skipped  {}", escaped(reason));
        }
        let (directory, limit) = (path(&self.directory), self.timeout);
        writeln!(f, "  as       {}, in {directory}, up to {limit:?}", self.by)?;
        if !self.variables.is_empty() {
            writeln!(f, "  sees     {}", escaped(&self.variables.join(" ")))?;
        }
        for file in &self.covers {
            writeln!(f, "  covers   {}", path(file))?;
        }
        if self.dynamic {
            let only =
                if self.covers.is_empty() { "its text only" } else { "that and its text only" };
            writeln!(f, "  covers   {only}: what it runs is worked out when it runs")?;
        } else if self.covers.is_empty() {
            writeln!(f, "  covers   its text, which names no file")?;
        }
        if self.changed {
            let files: Vec<_> = self.covers.iter().map(&path).collect();
            let what = match &files[..] {
                [] => "its folder, rule or variables".to_owned(),
                files => format!("{}, or its folder, rule or variables", files.join(", ")),
            };
            writeln!(
                f,
                "  changed  a grant for this command is there, and not of what is there now: \
                 {what} changed since it was granted, or it was granted in another project"
            )?;
        }
        match &self.grant {
            None if self.trusted => writeln!(f, "  trusted  yes"),
            None => writeln!(f, "  trusted  no, and its files cannot be read"),
            Some(line) => writeln!(
                f,
                "  trusted  no; this line in the grants trusts it as it is now:\n{line}"
            ),
        }
    }
}
