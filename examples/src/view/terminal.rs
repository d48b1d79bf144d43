//! Two columns for a terminal: the conversation, and beside it the timeline.

use hooks_runtime::{ModelKind, escaped};
use textwrap::core::display_width;

use super::colour::Tone;
use super::group::{Group, Said, groups, widest_point};
use super::phrase::{RemarkKind, outcome, refuses, remarks, time, tool_run};
use super::summary::Summary;
use crate::agent::{Entry, Event, Fired, Outcome, Record, Speaker};

/// A record in two columns.
pub(super) fn record(record: &Record, width: usize, colour: bool) -> String {
    let sheet = Sheet { point: widest_point(record), ..Sheet::new(width, colour) };
    let mut lines = Vec::new();
    sheet.record(&mut lines, record);
    lines.join("\n") + "\n"
}

/// What the plugins have seen, under the columns.
pub(super) fn summary(summary: &Summary, width: usize, colour: bool) -> String {
    let mut lines = Vec::new();
    Sheet::new(width, colour).summary(&mut lines, summary);
    lines.join("\n") + "\n"
}

/// A line of the right column, and of the left one: pieces in their tones.
type Line = Vec<(Tone, String)>;

/// The widths of the two columns and of the points' names, and whether there is
/// colour.
#[derive(Clone, Copy)]
struct Sheet {
    left: usize,
    right: usize,
    point: usize,
    colour: bool,
}

impl Sheet {
    fn new(width: usize, colour: bool) -> Self {
        let left = (width / 3).clamp(28, 44);
        // Three bars and the spaces beside them.
        Self { left, right: width.saturating_sub(left + 7), point: 0, colour }
    }

    fn record(&self, lines: &mut Vec<String>, record: &Record) {
        let title = format!(" {} · as {} ", escaped(&record.title), escaped(&record.personality));
        lines.push(self.rule('╭', &title, '┬', '╮'));
        for group in groups(record) {
            self.group(lines, &group);
        }
        lines.push(self.rule('╰', "", '┴', '╯'));
    }

    fn summary(&self, lines: &mut Vec<String>, Summary(seen): &Summary) {
        lines.push(Tone::Strong.paint("what the plugins have seen", self.colour));
        for (what, seen) in seen {
            let indent = " ".repeat(12);
            let wrapped = wrap(seen, self.left + self.right - 8, "", &indent);
            lines.push(format!(
                "{}{}",
                Tone::Dim.paint(&format!("{what:<12}"), self.colour),
                wrapped[0]
            ));
            lines.extend(wrapped.into_iter().skip(1));
        }
    }

    fn rule(&self, open: char, title: &str, middle: char, close: char) -> String {
        let left = self.left + 2;
        let room = left + 1 + self.right + 2;
        let rest: String = (display_width(title) + 1..room)
            .map(|column| if column == left { middle } else { '─' })
            .collect();
        let frame = |text: &str| Tone::Dim.paint(text, self.colour);
        let title = Tone::Strong.paint(title, self.colour);
        format!("{}{title}{}", frame(&format!("{open}─")), frame(&format!("{rest}{close}")))
    }

    fn group(&self, lines: &mut Vec<String>, group: &Group<'_>) {
        let left = group.said.map_or_else(Vec::new, |said| self.said(said));
        let right: Vec<_> = group.entries.iter().flat_map(|entry| self.entry(entry)).collect();
        let bar = Tone::Dim.paint("│", self.colour);
        for row in 0..left.len().max(right.len()) {
            let cell = |column: &[Line], width| self.cell(column.get(row), width);
            let (left, right) = (cell(&left, self.left), cell(&right, self.right));
            lines.push(format!("{bar} {left} {bar} {right} {bar}"));
        }
    }

    /// A line in its tones, filled up to the width of its column.
    fn cell(&self, line: Option<&Line>, width: usize) -> String {
        let pieces = line.map_or(&[][..], Vec::as_slice);
        let used: usize = pieces.iter().map(|(_, text)| display_width(text)).sum();
        let painted = pieces.iter().map(|(tone, text)| tone.paint(text, self.colour));
        painted.chain([" ".repeat(width.saturating_sub(used))]).collect()
    }

