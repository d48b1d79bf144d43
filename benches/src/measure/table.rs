//! What came of a question.

use std::fmt;

use crate::measure::clock::Measured;

/// The contenders of one question, with the one that the others are compared
/// with.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) question: String,
    base: &'static str,
    pub(crate) rows: Vec<Measured>,
}

impl Table {
    pub(crate) fn new(
        question: impl Into<String>,
        base: &'static str,
        rows: Vec<Measured>,
    ) -> Self {
        Self { question: question.into(), base, rows }
    }

    /// The row of a contender.
    pub(crate) fn row(&self, name: &str) -> &Measured {
        let row = self.rows.iter().find(|row| row.name == name);
        row.unwrap_or_else(|| panic!("`{}` has a contender `{name}`", self.question))
    }

    /// How many times the time of `base` one contender takes.
    pub(crate) fn ratio(&self, name: &str, base: &str) -> f64 {
        self.row(name).nanos / self.row(base).nanos
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { question, base, rows } = self;
        writeln!(f, "{question}")?;
        writeln!(f, "  {:38} {:>10} {:>9} {:>12}", "", "ns", "ratio", "allocations")?;
        for Measured { name, nanos, allocations } in rows {
            // What the optimiser removed altogether is nothing to compare with.
            let ratio = match self.row(base).nanos {
                ..0.2 => "-".to_owned(),
                base => format!("{:.2}", nanos / base),
            };
            writeln!(f, "  {name:38} {nanos:10.1} {ratio:>9} {allocations:12.1}")?;
        }
        Ok(())
    }
}
