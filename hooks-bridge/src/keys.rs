//! Reading an answer key by key, so that unknown and wrong ones are noticed.

use serde_json::{Map, Value};

use crate::answer::{Fields, Ruling};
use crate::config::nearly;

/// How many unknown keys of an object are named: an answer may have very many.
const MOST_NAMED: usize = 8;

/// The keys of one object of an answer.
#[derive(Debug)]
pub(crate) struct Keys<'m> {
    map: &'m Map<String, Value>,
    /// What is written before a key in messages.
    path: &'static str,
    used: Vec<&'static str>,
    wrong: Vec<String>,
}

impl<'m> Keys<'m> {
    pub(crate) fn new(path: &'static str, map: &'m Map<String, Value>) -> Self {
        Self { map, path, used: Vec::new(), wrong: Vec::new() }
    }

    fn take(&mut self, key: &'static str) -> Option<&'m Value> {
        self.used.push(key);
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn wrong(&mut self, key: &str, expected: &str) {
        self.wrong.push(format!("`{}{key}` must be {expected}", self.path));
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Option<String> {
        let value = self.take(key)?;
        if !value.is_string() {
            self.wrong(key, "text");
        }
        value.as_str().map(str::to_owned)
    }

    /// Text that says something.
    pub(crate) fn words(&mut self, key: &'static str) -> Option<String> {
        self.text(key).filter(|text| !text.trim().is_empty())
    }

    pub(crate) fn boolean(&mut self, key: &'static str) -> Option<bool> {
        let value = self.take(key)?;
        if !value.is_boolean() {
            self.wrong(key, "true or false");
        }
        value.as_bool()
    }

    pub(crate) fn object(&mut self, key: &'static str) -> Option<&'m Map<String, Value>> {
        let value = self.take(key)?;
        if !value.is_object() {
            self.wrong(key, "an object");
        }
        value.as_object()
    }

    /// A word that stands for a ruling.
    pub(crate) fn ruling(&mut self, key: &'static str, words: &[(&str, Ruling)]) -> Option<Ruling> {
        let text = self.text(key)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.wrong(key, &format!("one of {}, and is `{text}`", words.join(", ")));
        }
        found.map(|(_, ruling)| *ruling)
    }

    /// Keys that are known and mean nothing to the bridge.
    pub(crate) fn known(&mut self, keys: &[&'static str]) {
        self.used.extend(keys);
    }

    pub(crate) fn finish(self, fields: &mut Fields) {
        let unknown = self.map.keys().filter(|key| !self.used.contains(&key.as_str()));
        fields.unknown.extend(unknown.take(MOST_NAMED).map(|key| {
            let meant = nearly(key, self.used.iter().copied());
            let hint = meant.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
            format!("`{}{key}`{hint}", self.path)
        }));
        fields.wrong.extend(self.wrong);
    }
}