    fn said(&self, said: Said<'_>) -> Vec<Line> {
        let tone = if said.by == Speaker::User { Tone::Person } else { Tone::Agent };
        let indent = "  ".repeat(said.depth);
        let words = said.text.lines().flat_map(|line| wrap(line, self.left, &indent, &indent));
        let name = vec![(tone, format!("{indent}{}", said.who()))];
        let words = words.map(|line| vec![(Tone::Plain, line)]);
        std::iter::once(name).chain(words).collect()
    }

    fn entry(&self, Entry { depth, event }: &Entry) -> Vec<Line> {
        let indent = "  ".repeat(*depth);
        match event {
            Event::Fired(fired) => self.fired(&indent, fired),
            Event::Ran { tool, args, result } => {
                let tone = if result.is_success() { Tone::Plain } else { Tone::Bad };
                self.remark(&indent, '▸', tone, &tool_run(tool, args, result))
            }
            Event::Refused { what, reason, by } => {
                let text = format!("{what} refused by {by}: {reason}");
                self.remark(&indent, '✗', Tone::Bad, &text)
            }
            Event::Note(note) => self.remark(&indent, '•', Tone::Strong, note),
            Event::Failed(error) => self.remark(&indent, '!', Tone::Bad, error),
            Event::Said { .. } => Vec::new(),
        }
    }

    fn fired(&self, indent: &str, fired: &Fired) -> Vec<Line> {
        let model = fired.report.model();
        let quiet = fired.report.handlers().is_empty();
        let tone = match model {
            _ if quiet => Tone::Dim,
            ModelKind::Modifying => Tone::Modifying,
            ModelKind::Claiming => Tone::Claiming,
            ModelKind::Gating => Tone::Gating,
            ModelKind::Flow => Tone::Flow,
            _ => Tone::Void,
        };
        let came = match &fired.outcome {
            _ if quiet => Tone::Dim,
            Outcome::Amended(changes) if refuses(changes) => Tone::Bad,
            Outcome::Amended(changes) if !changes.is_empty() => Tone::Good,
            Outcome::Passed { rewritten_by } if !rewritten_by.is_empty() => Tone::Good,
            Outcome::Claimed { .. } => Tone::Claiming,
            Outcome::Answered { .. } => Tone::Flow,
            Outcome::Rejected { .. } | Outcome::Failed(_) => Tone::Bad,
            _ => Tone::Plain,
        };
        let point = format!("{indent}{:<wide$} ", fired.report.point(), wide = self.point);
        let model = format!("{:<9} ", model.to_string());
        // As wide as a time gets, so that the words do not move with it.
        let took = format!("{:>8}", time(fired.took));
        let used = display_width(&point) + display_width(&model) + display_width(&took) + 1;
        let room = self.right.saturating_sub(used);
        let text = format!("{}  {}", fired.about, outcome(fired));
        let mut words = wrap(&text, room, "", "").into_iter();
        let first = words.next().unwrap_or_default();
        let gap = " ".repeat(room.saturating_sub(display_width(&first)) + 1);
        let mut lines = vec![vec![
            (tone, point.clone()),
            (Tone::Dim, model.clone()),
            (came, first),
            (Tone::Dim, format!("{gap}{took}")),
        ]];
        let under = " ".repeat(display_width(&point) + display_width(&model));
        lines.extend(words.map(|line| vec![(came, format!("{under}{line}"))]));
        for remark in remarks(fired) {
            let tone = match remark.kind {
                RemarkKind::Change => Tone::Good,
                RemarkKind::Failure => Tone::Bad,
                RemarkKind::LeftOut => Tone::Dim,
            };
            let indent = format!("{indent}  ");
            lines.extend(self.remark(&indent, remark.kind.mark(), tone, &remark.text));
        }
        lines
    }

    fn remark(&self, indent: &str, mark: char, tone: Tone, text: &str) -> Vec<Line> {
        let (first, rest) = (format!("{indent}{mark} "), format!("{indent}  "));
        let lines = wrap(text, self.right, &first, &rest);
        lines.into_iter().map(|line| vec![(tone, line)]).collect()
    }
}

/// The text in lines of that width; words that are longer are broken. What the
/// text says may come from a model or a message, so nothing in it steers the
/// terminal or breaks out of its column.
fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let options = textwrap::Options::new(width)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent(first)
        .subsequent_indent(rest);
    textwrap::wrap(&escaped(text).to_string(), options)
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect()
}
