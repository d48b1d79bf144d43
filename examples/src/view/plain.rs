//! Text for pipes and files.

use std::fmt::Write;

use hooks_runtime::escaped;

use super::group::{Said, groups, widest_point};
use super::phrase::{outcome, remarks, time, tool_run};
use super::summary::Summary;
use crate::agent::{Entry, Event, Record};

/// A record as text: words at the edge, what plugins did indented.
pub(super) fn record(record: &Record) -> String {
    let mut text = String::new();
    line(&mut text, &format!("== {}, as {}", record.title, record.personality));
    let wide = widest_point(record);
    for group in groups(record) {
        if let Some(said) = group.said {
            say(&mut text, said);
        }
        for entry in group.entries {
            write_entry(&mut text, entry, wide);
        }
    }
    text.push('\n');
    text
}

/// What the plugins have seen, as text.
pub(super) fn summary(summary: &Summary) -> String {
    let mut text = "== what the plugins have seen\n".to_owned();
    for (what, seen) in &summary.0 {
        line(&mut text, &format!("{what:<10}  {seen}"));
    }
    text
}

fn say(text: &mut String, said: Said<'_>) {
    let indent = "    ".repeat(said.depth.min(1));
    let mut lines = said.text.lines();
    line(text, &format!("{indent}{}: {}", said.who(), lines.next().unwrap_or_default()));
    for words in lines {
        line(text, &format!("{indent}  {words}"));
    }
}

fn write_entry(text: &mut String, Entry { depth, event }: &Entry, wide: usize) {
    let indent = "    ".repeat(depth + 1);
    let words = match event {
        Event::Fired(fired) => {
            let point = fired.report.point();
            let model = fired.report.model().to_string();
            let (about, came) = (&fired.about, outcome(fired));
            let took = time(fired.took);
            line(text, &format!("{indent}{point:<wide$}  {model:<9} {about:<15} {came}  {took}"));
            for remark in remarks(fired) {
                line(text, &format!("{indent}  {} {}", remark.kind.mark(), remark.text));
            }
            return;
        }
        Event::Ran { tool, args, result } => format!("> {}", tool_run(tool, args, result)),
        Event::Refused { what, reason, by } => format!("x {what} refused by {by}: {reason}"),
        Event::Note(note) => format!("* {note}"),
        Event::Failed(error) => format!("! {error}"),
        Event::Said { .. } => return,
    };
    line(text, &format!("{indent}{words}"));
}

/// Writes one line, which stays one whatever a model or a message says in it.
fn line(text: &mut String, line: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{}", escaped(line));
}
