//! What its answers mean, and how it reads them itself.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::answer::{Answer, DecidedBy, Fields, Rewrite, Ruling};
use crate::claude_code;
use crate::facts::EventKind;
use crate::keys::Keys;
use crate::printed::{Printed, printed};
use crate::rules::EventRule;
use crate::runner::{Cause, Exit, Failure, Ran};

pub(super) fn fields(event: &EventRule, answer: &Map<String, Value>) -> Fields {
    let mut fields = Fields::default();
    let mut keys = Keys::new("", answer);
    keys.known(&["modifiedResult", "modifiedTransformedPrompt", "modifiedResponse", "interrupt"]);
    let words = [("allow", Ruling::Allow), ("deny", Ruling::Deny), ("ask", Ruling::Ask)];
    // At a stop what denies a tool does not have the agent go on.
    if !event.kind.is_stop() {
        fields.rule(keys.ruling("permissionDecision", &words));
        fields.rule(keys.ruling("behavior", &words[..2]));
    }
    fields.rule(keys.ruling("decision", &[("allow", Ruling::Allow), ("block", Ruling::Deny)]));
    let reasons =
        [keys.words("permissionDecisionReason"), keys.words("message"), keys.words("reason")];
    fields.reason = reasons.into_iter().flatten().next();
    fields.rewrite = keys.object("modifiedArgs").cloned().map(Value::Object).map(Rewrite::Replace);
    fields.context = keys.words("additionalContext");
    fields.message = keys.words("systemMessage");
    if event.name.starts_with(char::is_uppercase)
        && let Some(output) = keys.object("hookSpecificOutput")
    {
        claude_code::event_output(event, output, &mut fields);
    }
    keys.finish(&mut fields);
    fields
}

pub(super) fn faithful(event: &EventRule, ran: &Ran) -> Answer {
    let stdout = without_progress(&ran.stdout);
    let decides = matches!(event.kind, EventKind::BeforeTool | EventKind::Permission);
    match (ran.exit, printed(&stdout)) {
        (Exit::Code(2), said) if decides => {
            let fields = match said {
                Printed::Object(map) => fields(event, &map),
                _ => Fields::default(),
            };
            let stderr = Some(ran.stderr.trim().to_owned()).filter(|text| !text.is_empty());
            Answer::decided(Ruling::Deny, DecidedBy::Exit, fields.reason.or(stderr))
        }
        (Exit::Code(2), Printed::Text(text)) if event.name.ends_with("UseFailure") => {
            Answer::context(&text)
        }
        (Exit::Code(2), _) => Answer::none().notice("exit code 2 is a warning here"),
        (Exit::Code(0), _) if event.kind == EventKind::Prompt => {
            Answer::none().notice("what a command says to a prompt is dropped")
        }
        (Exit::Code(0), Printed::Object(map)) => Answer::of(fields(event, &map)),
        (Exit::Code(0), Printed::Nothing) => Answer::none(),
        (Exit::Code(0), Printed::Text(_)) if !decides => {
            Answer::none().notice("text on stdout is ignored here")
        }
        (Exit::Code(0), Printed::Text(_)) => Answer::bad_output("it is no JSON", ran),
        (Exit::Code(0), Printed::Broken(why)) => Answer::bad_output(why, ran),
        _ => Answer::failed_by_exit(ran),
    }
}

/// Before a tool a command that errs denies; one that is too slow, or says nothing that
/// can be read, does not.
pub(super) fn failure_denies(event: &EventRule, failure: &Failure) -> bool {
    let erred = matches!(failure.cause, Cause::Exit(_) | Cause::Signal(_) | Cause::Spawn(_));
    event.kind == EventKind::BeforeTool && erred
}

/// The output without the lines that report progress.
pub(super) fn without_progress(stdout: &[u8]) -> Cow<'_, [u8]> {
    let Ok(text) = std::str::from_utf8(stdout) else { return Cow::Borrowed(stdout) };
    let is_progress = |line: &str| {
        let object = serde_json::from_str::<Map<String, Value>>(line);
        object.is_ok_and(|object| object.get("type").is_some_and(|kind| kind == "progress"))
    };
    let lines: Vec<_> = text.lines().filter(|line| !is_progress(line)).collect();
    Cow::Owned(lines.join("\n").into_bytes())
}
