//! The page: one file, nothing to load, no script.

use std::fmt::{self, Write};

use hooks_runtime::replay::{
    Difference, FireReplay, FireVerdict, ReplayReport, Timeline, TimelineRow,
};

use super::pairs::{Pair, pairs};
use super::reasons;
use crate::view::markup::Text;

const STYLE: &str = include_str!("page.css");

/// The two timelines of each fire that differs, side by side. `about` says what was replayed
/// and what was otherwise.
pub fn replay_page(report: &ReplayReport, about: &str) -> String {
    let mut html = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_page(&mut html, report, about);
    html
}

fn write_page(html: &mut String, report: &ReplayReport, about: &str) -> fmt::Result {
    let (same, changed, cannot) =
        (report.same().count(), report.changed().count(), report.cannot().count());
    write!(
        html,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <title>A replay, fire by fire</title>\n<style>\n{STYLE}</style></head>\n\
         <body><main>\n<header><h1>A replay, fire by fire</h1>\n<p>{}</p>\n\
         <ul class=\"tiles\"><li><b>{}</b>fires</li><li class=\"good\"><b>{same}</b>same</li>\
         <li class=\"{}\"><b>{changed}</b>changed</li><li><b>{cannot}</b>could not be \
         replayed</li></ul>\n",
        Text(about),
        report.fires.len(),
        if changed == 0 { "good" } else { "bad" },
    )?;
    html.push_str("<p class=\"legend\">");
    for (kind, count) in report.counts() {
        write!(html, "<span><b>{count}</b> <span class=\"kind\">{kind}</span></span> ")?;
    }
    html.push_str("</p></header>\n");
    if changed == 0 {
        html.push_str("<p class=\"none\">No fire differs.</p>\n");
    }
    for fire in report.changed() {
        section(html, fire)?;
    }
    not_replayed(html, report)?;
    html.push_str("</main></body></html>\n");
    Ok(())
}

fn section(html: &mut String, fire: &FireReplay) -> fmt::Result {
    let FireReplay { fire: number, point, model, payload, recorded, replayed, .. } = fire;
    writeln!(
        html,
        "<section id=\"fire-{number}\"><div class=\"title\"><h2><span class=\"point\">{}</span> \
         <span class=\"{}\">{}</span></h2><span>fire {number}</span></div>",
        Text(point),
        Text(model),
        Text(model),
    )?;
    if let Some(payload) = payload {
        let payload = payload.to_string();
        writeln!(
            html,
            "<details class=\"payload\"><summary>payload</summary><code>{}</code></details>",
            Text(&payload)
        )?;
    }
    html.push_str(
        "<div class=\"pair head\"><div>as recorded</div><div>as replayed</div></div>\n\
         <ol class=\"timelines\">\n",
    );
    for pair in pairs(fire) {
        row(html, &pair)?;
    }
    let unknown = match &fire.verdict {
        FireVerdict::Changed { unknown, .. } => unknown.as_deref(),
        _ => None,
    };
    let differs = replayed.as_ref().is_none_or(|replayed| replayed.outcome != recorded.outcome);
    let mark = if differs { " differs" } else { "" };
    write!(html, "<li class=\"pair end{mark}\"><div class=\"then\">")?;
    outcome(html, recorded)?;
    html.push_str("</div><div class=\"now\">");
    match (unknown, replayed) {
        (Some(reason), _) => write!(html, "not known: {}", Text(reason))?,
        (None, Some(replayed)) => outcome(html, replayed)?,
        (None, None) => html.push_str("not replayed"),
    }
    html.push_str("</div></li>\n</ol></section>\n");
    Ok(())
}

fn row(html: &mut String, pair: &Pair<'_>) -> fmt::Result {
    let mark = if pair.difference.is_some() { " differs" } else { "" };
    write!(html, "<li class=\"pair{mark}\"><div class=\"then\">")?;
    let said = |text: fn(&Difference) -> &Option<String>| pair.difference.map(text);
    cell(html, pair.recorded, said(|it| &it.recorded))?;
    html.push_str("</div><div class=\"now\">");
    cell(html, pair.replayed, said(|it| &it.replayed))?;
    if let Some(difference) = pair.difference {
        let follows = if difference.follows { ", follows from above" } else { "" };
        write!(html, " <span class=\"kind\">≠ {}{follows}</span>", difference.kind)?;
    }
    html.push_str("</div></li>\n");
    Ok(())
}

/// A handler, and what became of it: of a difference in the words of that.
fn cell(
    html: &mut String,
    row: Option<&TimelineRow>,
    said: Option<&Option<String>>,
) -> fmt::Result {
    let Some(row) = row else { return html.write_str("<span class=\"soft\">not there</span>") };
    let said = said.and_then(Clone::clone).unwrap_or_else(|| row.to_string());
    let class = if row.failure.is_some() {
        "failed"
    } else if row.skipped.is_some() {
        "left-out"
    } else {
        "ran"
    };
    write!(html, "<span class=\"chip {class}\">{}</span> ", Text(&row.handler))?;
    write!(html, "<span class=\"said\">{}</span>", Text(&said))
}

fn outcome(html: &mut String, timeline: &Timeline) -> fmt::Result {
    write!(html, "came to <b>{}</b>", Text(&timeline.outcome))?;
    match &timeline.error {
        Some(error) => write!(html, ": {}", Text(error)),
        None => Ok(()),
    }
}

/// What could not be replayed, and what could not be read.
fn not_replayed(html: &mut String, report: &ReplayReport) -> fmt::Result {
    let reasons = reasons(report);
    if reasons.is_empty() && report.unread.is_empty() {
        return Ok(());
    }
    html.push_str(
        "<section><div class=\"title\"><h2>Could not be replayed</h2></div><ul class=\"reasons\">\n",
    );
    for (reason, count) in reasons {
        writeln!(html, "<li><b>{count}</b> {}</li>", Text(reason))?;
    }
    for unread in &report.unread {
        writeln!(html, "<li>not read: {}</li>", Text(unread))?;
    }
    html.push_str("</ul></section>\n");
    Ok(())
}
