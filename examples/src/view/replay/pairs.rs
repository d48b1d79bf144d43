//! The rows of two timelines, side by side.

use hooks_runtime::replay::{Difference, FireReplay, TimelineRow};

/// A handler in the two timelines of a fire.
pub(super) struct Pair<'f> {
    pub(super) recorded: Option<&'f TimelineRow>,
    pub(super) replayed: Option<&'f TimelineRow>,
    pub(super) difference: Option<&'f Difference>,
}

/// The handlers of a fire in the order of the replay; what is not in it stands where it was
/// recorded.
pub(super) fn pairs(fire: &FireReplay) -> Vec<Pair<'_>> {
    let recorded = &fire.recorded.rows;
    let replayed = fire.replayed.as_ref().map_or(&[][..], |timeline| &timeline.rows);
    let named = |rows: &'_ [TimelineRow], row: &TimelineRow| {
        rows.iter().position(|other| other.handler == row.handler)
    };
    let pair = |then: Option<usize>, now: Option<usize>| {
        let (then, now) = (then.map(|at| &recorded[at]), now.map(|at| &replayed[at]));
        let handler = then.or(now).map(|row| row.handler.as_str());
        let of = |difference: &&Difference| {
            difference.handler.as_deref() == handler && difference.kind.is_of_handler()
        };
        Pair { recorded: then, replayed: now, difference: fire.differences.iter().find(of) }
    };
    let (mut pairs, mut next) = (Vec::new(), 0);
    for (at, now) in replayed.iter().enumerate() {
        let then = named(recorded, now);
        for before in next..then.unwrap_or(next) {
            if named(replayed, &recorded[before]).is_none() {
                pairs.push(pair(Some(before), None));
            }
        }
        next = next.max(then.map_or(next, |then| then + 1));
        pairs.push(pair(then, Some(at)));
    }
    for rest in next..recorded.len() {
        if named(replayed, &recorded[rest]).is_none() {
            pairs.push(pair(Some(rest), None));
        }
    }
    pairs
}
