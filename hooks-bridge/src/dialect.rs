//! The dialects: whose files and scripts are understood.

use std::fmt;
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is no dialect: write one of {}",
    hooks_runtime::report::escaped(.0),
    Dialect::ALL.map(Dialect::as_str).join(", ")
)]
pub struct UnknownDialect(String);

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
