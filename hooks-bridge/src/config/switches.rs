//! What turns hooks off: for one file, or as a setting for all of them.

use std::path::PathBuf;

use hooks_runtime::report::escaped;

use super::entry::{Entry, Origin, Place};
use super::node::{Node, find};
use super::{Plan, Source};
use crate::dialect::Dialect;
use crate::rules::Switch;

/// What files say of whether hooks run, in the order in which they were read.
#[derive(Debug, Default)]
pub(super) struct Switches {
    all: Vec<Set>,
    names: Vec<Named>,
}

/// A switch that is a setting, as one file sets it.
#[derive(Debug)]
struct Set {
    dialect: Dialect,
    origin: Origin,
    place: Place,
    switch: &'static Switch,
    off: bool,
}

/// A name or a command that one file turns off.
#[derive(Debug)]
struct Named {
    dialect: Dialect,
    origin: Origin,
    file: PathBuf,
    name: String,
}

/// Why nothing in a file runs, where the file says so for itself.
pub(super) fn of_file(source: &Source, root: &Node) -> Option<String> {
    let switches = source.dialect.rules().format.switches.iter();
    let mut own = switches.filter(|switch| !(switch.is_setting)(&source.file));
    own.find(|switch| value(switch, root).is_some_and(|(value, _)| value == switch.off))
        .map(|switch| format!("the file says `{}`", switch.text))
}

/// The value that a file has for a switch, and its line.
fn value(switch: &Switch, root: &Node) -> Option<(bool, usize)> {
    let (last, parents) = switch.path.split_last()?;
    let parent = parents.iter().try_fold(root, |node, key| node.get(key))?;
    let member = find(parent.table()?, last)?;
    Some((member.value.boolean()?, member.line))
}

impl Switches {
    /// Notes what a file sets for all files of its dialect.
    pub(super) fn note(&mut self, source: &Source, root: &Node) {
        let (dialect, origin) = (source.dialect, &source.origin);
        let format = &dialect.rules().format;
        for switch in format.switches.iter().filter(|switch| (switch.is_setting)(&source.file)) {
            let Some((value, line)) = value(switch, root) else { continue };
            let place = Place { file: source.file.clone(), line };
            let off = value == switch.off;
            self.all.push(Set { dialect, origin: origin.clone(), place, switch, off });
        }
        let Some([parent, key]) = format.turned_off else { return };
        let list = root.get(parent).and_then(|parent| parent.get(key)).and_then(Node::list);
        let names = list.unwrap_or_default().iter().filter_map(Node::text);
        self.names.extend(names.map(|name| Named {
            dialect,
            origin: origin.clone(),
            file: source.file.clone(),
            name: name.to_owned(),
        }));
    }

    /// Turns off what they turn off, once all files were read.
    pub(super) fn apply(self, plan: &mut Plan) {
        for entry in plan.entries.iter_mut().chain(&mut plan.unread) {
            if let Some(reason) = self.reason(entry) {
                entry.turn_off(reason);
            }
        }
        let reaches_others = |set: &&Set| {
            let is_other = |entry: &&Entry| {
                entry.dialect == set.dialect && !set.origin.turns_off(&entry.origin)
            };
            set.off && plan.entries.iter().any(|entry| is_other(&entry))
        };
        for set in self.all.iter().filter(reaches_others) {
            let whose = match set.origin {
                Origin::Project => "the project's own",
                Origin::Plugin(_) => "of this plugin",
                Origin::Managed | Origin::User => "not managed",
            };
            let text = format!("`{}` here is for hooks that are {whose}", set.switch.text);
            plan.notices.push(super::Notice { place: set.place.clone(), text });
        }
    }

    /// Why an entry is turned off, where it is.
    fn reason(&self, entry: &Entry) -> Option<String> {
        let who = |file: &PathBuf| {
            let shown = escaped(&file.display().to_string()).to_string();
            if *file == entry.place.file { "the file".to_owned() } else { format!("`{shown}`") }
        };
        let of_dialect = self.all.iter().filter(|set| set.dialect == entry.dialect);
        let may = of_dialect.filter(|set| set.origin.turns_off(&entry.origin));
        // Of one level the last file counts.
        let counts = may.max_by_key(|set| set.origin.precedence());
        if let Some(set) = counts.filter(|set| set.off) {
            return Some(format!("{} says `{}`", who(&set.place.file), set.switch.text));
        }
        let handler = entry.handler.as_ref()?;
        let is_called = |name: &String| {
            handler.name.as_ref() == Some(name) || handler.kind.to_string() == *name
        };
        let named = self.names.iter().find(|named| {
            named.dialect == entry.dialect
                && named.origin.turns_off(&entry.origin)
                && is_called(&named.name)
        })?;
        let [parent, key] = entry.dialect.rules().format.turned_off?;
        Some(format!("{} turns it off in `{parent}.{key}`", who(&named.file)))
    }
}

impl Origin {
    /// Whether a file of this origin may turn off hooks of that one. What is managed is
    /// turned off by nobody, and a project turns off no hooks but its own: a folder that
    /// nobody trusts must not turn off the checks of its user.
    fn turns_off(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Managed) => false,
            (Self::Project, other) => *other == Self::Project,
            (Self::Plugin(_), other) => self == other,
            (Self::Managed | Self::User, _) => true,
        }
    }

    /// Which setting counts of several.
    const fn precedence(&self) -> u8 {
        match self {
            Self::Plugin(_) => 0,
            Self::User => 1,
            Self::Project => 2,
            Self::Managed => 3,
        }
    }
}
