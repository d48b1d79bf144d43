//! What the handlers of a stage do to their run.

use std::mem;

use serde_json::{Map, Value};

use super::capture::RawAnswer;
use super::format::NotCaptured;

/// How a run was after the last handler of a stage, or when the stage began.
#[derive(Debug)]
pub(crate) struct StageRun(Result<Run, NotCaptured>);

#[derive(Debug)]
struct Run {
    input: Value,
    output: Value,
    /// How often the state of the run was changed.
    changes: Value,
}

impl StageRun {
    pub(crate) fn new(run: RawAnswer) -> Self {
        Self(run.and_then(|run| split(run).map(|(run, _)| run)))
    }

    /// What a handler did that has left the run so, `null` where that is nothing:
    ///
    /// | key | is |
    /// |---|---|
    /// | `input` | the input, where it rewrote it |
    /// | `changed` | the output, where it changed that in place |
    /// | `output` | what it answered in place of the operation |
    /// | `recover` | what it recovered with |
    /// | `refused` | `output` or `recover`, where one more of these was refused |
    /// | `skip` | whether it skipped the rest of its stage |
    /// | `abort` | the reason, where it aborted |
    /// | `state` | whether it changed the state of the run, of which nothing is recorded |
    pub(crate) fn did(&mut self, left: RawAnswer) -> RawAnswer {
        let (mut after, mut did) = match left.and_then(split) {
            Ok(split) => split,
            Err(why) => {
                self.0 = Err(why.clone());
                return Err(why);
            }
        };
        let before = mem::replace(&mut self.0, Err(NotCaptured::Shared));
        let told = before.map(|before| {
            if before.input != after.input {
                did.insert("input".to_owned(), after.input.clone());
            }
            if before.output != after.output {
                did.insert("changed".to_owned(), after.output.clone());
            }
            if before.changes != after.changes {
                did.insert("state".to_owned(), true.into());
            }
        });
        // What a handler gave that aborts does not count.
        if did.contains_key("abort") {
            did.retain(|key, _| !["output", "recover", "refused"].contains(&&**key));
        }
        // What it gave is the output that the next one finds.
        if let Some(given) = did.get("output").or_else(|| did.get("recover")) {
            after.output = given.clone();
        }
        self.0 = Ok(after);
        told.map(|()| if did.is_empty() { Value::Null } else { Value::Object(did) })
    }
}

/// How the run is, and what was asked for.
fn split(mut run: Value) -> Result<(Run, Map<String, Value>), NotCaptured> {
    let [input, output, changes, asked] =
        ["input", "output", "changes", "asked"].map(|key| run.get_mut(key).map(Value::take));
    match (input, output, changes, asked) {
        (Some(input), Some(output), Some(changes), Some(Value::Object(asked))) => {
            Ok((Run { input, output, changes }, asked))
        }
        _ => Err(NotCaptured::Shared),
    }
}
