//! A page for a browser: one file, nothing to load.

use std::fmt::{self, Write};

use hooks_runtime::escaped;

use super::group::{Group, Said, groups};
use super::phrase::{RemarkKind, class, outcome, remarks, time, tool_run};
use super::summary::Summary;
use super::tally::Tally;
use crate::agent::{Entry, Event, Fired, Outcome, Record, Speaker, full_name};

const STYLE: &str = include_str!("page.css");

/// What happened, as a page that needs nothing else.
pub fn page(records: &[Record], summary: &Summary) -> String {
    let mut html = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_page(&mut html, records, summary);
    html
}

fn write_page(html: &mut String, records: &[Record], summary: &Summary) -> fmt::Result {
    write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>An agent at work, hook by hook</title>\n<style>\n{STYLE}</style></head>\n\
         <body><main>\n<header><h1>An agent at work, hook by hook</h1>\n\
         <p>Left, what is said. Right, every point that is fired, who took part, and what came \
         of it.</p>\n"
    )?;
    tiles(html, &Tally::of(records))?;
    html.push_str(LEGEND);
    html.push_str("</header>\n");
    for record in records {
        section(html, record)?;
    }
    html.push_str("<section><div class=\"title\"><h2>What the plugins have seen</h2></div><dl>\n");
    for (what, seen) in &summary.0 {
        writeln!(html, "<dt>{}</dt><dd>{}</dd>", Text(what), Text(seen))?;
    }
    html.push_str("</dl></section>\n</main></body></html>\n");
    Ok(())
}

const LEGEND: &str = "<p class=\"legend\">\
    <span class=\"void\"><span class=\"badge\">●&#xFE0E; void</span> notifies</span>\
    <span class=\"modifying\"><span class=\"badge\">●&#xFE0E; modifying</span> amends</span>\
    <span class=\"claiming\"><span class=\"badge\">●&#xFE0E; claiming</span> asks who takes it</span>\
    <span class=\"gating\"><span class=\"badge\">●&#xFE0E; gating</span> lets it pass or not</span>\
    <span class=\"flow\"><span class=\"badge\">●&#xFE0E; flow</span> runs it, stage by stage</span>\
    <span><span class=\"chip\">plugin/handler</span> ran</span>\
    <span><span class=\"chip changed\">plugin/handler</span> changed it</span>\
    <span><span class=\"chip claimed\">plugin/handler</span> claimed or answered it</span>\
    <span><span class=\"chip refused\">plugin/handler</span> refused it</span>\
    <span><span class=\"chip failed\">plugin/handler</span> failed, and the rest went on</span>\
    <span><span class=\"chip left-out\">plugin/handler</span> not called</span></p>\n";

fn tiles(html: &mut String, tally: &Tally) -> fmt::Result {
    html.push_str("<ul class=\"tiles\">");
    for (class, count, what) in [
        ("", tally.points, "points fired"),
        ("", tally.fires, "fires"),
        ("", tally.calls, "handler calls"),
        ("good", tally.changes, "changes by plugins"),
        ("good", tally.claims, "claims"),
        ("good", tally.answers, "answers by plugins"),
        ("bad", tally.refusals, "refusals"),
        ("bad", tally.failures, "plugin failures"),
    ] {
        write!(html, "<li class=\"{class}\"><b>{count}</b>{what}</li>")?;
    }
    html.push_str("</ul>\n");
    Ok(())
}

fn section(html: &mut String, record: &Record) -> fmt::Result {
    writeln!(
        html,
        "<section><div class=\"title\"><h2>{}</h2><span>personality {}</span></div>",
        Text(&record.title),
        Text(&record.personality)
    )?;
    for Group { said, entries } in groups(record) {
        html.push_str("<div class=\"group\">");
        speech(html, said)?;
        html.push_str("<ol class=\"timeline\">\n");
        for entry in entries {
            item(html, entry)?;
        }
        html.push_str("</ol></div>\n");
    }
    html.push_str("</section>\n");
    Ok(())
}

fn speech(html: &mut String, said: Option<Said<'_>>) -> fmt::Result {
    let Some(said) = said else {
        html.push_str("<div class=\"said\"></div>");
        return Ok(());
    };
    let who = if said.by == Speaker::User { "you" } else { "agent" };
    let inner = inner(said.depth);
    let name = said.who();
    write!(html, "<div class=\"said {who}{inner}\"><small>{name}</small><p class=\"bubble\">")?;
    for (place, line) in said.text.lines().enumerate() {
        let between = if place == 0 { "" } else { "\n" };
        write!(html, "{between}{}", Text(line))?;
    }
    html.push_str("</p></div>");
    Ok(())
}

fn item(html: &mut String, Entry { depth, event }: &Entry) -> fmt::Result {
    let inner = inner(*depth);
    let (class, text) = match event {
        Event::Fired(fired) => return fire(html, inner, fired),
        Event::Ran { tool, args, result } => ("ran", format!("▸ {}", tool_run(tool, args, result))),
        Event::Refused { what, reason, by } => {
            ("refused", format!("{what} refused by {by}: {reason}"))
        }
        Event::Note(note) => ("note", note.clone()),
        Event::Failed(error) => ("failed", error.clone()),
        Event::Said { .. } => return Ok(()),
    };
    writeln!(html, "<li class=\"event {class}{inner}\"><div>{}</div></li>", Text(&text))
}

fn fire(html: &mut String, inner: &str, fired: &Fired) -> fmt::Result {
    let (report, quiet) = (&fired.report, fired.report.handlers().is_empty());
    let model = report.model();
    let quiet = if quiet { " quiet" } else { "" };
    write!(
        html,
        "<li class=\"fire {model}{quiet}{inner}\"><span class=\"point\">{}</span>\
         <span class=\"badge\">{model}</span><span class=\"about\">{}</span>\
         <span class=\"chips\" title=\"{}\">",
        report.point(),
        Text(&fired.about),
        Text(&outcome(fired))
    )?;
    if quiet.is_empty() {
        for row in report.handlers() {
            let took = row.elapsed().map_or_else(String::new, |took| format!(", {}", time(took)));
            let title = format!("{}{took}", row.status());
            let (class, name) = (class(row), full_name(row));
            write!(
                html,
                "<span class=\"chip {class}\" title=\"{}\">{}</span>",
                Text(&title),
                Text(&name)
            )?;
        }
    } else {
        html.push_str("no handlers");
    }
    match fired.outcome {
        Outcome::Claimed { .. } => html.push_str("<span class=\"came\">claimed</span>"),
        Outcome::Answered { .. } => html.push_str("<span class=\"came\">answered</span>"),
        Outcome::Unclaimed if quiet.is_empty() => {
            html.push_str("<span class=\"came\">unclaimed</span>");
        }
        _ => {}
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

fn inner(depth: usize) -> &'static str {
    if depth > 0 { " inner" } else { "" }
}

/// Text that cannot be taken for markup, also inside of quotes, and in which
/// nothing hides or turns the rest around.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in escaped(self.0).to_string().chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}
