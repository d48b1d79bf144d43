//! What its answers mean, and how it reads them itself.

use serde_json::{Map, Value};

use crate::answer::{Answer, DecidedBy, Fields, Rewrite, Ruling};
use crate::keys::Keys;
use crate::printed::{Printed, printed};
use crate::rules::EventRule;
use crate::runner::{Exit, Ran};

pub(super) fn fields(event: &EventRule, answer: &Map<String, Value>) -> Fields {
    let mut fields = Fields::default();
    let mut keys = Keys::new("", answer);
    keys.known(&["env", "updated_mcp_tool_output", "pluginPaths"]);
    let words = [("allow", Ruling::Allow), ("deny", Ruling::Deny), ("ask", Ruling::Ask)];
    // At a stop nothing but a follow-up has the agent go on, least of all what denies.
    let stop = event.kind.is_stop();
    if !stop {
        fields.ruling = keys.ruling("permission", &words);
    }
    // The second spelling is that of 1.7, which published scripts still use.
    fields.message =
        [keys.words("user_message"), keys.words("userMessage")].into_iter().flatten().next();
    let to_agent =
        [keys.words("agent_message"), keys.words("agentMessage")].into_iter().flatten().next();
    fields.reason = to_agent.or_else(|| fields.message.clone());
    fields.rewrite = keys.object("updated_input").cloned().map(Value::Object).map(Rewrite::Replace);
    fields.context = keys.words("additional_context");
    if !stop && keys.boolean("continue") == Some(false) {
        fields.ruling = Some(Ruling::Deny);
    }
    if let Some(text) = keys.words("followup_message").filter(|_| stop) {
        fields.ruling = Some(Ruling::Deny);
        fields.reason = Some(text);
    }
    keys.finish(&mut fields);
    fields
}

pub(super) fn faithful(event: &EventRule, ran: &Ran) -> Answer {
    let said = printed(&ran.stdout);
    match (ran.exit, said) {
        (Exit::Code(2), said) if event.blocks => {
            let fields = match said {
                Printed::Object(map) => fields(event, &map),
                _ => Fields::default(),
            };
            let stderr = Some(ran.stderr.trim().to_owned()).filter(|text| !text.is_empty());
            Answer::decided(Ruling::Deny, DecidedBy::Exit, fields.reason.or(stderr))
        }
        (Exit::Code(0), Printed::Object(map)) => {
            let fields = fields(event, &map);
            match fields.wrong.first() {
                Some(wrong) => Answer::bad_output(wrong.clone(), ran),
                None => Answer::of(fields),
            }
        }
        (Exit::Code(0), Printed::Nothing) => Answer::none(),
        (Exit::Code(0), Printed::Text(_)) if !event.kind.is_gate() => {
            Answer::none().notice("text on stdout is ignored here")
        }
        (Exit::Code(0), Printed::Text(_)) => Answer::bad_output("it is no JSON", ran),
        (Exit::Code(0), Printed::Broken(why)) => Answer::bad_output(why, ran),
        _ => Answer::failed_by_exit(ran),
    }
}
