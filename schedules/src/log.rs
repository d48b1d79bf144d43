//! What handlers note down.

use std::sync::{Arc, Mutex, PoisonError};

/// What happened, in order. Noting it is no step of a schedule.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    /// Notes one thing.
    pub fn note(&self, what: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    /// What was noted so far.
    pub fn seen(&self) -> Vec<&'static str> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
