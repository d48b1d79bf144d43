//! Suppresses a message that says what the last one in its chat said.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hooks_points::{BeforeDispatch, BeforeDispatchPayload, Handled};
use hooks_runtime::hook_handlers;

/// Remembers what was last sent to each chat.
#[derive(Debug, Default)]
pub struct Dedup {
    last: Mutex<HashMap<(String, String), String>>,
}

#[hook_handlers(plugin = "dedup")]
impl Dedup {
    /// Late, so that what others suppress is not taken for sent.
    #[hook_handler(BeforeDispatch, priority = 100)]
    fn not_twice(&self, dispatch: &BeforeDispatchPayload) -> Option<Handled> {
        let chat = (dispatch.platform.clone(), dispatch.chat_id.clone());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.insert(chat, dispatch.text.clone());
        (before.as_ref() == Some(&dispatch.text)).then_some(Handled)
    }
}
