//! What differs between the products in a way that would surprise.

use super::consequences::{self, Consequences, ENDINGS};
use crate::config::{Entry, Plan, Source};
use crate::dialect::Dialect;
use crate::matcher::{Matcher, Room};

/// The differences of one file, among `all` that are checked.
pub(super) fn of(
    source: &Source,
    plan: &Plan,
    readers: &[Dialect],
    all: &[(Source, Plan)],
) -> Vec<String> {
    let mut differences = Vec::new();
    if let Some((_, others)) = readers.split_first().filter(|(_, others)| !others.is_empty()) {
        let others: Vec<_> = others.iter().map(|dialect| dialect.product()).collect();
        differences
            .push(format!("{} read this file too, and run its commands", others.join(" and ")));
    }
    for entry in plan.entries.iter().filter(|entry| entry.runs()) {
        endings(entry, &mut differences);
        for reader in &readers[1..] {
            for difference in [matched(entry, *reader), twice(entry, *reader, source, all)] {
                differences.extend(difference.filter(|text| !differences.contains(text)));
            }
        }
    }
    differences
}

/// Endings that deny in one product and not in another. Entries of one event have the
/// same, so they are said once; what an entry has only because it says that a failure blocks
/// is said as that.
fn endings(entry: &Entry, differences: &mut Vec<String>) {
    let consequences = consequences::of(entry);
    let mut open = entry.clone();
    open.handler.iter_mut().for_each(|handler| handler.fails_closed = false);
    let without = consequences::of(&open);
    for (ending, word) in ENDINGS {
        let is_same = consequences.iter().map(word).eq(without.iter().map(word));
        let blocks = if is_same { "" } else { " where a failure blocks" };
        let product = |it: &Consequences| {
            Dialect::ALL
                .into_iter()
                .find(|dialect| dialect.as_str() == it.dialect)
                .map(Dialect::product)
        };
        let (goes_on, acts): (Vec<_>, Vec<_>) =
            consequences.iter().partition(|it| word(it) == "goes on");
        let Some(first) = acts.first().filter(|_| !goes_on.is_empty()) else { continue };
        let names = |list: &[&Consequences]| {
            list.iter().filter_map(|it| product(it)).collect::<Vec<_>>().join(", ")
        };
        let text = format!(
            "`{}`{blocks}: {ending} {} in {}; is ignored in {}",
            entry.event,
            word(first),
            names(&acts),
            names(&goes_on)
        );
        if !differences.contains(&text) {
            differences.push(text);
        }
    }
}

/// Tools that the matcher of an entry finds in one product and not in another.
fn matched(entry: &Entry, reader: Dialect) -> Option<String> {
    let rule = reader.rules().counterpart(entry.rule?)?;
    let written = entry.matcher.as_deref().filter(|matcher| !matcher.is_empty())?;
    let there = Matcher::compile(reader.rules(), rule, Some(written), &Room::default());
    let own = entry.dialect.product();
    let Ok(there) = there else {
        return Some(format!(
            "line {}: {} skips the entry, because the matcher `{written}` is no expression there",
            entry.place.line,
            reader.product()
        ));
    };
    let names = entry.dialect.rules().tools.iter().flat_map(|tool| tool.names).copied();
    let differs: Vec<_> =
        names.filter(|name| entry.compiled.matches(name) && !there.matches(name)).collect();
    (!differs.is_empty()).then(|| {
        format!(
            "line {}: the matcher `{written}` finds {} in {own}, not in {}",
            entry.place.line,
            differs.join(", "),
            reader.product()
        )
    })
}

/// A command that a product finds here and in a file of its own.
fn twice(
    entry: &Entry,
    reader: Dialect,
    source: &Source,
    all: &[(Source, Plan)],
) -> Option<String> {
    let kind = entry.rule?.kind;
    let others =
        all.iter().filter(|(other, _)| other.dialect == reader && other.file != source.file);
    let same = others.flat_map(|(_, plan)| &plan.entries).find(|other| {
        other.command() == entry.command() && other.rule.is_some_and(|rule| rule.kind == kind)
    })?;
    Some(format!(
        "line {}: {} runs it twice, because it is also in {}",
        entry.place.line,
        reader.product(),
        same.place
    ))
}
