//! What can be wrong with a part of a file, in words that name its keys.

use thiserror::Error;

use crate::escape::escaped;
use crate::operator::error::OperatorError;
use crate::readable::readable_debug;

/// What is wrong with a part of a file, and what was expected.
///
/// The example of [`FileError`](crate::operator::FileError) prints two.
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
