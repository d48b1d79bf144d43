//! A page for a browser: one file, nothing to load.

use std::fmt::{self, Write};

use self::controls::{Choices, controls};
use self::facts::{HANDLER_FAILED, REFUSAL, TOOL_FAILED, TURN_FAILED};
use self::rows::{inner, row};
use super::group::{Group, Said, groups};
use super::legend::{ETHOS, MODELS};
use super::markup::Text;
use super::summary::Summary;
use super::tally::Tally;
use crate::agent::{Record, Speaker};

mod controls;
mod facts;
mod rows;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What the tiles count.
const COUNTED: &str = "Refusals and failures count rows: the jumps go to them, and the filter \
    of outcomes finds each kind. A refusal has a row of its own, below the fire in which a \
    plugin refused, rejected or claimed. One fire can have several changes.";

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
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>An agent at work, hook by hook</title>\n<style>\n{STYLE}</style></head>\n\
         <body><main>\n<header><h1>An agent at work, hook by hook</h1>\n\
         <p>What is said, and beside it every point that is fired: who took part, and what came \
         of it.</p>\n"
    )?;
    let choices = Choices::of(records);
    tiles(html, &Tally::of(records), &choices)?;
    legend(html)?;
    html.push_str("</header>\n");
    controls(html, &choices)?;
    for record in records {
        section(html, record)?;
    }
    html.push_str(
        "<section id=\"seen\"><div class=\"title\"><h2>What the plugins have seen</h2></div><dl>\n",
    );
    for (what, seen) in &summary.0 {
        writeln!(html, "<dt>{}</dt><dd>{}</dd>", Text(what), Text(seen))?;
    }
    writeln!(html, "</dl></section>\n</main>\n<script>\n{SCRIPT}</script></body></html>")
}

fn legend(html: &mut String) -> fmt::Result {
    html.push_str("<p class=\"legend\">");
    for (_, model, meaning) in MODELS {
        write!(
            html,
            "<span class=\"{model}\"><span class=\"badge\">●&#xFE0E; {model}</span> {meaning}</span>"
        )?;
    }
    html.push_str("</p>\n<p class=\"legend\">");
    for (class, meaning) in [
        ("ran", "ran"),
        ("changed", "changed it"),
        ("claimed", "claimed or answered it"),
        ("refused", "refused it"),
        ("failed", "failed"),
        ("left-out", "not called"),
    ] {
        write!(html, "<span><span class=\"chip {class}\">plugin/handler</span> {meaning}</span>")?;
    }
    writeln!(html, "</p>\n<p class=\"legend\">{ETHOS}</p>")
}

/// How much happened. What is bad is counted as the filter of outcomes and the jumps count
/// it: by rows.
fn tiles(html: &mut String, tally: &Tally, choices: &Choices<'_>) -> fmt::Result {
    html.push_str("<ul class=\"tiles\">");
    for (class, count, what) in [
        ("", tally.points, "points fired"),
        ("", tally.fires, "fires"),
        ("", tally.calls, "handler calls"),
        ("good", tally.changes, "changes by plugins"),
        ("good", tally.claims, "claims"),
        ("good", tally.answers, "answers by plugins"),
        ("bad", choices.rows(REFUSAL), "refusals"),
        ("bad", choices.rows(HANDLER_FAILED), "fires with a failed handler"),
        ("bad", choices.rows(TOOL_FAILED), "failed tools"),
        ("bad", choices.rows(TURN_FAILED), "failed turns"),
    ] {
        write!(html, "<li class=\"{class}\"><b>{count}</b>{what}</li>")?;
    }
    html.push_str("</ul>\n<p class=\"legend\">");
    html.push_str(COUNTED);
    html.push_str("</p>\n");
    Ok(())
}

fn section(html: &mut String, record: &Record) -> fmt::Result {
    writeln!(
        html,
        "<section><div class=\"title\"><h2>{}</h2><span>personality {}</span></div>",
        Text(&record.title),
        Text(&record.personality)
    )?;
    let mut last = None;
    for Group { said, entries } in groups(record) {
        html.push_str("<div class=\"group\">");
        speech(html, said)?;
        html.push_str("<ol class=\"timeline\" aria-label=\"what happened\">\n");
        for entry in entries {
            row(html, entry, &mut last)?;
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
