//! A dialect as data: what its folder fills in.

mod event;
mod format;

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::answer::{Answer, Fields};
use crate::facts::{Facts, Surroundings};
use crate::runner::{Failure, Ran};

pub(crate) use event::{EventRule, Subject};
pub(crate) use format::{Files, Format, Switch};

/// Everything that is particular to one dialect.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) id: &'static str,
    pub(crate) product: &'static str,
    pub(crate) events: &'static [EventRule],
    pub(crate) tools: &'static [Tool],
    /// How it names the tools of MCP servers.
    pub(crate) mcp: Mcp,
    pub(crate) format: Format,
    pub(crate) matching: Matching,
    /// The matchers that match everything, beside one that is absent or empty.
    pub(crate) everything: &'static [&'static str],
    /// Whether its matchers can look around.
    pub(crate) looks_around: bool,
    pub(crate) timeout: Duration,
    /// The most bytes of stdout that it reads.
    pub(crate) stdout: usize,
    /// What is written to a command's stdin at that time.
    pub(crate) stdin: fn(&EventRule, &Facts, SystemTime) -> Map<String, Value>,
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

/// A tool, by the name that is common to all dialects here, which is Claude Code's, and by
/// those of the dialect.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) common: &'static str,
    /// The first is what the dialect writes to stdin; all of them match.
    pub(crate) names: &'static [&'static str],
}

/// How a dialect names the tools of MCP servers.
#[derive(Debug)]
pub(crate) struct Mcp {
    /// What all of these names begin with.
    pub(crate) prefix: &'static str,
    /// The name for a tool of a server.
    pub(crate) name: fn(&str, &str) -> String,
}

impl Mcp {
    /// The common names, `mcp__server__tool`; also where a product does not say how it
    /// names them.
    pub(crate) const COMMON: Self =
        Self { prefix: "mcp__", name: |server, tool| format!("mcp__{server}__{tool}") };

    /// The server and the tool of a common name.
    pub(crate) fn parts(name: &str) -> Option<(&str, &str)> {
        let (server, tool) = name.strip_prefix(Self::COMMON.prefix)?.split_once("__")?;
        (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
    }
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

    /// The event that is nearest to one of another dialect.
    pub(crate) fn counterpart(&self, rule: &EventRule) -> Option<&'static EventRule> {
        let events = || self.events.iter().filter(|event| event.kind == rule.kind);
        let same = events().find(|event| event.name.eq_ignore_ascii_case(rule.name));
        same.or_else(|| events().next())
    }

    /// The name that the dialect has for a tool of this common name.
    pub(crate) fn own_name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if let Some((server, tool)) = Mcp::parts(name) {
            return Cow::Owned((self.mcp.name)(server, tool));
        }
        let known = self.tools.iter().find(|tool| tool.common == name);
        Cow::Borrowed(known.map_or(name, |tool| tool.names[0]))
    }

    /// All names by which a matcher finds a tool, the given one first.
    pub(crate) fn tool_names<'n>(&self, name: &'n str) -> Vec<&'n str> {
        let known = self.tools.iter().find(|tool| tool.names.contains(&name));
        let others = known.map(|tool| tool.names).unwrap_or_default().iter().copied();
        std::iter::once(name).chain(others.filter(|other| *other != name)).collect()
    }
}
