//! What its answers mean, and how it reads them itself.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::answer::{Answer, DecidedBy, Fields, Rewrite, Ruling};
use crate::keys::Keys;
use crate::printed::one_object;
use crate::rules::EventRule;
use crate::runner::{Exit, Ran};

const WORDS: [(&str, Ruling); 5] = [
    ("allow", Ruling::Allow),
    ("approve", Ruling::Allow),
    ("deny", Ruling::Deny),
    ("block", Ruling::Deny),
    ("ask", Ruling::Ask),
];

pub(super) fn fields(_: &EventRule, answer: &Map<String, Value>) -> Fields {
    let mut fields = Fields::default();
    let mut keys = Keys::new("", answer);
    keys.known(&["suppressOutput"]);
    fields.message = keys.words("systemMessage");
    fields.ruling = keys.ruling("decision", &WORDS);
    fields.reason = keys.words("reason");
    if let Some(output) = keys.object("hookSpecificOutput") {
        let mut keys = Keys::new("hookSpecificOutput.", output);
        keys.known(&[
            "hookEventName",
            "tailToolCallRequest",
            "clearContext",
            "llm_request",
            "llm_response",
            "toolConfig",
        ]);
        fields.rewrite = keys.object("tool_input").cloned().map(Rewrite::Merge);
        fields.context = keys.words("additionalContext");
        keys.finish(&mut fields);
    }
    let stop_reason = keys.words("stopReason");
    if keys.boolean("continue") == Some(false) {
        fields.ruling = Some(Ruling::Halt);
        fields.reason = stop_reason.or(fields.reason);
    }
    keys.finish(&mut fields);
    fields
}

/// An object is taken whatever the exit code; without one, the code says what the text
/// is. Where stdout is empty, stderr is read in its place.
pub(super) fn faithful(event: &EventRule, ran: &Ran) -> Answer {
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let text = match stdout.trim() {
        "" => ran.stderr.trim(),
        text => text,
    };
    if let Some(map) = object(text) {
        return Answer::of(fields(event, &map));
    }
    match ran.exit {
        // The product takes this for code 0, and goes on all the same.
        Exit::Signal(_) => Answer::failed_by_exit(ran),
        _ if text.is_empty() => Answer::none(),
        Exit::Code(0) => allowed(text.to_owned()),
        Exit::Code(1) => allowed(format!("Warning: {text}")),
        Exit::Code(_) => Answer::decided(Ruling::Deny, DecidedBy::Exit, Some(text.to_owned())),
    }
}

fn allowed(message: String) -> Answer {
    Answer { message: Some(message), ..Answer::decided(Ruling::Allow, DecidedBy::Exit, None) }
}

/// Where the product finds an object: in stdout, in stderr where that is empty, or in a
/// string of either. What is not UTF-8 is left for what reads it to see.
pub(super) fn answer_text(ran: &Ran) -> Cow<'_, [u8]> {
    let Ok(stdout) = std::str::from_utf8(&ran.stdout) else { return Cow::Borrowed(&ran.stdout) };
    let text = match stdout.trim() {
        "" => ran.stderr.trim(),
        text => text,
    };
    match object(text) {
        Some(map) => Cow::Owned(Value::Object(map).to_string().into_bytes()),
        None => Cow::Borrowed(&ran.stdout),
    }
}

/// An object, or a string that has one in it.
fn object(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::String(inner)) => one_object(&inner).ok(),
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    }
}
