//! The rows of the timeline.

use std::fmt::{self, Write};

use super::facts::Facts;
use crate::agent::{Entry, Event, Fired, full_name};
use crate::view::markup::Text;
use crate::view::phrase::{Effect, RemarkKind, class, outcome, remarks, time, tool_run};

/// The row of an entry, if it has one; `last` is the point that was fired last.
pub(super) fn row(
    html: &mut String,
    Entry { depth, event }: &Entry,
    last: &mut Option<&'static str>,
) -> fmt::Result {
    let Some(facts) = Facts::of(event, *last) else { return Ok(()) };
    let inner = inner(*depth);
    let (class, text) = match event {
        Event::Fired(fired) => {
            *last = facts.point;
            return fire(html, inner, fired, &facts);
        }
        Event::Ran { tool, args, result } if result.is_success() => {
            ("ran", format!("> {}", tool_run(tool, args, result)))
        }
        Event::Ran { tool, args, result } => {
            ("ran failed", format!("> {}", tool_run(tool, args, result)))
        }
        Event::Refused { what, reason, by } => {
            ("refused", format!("{what} refused by {by}: {reason}"))
        }
        Event::Note(note) => ("note", note.clone()),
        Event::Failed(error) => ("failed", error.clone()),
        Event::Said { .. } => return Ok(()),
    };
    write!(html, "<li class=\"event {class}{inner}\"")?;
    attributes(html, &facts)?;
    writeln!(html, "><div>{}</div></li>", Text(&text))
}

/// How a row inside of a subagent looks.
pub(super) fn inner(depth: usize) -> &'static str {
    if depth > 0 { " inner" } else { "" }
}

/// What the script finds the row by.
fn attributes(html: &mut String, facts: &Facts<'_>) -> fmt::Result {
    if let Some(point) = facts.point {
        write!(html, " data-point=\"{}\"", Text(point))?;
    }
    let plugins = facts.plugins.join(" ");
    write!(html, " data-plugins=\"{}\"", Text(&plugins))?;
    write!(html, " data-outcomes=\"{}\"", facts.outcomes.join(","))?;
    html.push_str(if facts.trouble { " data-trouble" } else { "" });
    Ok(())
}

fn fire(html: &mut String, inner: &str, fired: &Fired, facts: &Facts<'_>) -> fmt::Result {
    let (report, came) = (&fired.report, outcome(fired));
    let model = report.model();
    let (quiet, effect) = match came.effect {
        Effect::Quiet => (" quiet", ""),
        Effect::None => ("", ""),
        Effect::Changed => ("", " good"),
        Effect::Taken => ("", " taken"),
        Effect::Refused => ("", " bad"),
    };
    write!(html, "<li class=\"fire {model}{quiet}{inner}\"")?;
    attributes(html, facts)?;
    write!(
        html,
        "><span class=\"point\">{}</span> <span class=\"badge\">{model}</span> \
         <span class=\"about\">{}</span> <span class=\"came{effect}\">{}</span> \
         <span class=\"chips\">",
        Text(report.point()),
        Text(&fired.about),
        came.word,
    )?;
    for row in report.handlers() {
        let took = row.elapsed().map_or_else(String::new, |took| format!(", {}", time(took)));
        let (class, name, status) = (class(row), full_name(row), row.status().to_string());
        let (name, status) = (Text(&name), Text(&status));
        write!(html, "<span class=\"chip {class}\" title=\"{status}{took}\">{name}")?;
        // What the look of a handler says, for those who do not see it.
        if class != "ran" {
            write!(html, "<span class=\"unseen\"> {status}</span>")?;
        }
        html.push_str("</span> ");
    }
    write!(html, "</span><span class=\"time\">{}</span>", time(fired.took))?;
    for remark in remarks(fired) {
        let class = match remark.kind {
            RemarkKind::Change => "change",
            RemarkKind::Failure => "failure",
            // Its chip is struck through, and says why when it is pointed at.
            RemarkKind::LeftOut => continue,
        };
        write!(html, "<div class=\"remark {class}\">{}</div>", Text(&remark.text))?;
    }
    html.push_str("</li>\n");
    Ok(())
}
