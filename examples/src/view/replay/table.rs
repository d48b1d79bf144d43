//! What a replay came to, as a table.

use std::fmt::{self, Write};

use hooks_runtime::replay::{Difference, FireReplay, FireVerdict, ReplayReport};
use hooks_runtime::report::escaped;

use super::reasons;
use crate::view::wrap::cut;

/// What stands in a cell is cut behind so many columns.
const WIDEST: usize = 44;

const HEAD: [&str; 6] = ["fire", "point", "difference", "handler", "recorded", "replayed"];

/// What would differ, a row for the first difference of each fire; how many there are of
/// each kind; and what could not be replayed, and why.
pub fn replay_table(report: &ReplayReport) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_table(&mut text, report);
    text
}

fn write_table(text: &mut String, report: &ReplayReport) -> fmt::Result {
    let rows: Vec<_> = report.changed().flat_map(rows).collect();
    if !rows.is_empty() {
        let mut widths = HEAD.map(str::len);
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(textwrap::core::display_width(cell));
            }
        }
        let head = HEAD.map(str::to_owned);
        for row in std::iter::once(&head).chain(&rows) {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                let gap = width.saturating_sub(textwrap::core::display_width(cell));
                write!(line, "{cell}{:gap$}  ", "")?;
            }
            writeln!(text, "{}", line.trim_end())?;
        }
        text.push('\n');
    }
    let (same, changed) = (report.same().count(), report.changed().count());
    let (all, cannot) = (report.fires.len(), report.cannot().count());
    writeln!(text, "{all} fires: {same} same, {changed} changed, {cannot} could not be replayed")?;
    for (kind, count) in report.counts() {
        writeln!(text, "  {count:>4} {kind}")?;
    }
    for (reason, count) in reasons(report) {
        writeln!(text, "  {count:>4} could not be replayed: {}", escaped(reason))?;
    }
    for unread in &report.unread {
        writeln!(text, "  not read: {}", escaped(unread))?;
    }
    Ok(())
}

/// A row for the first difference of a fire and one for what it comes to; another where it
/// is not known.
fn rows(fire: &FireReplay) -> Vec<[String; 6]> {
    let row = |difference: &Difference, is_first: bool| {
        let cell = |text: Option<&str>| cell(text.unwrap_or("not there"));
        [
            if is_first { fire.fire.to_string() } else { String::new() },
            if is_first { cell(Some(&fire.point)) } else { String::new() },
            difference.kind.to_string(),
            cell(difference.handler.as_deref().or(Some(""))),
            cell(difference.recorded.as_deref()),
            cell(difference.replayed.as_deref()),
        ]
    };
    let shown = fire.differences.iter().filter(|difference| !difference.follows);
    let mut rows: Vec<_> =
        shown.enumerate().map(|(place, difference)| row(difference, place == 0)).collect();
    if let FireVerdict::Changed { unknown: Some(reason), .. } = &fire.verdict {
        let blank = String::new;
        rows.push([blank(), blank(), "unknown".to_owned(), blank(), blank(), cell(reason)]);
    }
    let outcome = (&fire.recorded.outcome, fire.replayed.as_ref().map(|it| &it.outcome));
    if let (then, Some(now)) = outcome
        && then != now
    {
        let blank = String::new;
        rows.push([blank(), blank(), "outcome".to_owned(), blank(), cell(then), cell(now)]);
    }
    rows
}

fn cell(text: &str) -> String {
    cut(&escaped(text).to_string(), WIDEST)
}
