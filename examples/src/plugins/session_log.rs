//! Logs when sessions begin and turns end: the smallest plugin with state.

use std::sync::{Mutex, PoisonError};

use hooks_points::{AgentDone, AgentDonePayload, SessionStart, SessionStartPayload};
use hooks_runtime::hook_handlers;

/// Keeps a line for each session that begins and each turn that ends.
#[derive(Debug, Default)]
pub struct SessionLog(Mutex<Vec<String>>);

#[hook_handlers(plugin = "session-log")]
impl SessionLog {
    #[hook_handler(SessionStart)]
    fn started(&self, start: &SessionStartPayload) {
        self.write(format!("{} began on {}", start.session_id, start.platform));
    }

    #[hook_handler(AgentDone)]
    fn done(&self, done: &AgentDonePayload) {
        self.write(format!("{} ended turn {}", done.session_id, done.turn_count));
    }
}

impl SessionLog {
    /// The lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}
