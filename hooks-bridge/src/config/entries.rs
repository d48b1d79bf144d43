//! From the events of a file to its entries.

use std::path::Path;

use super::draft::Draft;
use super::duplicates::Duplicates;
use super::entry::{Entry, Handler, HandlerKind, Place};
use super::node::{Member, Node};
use super::script::{Names, Scripts};
use super::{Plan, Source, suspicious};
use crate::facts::{Facts, Surroundings};
use crate::matcher::Matcher;
use crate::rules::Rules;

/// The part of a file that entries share.
pub(super) struct Reader<'r> {
    pub(super) source: &'r Source,
    pub(super) rules: &'static Rules,
    pub(super) project: &'r Path,
    /// Why nothing in the file runs.
    pub(super) disabled: Option<String>,
}

impl Reader<'_> {
    pub(super) fn event(&self, plan: &mut Plan, all: &mut Duplicates, event: &Member) {
        let Some(items) = event.value.list() else {
            let (key, what) = (&event.key, event.value.what());
            return plan.error(
                self.source,
                event.line,
                format!("`{key}` must be a list, and is {what}"),
            );
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
            return plan.error(
                self.source,
                group.line,
                format!("a group of `{}` must be an object, and is {}", event.key, group.what()),
            );
        };
        let Some(handlers) = group.get("hooks").and_then(Node::list) else {
            let text =
                format!("a group of `{}` has no list `hooks`, so nothing of it runs", event.key);
            return plan.error(self.source, group.line, text);
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
                plan.notice(
                    self.source,
                    member.line,
                    format!("the key `{key}` means nothing here"),
                );
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
            return plan.error(
                self.source,
                node.line,
                format!("a handler of `{}` must be an object, and is {}", event.key, node.what()),
            );
        };
        for member in members {
            if !self.rules.format.handler_keys.contains(&member.key.as_str()) {
                plan.notice(
                    self.source,
                    member.line,
                    format!("the key `{}` means nothing here", member.key),
                );
            }
        }
        let mut draft = Draft::new(members, node.line);
        (self.rules.format.handler)(&mut draft);
        let (handler, skipped, suspicions) = draft.finish();
        let rule = self.rules.event(&event.key);
        let mut entry = Entry {
            dialect: self.source.dialect,
            event: event.key.clone(),
            matcher: matcher.and_then(Node::text).map(str::to_owned),
            handler,
            place: Place { file: self.source.file.clone(), line: node.line },
            also: Vec::new(),
            skipped,
            suspicions,
            origin: self.source.origin.clone(),
            compiled: Matcher::All,
            rule,
            scripts: Scripts::default(),
        };
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
            entry.skipped.get_or_insert(disabled.clone());
        }
        if let Some(node) = matcher.filter(|node| node.text().is_none()) {
            let text = format!("`matcher` must be text, and is {}", node.what());
            entry.suspect(node.line, text.clone());
            entry.skipped.get_or_insert(text);
        }
        if let Some(rule) = entry.rule {
            match Matcher::compile(self.rules, rule, entry.matcher.as_deref()) {
                Ok(matcher) => entry.compiled = matcher,
                Err(error) => {
                    entry
                        .suspect(matcher.map_or(entry.place.line, |node| node.line), error.clone());
                    entry.skipped.get_or_insert(error);
                }
            }
        }
        suspicious::examine(entry, event.line, matcher.map(|node| node.line));
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
