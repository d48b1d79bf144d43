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

/// The points of the fires without handlers, each with how often, in the order in
/// which they were fired first.
pub(super) fn quiet_points(record: &Record) -> Vec<(&'static str, usize)> {
    let mut points: Vec<(&'static str, usize)> = Vec::new();
    for entry in &record.entries {
        let Event::Fired(fired) = &entry.event else { continue };
        if !fired.is_quiet() {
            continue;
        }
        let point = fired.report.point();
        match points.iter_mut().find(|(known, _)| *known == point) {
            Some((_, count)) => *count += 1,
            None => points.push((point, 1)),
        }
    }
    points
}
