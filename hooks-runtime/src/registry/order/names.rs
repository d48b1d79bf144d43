//! Which handlers a constraint names.
//!
//! A bare name is the handler of that name of the same owner, else the
//! built-in one, so that no plugin can catch a constraint that is not meant
//! for it. `plugin/handler` is that plugin's handler, `plugin/*` all of its
//! handlers at the point. A handler is never its own target.
//!
//! A name that an author gives has no `/`. One for a place in the source may,
//! and ends in the line and the column: a text of that form is matched whole,
//! so what a text can mean does not depend on what is registered.

use std::collections::HashMap;
use std::slice;
use std::sync::Arc;

use crate::registry::entry::Entry;

/// The handlers of a point by what constraints call them.
#[derive(Debug)]
pub(crate) struct Names<'e> {
    entries: &'e [Arc<Entry>],
    handlers: HashMap<(Option<&'e str>, &'e str), usize>,
    plugins: HashMap<&'e str, Vec<usize>>,
}

impl<'e> Names<'e> {
    pub(crate) fn new(entries: &'e [Arc<Entry>]) -> Self {
        let mut handlers = HashMap::with_capacity(entries.len());
        let mut plugins: HashMap<_, Vec<_>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let owner = owner(entry);
            handlers.insert((owner, &*entry.name), index);
            if let Some(plugin) = owner {
                plugins.entry(plugin).or_default().push(index);
            }
        }
        Self { entries, handlers, plugins }
    }

    /// The handlers that the one at `asking` means by `wanted`.
    pub(crate) fn targets(
        &self,
        asking: usize,
        wanted: &'e str,
    ) -> impl Iterator<Item = usize> + use<'_> {
        let named = |owner, name| {
            let found = self.handlers.get(&(owner, name)).filter(|&&index| index != asking);
            found.map_or(&[][..], slice::from_ref)
        };
        let found = match Wanted::parse(wanted) {
            Wanted::Name(name) => match named(owner(&self.entries[asking]), name) {
                [] => named(None, name),
                own => own,
            },
            Wanted::Of(plugin, name) => named(Some(plugin), name),
            Wanted::All(plugin) => self.plugins.get(plugin).map_or(&[][..], Vec::as_slice),
        };
        found.iter().copied().filter(move |&index| index != asking)
    }
}

/// What the text of a constraint means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'t> {
    /// The handler of that name of the same owner, else the built-in one.
    Name(&'t str),
    /// That handler of that plugin.
    Of(&'t str, &'t str),
    /// Every handler of that plugin.
    All(&'t str),
}

impl<'t> Wanted<'t> {
    pub(crate) fn parse(text: &'t str) -> Self {
        match text.split_once('/') {
            Some((plugin, ALL)) => Self::All(plugin),
            Some((plugin, handler)) if !is_place(text) => Self::Of(plugin, handler),
            _ => Self::Name(text),
        }
    }
}

/// Whether a text ends in a line and a column, and perhaps in a number.
pub(crate) fn is_place(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let place = match text.rsplit_once('#') {
        Some((place, number)) if is_number(number) => place,
        _ => text,
    };
    let mut parts = place.rsplitn(3, ':');
    parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number)
}

/// What stands for all handlers of a plugin, behind its id and a `/`.
const ALL: &str = "*";

fn owner(entry: &Entry) -> Option<&str> {
    entry.plugin.as_ref().map(|plugin| plugin.id().as_str())
}
