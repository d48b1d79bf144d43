//! What was said, and what happened until the next words.

use crate::agent::{Entry, Event, Record, Speaker};

/// Words, and the events that follow them.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) said: Option<Said<'a>>,
    pub(super) entries: Vec<&'a Entry>,
}

/// Words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) depth: usize,
    pub(super) by: Speaker,
    pub(super) text: &'a str,
}

impl Said<'_> {
    /// Who speaks, as a word.
    pub(super) fn who(&self) -> &'static str {
        match (self.by, self.depth) {
            (Speaker::User, 0) => "you",
            (Speaker::Agent, 0) => "agent",
            (Speaker::User, _) => "agent to subagent",
            (Speaker::Agent, _) => "subagent",
        }
    }
}

/// A record as words and what followed them.
pub(super) fn groups(record: &Record) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for entry in &record.entries {
        match (&entry.event, groups.last_mut()) {
            (Event::Said { by, text }, _) => {
                let said = Some(Said { depth: entry.depth, by: *by, text });
                groups.push(Group { said, entries: Vec::new() });
            }
            (_, Some(group)) => group.entries.push(entry),
            (_, None) => groups.push(Group { said: None, entries: vec![entry] }),
        }
    }
    groups
}

/// How wide a column of this record's points has to be.
pub(super) fn widest_point(record: &Record) -> usize {
    let points = record.entries.iter().filter_map(|entry| match &entry.event {
        Event::Fired(fired) => Some(fired.report.point().len()),
        _ => None,
    });
    points.max().unwrap_or(0)
}
