//! Which event, tool or key was meant by a name that the dialect does not have.

use std::sync::LazyLock;

use crate::config::nearest;
use crate::dialect::Dialect;
use crate::facts::EventKind;
use crate::rules::{EventRule, Rules};

/// How much of a name has to be written for the rest to be left out.
const SHORTEST_BEGINNING: usize = 6;

/// A longer name is none that was meant for an event.
const LONGEST: usize = 64;

/// How many letters may be wrong.
const MOST_WRONG: usize = 2;

/// An event that was meant, as far as can be told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meant {
    pub(super) event: &'static EventRule,
    pub(super) how: How,
}

/// How it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It is the name that another dialect has for it.
    Elsewhere,
    /// It is nearly the name.
    Nearly,
    /// It is similar, and may well be an event that is newer than this crate.
    Similar,
}

/// The events of all dialects with their plain names: a file may have very many names.
static EVENTS: LazyLock<Vec<(Dialect, &EventRule, String)>> = LazyLock::new(|| {
    let of = |dialect: Dialect| {
        let events = dialect.rules().events.iter();
        events.map(move |event| (dialect, event, plain(event.name)))
    };
    Dialect::ALL.into_iter().flat_map(of).collect()
});

/// The event of a dialect that was meant by a name that is none of its own.
pub(super) fn event(dialect: Dialect, name: &str) -> Option<Meant> {
    if name.len() > LONGEST {
        return None;
    }
    let (rules, written) = (dialect.rules(), plain(name));
    let own = || EVENTS.iter().filter(|(of, ..)| *of == dialect).map(|(_, event, it)| (*event, it));
    let begun = || {
        let mut begun = own().filter(|(_, name)| name.starts_with(&written));
        begun.next().filter(|_| written.len() >= SHORTEST_BEGINNING).map(|(event, _)| event)
    };
    let meant = |how| move |event| Meant { event, how };
    told(dialect, &written)
        .or_else(|| begun().map(meant(How::Nearly)))
        .or_else(|| told(dialect, &otherwise(&written)?))
        .or_else(|| {
            let similar = nearest(name, rules.events.iter().map(|event| event.name))?;
            rules.event(similar).map(meant(How::Similar))
        })
}

/// The event of a dialect that a plain name tells, with a letter or two that are wrong.
fn told(dialect: Dialect, written: &str) -> Option<Meant> {
    let own = || EVENTS.iter().filter(|(of, ..)| *of == dialect).map(|(_, event, it)| (*event, it));
    let same = || own().find(|(_, name)| *name == written).map(|(event, _)| event);
    let nearly = || {
        let near = own().filter(|(_, name)| name.len().abs_diff(written.len()) <= MOST_WRONG);
        let distances = near.map(|(event, name)| (strsim::osa_distance(name, written), event));
        let (distance, event) = distances.min_by_key(|(distance, _)| *distance)?;
        (distance <= MOST_WRONG.min(written.len() / 3)).then_some(event)
    };
    let meant = |how| move |event| Meant { event, how };
    same()
        .map(meant(How::Nearly))
        .or_else(|| elsewhere(dialect.rules(), written).map(meant(How::Elsewhere)))
        .or_else(|| nearly().map(meant(How::Nearly)))
}

/// A plain name with the other word for when it is, as products differ in that.
fn otherwise(written: &str) -> Option<String> {
    let words = [("before", "pre"), ("pre", "before"), ("after", "post"), ("post", "after")];
    let other = |(one, other)| Some(format!("{other}{}", written.strip_prefix(one)?));
    words.into_iter().find_map(other)
}

/// The event that has this name in another dialect, where it is for one thing only.
fn elsewhere(rules: &Rules, written: &str) -> Option<&'static EventRule> {
    let mut same = EVENTS.iter().filter(|(.., name)| name == written).map(|(_, event, _)| *event);
    let other = same.find(|event| !matches!(event.kind, EventKind::Gate | EventKind::Observe))?;
    rules.counterpart(other).filter(|own| own.of_failures == other.of_failures)
}

/// The name that a dialect has for a tool that another dialect calls so: another word for it.
pub(super) fn tool(rules: &Rules, name: &str) -> Option<&'static str> {
    let all = Dialect::ALL.into_iter().flat_map(|dialect| dialect.rules().tools);
    let mut same = all.filter(|tool| tool.common == name || tool.names.contains(&name));
    same.find_map(|tool| {
        let own = rules.tools.iter().find(|own| own.common == tool.common)?;
        own.names.first().copied().filter(|own| !own.eq_ignore_ascii_case(name))
    })
}

