//! A handler as it is read, key by key.

use std::time::Duration;

use super::address::is_address;
use super::entry::{Entry, Handler, HandlerKind, Suspicion};
use super::node::{Data, Member, Node, find};

/// A handler as it is read.
#[derive(Debug)]
pub(crate) struct Draft<'d> {
    members: &'d [Member],
    line: usize,
    /// Its kind is not known until it is read.
    handler: Handler,
    known: bool,
    skipped: Option<String>,
    /// Whether that is a mistake.
    broken: bool,
    suspicions: Vec<Suspicion>,
}

impl<'d> Draft<'d> {
    pub(super) fn new(members: &'d [Member], line: usize) -> Self {
        Self {
            members,
            line,
            handler: Handler::unknown(),
            known: false,
            skipped: None,
            broken: false,
            suspicions: Vec::new(),
        }
    }

    /// Sets what was read of it; the handler where that is enough to be run.
    pub(super) fn finish(self, entry: &mut Entry) {
        entry.handler = self.known.then_some(self.handler);
        (entry.skipped, entry.broken) = (self.skipped, self.broken);
        entry.suspicions = self.suspicions;
    }

    /// The value of a key, unless it is `null`, and its line.
    fn take(&self, key: &str) -> Option<(&'d Node, usize)> {
        let member = find(self.members, key)?;
        (member.value.data != Data::Null).then_some((&member.value, member.line))
    }

    fn line_of(&self, key: &str) -> usize {
        find(self.members, key).map_or(self.line, |member| member.line)
    }

    /// It does not run, and that is no mistake.
    pub(crate) fn skip(&mut self, reason: impl Into<String>) {
        self.skipped.get_or_insert(reason.into());
    }

    /// It cannot run, because of a mistake.
    pub(crate) fn reject(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        self.suspect(reason.clone());
        self.break_off(reason);
    }

    /// What is wrong with it, unless it does not run anyway.
    fn break_off(&mut self, reason: String) {
        self.broken |= self.skipped.is_none();
        self.skip(reason);
    }

    pub(crate) fn suspect(&mut self, text: impl Into<String>) {
        self.suspect_at(self.line, text);
    }

    fn suspect_at(&mut self, line: usize, text: impl Into<String>) {
        self.suspicions.push(Suspicion { line, text: text.into() });
    }

    fn wrong(&mut self, key: &str, expected: &str, node: &Node, line: usize) {
        let what = format!("`{key}` must be {expected}, and is {}", node.what());
        self.suspect_at(line, what.clone());
        self.break_off(what);
    }

    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        let (node, line) = self.take(key)?;
        if node.text().is_none() {
            self.wrong(key, "text", node, line);
        }
        node.text().map(str::to_owned)
    }

    /// Text without which the handler cannot run.
    pub(crate) fn required(&mut self, key: &str) -> Option<String> {
        match self.text(key) {
            Some(text) if !text.trim().is_empty() => Some(text),
            _ if self.skipped.is_some() => None,
            _ => {
                self.reject(format!("it has no `{key}`"));
                None
            }
        }
    }

    pub(crate) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let (node, line) = self.take(key)?;
        let texts =
            node.list().map(|items| items.iter().map(Node::text).collect::<Option<Vec<_>>>());
        let Some(texts) = texts.flatten() else {
            self.wrong(key, "a list of texts", node, line);
            return None;
        };
        Some(texts.into_iter().map(str::to_owned).collect())
    }

    fn pairs(&mut self, key: &str) -> Vec<(String, String)> {
        let Some((node, line)) = self.take(key) else { return Vec::new() };
        let pair = |member: &Member| Some((member.key.clone(), member.value.text()?.to_owned()));
        let pairs = node.table().and_then(|members| members.iter().map(pair).collect());
        pairs.unwrap_or_else(|| {
            self.wrong(key, "an object of texts", node, line);
            Vec::new()
        })
    }

    pub(crate) fn flag(&mut self, key: &str) -> bool {
        let Some((node, line)) = self.take(key) else { return false };
        if node.boolean().is_none() {
            self.wrong(key, "true or false", node, line);
        }
        node.boolean().unwrap_or(false)
    }

    fn number(&mut self, key: &str) -> Option<f64> {
        let (node, line) = self.take(key)?;
        match node.data {
            Data::Number(number) if number.is_finite() && number >= 0.0 => Some(number),
            _ => {
                self.wrong(key, "a number that is not negative", node, line);
                None
            }
        }
    }

    /// A time limit in seconds, at the first of these keys.
    pub(crate) fn seconds(&mut self, keys: &[&str]) {
        self.limit(keys, 1.0, "seconds");
    }

    /// A time limit in milliseconds, at the first of these keys.
    pub(crate) fn milliseconds(&mut self, keys: &[&str]) {
        self.limit(keys, 0.001, "milliseconds");
    }

    fn limit(&mut self, keys: &[&str], unit: f64, counted: &str) {
        let Some((key, number)) = keys.iter().find_map(|key| Some((key, self.number(key)?))) else {
            return;
        };
        let limit = Duration::try_from_secs_f64(number * unit).unwrap_or(Duration::MAX);
        let line = self.line_of(key);
        if limit > Duration::from_mins(10) {
            let text = format!(
                "`{key}` is {number} {counted}, more than ten minutes: it is counted in {counted}"
            );
            self.suspect_at(line, text);
        } else if limit < Duration::from_millis(100) {
            let text = format!(
                "`{key}` is {number} {counted}, too short for a process: it is counted in {counted}"
            );
            self.suspect_at(line, text);
        }
        self.handler.timeout = Some(limit);
    }

    pub(crate) fn kind(&mut self, kind: HandlerKind) {
        self.handler.kind = kind;
        self.known = true;
    }

    /// A handler behind an address.
    pub(crate) fn http(&mut self) {
        let Some(url) = self.required("url") else { return };
        if !is_address(&url) {
            let example = "https://hooks.example.com/gate/";
            let line = self.line_of("url");
            let what = format!("`{url}` is no address: write one such as `{example}`");
            self.suspect_at(line, what.clone());
            self.break_off(what);
        }
        let headers = self.pairs("headers");
        let variables = self.texts("allowedEnvVars").unwrap_or_default();
        self.kind(HandlerKind::Http { url, headers, variables });
    }

    pub(crate) fn name(&mut self, name: String) {
        self.handler.name = Some(name);
    }

    pub(crate) fn fails_closed(&mut self) {
        self.handler.fails_closed = true;
    }

    pub(crate) fn background(&mut self, background: bool) {
        self.handler.background = background;
    }

    pub(crate) fn once(&mut self, once: bool) {
        self.handler.once = once;
    }

    pub(crate) fn rule(&mut self, rule: String) {
        self.handler.rule = Some(rule);
    }

    pub(crate) fn environment(&mut self, key: &str) {
        self.handler.environment = self.pairs(key);
    }

    pub(crate) fn directory(&mut self, directory: String) {
        self.handler.directory = Some(directory);
    }

    /// How often in a row; `null` is without a limit, which is the largest number.
    pub(crate) fn loop_limit(&mut self, key: &str, usual: u32) {
        let none = find(self.members, key).is_some_and(|member| member.value.data == Data::Null);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates
        let set = self.number(key).map(|number| number as u32);
        self.handler.loop_limit = Some(if none { u32::MAX } else { set.unwrap_or(usual) });
    }
}
