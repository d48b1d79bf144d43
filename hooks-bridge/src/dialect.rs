//! The dialects: whose files and scripts are understood.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::rules::Rules;
use crate::{claude_code, codex, copilot, cursor, gemini};

/// The product whose configuration and answers a script is written for.
///
/// ```
/// use hooks_bridge::Dialect;
///
/// let dialect: Dialect = "claude-code".parse()?;
/// assert_eq!(dialect, Dialect::ClaudeCode);
/// assert_eq!(dialect.product(), "Claude Code");
/// let unknown = "claude".parse::<Dialect>().unwrap_err();
/// assert_eq!(
///     unknown.to_string(),
///     "`claude` is no dialect: write one of claude-code, codex, gemini, cursor, copilot",
/// );
/// # Ok::<_, hooks_bridge::UnknownDialect>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dialect {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI and its cloud agent.
    Copilot,
}

/// A name that is no dialect's.
///
/// The example of [`Dialect`] has one.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is no dialect: write one of {}",
    hooks_runtime::report::escaped(.0),
    Dialect::ALL.map(Dialect::as_str).join(", ")
)]
pub struct UnknownDialect(String);

/// As it reads: a `main` that returns it prints this form.
impl fmt::Debug for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Dialect {
    /// All of them.
    ///
    /// ```
    /// use hooks_bridge::Dialect;
    ///
    /// assert_eq!(Dialect::ALL.map(Dialect::as_str)[4], "copilot");
    /// ```
    pub const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Cursor, Self::Copilot];

    /// What is particular to it.
    pub(crate) const fn rules(self) -> &'static Rules {
        match self {
            Self::ClaudeCode => &claude_code::RULES,
            Self::Codex => &codex::RULES,
            Self::Gemini => &gemini::RULES,
            Self::Cursor => &cursor::RULES,
            Self::Copilot => &copilot::RULES,
        }
    }

    /// The name by which the tool knows it, which is also the plugin that owns its
    /// handlers.
    ///
    /// The example of [`ALL`](Self::ALL) has one.
    pub const fn as_str(self) -> &'static str {
        self.rules().id
    }

    /// The name of the product.
    ///
    /// The example of [`Dialect`] has one.
    pub const fn product(self) -> &'static str {
        self.rules().product
    }

    /// The key of stdin that matchers of an event are compared with, where they are. Without
    /// it in a payload every matcher is met.
    ///
    /// ```
    /// use hooks_bridge::Dialect;
    ///
    /// assert_eq!(Dialect::Copilot.matched_key("preToolUse"), Some("toolName"));
    /// assert_eq!(Dialect::ClaudeCode.matched_key("Stop"), None);
    /// ```
    pub fn matched_key(self, event: &str) -> Option<&'static str> {
        self.rules().event(event)?.subject.key()
    }

    /// The name that it has for an event of another dialect: for the same kind of event, if
    /// it has one.
    ///
    /// ```
    /// use hooks_bridge::Dialect;
    ///
    /// let name = Dialect::Gemini.counterpart(Dialect::ClaudeCode, "PreToolUse");
    /// assert_eq!(name, Some("BeforeTool"));
    /// ```
    pub fn counterpart(self, other: Self, event: &str) -> Option<&'static str> {
        let rule = other.rules().event(event)?;
        self.rules().counterpart(rule).map(|event| event.name)
    }

    /// Whose file that is by its place, as far as that tells.
    ///
    /// ```
    /// use hooks_bridge::Dialect;
    ///
    /// let file = "/srv/shop/.claude/settings.json".as_ref();
    /// assert_eq!(Dialect::placed(file), Some(Dialect::ClaudeCode));
    /// assert_eq!(Dialect::placed("/srv/shop/hooks.json".as_ref()), None);
    /// ```
    pub fn placed(file: &Path) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| {
            // A plugin's `hooks.json` may be of any dialect.
            let files = &dialect.rules().format.files;
            let mut places = [files.project, files.user, files.managed].into_iter().flatten();
            places.any(|place| is_in(file, place))
        })
    }

    /// Whether its product reads a file that is another's by its place, without being asked.
    ///
    /// ```
    /// use hooks_bridge::Dialect;
    ///
    /// let file = "/srv/shop/.claude/settings.json".as_ref();
    /// assert!(Dialect::Cursor.also_reads(file) && Dialect::Copilot.also_reads(file));
    /// assert!(!Dialect::Gemini.also_reads(file));
    /// ```
    pub fn also_reads(self, file: &Path) -> bool {
        self.rules().format.files.others.iter().any(|place| is_in(file, place))
    }

    /// Where a project has its hooks, as paths in its folder; one that ends in `/` is a folder
    /// of JSON files.
    ///
    /// ```
    /// use hooks_bridge::Dialect;
    ///
    /// assert_eq!(Dialect::Cursor.project_files(), [".cursor/hooks.json"]);
    /// assert_eq!(Dialect::Copilot.project_files()[0], ".github/hooks/");
    /// ```
    pub const fn project_files(self) -> &'static [&'static str] {
        self.rules().format.files.project
    }
}

fn is_in(file: &Path, place: &str) -> bool {
    file.to_string_lossy().contains(place)
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.as_str() == name);
        found.ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}
