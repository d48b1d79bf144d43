//! The fires that handlers make, compared with those that they made.

use std::collections::HashSet;

use super::compare::Difference;
use super::history::History;
use super::played::Made;
use crate::escape::{escaped, excerpt};

/// The handlers that were called and make other fires than they made, each with the first one
/// that is another.
pub(super) fn made_otherwise(
    history: &History,
    at: usize,
    called: &HashSet<String>,
    made: &[Made],
) -> Vec<Difference> {
    let recorded = history.made(at);
    let mut seen = HashSet::new();
    let makers = made.iter().chain(recorded.iter().flatten()).map(|made| &*made.maker);
    let makers = makers.filter(|maker| called.contains(*maker) && seen.insert(*maker));
    makers
        .filter_map(|maker| {
            let of = |made: &'_ &Made| made.maker == maker;
            let now: Vec<_> = made.iter().filter(of).collect();
            if let Some(recorded) = &recorded {
                let then: Vec<_> = recorded.iter().filter(of).collect();
                return difference(maker, &then, &now);
            }
            // Which handler made them is not recorded: only what is new can be told.
            let new = now.iter().find(|made| !made.is_known)?;
            Some(Difference::fired(maker, None, Some(fires(new))))
        })
        .collect()
}

/// The first fire that is another one.
fn difference(maker: &str, then: &[&Made], now: &[&Made]) -> Option<Difference> {
    let longest = then.len().max(now.len());
    let fires = |made: &[&Made], place: usize| made.get(place).map(|made| fires(made));
    let point = |made: &[&Made], place: usize| made.get(place).map(|made| made.point.clone());
    if let Some(at) = (0..longest).find(|at| point(then, *at) != point(now, *at)) {
        return Some(Difference::fired(maker, fires(then, at), fires(now, at)));
    }
    let is_other = |(then, now): &(&&Made, &&Made)| match (&then.payload, &now.payload) {
        (Some(then), Some(now)) => then != now,
        _ => false,
    };
    let (then, now) = then.iter().zip(now).find(is_other)?;
    let with = |made: &Made| {
        let payload = made.payload.as_ref()?.to_string();
        Some(format!("{} with {}", self::fires(made), excerpt(&payload)))
    };
    Some(Difference::fired(maker, with(then), with(now)))
}

fn fires(made: &Made) -> String {
    format!("fires `{}`", escaped(&made.point))
}
