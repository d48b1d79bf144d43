//! The grants of an operator: a file with a line for each.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use hooks_runtime::report::escaped;

use super::digest::Digest;
use crate::config::Entry;

/// What an operator has granted.
///
/// In its file each line is a grant: a digest, and behind it what it is of, for people.
/// Lines that begin with `#` are comments.
///
/// ```
/// use hooks_bridge::trust::Grants;
///
/// let text = format!("# granted by ops\n{} cursor stop true\n", "0".repeat(64));
/// let grants = Grants::parse(&text)?;
/// assert_eq!(grants.len(), 1);
/// let error = Grants::parse("trust me").unwrap_err();
/// assert_eq!(error.to_string(), "line 1 is no grant: a digest is 64 hexadecimal digits");
/// # Ok::<_, hooks_bridge::trust::GrantsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants(BTreeMap<Digest, String>);

/// Why grants cannot be read.
///
/// The example of [`Grants`] has one.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GrantsError {
    /// A line is no grant. None of the file counts then.
    #[error("line {line} is no grant: {problem}")]
    Malformed {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A line of the file is no grant.
    #[error("`{}`: {}; none of the file counts", escaped(&.0.display().to_string()), .1)]
    InFile(PathBuf, #[source] Box<GrantsError>),
    /// The file is in the project, which could then grant itself what it likes.
    #[error("`{}` is inside of the project, which must not write its own grants: keep it elsewhere", escaped(&.0.display().to_string()))]
    InProject(PathBuf),
    /// The file cannot be read.
    #[error("`{}` cannot be read: {}", escaped(&.0.display().to_string()), .1)]
    Unreadable(PathBuf, #[source] io::Error),
}

/// As it reads: a `main` that returns it prints this form.
impl fmt::Debug for GrantsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Grants {
    /// Reads grants from a file outside of the project; without a file there are none.
    ///
    /// ```
    /// use hooks_bridge::trust::Grants;
    ///
    /// assert!(Grants::read("/srv/shop/grants".as_ref(), "/srv/shop".as_ref()).is_err());
    /// assert!(Grants::read("/no/such/grants".as_ref(), "/srv/shop".as_ref())?.is_empty());
    /// # Ok::<_, hooks_bridge::trust::GrantsError>(())
    /// ```
    pub fn read(file: &Path, project: &Path) -> Result<Self, GrantsError> {
        let project = super::resolved(&crate::absolute(project));
        if super::leads_through(&crate::absolute(file), &project) {
            return Err(GrantsError::InProject(file.to_owned()));
        }
        match std::fs::read_to_string(file) {
            Ok(text) => Self::parse(&text)
                .map_err(|error| GrantsError::InFile(file.to_owned(), Box::new(error))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(GrantsError::Unreadable(file.to_owned(), error)),
        }
    }

    /// Reads grants from text.
    ///
    /// The example of [`Grants`] does.
    pub fn parse(text: &str) -> Result<Self, GrantsError> {
        let mut grants = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            let (word, of) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            if word.is_empty() || word.starts_with('#') {
                continue;
            }
            let digest = word.parse();
            let digest =
                digest.map_err(|problem| GrantsError::Malformed { line: index + 1, problem })?;
            grants.0.insert(digest, of.trim_start().to_owned());
        }
        Ok(grants)
    }

    /// Grants an entry, as its files are now.
    ///
    /// The example of [`Trust`](super::Trust) does.
    pub fn add(&mut self, entry: &Entry, project: &Path) -> io::Result<()> {
        self.0.insert(Digest::of(entry, project)?, description(entry));
        Ok(())
    }

    /// The line of the file that grants an entry, as its files are now.
    ///
    /// ```
    /// use hooks_bridge::Dialect;
    /// use hooks_bridge::config::{Origin, Plan, Source};
    /// use hooks_bridge::trust::Grants;
    ///
    /// let text = r#"{ "version": 1, "hooks": { "stop": [ { "command": "true" } ] } }"#;
    /// let source = Source::new(Dialect::Cursor, ".cursor/hooks.json", Origin::Project);
    /// let plan = Plan::read_text(&source, text, "/srv/shop");
    /// let line = Grants::line(&plan.entries[0], "/srv/shop".as_ref())?;
    /// assert!(line.ends_with(" cursor stop true"));
    /// assert_eq!(Grants::parse(&line)?.len(), 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn line(entry: &Entry, project: &Path) -> io::Result<String> {
        Ok(format!("{} {}", Digest::of(entry, project)?, description(entry)))
    }

    pub(crate) fn contains(&self, digest: &Digest) -> bool {
        self.0.contains_key(digest)
    }

    /// Whether one is for the same command at the same event and matcher, whatever its bytes.
    pub(super) fn names(&self, entry: &Entry) -> bool {
        let now = description(entry);
        self.0.values().any(|granted| *granted == now)
    }

    /// How many there are.
    ///
    /// The example of [`Grants`] counts them.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    ///
    /// The example of [`read`](Self::read) asks it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a grant is of, for people.
fn description(entry: &Entry) -> String {
    let mut text = format!("{} {}", entry.dialect, escaped(&entry.event));
    if let Some(matcher) = entry.matcher.as_deref().filter(|it| !it.is_empty()) {
        let _ = write!(text, " [{}]", escaped(matcher));
    }
    let _ = write!(text, " {}", escaped(&entry.command()));
    text
}
