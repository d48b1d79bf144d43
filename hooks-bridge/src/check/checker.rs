//! What a check knows of the host.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Check, CheckedEntry, CheckedFile, CheckedLine, differences, readers};
use crate::config::{HandlerKind, LARGEST, Notice, Origin, Plan, Source, of_project};
use crate::dialect::Dialect;
use crate::files;

/// Checks files for a host with tools of its own, or that allows some addresses.
///
/// ```
/// use hooks_bridge::check::{Check, Checker};
///
/// # let folder = tempfile::tempdir()?;
/// # let project = folder.path();
/// std::fs::create_dir(project.join(".claude"))?;
/// let text = r#"{ "hooks": { "PreToolUse": [ { "matcher": "Refund", "hooks": [
///     { "type": "http", "url": "http://localhost:9000/gate" } ] } ] } }"#;
/// std::fs::write(project.join(".claude/settings.json"), text)?;
///
/// assert!(Check::folder(project).is_suspicious()); // no product has a tool `Refund`
/// let checker = Checker::default().tool("Refund");
/// assert!(!checker.folder(project).is_suspicious());
/// let checker = checker.allow(|address| address.starts_with("https://"));
/// assert!(checker.folder(project).is_suspicious()); // its address is not allowed
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Default)]
pub struct Checker {
    tools: Vec<String>,
    allows: Option<Allows>,
}

/// Whether an address may be posted to.
type Allows = Box<dyn Fn(&str) -> bool>;

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl Checker {
    /// A tool of the host, by the name that matchers have for it.
    ///
    /// The example of [`Checker`] knows one.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tools.push(name.into());
        self
    }

    /// Which addresses handlers of the type `http` may post to: any other is suspicious.
    /// Without it each is only mentioned.
    ///
    /// The example of [`Checker`] allows some.
    #[must_use]
    pub fn allow(mut self, allows: impl Fn(&str) -> bool + 'static) -> Self {
        self.allows = Some(Box::new(allows));
        self
    }

    /// Checks all files of all dialects in a project.
    ///
    /// The example of [`Checker`] does.
    pub fn folder(&self, project: &Path) -> Check {
        let files = Dialect::ALL.into_iter().flat_map(|dialect| of_project(dialect, project));
        self.sources(files.collect(), project)
    }

    /// Checks these files, each as the dialect that its name or its content says.
    ///
    /// The example of [`Check::files`] checks one.
    pub fn files(&self, files: &[PathBuf], project: &Path) -> Check {
        let mut guessed = Vec::new();
        let source = |file: &PathBuf| {
            let text = files::read(file, LARGEST).ok().and_then(|it| String::from_utf8(it).ok());
            let text = text.unwrap_or_default();
            let told = readers::dialect_of(file, &text);
            guessed.push(told.is_none());
            Source::new(told.unwrap_or(Dialect::ALL[0]), file, Origin::Project)
        };
        let sources = files.iter().map(source).collect();
        let mut check = self.sources(sources, project);
        for (file, guessed) in check.files.iter_mut().zip(guessed) {
            file.guessed = guessed;
        }
        check
    }

    fn sources(&self, sources: Vec<Source>, project: &Path) -> Check {
        let read = |source: Source| {
            let sources = std::slice::from_ref(&source);
            let mut plan = Plan::read_knowing(sources, project, &self.tools);
            self.addresses(&mut plan);
            (source, plan)
        };
        let plans: Vec<_> = sources.into_iter().map(read).collect();
        let checked = plans.iter().map(|(source, plan)| {
            let readers = readers::of(source);
            CheckedFile {
                file: source.file.clone(),
                dialect: source.dialect.as_str(),
                guessed: false,
                read_by: readers.iter().map(|dialect| dialect.as_str()).collect(),
                errors: plan.errors.iter().map(CheckedLine::from).collect(),
                entries: plan.entries.iter().map(CheckedEntry::from).collect(),
                notices: plan.notices.iter().map(CheckedLine::from).collect(),
                differences: differences::of(source, plan, &readers, &plans),
            }
        });
        Check { files: checked.collect() }
    }

    /// Says of each address whether it is allowed, or that it has to be.
    fn addresses(&self, plan: &mut Plan) {
        for entry in plan.entries.iter_mut().filter(|entry| entry.runs()) {
            let kind = entry.handler.as_ref().map(|handler| &handler.kind);
            let Some(HandlerKind::Http { url, .. }) = kind else { continue };
            let (url, place) = (url.clone(), entry.place.clone());
            match &self.allows {
                Some(allows) if allows(&url) => {}
                Some(_) => entry.suspect(
                    place.line,
                    format!("`{url}` is not among the addresses that are allowed"),
                ),
                None => plan.notices.push(Notice {
                    text: format!(
                        "it posts to `{url}` only where the host allows that, as `fire` does by \
                         `--allow-url`"
                    ),
                    place,
                }),
            }
        }
    }
}
