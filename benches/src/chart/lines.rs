//! Lines between logarithmic axes, with a panel of bars below.

use crate::chart::bars::Panel;
use crate::chart::svg::{Anchor, FAINT, Picture};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 330.0;
const COLOURS: [&str; 3] = ["#0969da", "#1a7f37", "#bc4c00"];

/// A named line.
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// One axis: whole powers of ten, from the one below the least value to the one
/// above the greatest.
struct Axis {
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Axis {
    #[allow(clippy::cast_possible_truncation)] // The exponents are of one digit.
    fn over(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = values.clone().fold(f64::MAX, f64::min).log10().floor() as i32;
        let high = values.fold(f64::MIN_POSITIVE, f64::max).log10().ceil() as i32;
        Self { low, high: high.max(low + 1), from, to }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        (self.low..=self.high).map(|power| {
            let value = 10_f64.powi(power);
            (self.place(value), format!("{value}"))
        })
    }
}

/// The picture of some lines, with bars below.
pub(super) fn lines(title: &str, axes: [&str; 2], lines: &[Line], below: &Panel) -> String {
    let mut picture = Picture::new(WIDTH);
    picture.text(16.0, 26.0, 16.0, Anchor::Start, title);
    let all = lines.iter().flat_map(|line| line.points.iter());
    let across = Axis::over(all.clone().map(|(x, _)| *x), LEFT, RIGHT);
    let up = Axis::over(all.map(|(_, y)| *y), BOTTOM, TOP);
    for (x, label) in across.ticks() {
        picture.line(&[(x, TOP), (x, BOTTOM)], FAINT, 1.0);
        picture.text(x, BOTTOM + 18.0, 12.0, Anchor::Middle, &label);
    }
    for (y, label) in up.ticks() {
        picture.line(&[(LEFT, y), (RIGHT, y)], FAINT, 1.0);
        picture.text(LEFT - 8.0, y + 4.0, 12.0, Anchor::End, &label);
    }
    picture.text(f64::midpoint(LEFT, RIGHT), BOTTOM + 38.0, 12.0, Anchor::Middle, axes[0]);
    picture.text(16.0, TOP - 8.0, 12.0, Anchor::Start, axes[1]);
    for (index, (line, colour)) in lines.iter().zip(COLOURS).enumerate() {
        let points: Vec<_> =
            line.points.iter().map(|(x, y)| (across.place(*x), up.place(*y))).collect();
        picture.line(&points, colour, 2.0);
        for (x, y) in points {
            picture.dot(x, y, colour);
        }
        // The names stand in a column: the lines end close to each other.
        let y = TOP + 16.0 + 20.0 * f64::from(u8::try_from(index).expect("a few lines"));
        picture.rect(RIGHT + 16.0, y - 9.0, 10.0, 10.0, colour);
        picture.text(RIGHT + 32.0, y, 12.0, Anchor::Start, line.name);
    }
    let end = below.draw(&mut picture, BOTTOM + 60.0);
    picture.finish(end)
}
