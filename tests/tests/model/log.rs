//! What the registry logs, thread by thread.
//!
//! One subscriber for the whole process: `tracing` caches whether any subscriber
//! wants an event, so tests must not set and drop their own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::event::placeless;

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Listens from here on.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Lines).unwrap());
    LINES.take();
}

/// What was logged on this thread since the last call, sorted: handlers that are
/// pending at the same time end in no order.
pub fn take() -> Vec<String> {
    let mut lines = LINES.take();
    lines.sort();
    lines
}

/// A failure, as the log has it.
pub fn failure(point: &str, handler: &str, owner: &str, kind: &str, policy: &str) -> String {
    format!("{point}: {handler} ({owner}): {kind}, {policy}")
}

/// A panic whose outcome is not awaited, as the log has it.
pub fn lost(panic: &str) -> String {
    format!("lost: {panic}")
}

/// A plugin that left without a wait, as the log has it.
pub fn unwaited(error: &str) -> String {
    format!("unwaited: {error}")
}

struct Lines;

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hooks_runtime")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let field = |name| fields.0.get(name).map_or("-", String::as_str);
        let line = if fields.0.contains_key("panic") {
            lost(field("panic"))
        } else if fields.0.contains_key("error") {
            unwaited(field("error"))
        } else {
            let handler = placeless(field("handler"));
            failure(field("point"), &handler, field("owner"), field("kind"), field("policy"))
        };
        LINES.with_borrow_mut(|lines| lines.push(line));
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
