//! One event of a dialect, and what its matcher is compared with.

use std::time::Duration;

use super::Matching;
use crate::facts::EventKind;

/// One event of a dialect.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(crate) struct EventRule {
    pub(crate) name: &'static str,
    pub(crate) kind: EventKind,
    pub(crate) subject: Subject,
    /// Whether the product lets exit code 2 block here.
    pub(crate) blocks: bool,
    /// Whether a command can have everything stop here: `"continue": false`.
    pub(crate) halts: bool,
    /// Whether text on stdout is context for the model.
    pub(crate) text_is_context: bool,
    pub(crate) timeout: Option<Duration>,
    /// How its matcher is read, where not as in the rest of the dialect.
    pub(crate) matching: Option<Matching>,
    /// The tools that the event is for, where it is not for all of them.
    pub(crate) tools: &'static [&'static str],
    /// Whether it is for tools that failed, and those only.
    pub(crate) of_failures: bool,
    /// Whether tools have their common names here, not those of the dialect.
    pub(crate) common_names: bool,
    /// Whether a handler that says so blocks here where it fails.
    pub(crate) failure_blocks: bool,
}

impl EventRule {
    /// An event that is observed, with nothing to decide.
    pub(crate) const fn observe(name: &'static str) -> Self {
        Self {
            name,
            kind: EventKind::Observe,
            subject: Subject::Nothing,
            blocks: false,
            halts: false,
            text_is_context: false,
            timeout: None,
            matching: None,
            tools: &[],
            of_failures: false,
            common_names: false,
            failure_blocks: true,
        }
    }

    /// An event that can be blocked.
    pub(crate) const fn gate(name: &'static str, kind: EventKind) -> Self {
        Self { kind, blocks: true, halts: true, ..Self::observe(name) }
    }

    pub(crate) const fn on(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    pub(crate) const fn of(self, kind: EventKind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) const fn context(self) -> Self {
        Self { text_is_context: true, ..self }
    }

    /// A command can have everything stop here, though it cannot block the event.
    pub(crate) const fn halts(self) -> Self {
        Self { halts: true, ..self }
    }

    pub(crate) const fn never_blocks(self) -> Self {
        Self { blocks: false, ..self }
    }

    pub(crate) const fn within(self, milliseconds: u64) -> Self {
        Self { timeout: Some(Duration::from_millis(milliseconds)), ..self }
    }

    pub(crate) const fn matching(self, matching: Matching) -> Self {
        Self { matching: Some(matching), ..self }
    }

    /// It is for tools that failed.
    pub(crate) const fn of_failures(self) -> Self {
        Self { of_failures: true, ..self }
    }

    /// Tools have their common names here.
    pub(crate) const fn common_names(self) -> Self {
        Self { common_names: true, ..self }
    }

    /// A failure never blocks here, whatever the handler says.
    pub(crate) const fn failure_never_blocks(self) -> Self {
        Self { failure_blocks: false, ..self }
    }

    pub(crate) const fn only(self, tools: &'static [&'static str]) -> Self {
        Self { tools, ..self }
    }
}

/// What the matcher of an event is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The dialect ignores a matcher here.
    Nothing,
    /// The tool that is called, at this key of stdin.
    Tool(&'static str),
    /// The text at this key of stdin.
    Text(&'static str),
    /// One of these words, at this key of stdin.
    Word(&'static str, &'static [&'static str]),
}

impl Subject {
    pub(crate) const fn key(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Tool(key) | Self::Text(key) | Self::Word(key, _) => Some(key),
        }
    }
}
