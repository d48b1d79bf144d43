//! The charts of the README: what is in them, and where they go.

use std::io;
use std::path::Path;

use crate::chart::bars::{Bar, Panel, bars};
use crate::chart::lines::{Line, lines};
use crate::measure::clock::Effort;
use crate::measure::table::Table;
use crate::questions::{claiming, growth, ironclaw, modifying, void};

mod bars;
mod lines;
mod svg;

/// Measures, and writes `comparison.svg` and `growth.svg` into a folder.
pub(crate) fn write(effort: Effort, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("comparison.svg"), comparison(effort))?;
    std::fs::write(folder.join("growth.svg"), growth_chart(effort))
}

fn comparison(effort: Effort) -> String {
    let tables = [
        void::table(effort, 8),
        modifying::table(effort, 8),
        claiming::table(effort, 8),
        ironclaw::table(effort),
    ];
    bars("One fire of eight handlers that finish at once, in nanoseconds", &tables.map(panel))
}

fn panel(table: Table) -> Panel {
    let mut rows = table.rows;
    rows.sort_by(|one, other| one.nanos.total_cmp(&other.nanos));
    let bars = rows.into_iter().map(|row| Bar {
        label: row.name,
        value: row.nanos,
        note: match row.allocations {
            0.0 => String::new(),
            count => format!("{count:.0} allocations"),
        },
        ours: row.name.starts_with("hooks"),
    });
    Panel { title: table.question, bars: bars.collect() }
}

fn growth_chart(effort: Effort) -> String {
    let beside = growth::beside(effort);
    let by_handlers = [
        ("void", growth::void(effort)),
        ("claiming", growth::claiming(effort)),
        ("modifying", growth::modifying(effort)),
    ];
    // Handlers elsewhere are no axis of the fire: they are drawn as bars below.
    lines(
        "A fire's time grows with its own handlers",
        ["handlers of the point", "nanoseconds a fire"],
        &by_handlers.map(|(name, table)| Line { name, points: points(&table) }),
        &panel_of_growth(beside),
    )
}

/// The number of handlers against the time.
fn points(table: &Table) -> Vec<(f64, f64)> {
    // A few thousand at most: nothing is lost.
    #[allow(clippy::cast_precision_loss)]
    growth::HANDLERS.iter().map(|(count, name)| (*count as f64, table.row(name).nanos)).collect()
}

fn panel_of_growth(table: Table) -> Panel {
    let bars = table.rows.into_iter().map(|row| Bar {
        label: row.name,
        value: row.nanos,
        note: String::new(),
        ours: true,
    });
    Panel { title: "and with nothing else: void, 8 handlers".to_owned(), bars: bars.collect() }
}
