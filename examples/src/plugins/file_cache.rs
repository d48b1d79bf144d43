//! Answers for a file that was read before, until a tool runs that may change it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_points::mcp::{CallTool, CallToolRequest, CallToolResponse};
use hooks_points::{ProcessComplete, ProcessCompletePayload};
use hooks_runtime::{AfterExecute, BeforeExecute, FlowContext, hook_handlers};
use serde_json::Value;

/// Tools that change no file.
const READERS: [&str; 2] = ["read_file", "list_directory"];

/// Remembers what files said.
#[derive(Debug, Default)]
pub struct FileCache(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// How often files may have changed: what was read before that is not learned.
    changes: u64,
    files: HashMap<String, CallToolResponse>,
}

/// What a run is about, kept in its state from the stage before the operation to the
/// one after it.
enum Run {
    Reads { path: String, changes: u64 },
    Changes,
}

#[hook_handlers(plugin = "file-cache")]
impl FileCache {
    #[hook_handler(BeforeExecute<CallTool>)]
    fn answer(&self, flow: &mut FlowContext<CallTool>) {
        let Some(call) = flow.input() else { return };
        if !READERS.contains(&&*call.name) {
            self.known().change();
            flow.state_mut().insert(Run::Changes);
        } else if let Some(path) = file(call) {
            let (changes, answer) = {
                let known = self.known();
                (known.changes, known.files.get(&path).cloned())
            };
            if let Some(answer) = answer {
                flow.respond(answer);
            } else {
                flow.state_mut().insert(Run::Reads { path, changes });
            }
        }
    }

    #[hook_handler(AfterExecute<CallTool>)]
    fn learn(&self, flow: &mut FlowContext<CallTool>) {
        match flow.state_mut().remove::<Run>() {
            Some(Run::Changes) => self.known().change(),
            Some(Run::Reads { path, changes }) => {
                let answer = flow.output().filter(|answer| answer.is_error != Some(true)).cloned();
                let mut known = self.known();
                if let Some(answer) = answer.filter(|_| known.changes == changes) {
                    known.files.insert(path, answer);
                }
            }
            None => {}
        }
    }

    /// A process goes on after the call that started it.
    #[hook_handler(ProcessComplete)]
    fn forget(&self, _: &ProcessCompletePayload) {
        self.known().change();
    }
}

impl FileCache {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn change(&mut self) {
        self.changes += 1;
        self.files.clear();
    }
}

/// The file that a call reads, if it reads one.
fn file(call: &CallToolRequest) -> Option<String> {
    let path = call.arguments.as_ref()?.get("path").and_then(Value::as_str)?;
    (call.name == "read_file").then(|| path.to_owned())
}
