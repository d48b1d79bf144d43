//! What its answers mean, and how it reads them itself.

use serde_json::{Map, Value};

use crate::answer::{Answer, DecidedBy, Fields, Opinion, Rewrite, Ruling};
use crate::facts::EventKind;
use crate::keys::Keys;
use crate::printed::{Printed, printed};
use crate::rules::EventRule;
use crate::runner::{Cause, Exit, Failure, Ran};

pub(crate) fn fields(event: &EventRule, answer: &Map<String, Value>) -> Fields {
    let mut fields = Fields::default();
    let mut keys = Keys::new("", answer);
    keys.known(&["suppressOutput", "terminalSequence"]);
    fields.message = keys.words("systemMessage");
    fields.ruling = keys.ruling("decision", &[("approve", Ruling::Allow), ("block", Ruling::Deny)]);
    fields.reason = keys.words("reason");
    if let Some(output) = keys.object("hookSpecificOutput") {
        event_output(event, output, &mut fields);
    }
    let stop_reason = keys.words("stopReason");
    if keys.boolean("continue") == Some(false) {
        fields.ruling = Some(Ruling::Halt);
        fields.reason = stop_reason.or(fields.reason);
    }
    keys.finish(&mut fields);
    fields
}

/// The part of an answer that is for one event.
pub(crate) fn event_output(event: &EventRule, output: &Map<String, Value>, fields: &mut Fields) {
    let mut keys = Keys::new("hookSpecificOutput.", output);
    keys.known(&[
        "hookEventName",
        "initialUserMessage",
        "sessionTitle",
        "watchPaths",
        "reloadSkills",
        "retry",
        "updatedToolOutput",
        "updatedMCPToolOutput",
        "displayContent",
        "action",
        "content",
    ]);
    let words = [
        ("allow", Ruling::Allow),
        ("deny", Ruling::Deny),
        ("ask", Ruling::Ask),
        ("defer", Ruling::Ask),
    ];
    // At a stop what denies a tool does not have the agent go on.
    let stop = event.kind.is_stop();
    if !stop {
        fields.rule(keys.ruling("permissionDecision", &words));
    }
    if let Some(reason) = keys.words("permissionDecisionReason") {
        fields.reason = Some(reason);
    }
    fields.rewrite = keys.object("updatedInput").cloned().map(Value::Object).map(Rewrite::Replace);
    fields.context = keys.words("additionalContext");
    if !stop && let Some(decision) = keys.object("decision") {
        permission(decision, fields);
    }
    keys.finish(fields);
}

/// What a permission request is answered with.
fn permission(decision: &Map<String, Value>, fields: &mut Fields) {
    let mut keys = Keys::new("hookSpecificOutput.decision.", decision);
    keys.known(&["updatedPermissions", "interrupt"]);
    fields.rule(keys.ruling("behavior", &[("allow", Ruling::Allow), ("deny", Ruling::Deny)]));
    if let Some(message) = keys.words("message") {
        fields.reason = Some(message);
    }
    if let Some(input) = keys.object("updatedInput") {
        fields.rewrite = Some(Rewrite::Replace(Value::Object(input.clone())));
    }
    keys.finish(fields);
}

/// An object decides whatever the exit code, but 2, which blocks whatever the object says.
pub(super) fn faithful(event: &EventRule, ran: &Ran) -> Answer {
    let said = printed(&ran.stdout);
    match (ran.exit, said) {
        (Exit::Code(2), said) => exit_2(event, ran, said),
        (Exit::Code(_), Printed::Object(map)) => {
            let fields = fields(event, &map);
            match fields.wrong.first() {
                Some(wrong) => Answer::bad_output(wrong.clone(), ran),
                None => Answer::of(fields),
            }
        }
        (Exit::Code(0), Printed::Nothing) => Answer::none(),
        (Exit::Code(0), Printed::Text(text)) if event.text_is_context => Answer::context(&text),
        (Exit::Code(0), Printed::Text(_)) => {
            Answer::none().notice("text on stdout is ignored here")
        }
        (Exit::Code(0), Printed::Broken(why)) => Answer::bad_output(why, ran),
        _ => Answer::failed_by_exit(ran),
    }
}

fn exit_2(event: &EventRule, ran: &Ran, said: Printed) -> Answer {
    let stderr = Some(ran.stderr.trim().to_owned()).filter(|text| !text.is_empty());
    let fields = match said {
        Printed::Object(map) => fields(event, &map),
        _ => Fields::default(),
    };
    // To stop everything beats every other decision, also that of the code.
    if fields.ruling == Some(Ruling::Halt) {
        return Answer::of(fields);
    }
    let reason = fields.reason.or_else(|| stderr.clone());
    let mut answer = if event.blocks {
        Answer::decided(Ruling::Deny, DecidedBy::Exit, reason)
    } else {
        Answer::none().notice("exit code 2 is ignored here")
    };
    if event.kind == EventKind::AfterTool {
        answer = Answer { opinion: Opinion::None, context: stderr, ..answer };
    }
    answer.context = fields.context.or(answer.context);
    answer.message = fields.message;
    answer
}

/// Two events do not go on without an answer: any code but 0 where a worktree is made, and
/// no answer in time where the model is changed.
pub(super) fn failure_denies(event: &EventRule, failure: &Failure) -> bool {
    match event.name {
        "WorktreeCreate" => matches!(failure.cause, Cause::Exit(_) | Cause::Signal(_)),
        "PreModelSwitch" => failure.cause.is_timeout(),
        _ => false,
    }
}
