//! Which handlers a setting is for: `point:plugin/handler`, with `*` for any text.

use std::fmt;
use std::sync::Arc;

use crate::plugin::id::PluginId;
use crate::registry::entry::{Entry, Owner};
use crate::registry::order::is_place;
use crate::suggest::nearest;

/// How an operator names a handler: `point:plugin/handler`, and `point:handler` where
/// it is built-in.
pub(crate) fn address(entry: &Entry) -> String {
    of(entry.point.name(), entry.plugin.as_ref().map(|plugin| plugin.id()), &entry.name)
}

/// The address that says which fires are in its sample: that of the handler which it is a
/// part of, so that a fire has both or neither.
pub(crate) fn sampled_as(entry: &Entry) -> String {
    let plugin = entry.plugin.as_ref().map(|plugin| plugin.id());
    of(entry.point.name(), plugin, entry.part_of.as_ref().unwrap_or(&entry.name))
}

/// The same, of its parts.
pub(crate) fn of(point: &str, plugin: Option<&PluginId>, handler: &str) -> String {
    match plugin {
        None => format!("{point}:{handler}"),
        Some(plugin) => format!("{point}:{plugin}/{handler}"),
    }
}

/// Names are shorter; a target that is not would take long to compare.
const LONGEST: usize = 1_000;
const MOST_COLONS: usize = 8;

/// Any text.
const ANY: &str = "*";

/// The handlers that a target names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(Arc<str>);

/// One way to read a target. A point's name may have a `:`, and so may the name of a
/// handler that was named after its place, so there can be several.
#[derive(Clone, Copy, Debug)]
struct Reading<'t> {
    point: &'t str,
    /// `None` for built-in handlers.
    plugin: Option<&'t str>,
    handler: &'t str,
}

/// What a target is that names no handler for sure.
pub(crate) const FORM: &str = "a target is `point:plugin/handler`, or `point:handler` for a built-in one, with `*` for any \
     text, and `point:*` for all of a point";

