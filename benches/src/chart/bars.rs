//! Bars, in panels one below the other, each with its own scale.

use crate::chart::svg::{Anchor, INK, OTHERS, OURS, Picture};

const WIDTH: f64 = 760.0;
const LABELS: f64 = 270.0;
const LONGEST: f64 = 300.0;
const ROW: f64 = 22.0;

/// One bar.
pub(super) struct Bar {
    pub(super) label: &'static str,
    pub(super) value: f64,
    pub(super) note: String,
    pub(super) ours: bool,
}

/// Bars that are compared with each other.
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) bars: Vec<Bar>,
}

impl Panel {
    /// Draws it from `top` down; returns where it ends.
    pub(super) fn draw(&self, picture: &mut Picture, top: f64) -> f64 {
        picture.text(16.0, top + 16.0, 13.0, Anchor::Start, &self.title);
        let most = self.bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
        let mut y = top + 26.0;
        for Bar { label, value, note, ours } in &self.bars {
            picture.text(LABELS - 8.0, y + 14.0, 12.0, Anchor::End, label);
            let length = (value / most * LONGEST).max(1.0);
            let fill = if *ours { OURS } else { OTHERS };
            picture.rect(LABELS, y + 3.0, length, ROW - 7.0, fill);
            let figure =
                if note.is_empty() { format!("{value:.0}") } else { format!("{value:.0}, {note}") };
            picture.text(LABELS + length + 6.0, y + 14.0, 12.0, Anchor::Start, &figure);
            y += ROW;
        }
        picture.line(&[(LABELS, top + 26.0), (LABELS, y)], INK, 1.0);
        y + 14.0
    }
}

/// The picture of some panels.
pub(super) fn bars(title: &str, panels: &[Panel]) -> String {
    let mut picture = Picture::new(WIDTH);
    picture.text(16.0, 26.0, 16.0, Anchor::Start, title);
    let end = panels.iter().fold(42.0, |top, panel| panel.draw(&mut picture, top));
    picture.finish(end)
}
