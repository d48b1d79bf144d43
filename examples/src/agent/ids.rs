//! Ids that count up.

use std::sync::atomic::{AtomicU64, Ordering};

/// Hands out ids: one count for each kind of thing.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    sessions: AtomicU64,
    messages: AtomicU64,
    requests: AtomicU64,
    processes: AtomicU64,
}

impl Ids {
    pub(crate) fn session(&self) -> String {
        next("s", &self.sessions)
    }

    pub(crate) fn message(&self) -> String {
        next("m", &self.messages)
    }

    pub(crate) fn request(&self) -> String {
        next("r", &self.requests)
    }

    pub(crate) fn process(&self) -> String {
        next("p", &self.processes)
    }
}

fn next(prefix: &str, count: &AtomicU64) -> String {
    format!("{prefix}-{}", count.fetch_add(1, Ordering::Relaxed) + 1)
}
