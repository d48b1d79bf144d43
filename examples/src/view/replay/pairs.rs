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
    let recorded = &fire.recorded.rows[..];
    let replayed = fire.replayed.as_ref().map_or(&[][..], |timeline| &timeline.rows);
    let pair = |recorded: Option<_>, replayed: Option<_>| {
        let handler = recorded.or(replayed).map(|row: &TimelineRow| row.handler.as_str());
        let of = |difference: &&Difference| {
            difference.handler.as_deref() == handler && difference.kind.is_of_handler()
        };
        Pair { recorded, replayed, difference: fire.differences.iter().find(of) }
    };
    let is_gone = |row: &&TimelineRow| replayed.iter().all(|now| now.handler != row.handler);
    let (mut pairs, mut rest) = (Vec::new(), recorded);
    for now in replayed {
        if let Some(at) = rest.iter().position(|then| then.handler == now.handler) {
            pairs.extend(rest[..at].iter().filter(is_gone).map(|gone| pair(Some(gone), None)));
            rest = &rest[at + 1..];
        }
        let then = recorded.iter().find(|then| then.handler == now.handler);
        pairs.push(pair(then, Some(now)));
    }
    pairs.extend(rest.iter().filter(is_gone).map(|gone| pair(Some(gone), None)));
    pairs
}