impl Pattern {
    /// What is wrong with the text, where it cannot be a target.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let pattern = Self(text.into());
        if text.is_empty() {
            return Err("it is empty");
        }
        if text.len() > LONGEST || text.matches(':').count() > MOST_COLONS {
            return Err("it is longer than any name: 1,000 bytes and eight `:` are the most");
        }
        if !text.contains(':') {
            return Err("it has no `:` between the point and the handler");
        }
        let is_whole = |reading: Reading<'_>| {
            !reading.point.is_empty()
                && !reading.handler.is_empty()
                && reading.plugin.is_none_or(|plugin| !plugin.is_empty())
        };
        if !pattern.readings().any(is_whole) {
            return Err("a part of it is empty");
        }
        Ok(pattern)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Every way to read it.
    fn readings(&self) -> impl Iterator<Item = Reading<'_>> {
        self.0.match_indices(':').flat_map(|(at, _)| {
            let (point, rest) = (&self.0[..at], &self.0[at + 1..]);
            let owned = rest.split_once('/').map(|(plugin, handler)| Reading {
                point,
                plugin: Some(plugin),
                handler,
            });
            // A place in the source has a `/` too: of a built-in handler, or behind a plugin.
            let is_whole = owned.is_none() || is_place(rest);
            let whole = is_whole.then_some(Reading { point, plugin: None, handler: rest });
            owned.into_iter().chain(whole)
        })
    }

    /// Whether it may name handlers of that point: what most settings do not.
    pub(crate) fn may_name(&self, point: &str) -> bool {
        self.readings().any(|reading| glob(reading.point, point))
    }

    /// Whether a setting with this target is for the handler: by its own name, or by that
    /// of the handler which it is a part of.
    pub(crate) fn matches(&self, entry: &Entry) -> bool {
        let names = std::iter::once(&entry.name).chain(&entry.part_of);
        let owner = entry.plugin.as_ref().map(|plugin| plugin.id().as_str());
        names.into_iter().any(|name| self.matches_parts(entry.point.name(), owner, name))
    }

    /// Whether it names the handler by its own name.
    pub(crate) fn names(&self, entry: &Entry) -> bool {
        let owner = entry.plugin.as_ref().map(|plugin| plugin.id().as_str());
        self.matches_parts(entry.point.name(), owner, &entry.name)
    }

    /// The same, of the parts of a handler's address.
    pub(crate) fn matches_parts(&self, of: &str, owner: Option<&str>, name: &str) -> bool {
        self.readings().any(|Reading { point, plugin, handler }| {
            let is_owner = match (plugin, owner) {
                (None, None) => true,
                // Any text behind the point, whoever registered it.
                (None, Some(_)) => handler == ANY,
                (Some(plugin), Some(owner)) => glob(plugin, owner),
                (Some(plugin), None) => plugin == Owner::BUILT_IN,
            };
            is_owner && glob(point, of) && glob(handler, name)
        })
    }

    /// Whether it is `point:plugin/*` of a handler.
    fn is_plugin_of(&self, entries: &[Arc<Entry>]) -> bool {
        entries.iter().any(|entry| entry.plugin.is_some() && self.matches(entry))
    }

    /// The target that was most likely meant, where this one names no handler.
    pub(crate) fn nearest<'e>(&self, entries: &'e [Arc<Entry>]) -> Option<String> {
        // All of a plugin, where only its id was given.
        let whole = format!("{}/*", self.0);
        if Self(whole.as_str().into()).is_plugin_of(entries) {
            return Some(whole);
        }
        // A handler of a plugin, where only its name was given.
        let of_plugin = self.readings().filter(|reading| reading.plugin.is_none()).find_map(
            |Reading { point, handler, .. }| {
                let is_it = |entry: &&Arc<Entry>| {
                    glob(point, entry.point.name()) && &*entry.name == handler
                };
                let plugin = entries.iter().find(is_it)?.plugin.as_ref()?.id();
                Some(format!("{point}:{plugin}/{handler}"))
            },
        );
        if of_plugin.is_some() {
            return of_plugin;
        }
        if !self.0.contains('*') {
            let addresses = entries.iter().map(|entry| address(entry));
            return nearest(&self.0, addresses, str::len);
        }
        // A part without a `*` that is nearly one that exists.
        let corrected = self.readings().filter_map(|reading| {
            let part = |part: &str, known: &dyn Fn(&'e Arc<Entry>) -> Option<&'e str>| {
                let mut all = entries.iter().filter_map(known);
                if part.contains('*') || all.clone().any(|known| known == part) {
                    return Some(part.to_owned());
                }
                nearest(part, &mut all, str::len).map(str::to_owned)
            };
            let point = part(reading.point, &|entry| Some(entry.point.name()))?;
            let handler = part(reading.handler, &|entry| Some(&entry.name))?;
            let corrected = match reading.plugin {
                None => format!("{point}:{handler}"),
                Some(plugin) => {
                    let id = |entry: &'e Arc<Entry>| {
                        entry.plugin.as_ref().map(|plugin| plugin.id().as_str())
                    };
                    format!("{point}:{}/{handler}", part(plugin, &id)?)
                }
            };
            let pattern = Self::parse(&corrected).ok()?;
            entries.iter().any(|entry| pattern.matches(entry)).then_some(corrected)
        });
        corrected.into_iter().next()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether the text is of that form, in which `*` stands for any text, also none.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    // Between two `*`, the first place that fits leaves the most behind it.
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use super::{Pattern, glob};

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "abc", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("ab*bc", "abc", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "acb", false),
            ("**", "x", true),
            ("abc", "abc", true),
            ("abc", "abcd", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} and {text}");
        }
    }

    #[test]
    fn what_is_no_target_says_why() {
        let refused = |text| Pattern::parse(text).unwrap_err();
        assert_eq!(refused(""), "it is empty");
        assert_eq!(refused("audit/started"), "it has no `:` between the point and the handler");
        assert_eq!(refused(":x"), "a part of it is empty");
        assert_eq!(refused("x:"), "a part of it is empty");
        assert_eq!(refused("x:/y"), "a part of it is empty");
        assert_eq!(
            Pattern::parse("tools:call/onError:a/b").unwrap().as_str(),
            "tools:call/onError:a/b"
        );
    }
}
