//! A picture of the timeline as a terminal shows it.

use std::fmt::Write;

use super::Look;
use super::colour::{Line, Tone};
use super::markup::Text;
use super::{legend, text};
use crate::agent::{Event, Record};

/// How many letters a line of the picture has, and how many lines it has.
const WIDTH: usize = 110;
const LINES: usize = 32;

/// The size of a letter, in pixels: monospaced fonts are at most this wide.
const LETTER: f64 = 7.83;
const LINE: usize = 19;
const MARGIN: usize = 16;

/// The legend and the beginning of the record in which most points were fired, as an
/// SVG. It has its own background, and so looks the same on light and dark pages.
pub fn picture(records: &[Record]) -> String {
    let look = Look { width: Some(WIDTH), ..Look::default() };
    let fires = |record: &&Record| {
        record.entries.iter().filter(|entry| matches!(entry.event, Event::Fired(_))).count()
    };
    let mut lines = legend::lines(look);
    lines.extend(
        records.iter().max_by_key(fires).map_or_else(Vec::new, |it| text::record(it, look)),
    );
    lines.truncate(LINES);
    svg(&lines)
}

fn svg(lines: &[Line]) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a few hundred pixels"
    )]
    let width = (WIDTH as f64 * LETTER) as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"The timeline of the agent in a terminal\">\n\
         <style>text {{ white-space: pre; font: 13px ui-monospace, Menlo, \
         \"DejaVu Sans Mono\", Consolas, monospace; fill: {} }}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"#1b1e23\"/>\n",
        fill(Tone::Plain)
    );
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + number * LINE + 14;
        let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">");
        for (tone, text) in line {
            let text = Text(text);
            let _ = match tone {
                Tone::Plain => write!(svg, "{text}"),
                Tone::Strong | Tone::Person | Tone::Agent => {
                    write!(
                        svg,
                        "<tspan font-weight=\"700\" fill=\"{}\">{text}</tspan>",
                        fill(*tone)
                    )
                }
                _ => write!(svg, "<tspan fill=\"{}\">{text}</tspan>", fill(*tone)),
            };
        }
        svg.push_str("</text>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// The colour of a tone on a dark background.
const fn fill(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "#d7dae0",
        Tone::Dim => "#8b929e",
        Tone::Strong => "#ffffff",
        Tone::Person | Tone::Gating => "#6fd0cc",
        Tone::Agent | Tone::Good => "#7fcf95",
        Tone::Void => "#7fb4ee",
        Tone::Modifying => "#e0a94a",
        Tone::Claiming => "#cf93ea",
        Tone::Flow => "#f093b4",
        Tone::Bad => "#ff8a80",
    }
}
