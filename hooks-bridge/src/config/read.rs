//! From the text of a file to its events.

use std::collections::HashMap;

use super::entries::Reader;
use super::node::{Data, Member, find};
use super::{Plan, Reading, Source, json, meant, suspicious, switches, toml};
use crate::rules::Rules;

impl Plan {
    /// Adds the entries of one file.
    pub(super) fn add(&mut self, source: &Source, text: &str, reading: &mut Reading<'_>) {
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
        reading.switches.note(source, &root);
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
            project: reading.project,
            disabled: switches::of_file(source, &root),
            tools: reading.tools,
            room: if source.origin.needs_trust() { &reading.untrusted } else { &reading.trusted },
        };
        let mut lines = HashMap::new();
        for event in events {
            if let Some(line) = lines.get(&event.key) {
                let key = &event.key;
                let text = format!(
                    "`{key}` is written twice, first on line {line}: {} takes the last only",
                    rules.product
                );
                self.notice(source, event.line, text);
            }
            lines.entry(&event.key).or_insert(event.line);
            if !rules.format.no_events.contains(&event.key.as_str()) {
                reader.event(self, &mut reading.duplicates, event);
            }
        }
    }

    /// A file without `hooks`: events at its root are a mistake, and so are those under a name
    /// that is nearly `hooks`; all else is not.
    fn without_hooks(&mut self, source: &Source, rules: &Rules, members: &[Member]) {
        if let Some(event) = members.iter().find(|member| rules.event(&member.key).is_some()) {
            let text =
                format!("`{}` must be inside of `\"hooks\": {{ … }}`, so it never runs", event.key);
            self.error(source, event.line, text);
        } else if let Some(misspelt) = members.iter().find(|member| is_hooks(rules, member)) {
            let text = format!(
                "the key `{}` means nothing here, so nothing in it runs; did you mean `hooks`?",
                misspelt.key
            );
            self.error(source, misspelt.line, text);
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
            if rules.format.rejects_root_keys {
                let text = format!(
                    "the key `{key}` is unknown, for which {} rejects the file",
                    rules.product
                );
                self.error(source, member.line, text);
                return false;
            }
            let text = suspicious::unknown_key(key, rules.format.root_keys);
            self.notice(source, member.line, text);
        }
        // Settings have other keys than hooks, and no version.
        let settings = source
            .file
            .file_stem()
            .is_some_and(|stem| stem.to_string_lossy().starts_with("settings"));
        if !rules.format.nested && !settings {
            let version = members.iter().find(|member| member.key == "version");
            match version.map(|member| (member.line, &member.value.data)) {
                None => self.notice(source, 1, "it has no `\"version\": 1`"),
                Some((_, Data::Number(1.0))) => {}
                Some((line, _)) => self.notice(source, line, "its `version` is not 1"),
            }
        }
        true
    }
}

/// Whether it is `hooks`, misspelt: its name is nearly that, and there is an event in it.
fn is_hooks(rules: &Rules, member: &Member) -> bool {
    let events = member.value.table().unwrap_or_default();
    meant::key(&member.key, ["hooks"].into_iter()).is_some()
        && events.iter().any(|event| rules.event(&event.key).is_some())
}
