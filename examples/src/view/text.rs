//! The timeline as text, for terminals, pipes and files.

use hooks_runtime::report::escaped;
use textwrap::core::display_width;

use super::Look;
use super::colour::{Line, Tone, line_width};
use super::group::{Said, groups, quiet_points};
use super::phrase::{Came, Effect, RemarkKind, outcome, remarks, time, tool_run};
use super::summary::Summary;
use super::wrap::{cut, wrap, wrap_words};
use crate::agent::{Entry, Event, Fired, Record, Speaker};

/// Wider lines are harder to read.
const WIDEST: usize = 120;
/// The columns do not become narrower than their words.
const NARROWEST: usize = 72;
/// The narrowest column of points, which fits those of the agent.
const POINT: usize = 24;
const MODEL: usize = 10;
const SUBJECT: usize = 15;
/// As wide as a time gets, with a space before it.
const TIME: usize = 9;
/// An outcome with less room than this has a line of its own.
const OUTCOME: usize = 30;

/// A record as lines: words at the edge, what plugins did indented.
pub(super) fn record(record: &Record, look: Look) -> Vec<Line> {
    let sheet = Sheet::new(look, record);
    let mut lines = vec![sheet.title(record)];
    for group in groups(record) {
        lines.extend(group.said.into_iter().flat_map(|said| sheet.said(said)));
        for Entry { depth, event } in group.entries {
            sheet.event(&mut lines, *depth, event);
        }
    }
    if !look.all {
        sheet.quiet(&mut lines, record);
    }
    lines.push(Vec::new());
    lines
}

/// What the plugins have seen, as lines.
pub(super) fn summary(Summary(seen): &Summary, look: Look) -> Vec<Line> {
    let mut lines = vec![vec![(Tone::Strong, "== what the plugins have seen".to_owned())]];
    for (what, seen) in seen {
        let (label, rest) = (format!("{what:<12}"), " ".repeat(12));
        lines.extend(labelled(Tone::Dim, &label, wrap(seen, width(look), &label, &rest)));
    }
    lines
}

fn width(look: Look) -> Option<usize> {
    look.width.map(|width| width.clamp(NARROWEST, WIDEST))
}

/// Four letters, and two more for each subagent.
fn indent(depth: usize) -> String {
    " ".repeat(4 + 2 * depth)
}

/// The widths of the lines and of the points' column.
struct Sheet {
    width: Option<usize>,
    point: usize,
    all: bool,
}

impl Sheet {
    fn new(look: Look, record: &Record) -> Self {
        let points = record.entries.iter().filter_map(|entry| match &entry.event {
            Event::Fired(fired) => Some(2 * entry.depth + fired.report.point().len() + 2),
            _ => None,
        });
        let point = points.max().unwrap_or(0).max(POINT);
        Self { width: width(look), point, all: look.all }
    }

    fn title(&self, record: &Record) -> Line {
        let title = format!("== {}, as {}", record.title, record.personality);
        let title = escaped(&title).to_string();
        vec![(Tone::Strong, self.width.map_or(title.clone(), |width| cut(&title, width)))]
    }

    fn said(&self, said: Said<'_>) -> Vec<Line> {
        let tone = if said.by == Speaker::User { Tone::Person } else { Tone::Agent };
        let indent = if said.depth == 0 { String::new() } else { indent(said.depth - 1) };
        let (name, rest) = (format!("{indent}{}: ", said.who()), format!("{indent}  "));
        let mut words = said.text.lines();
        let first = wrap_words(words.next().unwrap_or_default(), self.width, &name, &rest);
        let mut lines = labelled(tone, &name, first);
        for words in words {
            let wrapped = wrap_words(words, self.width, &rest, &rest);
            lines.extend(wrapped.into_iter().map(|line| vec![(Tone::Plain, line)]));
        }
        lines
    }

    fn event(&self, lines: &mut Vec<Line>, depth: usize, event: &Event) {
        let (mark, tone, text) = match event {
            Event::Fired(fired) if fired.is_quiet() && !self.all => return,
            Event::Fired(fired) => return self.fired(lines, depth, fired),
            Event::Ran { tool, args, result } => {
                let tone = if result.is_success() { Tone::Plain } else { Tone::Bad };
                ('>', tone, tool_run(tool, args, result))
            }
            Event::Refused { what, reason, by } => {
                ('x', Tone::Bad, format!("{what} refused by {by}: {reason}"))
            }
            Event::Note(note) => ('*', Tone::Plain, note.clone()),
            Event::Failed(error) => ('!', Tone::Bad, error.clone()),
            Event::Said { .. } => return,
        };
        self.marked(lines, &indent(depth), mark, tone, &text);
    }

