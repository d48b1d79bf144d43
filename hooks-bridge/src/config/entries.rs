//! From the events of a file to its entries.

use std::path::Path;

use super::draft::Draft;
use super::duplicates::Duplicates;
use super::entry::{Entry, Handler, HandlerKind, Place};
use super::node::{Member, Node};
use super::script::{Names, Scripts};
use super::{Plan, Source, suspicious};
use crate::facts::{Facts, Surroundings};
use crate::matcher::{Matcher, Room};
use crate::rules::Rules;

/// A group, as it is to be written.
const SHAPE: &str = r#"{ "hooks": [ { "type": "command", … } ] }"#;

/// The part of a file that entries share.
pub(super) struct Reader<'r> {
    pub(super) source: &'r Source,
    pub(super) rules: &'static Rules,
    pub(super) project: &'r Path,
    /// Why nothing in the file runs.
    pub(super) disabled: Option<String>,
    /// The host's own tools.
    pub(super) tools: &'r [String],
    /// For the expressions of matchers.
    pub(super) room: &'r Room,
}

impl Reader<'_> {
    pub(super) fn event(&self, plan: &mut Plan, all: &mut Duplicates, event: &Member) {
        let Some(items) = event.value.list() else {
            let (key, what) = (&event.key, event.value.what());
            let text = format!("`{key}` must be a list, and is {what}");
            return plan.error_in(self.source, event, event.line, text);
        };
        for item in items {
            if self.rules.format.nested {
                self.group(plan, all, event, item);
            } else {
                let matcher = item.get("matcher");
                self.handler(plan, all, event, (matcher, item));
            }
        }
    }

    /// A group of handlers under one matcher.
    fn group(&self, plan: &mut Plan, all: &mut Duplicates, event: &Member, group: &Node) {
        let Some(members) = group.table() else {
            let (key, what) = (&event.key, group.what());
            let text = format!("a group of `{key}` must be an object, and is {what}");
            return plan.error_in(self.source, event, group.line, text);
        };
        let Some(handlers) = group.get("hooks").and_then(Node::list) else {
            let text = format!(
                "this group of `{}` has no list `hooks`: write `{SHAPE}`; the rest of the file is read",
                event.key
            );
            return plan.error_in(self.source, event, group.line, text);
        };
        for member in members {
            let key = member.key.as_str();
            if self.rules.format.handler_keys.contains(&key) {
                plan.notice(
                    self.source,
                    member.line,
                    format!("`{key}` does nothing on a group: write it in the handler"),
                );
            } else if !self.rules.format.group_keys.contains(&key) {
                let text = suspicious::unknown_key(key, self.rules.format.group_keys);
                plan.notice(self.source, member.line, text);
            }
        }
        for handler in handlers {
            self.handler(plan, all, event, (group.get("matcher"), handler));
        }
    }

    fn handler(
        &self,
        plan: &mut Plan,
        all: &mut Duplicates,
        event: &Member,
        (matcher, node): (Option<&Node>, &Node),
    ) {
        let Some(members) = node.table() else {
            let (key, what) = (&event.key, node.what());
            let text = format!("a handler of `{key}` must be an object, and is {what}");
            return plan.error_in(self.source, event, node.line, text);
        };
        let format = &self.rules.format;
        for member in members {
            let key = member.key.as_str();
            if !format.handler_keys.contains(&key) {
                let of_group = format.group_keys.contains(&key);
                let text = if of_group {
                    format!("`{key}` does nothing in a handler: write it beside `hooks`")
                } else {
                    suspicious::unknown_key(key, format.handler_keys)
                };
                plan.notice(self.source, member.line, text);
            }
        }
        let mut draft = Draft::new(members, node.line);
        (self.rules.format.handler)(&mut draft);
        let rule = self.rules.event(&event.key);
        let mut entry = Entry {
            dialect: self.source.dialect,
            event: event.key.clone(),
            matcher: matcher.and_then(Node::text).map(str::to_owned),
            handler: None,
            place: Place { file: self.source.file.clone(), line: node.line },
            also: Vec::new(),
            skipped: None,
            suspicions: Vec::new(),
            broken: false,
            origin: self.source.origin.clone(),
            compiled: Matcher::All,
            rule,
            meant: None,
            scripts: Scripts::default(),
        };
        draft.finish(&mut entry);
        self.finish(&mut entry, event, matcher);
        all.add(plan, entry);
    }

    fn finish(&self, entry: &mut Entry, event: &Member, matcher: Option<&Node>) {
        if let Some(handler) = &entry.handler {
            let names = self.names(handler);
            entry.scripts = Scripts::of(&handler.kind, &names);
            for (name, value) in &handler.environment {
                entry.scripts.variable(name, value, &names);
            }
        }
        if let Some(disabled) = &self.disabled {
            entry.turn_off(disabled.clone());
        }
        if let Some(node) = matcher.filter(|node| node.text().is_none()) {
            entry.reject(node.line, format!("`matcher` must be text, and is {}", node.what()));
        }
        if entry.rule.is_none() {
            suspicious::unknown_event(entry, self.rules, event.line);
        }
        if let Some(rule) = entry.rule.or(entry.meant) {
            match Matcher::compile(self.rules, rule, entry.matcher.as_deref(), self.room) {
                Ok(matcher) => entry.compiled = matcher,
                Err(error) => {
                    entry.reject(matcher.map_or(entry.place.line, |node| node.line), error);
                }
            }
        }
        suspicious::examine(entry, matcher.map(|node| node.line), (self.project, self.tools));
    }

    /// What names in a command stand for.
    fn names<'h>(&self, handler: &'h Handler) -> Names<'h> {
        let plugin = self.source.origin.plugin();
        let around = Surroundings { project: self.project, plugin };
        let of_dialect = (self.rules.environment)(&Facts::default(), &around);
        // Where the agent works is another folder in each fire.
        let mut variables: Vec<_> =
            of_dialect.into_iter().filter(|(name, _)| !name.ends_with("_CWD")).collect();
        let shell = matches!(handler.kind, HandlerKind::Shell { .. });
        if shell {
            variables.extend(std::env::var("HOME").ok().map(|home| ("HOME", home)));
            let set = handler.environment.iter();
            variables.extend(set.map(|(name, value)| (name.as_str(), value.clone())));
        }
        Names { directory: self.directory(handler.directory.as_deref()), variables, shell }
    }

    /// Where a command of the file runs.
    fn directory(&self, directory: Option<&str>) -> std::path::PathBuf {
        directory.map_or_else(|| self.project.to_owned(), |directory| self.project.join(directory))
    }
}
