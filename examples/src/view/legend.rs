//! What the rows of the timeline mean.

use super::Look;
use super::colour::{Line, Tone, line_width};
use super::wrap::wrap;

/// The models, and what handlers of each do.
pub(super) const MODELS: [(Tone, &str, &str); 5] = [
    (Tone::Void, "void", "notifies"),
    (Tone::Modifying, "modifying", "amends"),
    (Tone::Claiming, "claiming", "asks who takes it"),
    (Tone::Gating, "gating", "may reject"),
    (Tone::Flow, "flow", "runs stages"),
];

/// The marks before a line, and what each line says.
const MARKS: [(Tone, &str, &str); 7] = [
    (Tone::Good, "+", "changed"),
    (Tone::Dim, "-", "not called"),
    (Tone::Bad, "!", "failed"),
    (Tone::Bad, "x", "refused"),
    (Tone::Plain, ">", "tool ran"),
    (Tone::Plain, "*", "note"),
    (Tone::Dim, "~", "no handlers (--all)"),
];

const COLUMNS: &str = "point, model, subject, outcome with plugin/handler, time";

/// Why some points that refuse are not gates.
pub(super) const ETHOS: &str = "before_tool_call and claiming points that refuse are ported from \
                                Ethos; a new host declares a gate";

/// How wide the names of the lines are.
const NAME: usize = 8;

/// A line for each: columns, models, marks, points.
pub(super) fn lines(look: Look) -> Vec<Line> {
    let mut lines = vec![vec![named("rows"), (Tone::Dim, COLUMNS.to_owned())]];
    row(&mut lines, "models", &MODELS, look.width);
    // Where each fire has its row, the last mark does not occur.
    let marks = if look.all { &MARKS[..MARKS.len() - 1] } else { &MARKS };
    row(&mut lines, "marks", marks, look.width);
    let (first, rest) = (format!("{:<NAME$}", "points"), " ".repeat(NAME));
    let points = wrap(ETHOS, look.width, &first, &rest);
    lines.extend(points.into_iter().map(|line| vec![(Tone::Dim, line)]));
    lines.push(Vec::new());
    lines
}

fn named(name: &str) -> (Tone, String) {
    (Tone::Dim, format!("{name:<NAME$}"))
}

/// Items side by side, on as many lines as they need; none is broken.
fn row(lines: &mut Vec<Line>, name: &str, items: &[(Tone, &str, &str)], width: Option<usize>) {
    let mut line = vec![named(name)];
    for (tone, sign, meaning) in items {
        let gap = if line.len() == 1 { "" } else { "   " };
        let item = [(*tone, format!("{gap}{sign} ")), (Tone::Dim, (*meaning).to_owned())];
        let needed = line_width(&line) + line_width(&item.to_vec());
        if line.len() > 1 && width.is_some_and(|width| needed > width) {
            lines.push(std::mem::replace(&mut line, vec![named("")]));
            line.push((*tone, format!("{sign} ")));
            line.push((Tone::Dim, (*meaning).to_owned()));
        } else {
            line.extend(item);
        }
    }
    lines.push(line);
}
