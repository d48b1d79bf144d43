//! What a command finds in its stdin and in its environment.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::facts::{Document, Facts, Surroundings, cwd};
use crate::rules::EventRule;

pub(super) fn stdin(event: &EventRule, facts: &Facts, now: SystemTime) -> Map<String, Value> {
    let stop = event.kind.is_stop();
    let document = Document::default()
        .set("hook_event_name", event.name)
        .set("timestamp", timestamp(now))
        .maybe("session_id", facts.session_id.clone())
        .maybe("cwd", cwd(facts))
        .maybe("prompt", facts.prompt.clone())
        .maybe("prompt_response", facts.last_message.clone().filter(|_| stop))
        .maybe("stop_hook_active", stop.then_some(facts.loop_count > 0))
        .maybe("source", facts.source.clone())
        .maybe("reason", facts.reason.clone());
    let Some(tool) = &facts.tool else { return document.finish(facts) };
    let response = tool.response.as_ref().map(|response| {
        let mut whole = json!({ "llmContent": response, "returnDisplay": response });
        if tool.failed {
            whole["error"] = response.clone();
        }
        whole
    });
    document
        .set("tool_name", tool.name.clone())
        .set("tool_input", tool.input.clone())
        .maybe("tool_response", response)
        .finish(facts)
}

/// The time, as JavaScript prints it.
fn timestamp(now: SystemTime) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    iso_8601(since.as_secs(), since.subsec_millis())
}

/// Days to a date, by the calendar of Howard Hinnant's `civil_from_days`.
pub(crate) fn iso_8601(seconds: u64, milliseconds: u32) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

pub(super) fn environment(facts: &Facts, around: &Surroundings<'_>) -> Vec<(&'static str, String)> {
    let project = around.project.to_string_lossy().into_owned();
    let mut variables = vec![
        ("GEMINI_CWD", cwd(facts).unwrap_or_else(|| project.clone())),
        ("CLAUDE_PROJECT_DIR", project.clone()),
        ("GEMINI_PROJECT_DIR", project),
    ];
    if let Some(session) = &facts.session_id {
        variables.push(("GEMINI_SESSION_ID", session.clone()));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::iso_8601;

    #[test]
    fn dates() {
        assert_eq!(iso_8601(0, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_8601(951_827_696, 7), "2000-02-29T12:34:56.007Z");
        assert_eq!(iso_8601(1_798_761_599, 999), "2026-12-31T23:59:59.999Z");
    }
}
