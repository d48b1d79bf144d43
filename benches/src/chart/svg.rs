//! As much SVG as two charts need.

use std::fmt::Write;

pub(super) const INK: &str = "#24292f";
pub(super) const FAINT: &str = "#d0d7de";
pub(super) const OURS: &str = "#0969da";
pub(super) const OTHERS: &str = "#8c959f";

/// Where a text is held.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture under way.
pub(super) struct Picture {
    body: String,
    width: f64,
}

impl Picture {
    pub(super) fn new(width: f64) -> Self {
        Self { body: String::new(), width }
    }

    pub(super) fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.put(format_args!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">{text}</text>"#
        ));
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str) {
        self.put(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{fill}"/>"#
        ));
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], stroke: &str, width: f64) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        self.put(format_args!(
            r#"<polyline points="{points}" fill="none" stroke="{stroke}" stroke-width="{width}"/>"#
        ));
    }

    pub(super) fn dot(&mut self, x: f64, y: f64, fill: &str) {
        self.put(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{fill}"/>"#));
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes any text");
    }

    /// The whole file.
    pub(super) fn finish(self, height: f64) -> String {
        let Self { body, width } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}
