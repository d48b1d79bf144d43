//! What a registry's handlers and fires do not add up to.

use std::fmt;
use std::sync::Arc;

use crate::catalogue::{Catalogue, PointInfo};
use crate::entry::{Entry, Owner};
use crate::error::NameClash;
use crate::escape::escaped;
use crate::registry::HookRegistry;

/// What does not add up, as of when it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Audit {
    /// Points that were never fired, though they have handlers or are in the
    /// catalogue.
    pub never_fired: Vec<&'static str>,
    /// Handlers that were never called, and why.
    pub never_called: Vec<NeverCalled>,
    /// `before` and `after` constraints that name nobody at their point.
    pub name_nobody: Vec<NamesNobody>,
    /// Points that were fired and are not in the catalogue, if there is one.
    pub undeclared: Vec<&'static str>,
    /// Points of the catalogue whose wire name another point uses here.
    pub declared_twice: Vec<NameClash>,
}

/// A handler that was never called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NeverCalled {
    /// The wire name of its point.
    pub point: &'static str,
    /// Its name.
    pub handler: Arc<str>,
    /// Who registered it.
    pub owner: Owner,
    /// Why.
    pub why: WhyNot,
}

/// Why a handler was never called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum WhyNot {
    /// Its point was never fired.
    NeverFired,
    /// Every fire left it out: by scope, by target, or because it was being
    /// removed.
    AlwaysFiltered,
    /// Every fire since it was registered ended before it, or there was none.
    NeverReached,
}

/// A constraint that names nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NamesNobody {
    /// The wire name of the point.
    pub point: &'static str,
    /// The handler with the constraint.
    pub handler: Arc<str>,
    /// Who registered it.
    pub owner: Owner,
    /// The name that no other handler and no plugin has at this point.
    pub name: Arc<str>,
}

impl Audit {
    /// Whether everything adds up.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

impl HookRegistry {
    /// Looks for points that are never fired, handlers that are never called,
    /// and constraints that name nobody.
    pub fn audit(&self) -> Audit {
        let store = self.inner.store();
        let mut audit = Audit::default();
        for (index, point) in store.sorted_points() {
            if point.order.is_empty() {
                continue;
            }
            let name = point.descriptor.name();
            let fired = self.inner.table.get(index).was_fired();
            if !fired {
                audit.never_fired.push(name);
            }
            for entry in &point.order {
                if point.calls(entry) == 0 {
                    let why = match (fired, entry.counters.times_filtered()) {
                        (false, _) => WhyNot::NeverFired,
                        (true, 0) => WhyNot::NeverReached,
                        (true, _) => WhyNot::AlwaysFiltered,
                    };
                    let (handler, owner) = (Arc::clone(&entry.name), entry.owner());
                    audit.never_called.push(NeverCalled { point: name, handler, owner, why });
                }
                let unknown = entry.before.iter().chain(&entry.after);
                for unknown in unknown.filter(|wanted| !is_somebody(&point.order, entry, wanted)) {
                    audit.name_nobody.push(NamesNobody {
                        point: name,
                        handler: Arc::clone(&entry.name),
                        owner: entry.owner(),
                        name: Arc::clone(unknown),
                    });
                }
            }
        }
        audit
    }

    /// As [`audit`](Self::audit), held against what is declared: lists also
    /// the points of the catalogue that were never fired and those fired that
    /// are not in it.
    pub fn audit_with(&self, catalogue: &Catalogue) -> Audit {
        let mut audit = self.audit();
        let forgotten = catalogue.never_fired(self).into_iter().map(PointInfo::name);
        audit.never_fired.extend(forgotten);
        audit.never_fired.sort_unstable();
        audit.never_fired.dedup();
        // The stages of a flow stand or fall with it.
        let used = self.inner.store().used_points().filter(|used| used.stage().is_none());
        for used in used {
            match catalogue.get(used.name()) {
                Some(point) if point.index() == used.index() => {}
                Some(point) => audit.declared_twice.push(NameClash {
                    name: used.name(),
                    first: used.location(),
                    second: point.location(),
                }),
                None if self.inner.table.get(used.index()).was_fired() => {
                    audit.undeclared.push(used.name());
                }
                None => {}
            }
        }
        audit
    }
}

fn is_somebody(order: &[Arc<Entry>], asking: &Entry, name: &str) -> bool {
    order.iter().filter(|entry| entry.id != asking.id).any(|entry| {
        &*entry.name == name || entry.plugin.as_ref().is_some_and(|p| p.id().as_str() == name)
    })
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("everything adds up");
        }
        let mut lines = Vec::new();
        lines.extend(self.never_fired.iter().map(|point| format!("`{point}` is never fired")));
        lines.extend(self.never_called.iter().map(|NeverCalled { point, handler, owner, why }| {
            let handler = escaped(handler);
            format!("`{handler}` ({owner}) at `{point}` is never called: {why}")
        }));
        lines.extend(self.name_nobody.iter().map(|NamesNobody { point, handler, owner, name }| {
            let (handler, name) = (escaped(handler), escaped(name));
            format!("`{handler}` ({owner}) at `{point}` names `{name}`, which is nobody there")
        }));
        let undeclared = self.undeclared.iter();
        lines.extend(undeclared.map(|point| format!("`{point}` is fired but not declared")));
        lines.extend(self.declared_twice.iter().map(ToString::to_string));
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeverFired => "its point is never fired",
            Self::AlwaysFiltered => "every fire leaves it out",
            Self::NeverReached => "no fire reached it",
        })
    }
}
