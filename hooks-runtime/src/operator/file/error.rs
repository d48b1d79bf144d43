//! Why a file of settings was refused. Nothing was changed then.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::escape::escaped;
use crate::operator::error::OperatorError;
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

/// What is wrong with a part of a file, and what was expected.
///
/// The example of [`FileError`] prints two.
#[derive(Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum FileProblem {
    /// The text is no TOML.
    #[error("this is no TOML: {}", escaped(.problem))]
    Syntax {
        /// What the parser says.
        problem: String,
    },
    /// A key that is in one table twice.
    #[error("this key is given twice: keep one of the two")]
    DuplicateKey,
    /// A byte that is no text.
    #[error("this line is not UTF-8: save the file in that encoding")]
    NotUtf8,
    /// The file is longer than any list of settings.
    #[error("a file of settings has at most {most} bytes")]
    TooLong {
        /// How many bytes there can be.
        most: usize,
    },
    /// A key that means nothing.
    #[error(
        "this key is unknown; {}",
        match .nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("known here: {}", listed(.known)),
        }
    )]
    UnknownKey {
        /// The key that was most likely meant.
        nearest: Option<&'static str>,
        /// What can stand there.
        known: &'static [&'static str],
    },
    /// A key that has to be there.
    #[error("`{key}` is missing: {expected}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// An entry that sets nothing.
    #[error("this entry sets nothing: add one or more of {}", listed(.known))]
    SetsNothing {
        /// What can be set.
        known: &'static [&'static str],
    },
    /// A value of another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What was expected.
        expected: String,
        /// What is there.
        found: &'static str,
    },
    /// A value that it cannot have.
    #[error("{problem}")]
    BadValue {
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// The same is set for the same target before.
    #[error("line {first} sets this for the same target: keep one of the two")]
    Twice {
        /// The line of the first.
        first: usize,
    },
    /// What the operator's own call would say.
    #[error("{}", in_words_of_a_file(.0))]
    Refused(OperatorError),
}

readable_debug! {
    enum FileProblem {
        Syntax { problem },
        DuplicateKey,
        NotUtf8,
        TooLong { most },
        UnknownKey { nearest, known },
        Missing { key, expected },
        SetsNothing { known },
        WrongType { expected, found },
        BadValue { problem },
        Twice { first },
        Refused(error),
    }
}

/// Names, as ``a`, `b` or `c``.
pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} or {last}", some.join(", ")),
    }
}

/// The text of an error that names keys, where its own names calls.
fn in_words_of_a_file(error: &OperatorError) -> String {
    match error {
        OperatorError::NeedsBreakGlass {
            setting, handler, more, effect, or_fail_closed, ..
        } => {
            let more = match more {
                0 => String::new(),
                more => format!(", and of {more} more that need it,"),
            };
            let or = if *or_fail_closed {
                ", or make the handler fail closed with it: `fail_closed = true`"
            } else {
                ""
            };
            format!(
                "`{setting}` of `{}`{more} would {effect}: if that is meant, add \
                 `break_glass = true`, a `why` and an `until`{or}",
                escaped(handler),
            )
        }
        OperatorError::NoReason => "a break-glass setting has a reason: add a `why`".to_owned(),
        OperatorError::NoEnd => "a break-glass setting has an end: add an `until`, as \
                                 `until = 2027-01-31T18:00:00Z`"
            .to_owned(),
        OperatorError::NoMatch { .. } => {
            let end = if error.to_string().ends_with('?') { " " } else { ". " };
            format!("{error}{end}For one that comes later, add `even_if_none = true`")
        }
        OperatorError::TooFar => "a setting ends within a year: give a time of at most 365 days \
                                  from now, or leave `until` out where it is to hold as long as \
                                  it is in the file"
            .to_owned(),
        OperatorError::TooMany { most } => {
            format!(
                "with those that an operator set, {most} settings are the most: use fewer with `*`"
            )
        }
        OperatorError::BadValue { problem, .. } => problem.clone(),
        error => error.to_string(),
    }
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
