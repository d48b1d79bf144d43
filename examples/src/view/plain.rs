//! Text for pipes and files.

use std::fmt::Write;

use super::group::{Said, groups, widest_point};
use super::phrase::{outcome, remarks, time, tool_run};
use super::summary::Summary;
use crate::agent::{Entry, Event, Record};

/// What happened, as text: words at the edge, what plugins did indented.
pub fn plain(records: &[Record], summary: &Summary) -> String {
    let mut text = String::new();
    for record in records {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "== {}, as {}", record.title, record.personality);
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
    }
    let _ = writeln!(text, "== what the plugins have seen");
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