    fn fired(&self, lines: &mut Vec<Line>, depth: usize, fired: &Fired) {
        let indent = indent(depth);
        let came = outcome(fired);
        let strong = if came.effect == Effect::Quiet { Tone::Dim } else { Tone::Strong };
        let model = fired.report.model();
        let about = escaped(&fired.about).to_string();
        let about = if self.width.is_some() { cut(&about, SUBJECT) } else { about };
        let point = self.point - 2 * depth;
        let mut row = vec![
            (strong, format!("{indent}{:<point$}", fired.report.point())),
            (Tone::of(model), format!("{:<MODEL$}", model.to_string())),
            (Tone::Dim, format!("{about:<SUBJECT$} ")),
        ];
        let used = line_width(&row);
        if self.width.is_none_or(|width| width >= used + OUTCOME + TIME) {
            let room = self.width.map(|width| width - TIME);
            let mut came = came_lines(&came, room, used).into_iter();
            // The row itself is what the first line is indented by.
            row.extend(came.next().into_iter().flatten().skip(1));
            lines.push(self.timed(row, fired));
            lines.extend(came);
        } else {
            lines.push(self.timed(row, fired));
            lines.extend(came_lines(&came, self.width, indent.len() + 4));
        }
        for remark in remarks(fired) {
            let tone = match remark.kind {
                RemarkKind::Change => Tone::Good,
                RemarkKind::Failure => Tone::Bad,
                RemarkKind::LeftOut => Tone::Dim,
            };
            let indent = format!("{indent}  ");
            self.marked(lines, &indent, remark.kind.mark(), tone, &remark.text);
        }
    }

    /// The line with its time: at the edge of the terminal, or right behind it.
    fn timed(&self, mut line: Line, fired: &Fired) -> Line {
        let took = time(fired.took);
        let gap = self.width.map_or(2, |width| {
            width.saturating_sub(line_width(&line) + display_width(&took)).max(1)
        });
        line.push((Tone::Dim, format!("{}{took}", " ".repeat(gap))));
        line
    }

    /// The fires that have no rows, in one line.
    fn quiet(&self, lines: &mut Vec<Line>, record: &Record) {
        let points = quiet_points(record);
        let count: usize = points.iter().map(|(_, count)| count).sum();
        let names = points.iter().map(|(point, count)| match count {
            1 => (*point).to_owned(),
            // Without a space: the count stays with its name.
            count => format!("{point}×{count}"),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let fires = if count == 1 { "fire" } else { "fires" };
        if count > 0 {
            let text = format!("{count} {fires} without handlers: {names}");
            self.marked(lines, &indent(0), '~', Tone::Dim, &text);
        }
    }

    fn marked(&self, lines: &mut Vec<Line>, indent: &str, mark: char, tone: Tone, text: &str) {
        let (first, rest) = (format!("{indent}{mark} "), format!("{indent}  "));
        let wrapped = wrap(text, self.width, &first, &rest);
        lines.extend(wrapped.into_iter().map(|line| vec![(tone, line)]));
    }
}

/// What came of a fire: its word in its tone, then names. All lines are indented
/// alike.
fn came_lines(came: &Came, width: Option<usize>, edge: usize) -> Vec<Line> {
    let tone = match came.effect {
        Effect::Quiet => Tone::Dim,
        Effect::None => Tone::Plain,
        Effect::Changed => Tone::Good,
        Effect::Taken => Tone::Claiming,
        Effect::Refused => Tone::Bad,
    };
    let wrapped = wrap(&came.to_string(), width.map(|width| width - edge), "", "");
    let mut lines: Vec<Line> = Vec::new();
    for line in wrapped {
        let word = if lines.is_empty() { came.word.len() } else { 0 };
        let (word, rest) = line.split_at(word);
        lines.push(vec![
            (Tone::Plain, " ".repeat(edge)),
            (tone, word.to_owned()),
            (Tone::Plain, rest.to_owned()),
        ]);
    }
    lines
}

/// The lines, the first of which begins with this label, with the label in its tone.
fn labelled(tone: Tone, label: &str, lines: Vec<String>) -> Vec<Line> {
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    let words = first.get(label.len()..).unwrap_or_default().to_owned();
    let mut labelled = vec![vec![(tone, label.to_owned()), (Tone::Plain, words)]];
    labelled.extend(lines.map(|line| vec![(Tone::Plain, line)]));
    labelled
}
