//! How it reads answers itself: one key too many, or a rule broken, and all of it fails.

use serde_json::{Map, Value};

use crate::answer::{Answer, DecidedBy, Fields, Ruling};
use crate::claude_code;
use crate::facts::EventKind;
use crate::printed::{Printed, printed};
use crate::rules::EventRule;
use crate::runner::{Exit, Ran};

pub(super) fn faithful(event: &EventRule, ran: &Ran) -> Answer {
    match ran.exit {
        Exit::Code(0) => exit_0(event, ran),
        Exit::Code(2) if event.blocks && !ran.stderr.trim().is_empty() => {
            let reason = Some(ran.stderr.trim().to_owned());
            Answer::decided(Ruling::Deny, DecidedBy::Exit, reason)
        }
        Exit::Code(2) if event.kind == EventKind::AfterTool && !ran.stderr.trim().is_empty() => {
            Answer::context(ran.stderr.trim())
        }
        // Without a reason on stderr it is no denial, and stdout is not read.
        _ => Answer::failed_by_exit(ran),
    }
}

fn exit_0(event: &EventRule, ran: &Ran) -> Answer {
    match printed(&ran.stdout) {
        Printed::Nothing => Answer::none(),
        Printed::Object(map) => {
            let fields = claude_code::fields(event, &map);
            match broken_rule(event, &map, &fields) {
                Some(rule) => Answer::bad_output(rule, ran),
                None => Answer::of(fields),
            }
        }
        Printed::Broken(why) => Answer::bad_output(why, ran),
        Printed::Text(text) if text.starts_with('[') => {
            Answer::bad_output("it is JSON, but no object", ran)
        }
        Printed::Text(text) if event.text_is_context => Answer::context(&text),
        Printed::Text(_) if event.kind.is_stop() => {
            Answer::bad_output("it is no JSON, which is an error at a stop", ran)
        }
        Printed::Text(_) => Answer::none().notice("text on stdout is ignored here"),
    }
}

/// The rule of the product that an answer breaks.
fn broken_rule(event: &EventRule, map: &Map<String, Value>, fields: &Fields) -> Option<String> {
    if let Some(key) = fields.unknown.first() {
        return Some(format!("there is a key that is unknown: {key}"));
    }
    if let Some(wrong) = fields.wrong.first() {
        return Some(wrong.clone());
    }
    let has = |key: &str| map.get(key).is_some_and(|value| !value.is_null());
    let denies = fields.ruling == Some(Ruling::Deny);
    if denies && fields.reason.is_none() {
        return Some("a denial needs a reason".into());
    }
    match event.kind {
        EventKind::BeforeTool => before_tool(map, fields),
        EventKind::Permission if fields.rewrite.is_some() => {
            Some("`updatedInput` is not taken at a permission request".into())
        }
        EventKind::AfterTool if has("reason") && !has("decision") => {
            Some("`reason` needs `decision`".into())
        }
        _ => None,
    }
}

fn before_tool(map: &Map<String, Value>, fields: &Fields) -> Option<String> {
    let unsupported =
        ["stopReason", "suppressOutput"].into_iter().find(|key| map.contains_key(*key));
    if let Some(key) = unsupported {
        return Some(format!("`{key}` is not supported before a tool"));
    }
    let rewrites = fields.rewrite.is_some();
    match fields.ruling {
        Some(Ruling::Halt) => Some("`continue: false` is not supported before a tool".into()),
        Some(Ruling::Ask) => Some("`ask` is not supported".into()),
        Some(Ruling::Allow) if map.get("decision").is_some() => {
            Some("`approve` is not supported".into())
        }
        Some(Ruling::Allow) if !rewrites => Some("`allow` needs `updatedInput`".into()),
        None | Some(Ruling::Deny) if rewrites => Some("`updatedInput` needs `allow`".into()),
        _ => None,
    }
}
