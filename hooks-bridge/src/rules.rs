//! A dialect as data: what its folder fills in.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::answer::{Answer, Fields};
use crate::config::Draft;
use crate::facts::{EventKind, Facts, Surroundings};
use crate::runner::{Failure, Ran};

/// Everything that is particular to one dialect.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) id: &'static str,
    pub(crate) product: &'static str,
    pub(crate) events: &'static [EventRule],
    pub(crate) tools: &'static [Tool],
    pub(crate) format: Format,
    pub(crate) matching: Matching,
    pub(crate) timeout: Duration,
    /// The most bytes of stdout that it reads.
    pub(crate) stdout: usize,
    /// What is written to a command's stdin.
    pub(crate) stdin: fn(&EventRule, &Facts) -> Map<String, Value>,
    /// The part of what was printed that is the answer.
    pub(crate) answer_text: fn(&Ran) -> Cow<'_, [u8]>,
    /// What the keys of an answer mean.
    pub(crate) fields: fn(&EventRule, &Map<String, Value>) -> Fields,
    /// How the product itself reads a command that ended.
    pub(crate) faithful: fn(&EventRule, &Ran) -> Answer,
    /// Whether the product denies where a command failed.
    pub(crate) failure_denies: fn(&EventRule, &Failure) -> bool,
    /// The variables that the product sets.
    pub(crate) environment: fn(&Facts, &Surroundings<'_>) -> Vec<(&'static str, String)>,
}

/// One event of a dialect.
#[derive(Debug)]
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

/// A tool, by the name that Claude Code has for it and those of the dialect.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) common: &'static str,
    /// The first is what the dialect writes to stdin; all of them match.
    pub(crate) names: &'static [&'static str],
}

/// How the files of a dialect are written.
#[derive(Debug)]
pub(crate) struct Format {
    /// Where the dialect looks for them: ends of paths.
    pub(crate) files: &'static [&'static str],
    /// Whether an event has groups with a matcher, or handlers at once.
    pub(crate) nested: bool,
    pub(crate) comments: bool,
    pub(crate) byte_order_mark: bool,
    /// The keys beside `hooks` in a file that has nothing but hooks.
    pub(crate) root_keys: &'static [&'static str],
    pub(crate) group_keys: &'static [&'static str],
    pub(crate) handler_keys: &'static [&'static str],
    /// Reads what is particular to one handler.
    pub(crate) handler: fn(&mut Draft<'_>),
    /// The keys of `hooks` that are no events.
    pub(crate) no_events: &'static [&'static str],
}

/// How matchers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matching {
    /// Only of these characters beside letters, digits and `_`: a list of names. Else an
    /// expression that may match anywhere.
    ListOrAnywhere(&'static str),
    /// An expression that may match anywhere; one that is none is taken literally.
    Anywhere,
    /// An expression that matches the whole.
    Whole,
    /// A list of names, or an expression that matches the whole.
    ListOrWhole,
    /// The text itself.
    Literal,
}

impl Rules {
    pub(crate) fn event(&self, name: &str) -> Option<&'static EventRule> {
        self.events.iter().find(|event| event.name == name)
    }

    /// The name that the dialect has for a tool that Claude Code has by this one.
    pub(crate) fn own_name<'n>(&self, name: &'n str) -> &'n str {
        let known = self.tools.iter().find(|tool| tool.common == name);
        known.map_or(name, |tool| tool.names[0])
    }

    /// All names by which a matcher finds a tool, the given one first.
    pub(crate) fn tool_names<'n>(&self, name: &'n str) -> Vec<&'n str> {
        let known = self.tools.iter().find(|tool| tool.names.contains(&name));
        let others = known.map(|tool| tool.names).unwrap_or_default().iter().copied();
        std::iter::once(name).chain(others.filter(|other| *other != name)).collect()
    }
}
