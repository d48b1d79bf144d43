//! From the text of a file to its entries.

use std::path::Path;

use super::draft::Draft;
use super::entry::{Entry, Handler, HandlerKind, Place};
use super::node::{Member, Node, find};
use super::script::{Names, Scripts};
use super::{Plan, Source, json, suspicious, toml};
use crate::facts::{Facts, Surroundings};
use crate::matcher::Matcher;
use crate::rules::Rules;

/// The part of a file that entries share.
struct Reader<'r> {
    source: &'r Source,
    rules: &'static Rules,
    project: &'r Path,
    /// Why nothing in the file runs.
    disabled: Option<String>,
    /// Names and commands that the file turns off.
    turned_off: Vec<String>,
}

impl Plan {
    /// Adds the entries of one file.
    pub(super) fn add(&mut self, source: &Source, text: &str, project: &Path) {
        let rules = source.dialect.rules();
        let is_toml = source.file.extension().is_some_and(|it| it == "toml");
        let bare = text.strip_prefix('\u{feff}');
        if bare.is_some() {
            let mark = "it begins with a byte-order mark";
            if !rules.format.byte_order_mark {
                let product = rules.product;
                return self.error(
                    source,
                    1,
                    format!("{mark}, for which {product} rejects the file: save it without"),
                );
            }
            self.notice(source, 1, format!("{mark}: save it without"));
        }
        let text = bare.unwrap_or(text);
        let parsed =
            if is_toml { toml::parse(text) } else { json::parse(text, rules.format.comments) };
        let root = match parsed {
            Ok(root) => root,
            Err(malformed) => return self.error(source, malformed.line, malformed.what),
        };
        let Some(members) = root.table() else {
            return self.error(
                source,
                root.line,
                format!("an object is expected, not {}", root.what()),
            );
        };
        let Some(hooks) = find(members, "hooks") else {
            return self.without_hooks(source, rules, members);
        };
        let Some(events) = hooks.value.table() else {
            let what = hooks.value.what();
            return self.error(
                source,
                hooks.line,
                format!("`hooks` must be an object, and is {what}"),
            );
        };
        if !self.root_is_fine(source, rules, members, is_toml) {
            return;
        }
        let reader = Reader {
            source,
            rules,
            project,
            disabled: disabled(rules, &root, is_toml),
            turned_off: turned_off(&root),
        };
        for (index, event) in events.iter().enumerate() {
            if let Some(first) = events[..index].iter().find(|other| other.key == event.key) {
                let (key, line) = (&event.key, first.line);
                let text = format!(
                    "`{key}` is written twice, first on line {line}: {} takes the last only",
                    rules.product
                );
                self.notice(source, event.line, text);
            }
            if !rules.format.no_events.contains(&event.key.as_str()) {
                reader.event(self, event);
            }
        }
    }

    /// A file without `hooks`: events at its root are a mistake, all else is not.
    fn without_hooks(&mut self, source: &Source, rules: &Rules, members: &[Member]) {
        if let Some(event) = members.iter().find(|member| rules.event(&member.key).is_some()) {
            let text =
                format!("`{}` must be inside of `\"hooks\": {{ … }}`, so it never runs", event.key);
            self.error(source, event.line, text);
        } else {
            self.notice(source, 1, "it has no `hooks`");
        }
    }

    /// Whether the dialect takes the file with the keys that it has.
    fn root_is_fine(
        &mut self,
        source: &Source,
        rules: &Rules,
        members: &[Member],
        is_toml: bool,
    ) -> bool {
        let own_file = source.file.file_name().is_some_and(|name| name == "hooks.json");
        let known = |key: &str| key == "hooks" || rules.format.root_keys.contains(&key);
        for member in members.iter().filter(|member| own_file && !is_toml && !known(&member.key)) {
            let key = &member.key;
            if rules.id == "codex" {
                let text = format!(
                    "the key `{key}` is unknown, for which {} rejects the file",
                    rules.product
                );
                self.error(source, member.line, text);
                return false;
            }
            self.notice(source, member.line, format!("the key `{key}` means nothing here"));
        }
        if !rules.format.nested && !members.iter().any(|member| member.key == "version") {
            self.notice(source, 1, "it has no `\"version\": 1`");
        }
        true
    }
}

/// Why nothing in a file runs, where the file says so.
fn disabled(rules: &Rules, root: &Node, is_toml: bool) -> Option<String> {
    let is = |path: [&str; 2], value| {
        let node =
            path.iter().filter(|key| !key.is_empty()).try_fold(root, |node, key| node.get(key));
        node.and_then(Node::boolean) == Some(value)
    };
    if rules.format.root_keys.contains(&"disableAllHooks") && is(["disableAllHooks", ""], true) {
        return Some("the file says `disableAllHooks`".into());
    }
    if is(["hooksConfig", "enabled"], false) {
        return Some("the file says `hooksConfig.enabled: false`".into());
    }
    (is_toml && is(["features", "hooks"], false))
        .then(|| "the file says `features.hooks = false`".into())
}

/// The names and commands that a file turns off one by one.
fn turned_off(root: &Node) -> Vec<String> {
    let list = root.get("hooksConfig").and_then(|config| config.get("disabled"));
    let names = list.and_then(Node::list).unwrap_or_default().iter().filter_map(Node::text);
    names.map(str::to_owned).collect()
}

impl Reader<'_> {
    fn event(&self, plan: &mut Plan, event: &Member) {
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
                self.group(plan, event, item);
            } else {
                let matcher = item.get("matcher");
                self.handler(plan, event, matcher, item);
            }
        }
    }

    /// A group of handlers under one matcher.
    fn group(&self, plan: &mut Plan, event: &Member, group: &Node) {
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
            self.handler(plan, event, group.get("matcher"), handler);
        }
    }

    fn handler(&self, plan: &mut Plan, event: &Member, matcher: Option<&Node>, node: &Node) {
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
        plan.keep(entry);
    }

    fn finish(&self, entry: &mut Entry, event: &Member, matcher: Option<&Node>) {
        if let Some(handler) = &entry.handler {
            let names = self.names(handler);
            entry.scripts = Scripts::of(&handler.kind, &names);
            for (name, value) in &handler.environment {
                entry.scripts.variable(name, value, &names);
            }
            let called =
                handler.name.iter().chain([&handler.kind.to_string()]).cloned().collect::<Vec<_>>();
            if called.iter().any(|name| self.turned_off.contains(name)) {
                entry
                    .skipped
                    .get_or_insert("the file turns it off in `hooksConfig.disabled`".into());
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

impl Plan {
    /// Adds an entry, unless it is there already: then it runs once, and says where it
    /// was found.
    fn keep(&mut self, entry: Entry) {
        let same = |other: &&mut Entry| {
            other.dialect == entry.dialect
                && other.event == entry.event
                && other.matcher.as_deref().unwrap_or_default()
                    == entry.matcher.as_deref().unwrap_or_default()
                && other.handler == entry.handler
                && other.origin.plugin() == entry.origin.plugin()
                && other.runs()
                && entry.runs()
        };
        match self.entries.iter_mut().find(same) {
            Some(first) => {
                // The user's own needs no grant, whoever repeats it.
                if first.origin.needs_trust() {
                    first.origin = entry.origin;
                }
                first.also.push(entry.place);
            }
            None => self.entries.push(entry),
        }
    }
}