/// The one of these keys that was meant by another: the same but for its writing, with a
/// letter or two wrong, or with more behind it, such as a unit.
pub(crate) fn key<'k>(written: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    if written.len() > LONGEST {
        return None;
    }
    let written = plain(written);
    let wrong = known.filter_map(|key| {
        let name = plain(key);
        let more = name.len() >= SHORTEST_BEGINNING && written.starts_with(&name);
        let wrong = if more { 0 } else { strsim::osa_distance(&name, &written) };
        (wrong <= MOST_WRONG.min(written.len() / 3)).then_some((wrong, key))
    });
    wrong.min_by_key(|(wrong, _)| *wrong).map(|(_, key)| key)
}

/// A name without what only its writing has.
fn plain(name: &str) -> String {
    name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(dialect: Dialect, name: &str) -> Option<(&'static str, How)> {
        event(dialect, name).map(|meant| (meant.event.name, meant.how))
    }

    #[test]
    fn what_was_meant_is_told_by_its_name() {
        let claude = |name| meant(Dialect::ClaudeCode, name);
        for name in ["PreToolUs", "preToolUse", "pre_tool_use", "PerToolUse", "PreTool"] {
            assert_eq!(claude(name), Some(("PreToolUse", How::Nearly)), "{name}");
        }
        assert_eq!(claude("BeforeTool"), Some(("PreToolUse", How::Elsewhere)));
        assert_eq!(claude("userPromptSubmitted"), Some(("UserPromptSubmit", How::Elsewhere)));
        assert_eq!(claude("PostToolUs"), Some(("PostToolUse", How::Nearly)));
        let gemini = |name| meant(Dialect::Gemini, name);
        assert_eq!(gemini("PreToolUse"), Some(("BeforeTool", How::Elsewhere)));
        assert_eq!(gemini("BeforeTools"), Some(("BeforeTool", How::Nearly)));
        assert_eq!(meant(Dialect::Cursor, "UserPromptSubmit").unwrap().0, "beforeSubmitPrompt");
        // The other word for when it is.
        assert_eq!(claude("beforeToolUse"), Some(("PreToolUse", How::Nearly)));
        assert_eq!(claude("afterToolUse"), Some(("PostToolUse", How::Nearly)));
        assert_eq!(gemini("BeforeToolUse"), Some(("BeforeTool", How::Elsewhere)));
        let cursor = meant(Dialect::Cursor, "preShellExecution");
        assert_eq!(cursor, Some(("beforeShellExecution", How::Nearly)));
    }

    #[test]
    fn what_may_be_a_newer_event_is_similar_at_most() {
        for (dialect, name) in [
            (Dialect::Codex, "PreToolBatch"),
            (Dialect::ClaudeCode, "PreToolUseFailure"),
            (Dialect::ClaudeCode, "TaskUpdated"),
            (Dialect::ClaudeCode, "OnIdle"),
            (Dialect::ClaudeCode, "BeforeModel"),
            (Dialect::ClaudeCode, "BeforeToolSelection"),
            (Dialect::Codex, "AfterModel"),
            (Dialect::Cursor, "beforeTabClose"),
            (Dialect::Gemini, "BeforeStream"),
        ] {
            let how = meant(dialect, name).map(|(_, how)| how);
            assert!(matches!(how, None | Some(How::Similar)), "{dialect} {name}: {how:?}");
        }
    }

    #[test]
    fn a_key_is_told_by_its_letters() {
        let of_claude =
            |written| key(written, Dialect::ClaudeCode.rules().format.handler_keys.iter().copied());
        for (written, meant) in [
            ("timout", "timeout"),
            ("timeoutSec", "timeout"),
            ("time_out", "timeout"),
            ("on_failure", "onFailure"),
            ("onFailur", "onFailure"),
            ("comand", "command"),
            ("asyncrewake", "asyncRewake"),
        ] {
            assert_eq!(of_claude(written), Some(meant), "{written}");
        }
        for written in ["colour", "shape", "matcher", "x", ""] {
            assert_eq!(of_claude(written), None, "{written}");
        }
        assert_eq!(of_claude(&"timeout".repeat(40)), None);
    }

    #[test]
    fn a_tool_of_another_dialect_has_its_own_name_here() {
        assert_eq!(tool(Dialect::Cursor.rules(), "Bash"), Some("Shell"));
        assert_eq!(tool(Dialect::ClaudeCode.rules(), "run_shell_command"), Some("Bash"));
        assert_eq!(tool(Dialect::Gemini.rules(), "Nothing"), None);
        assert_eq!(tool(Dialect::ClaudeCode.rules(), "bash"), None, "it is misspelt");
    }
}
