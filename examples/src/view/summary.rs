//! What the plugins have seen by the end.

use crate::house::House;

/// What the plugins have seen: pairs of a name and a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary(pub Vec<(&'static str, String)>);

/// Asks the plugins of a house what they have seen, and the registry whether
/// everything adds up.
pub fn summary(house: &House) -> rusqlite::Result<Summary> {
    let plugins = &house.plugins;
    let used = plugins.usage.total();
    let counts = plugins.audit.counts()?;
    let counts: Vec<_> = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let sessions = plugins.sessions.lines();
    let (first, last) = (sessions.first(), sessions.last());
    let [first, last] = [first, last].map(|line| line.map_or("nothing", String::as_str));
    let mut lines = vec![
        ("sessions", format!("{} lines, from \"{first}\" to \"{last}\"", sessions.len())),
        (
            "usage",
            format!(
                "{} round trips, {} tokens in, {} out, {} tool calls",
                used.round_trips, used.input_tokens, used.output_tokens, used.tool_calls
            ),
        ),
        ("audit log", format!("in SQLite: {}", counts.join(", "))),
    ];
    for skill in plugins.skills.candidates() {
        lines.push(("a skill?", format!("{} ({})", skill.prompt, skill.tools.join(", "))));
    }
    for problem in house.agent.hooks().audit().to_string().lines() {
        lines.push(("hooks", problem.to_owned()));
    }
    Ok(Summary(lines))
}
