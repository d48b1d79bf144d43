//! How many instructions does a fire take?

use crate::measure::instructions::{Counter, NotCounted};
use crate::rows::{EMPTY, ROWS};

pub(crate) fn print() {
    println!("instructions a round, over the empty loop");
    if let Err(why) = rows() {
        println!("{why}");
    }
}

fn rows() -> Result<(), NotCounted> {
    let mut counter = Counter::new()?;
    for (row, _) in ROWS {
        println!("  {row:24} {:8.1}", counter.over(row, EMPTY)?);
    }
    for (more, few) in [
        ("void-sync-16", "void-sync-8"),
        ("void-ready-16", "void-ready-8"),
        ("claiming-ready-16", "claiming-ready-8"),
        ("modifying-ready-16", "modifying-ready-8"),
        ("gating-ready-16", "gating-ready-8"),
    ] {
        let each = counter.over(more, few)? / 8.0;
        println!("  {:24} {each:8.1}", format!("{few}, one more"));
    }
    Ok(())
}
