//! What the tests of the agent share.
#![allow(dead_code, reason = "each test uses its part of this")]

pub(crate) mod opened;
pub(crate) mod page;

use std::path::{Path, PathBuf};

use hooks_examples::agent::{Event, Fired, Record};
use hooks_examples::view::{Look, Summary};

/// The text without times: a number with a unit, and the spaces before it.
pub(crate) fn without_times(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let mut kept = String::new();
        for piece in line.split_inclusive(' ') {
            let word = piece.trim_end_matches(' ');
            if is_time(word) {
                kept.truncate(kept.trim_end_matches(' ').len());
                kept.push_str(" TIME");
                kept.push_str(&piece[word.len()..]);
            } else {
                kept.push_str(piece);
            }
        }
        kept + "\n"
    });
    lines.collect()
}

fn is_time(word: &str) -> bool {
    let number = ["ns", "µs", "ms", "s"].iter().find_map(|unit| word.strip_suffix(unit));
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// All that a person sees.
pub(crate) fn transcript(look: Look, records: &[Record], summary: &Summary) -> String {
    let records = records.iter().map(|record| look.record(record));
    [look.legend()].into_iter().chain(records).chain([look.summary(summary)]).collect()
}

/// Compares with the file in `tests/golden`; with `UPDATE` set, writes it.
#[track_caller]
pub(crate) fn assert_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; set UPDATE=1 to write it", path.display()));
    for (number, (was, is)) in golden.lines().zip(actual.lines()).enumerate() {
        assert_eq!(was, is, "{name}, line {}; set UPDATE=1 to take it", number + 1);
    }
    assert_eq!(golden.lines().count(), actual.lines().count(), "lines of {name}");
}

/// The fires of a record, in order.
pub(crate) fn fires(record: &Record) -> Vec<&Fired> {
    let events = record.entries.iter().map(|entry| &entry.event);
    events
        .filter_map(|event| match event {
            Event::Fired(fired) => Some(fired),
            _ => None,
        })
        .collect()
}

/// The wire names of the points that a record fires, in order.
pub(crate) fn points(record: &Record) -> Vec<&'static str> {
    fires(record).iter().map(|fired| fired.report.point()).collect()
}

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
