//! Text for pipes and files.

use std::fmt::Write;

use super::group::{Said, groups, widest_point};
use super::phrase::{outcome, remarks, time, tool_run};
use super::summary::Summary;
use crate::agent::{Entry, Event, Record};

/// A record as text: words at the edge, what plugins did indented.
pub(super) fn record(record: &Record) -> String {
    // Writing to a `String` cannot fail.
    let mut text = format!("== {}, as {}\n", record.title, record.personality);
    let wide = widest_point(record);
    for group in groups(record) {
        if let Some(said) = group.said {
            say(&mut text, said);
        }
        for entry in group.entries {
            tell(&mut text, entry, wide);
        }
    }
    text.push('\n');
    text
}

/// What the plugins have seen, as text.
pub(super) fn summary(summary: &Summary) -> String {
    let mut text = "== what the plugins have seen\n".to_owned();
    for (what, seen) in &summary.0 {
        let _ = writeln!(text, "{what:<10}  {seen}");
    }
    text
}

fn say(text: &mut String, said: Said<'_>) {
    let indent = "    ".repeat(said.depth.min(1));
    let mut lines = said.text.lines();
    let _ = writeln!(text, "{indent}{}: {}", said.who(), lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(text, "{indent}  {line}");
    }
}

fn tell(text: &mut String, Entry { depth, event }: &Entry, wide: usize) {
    let indent = "    ".repeat(depth + 1);
    let _ = match event {
        Event::Fired(fired) => {
            let point = fired.report.point();
            let model = fired.report.model().to_string();
            let (about, came) = (&fired.about, outcome(fired));
            let took = time(fired.took);
            let _ = writeln!(text, "{indent}{point:<wide$}  {model:<9} {about:<15} {came}  {took}");
            for remark in remarks(fired) {
                let _ = writeln!(text, "{indent}  {} {}", remark.kind.mark(), remark.text);
            }
            Ok(())
        }
        Event::Ran { tool, args, result } => {
            writeln!(text, "{indent}> {}", tool_run(tool, args, result))
        }
        Event::Refused { what, reason, by } => {
            writeln!(text, "{indent}x {what} refused by {by}: {reason}")
        }
        Event::Note(note) => writeln!(text, "{indent}* {note}"),
        Event::Failed(error) => writeln!(text, "{indent}! {error}"),
        Event::Said { .. } => Ok(()),
    };
}
