//! What a fire costs, beside its baselines in the same run.
//!
//! ```sh
//! cargo run --release -p hooks-benches -- goals           # what is to be reached, and what is
//! cargo run --release -p hooks-benches --features bevy -- compare   # every question below
//! cargo run --release -p hooks-benches -- void            # one question
//! cargo run --release -p hooks-benches -- instructions    # counted by callgrind
//! cargo run --release -p hooks-benches -- growth          # against handlers, points, plugins, threads
//! cargo run --release -p hooks-benches -- memory          # bytes held, and given back
//! cargo run --release -p hooks-benches -- removal         # changes of many handlers, against their number
//! cargo run --release -p hooks-benches --features bevy -- charts    # benches/charts/*.svg
//! cargo run --release -p hooks-benches -- smoke           # everything once, nothing timed
//! ```
//!
//! Times are the best of many short rounds in which the contenders take turns:
//! believe their ratios. Instructions are counted by callgrind, for which
//! valgrind has to be installed; without it those rows are not measured, and
//! that is said. "Over the loop" is explained in `rows.rs`.

mod annotated;
mod chart;
mod elsewhere;
mod goals;
mod measure;
mod peers;
mod points;
mod questions;
mod rows;
mod wait;

use std::path::Path;
use std::process::ExitCode;

use goals::Goals;
use measure::clock::Effort;
use measure::instructions::{Counter, NotCounted};
use questions::{QUESTIONS, growth, memory, removal, threads};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["goals"] => goals(),
        ["compare"] => {
            for (name, _) in QUESTIONS {
                answer(name, Effort::Full);
            }
            ExitCode::SUCCESS
        }
        ["instructions"] => instructions(),
        ["growth"] => grow(Effort::Full),
        ["memory"] => remember(Effort::Full),
        ["removal"] => remove(Effort::Full),
        ["charts"] => charts(Effort::Full, &Path::new(env!("CARGO_MANIFEST_DIR")).join("charts")),
        ["smoke"] => smoke(),
        // For callgrind, see `measure::instructions`.
        ["row", name, rounds] => row(name, rounds),
        [name] if QUESTIONS.iter().any(|(known, _)| *known == name) => {
            answer(name, Effort::Full);
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    let names: Vec<_> = QUESTIONS.iter().map(|(name, _)| *name).collect();
    eprintln!(
        "expected one of: goals, compare, instructions, growth, memory, removal, charts, smoke; \
         or a question: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}

fn goals() -> ExitCode {
    let goals = Goals::measure(Effort::Full);
    print!("{goals}");
    if goals.is_short() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn answer(name: &str, effort: Effort) {
    let asked = QUESTIONS.iter().filter(|(known, _)| *known == name);
    asked.flat_map(|(_, tables)| tables(effort)).for_each(|table| println!("{table}"));
}

fn grow(effort: Effort) -> ExitCode {
    for table in growth::tables(effort) {
        println!("{table}");
    }
    print!("{}", threads::answer(effort));
    ExitCode::SUCCESS
}

fn remember(effort: Effort) -> ExitCode {
    let answer = memory::answer(effort);
    print!("{answer}");
    if answer.left == 0 && answer.left_by_plugins == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!("what was registered and removed has left something behind");
    ExitCode::FAILURE
}

fn remove(effort: Effort) -> ExitCode {
    let answer = removal::answer(effort);
    print!("{answer}");
    if answer.is_short() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn instructions() -> ExitCode {
    println!("instructions a round, over the empty loop");
    match count() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn count() -> Result<(), NotCounted> {
    let mut counter = Counter::new()?;
    for (row, _) in rows::ROWS {
        println!("  {row:28} {:8.1}", counter.over(row, rows::EMPTY)?);
    }
    for (what, more, few) in rows::ONE_MORE {
        println!("  {what:28} {:8.1}", counter.over(more, few)? / 8.0);
    }
    Ok(())
}

fn charts(effort: Effort, folder: &Path) -> ExitCode {
    match chart::write(effort, folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the charts cannot be written to {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn row(name: &str, rounds: &str) -> ExitCode {
    let run = rounds.parse().map_err(|_| format!("`{rounds}` is no number of rounds"));
    match run.and_then(|rounds| rows::run(name, rounds)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// Runs everything once, so that nothing rots. Whether it is fast is not asked.
fn smoke() -> ExitCode {
    for (name, _) in QUESTIONS {
        answer(name, Effort::Smoke);
    }
    for (_, row) in rows::ROWS {
        row(1);
    }
    grow(Effort::Smoke);
    print!("{}", removal::answer(Effort::Smoke));
    charts(Effort::Smoke, &std::env::temp_dir().join("hooks-benches-charts"));
    remember(Effort::Smoke)
}
