//! What came of the replay of a fire, beside what was recorded of it.

use std::collections::{HashMap, HashSet};

use super::compare::differences;
use super::history::History;
use super::made::made_otherwise;
use super::played::Replayed;
use super::report::{FireReplay, FireVerdict};
use super::timeline::full;

/// A fire that cannot be replayed.
pub(super) fn cannot(history: &History, at: usize, reason: String) -> FireReplay {
    replay_of(history, at, FireVerdict::Cannot { reason })
}

fn replay_of(history: &History, at: usize, verdict: FireVerdict) -> FireReplay {
    let recorded = &history.fires[at];
    FireReplay {
        run: recorded.run.clone(),
        fire: recorded.fire.fire,
        at_ns: recorded.at_ns,
        point: recorded.fire.point.clone(),
        model: recorded.fire.model.clone(),
        payload: full(&recorded.fire.payload).cloned(),
        verdict,
        differences: Vec::new(),
        recorded: history.timeline(at),
        replayed: None,
    }
}

/// The fire that was replayed and those that are nested in it, compared with what was recorded
/// of them. The first difference of a nested fire may be why its maker does something else.
/// `there` has the handlers that are there today, by the name of the point.
pub(super) fn compared(
    history: &History,
    replayed: Vec<Replayed>,
    stuck: Option<&str>,
    there: impl Fn(&str) -> HashSet<String>,
) -> Vec<(usize, FireReplay)> {
    let mut first: HashMap<u64, (usize, Option<String>)> = HashMap::new();
    let mut fires = Vec::with_capacity(replayed.len());
    // A fire begins before those that are nested in it.
    for replayed in replayed.into_iter().rev() {
        let Replayed { recorded: at, fire, parent, ends, .. } = &replayed;
        let (at, fire, parent, ends) = (*at, *fire, *parent, ends.clone());
        let mut compared = compared_one(history, replayed, stuck, &there);
        let own = compared.differences.first().map(|difference| {
            let ended = difference.handler.as_ref().and_then(|handler| ends.get(handler));
            (ended.copied().unwrap_or(0), difference.handler.clone())
        });
        let cause = [own, first.remove(&fire)].into_iter().flatten().min();
        if let (FireVerdict::Changed { by, .. }, Some((_, cause))) = (&mut compared.verdict, &cause)
        {
            by.clone_from(cause);
        }
        if let (Some(parent), Some(cause)) = (parent, cause) {
            let known = first.entry(parent).or_insert_with(|| cause.clone());
            *known = cause.min(known.clone());
        }
        fires.push((at, compared));
    }
    fires
}

fn compared_one(
    history: &History,
    replayed: Replayed,
    stuck: Option<&str>,
    there: impl Fn(&str) -> HashSet<String>,
) -> FireReplay {
    let Replayed { recorded: at, timeline, ended, until, called, made, .. } = replayed;
    let recorded = history.timeline(at);
    // Who is there counts only where the replay did not come to all of them.
    let there = if ended { HashSet::new() } else { there(&history.fires[at].fire.point) };
    let mut differences = differences(&recorded, &timeline, ended, until.as_deref(), &there);
    for difference in made_otherwise(history, at, &called, &made) {
        // One difference of a handler is enough.
        if differences.iter().all(|known| known.handler != difference.handler) {
            differences.push(difference);
        }
    }
    let unknown = stuck.filter(|_| !ended).map(str::to_owned);
    let unknown = unknown.or_else(|| history.unknown_answer(at, &timeline));
    let verdict = match (differences.first(), unknown) {
        (Some(first), unknown) => FireVerdict::Changed { by: first.handler.clone(), unknown },
        (None, Some(reason)) => FireVerdict::Cannot { reason },
        (None, None) => FireVerdict::Same,
    };
    FireReplay { differences, replayed: Some(timeline), ..replay_of(history, at, verdict) }
}
