//! Why a file of settings was refused. Nothing was changed then.

use std::fmt;
use std::io;

use crate::escape::escaped;
use crate::operator::error::OperatorError;
use crate::operator::file::problem::FileProblem;
use crate::readable::readable_debug;

/// How many mistakes are listed: a file that is no file of settings has one in each line.
const MOST: usize = 100;

/// Why a file of settings was refused. Nothing was changed.
///
/// It prints every mistake, each in a line of its own, in the order of the file.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_runtime::operator::{FileError, SettingsFile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let file = SettingsFile::parse(
///     "[[setting]]
/// target = 'sent:notifi'
/// mod = 'disable'
/// ",
/// );
/// let refused = hooks.operator().load(&file).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "the file has 2 mistakes, so nothing of it was applied\n\
///      line 2, `target`: no handler is `sent:notifi`; did you mean `sent:notify`? For one that \
///      comes later, add `even_if_none = true`\n\
///      line 3, `mod`: this key is unknown; did you mean `mode`?",
/// );
/// assert!(matches!(refused, FileError::Mistakes { ref mistakes, .. } if mistakes[0].line == 2));
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum FileError {
    /// The file could not be read.
    Unreadable {
        /// The path.
        file: String,
        /// What kind of error that was.
        kind: io::ErrorKind,
        /// The error.
        problem: String,
    },
    /// What is in it cannot be applied.
    Mistakes {
        /// The path, where the text comes from a file.
        file: Option<String>,
        /// What is wrong, in the order of lines: the first hundred.
        mistakes: Vec<FileMistake>,
        /// How many more there are.
        more: usize,
    },
    /// The registry has no timer, so the file is not looked at again.
    NoTimer {
        /// The path.
        file: String,
    },
}

readable_debug! {
    enum FileError {
        Unreadable { file, kind, problem },
        Mistakes { file, mistakes, more },
        NoTimer { file },
    }
}

impl std::error::Error for FileError {}

/// One mistake in a file: the line, the key, and what was expected.
///
/// The example of [`FileError`] has two.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FileMistake {
    /// The line, from 1 on.
    pub line: usize,
    /// The key, where it is about one: `rate_limit.burst` inside of another.
    pub key: Option<String>,
    /// What is wrong, and what was expected.
    pub problem: FileProblem,
}

impl FileError {
    /// All mistakes of a file.
    pub(super) fn of(file: Option<&str>, mut mistakes: Vec<FileMistake>) -> Self {
        mistakes.sort_by(|one, next| (one.line, &one.key).cmp(&(next.line, &next.key)));
        // What is wrong with a target is wrong for all that is set for it.
        mistakes.dedup();
        let more = mistakes.len().saturating_sub(MOST);
        mistakes.truncate(MOST);
        Self::Mistakes { file: file.map(str::to_owned), mistakes, more }
    }

    /// Its text, with that between the mistakes.
    fn write(&self, f: &mut fmt::Formatter<'_>, between: [&str; 2]) -> fmt::Result {
        match self {
            Self::Unreadable { file, problem, .. } => {
                write!(f, "`{}` cannot be read: {}", escaped(file), escaped(problem))
            }
            Self::NoTimer { file } => write!(
                f,
                "`{}` is not looked at again: the registry has no timer; run it where there is \
                 one, or give the registry a `Timer`",
                escaped(file),
            ),
            Self::Mistakes { file, mistakes, more } => {
                match file {
                    Some(file) => write!(f, "`{}`", escaped(file))?,
                    None => f.write_str("the file")?,
                }
                match mistakes.len() + more {
                    1 => f.write_str(" has a mistake, so nothing of it was applied")?,
                    all => write!(f, " has {all} mistakes, so nothing of it was applied")?,
                }
                for (number, mistake) in mistakes.iter().enumerate() {
                    write!(f, "{}{mistake}", between[usize::from(number > 0)])?;
                }
                match more {
                    0 => Ok(()),
                    more => write!(f, "{}and {more} more", between[1]),
                }
            }
        }
    }

    /// Its text in one line, for the log.
    pub(crate) fn in_one_line(&self) -> String {
        struct Line<'e>(&'e FileError);
        impl fmt::Display for Line<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f, [": ", "; "])
            }
        }
        Line(self).to_string()
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, ["\n", "\n"])
    }
}

impl FileMistake {
    /// What is wrong with the target in that line.
    pub(super) fn of_target(line: usize, error: OperatorError) -> Self {
        Self { line, key: Some("target".to_owned()), problem: FileProblem::Refused(error) }
    }
}

/// As ``line 3, `mode`: …``.
impl fmt::Display for FileMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(key) = &self.key {
            write!(f, ", `{}`", escaped(key))?;
        }
        write!(f, ": {}", self.problem)
    }
}
