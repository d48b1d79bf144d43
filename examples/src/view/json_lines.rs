//! The reports of all fires, for other programs.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::agent::{Event, Record, Report};

/// One line: a fire, and where it belongs.
#[derive(Serialize)]
struct Line<'a> {
    record: &'a str,
    personality: &'a str,
    depth: usize,
    about: &'a str,
    report: &'a Report,
    #[serde(rename = "took_ns", serialize_with = "nanoseconds")]
    took: Duration,
}

/// One line of JSON for each fire, in order: the report as the registry made
/// it, and what the host knows beside it.
pub fn json_lines(records: &[Record]) -> serde_json::Result<String> {
    let mut lines = String::new();
    for record in records {
        for entry in &record.entries {
            let Event::Fired(fired) = &entry.event else { continue };
            lines += &serde_json::to_string(&Line {
                record: &record.title,
                personality: &record.personality,
                depth: entry.depth,
                about: &fired.about,
                report: &fired.report,
                took: fired.took,
            })?;
            lines.push('\n');
        }
    }
    Ok(lines)
}

fn nanoseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
