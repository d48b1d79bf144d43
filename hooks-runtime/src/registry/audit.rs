//! The audit: handlers, points and constraints that have no effect.

use std::fmt;
use std::sync::Arc;

use crate::catalogue::{Catalogue, PointInfo};
use crate::error::NameClash;
use crate::escape::escaped;
use crate::registry::HookRegistry;
use crate::registry::entry::Owner;
use crate::registry::order::{self, Conflict};
use crate::registry::store::PointStore;
use crate::report::SkipReason;

/// What has no effect or was never used, at the time of the audit.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Saved>().name("trim").after("spel").handler(|_: &SavedPayload| ()))?;
/// hooks.fire_void::<Saved>(&SavedPayload { page: 1 }).await?;
/// let audit = hooks.audit();
/// assert!(!audit.is_clean());
/// assert_eq!(
///     audit.to_string(),
///     "`trim` (built-in) at `saved` is ordered after `spel`, but no handler of that name is \
///      registered there",
/// );
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Audit {
    /// Points that were never fired, though they have handlers or are in the
    /// catalogue.
    pub never_fired: Vec<&'static str>,
    /// Handlers that were never called, and why.
    pub never_called: Vec<NeverCalled>,
    /// `before` and `after` constraints that name no handler at their point.
    pub unknown_constraints: Vec<UnknownConstraint>,
    /// Constraints of plugins' handlers that are not kept, because of what was
    /// registered or removed after them.
    pub dropped: Vec<DroppedConstraint>,
    /// Plugins that were removed or admitted to a scope, and that never
    /// registered a handler. At most 64 are remembered.
    pub unknown_plugins: Vec<UnknownPlugin>,
    /// Points that were fired and are not in the catalogue, if there is one.
    pub undeclared: Vec<&'static str>,
    /// Points of the catalogue whose wire name another point uses here.
    pub declared_twice: Vec<NameClash>,
}

/// A handler that was never called.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::registry::NeverCalledReason;
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Saved>().name("trim").handler(|_: &SavedPayload| ()))?;
/// let never = &hooks.audit().never_called[0];
/// assert_eq!((never.point, &*never.handler), ("saved", "trim"));
/// assert_eq!(never.why, NeverCalledReason::NeverFired);
/// # Ok(()) }
/// ```
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
    pub why: NeverCalledReason,
}

/// Why a handler was never called.
///
/// The example of [`NeverCalled`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NeverCalledReason {
    /// Its point was never fired.
    NeverFired,
    /// Its condition was not met in any fire that asked it.
    NeverMet,
    /// Every fire left it out: by scope, by target, by its condition, or because it
    /// was being removed.
    AlwaysFiltered,
    /// Every fire since it was registered ended before it, or there was none.
    NeverReached,
}

/// A constraint that names no other handler at its point.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Saved>().name("trim").before("indexer").handler(|_: &SavedPayload| ()))?;
/// let unknown = &hooks.audit().unknown_constraints[0];
/// assert_eq!((&*unknown.handler, &*unknown.name), ("trim", "indexer"));
/// assert_eq!(unknown.constraint, "before `indexer`");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UnknownConstraint {
    /// The wire name of the point.
    pub point: &'static str,
    /// The handler with the constraint.
    pub handler: Arc<str>,
    /// Who registered it.
    pub owner: Owner,
    /// The name in the constraint, for which there is no other handler at this
    /// point.
    pub name: Arc<str>,
    /// The constraint, as in ``before `audit` ``.
    pub constraint: String,
}

/// A constraint that is not kept. It is tried again whenever the handlers of
/// its point change.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::registry::DropReason;
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// # let at = |name| on::<Saved>().name(name);
/// // A plugin's handler between two others, whose order the host then turns round.
/// hooks.register(at("late").handler(|_: &SavedPayload| ()))?;
/// hooks.register(at("spy").plugin("guest").before("late").after("early").handler(|_: &SavedPayload| ()))?;
/// hooks.register(at("early").priority(9).handler(|_: &SavedPayload| ()))?;
/// let dropped = &hooks.audit().dropped;
/// assert_eq!((&*dropped[0].handler, dropped[0].reason), ("spy", DropReason::NoPlace));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DroppedConstraint {
    /// The wire name of the point.
    pub point: &'static str,
    /// The handler with the constraint.
    pub handler: Arc<str>,
    /// The plugin that registered it.
    pub owner: Owner,
    /// The constraint, as in ``before `audit` ``.
    pub constraint: String,
    /// Why it is not kept.
    pub reason: DropReason,
}

/// Why a constraint is not kept.
///
/// The example of [`DroppedConstraint`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum DropReason {
    /// It is part of a circle.
    Circular,
    /// It contradicts the order of other handlers.
    NoPlace,
    /// It leads out of the priorities that the host allows the plugin.
    OutOfRange {
        /// The lowest number the plugin may use.
        lowest: i32,
        /// The highest.
        highest: i32,
    },
}

impl From<&Conflict> for DropReason {
    fn from(conflict: &Conflict) -> Self {
        match conflict {
            Conflict::Circle => Self::Circular,
            Conflict::NoPlace => Self::NoPlace,
            Conflict::Range(range) => {
                Self::OutOfRange { lowest: *range.start(), highest: *range.end() }
            }
        }
    }
}

/// A plugin that was asked for and never registered a handler.
///
/// ```
/// # use hooks_runtime::{HookRegistry, Plugins, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Saved>().plugin("calendar").handler(|_: &SavedPayload| ()))?;
/// let _ = hooks.scope(Plugins::only(["calender"]));
/// let unknown = &hooks.audit().unknown_plugins[0];
/// assert_eq!((&*unknown.id, unknown.nearest.as_deref()), ("calender", Some("calendar")));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct UnknownPlugin {
    /// The id that was asked for, escaped, and shortened if it is too long for
    /// one.
    pub id: String,
    /// The plugin here with the most similar id, if one is similar.
    pub nearest: Option<String>,
}

impl Audit {
    /// Whether everything adds up.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the constraints at a point that name no handler, and those that
    /// are dropped.
    fn add_constraints(&mut self, point: &PointStore) {
        let at = point.descriptor.name();
        let names = point.order.names();
        for (index, entry) in point.order.iter().enumerate() {
            let before = entry.before.iter().map(|name| ("before", name));
            let wanted = before.chain(entry.after.iter().map(|name| ("after", name)));
            for (side, name) in
                wanted.filter(|(_, name)| names.targets(index, name).next().is_none())
            {
                self.unknown_constraints.push(UnknownConstraint {
                    point: at,
                    handler: Arc::clone(&entry.name),
                    owner: entry.owner(),
                    name: Arc::clone(name),
                    constraint: format!("{side} `{name}`"),
                });
            }
        }
        for (entry, conflict) in point.order.dropped() {
            self.dropped.extend(order::constraints(entry).map(|constraint| DroppedConstraint {
                point: at,
                handler: Arc::clone(&entry.name),
                owner: entry.owner(),
                constraint,
                reason: conflict.into(),
            }));
        }
    }
}

impl HookRegistry {
    /// Looks for points that are never fired, handlers that are never called,
    /// constraints that name no handler or cannot be kept, and plugins that
    /// were asked for and never registered a handler.
    ///
    /// The example of [`Audit`] finds a constraint that names no handler.
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
            for (entry, calls) in point.calls() {
                if calls == 0 {
                    let skips = entry.counters.skips();
                    let (unmet, total) = (skips.of(SkipReason::Condition), skips.total());
                    let why = match (fired, total) {
                        (false, _) => NeverCalledReason::NeverFired,
                        (true, 0) => NeverCalledReason::NeverReached,
                        (true, _) if unmet == total => NeverCalledReason::NeverMet,
                        (true, _) => NeverCalledReason::AlwaysFiltered,
                    };
                    let (handler, owner) = (Arc::clone(&entry.name), entry.owner());
                    audit.never_called.push(NeverCalled { point: name, handler, owner, why });
                }
            }
            audit.add_constraints(point);
        }
        audit.unknown_plugins = store
            .unknown_ids()
            .map(|(id, nearest)| UnknownPlugin {
                id: id.to_owned(),
                nearest: nearest.map(ToString::to_string),
            })
            .collect();
        audit
    }

    /// As [`audit`](Self::audit), held against what is declared: lists also
    /// the points of the catalogue that were never fired and those fired that
    /// are not in it.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! {
    /// #     #![hook(catalogue = pub fn points)]
    /// #     /// A page was saved.
    /// #     pub void Saved { page: u32 }
    /// # }
    /// # mod elsewhere { hooks_runtime::hook_points! { pub void Opened { page: u32 } } }
    /// # use elsewhere::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.fire_void::<Opened>(&OpenedPayload { page: 1 }).await?;
    /// let audit = hooks.audit_with(&points());
    /// assert_eq!((&*audit.never_fired, &*audit.undeclared), (&["saved"][..], &["opened"][..]));
    /// # Ok(()) }
    /// ```
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
        lines.extend(self.unknown_constraints.iter().map(ToString::to_string));
        lines.extend(self.dropped.iter().map(ToString::to_string));
        lines.extend(self.unknown_plugins.iter().map(ToString::to_string));
        let undeclared = self.undeclared.iter();
        lines.extend(undeclared.map(|point| format!("`{point}` is fired but not declared")));
        lines.extend(self.declared_twice.iter().map(ToString::to_string));
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for NeverCalledReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeverFired => "its point is never fired",
            Self::NeverMet => "its condition was never met",
            Self::AlwaysFiltered => "every fire leaves it out",
            Self::NeverReached => "no fire reached it",
        })
    }
}

impl fmt::Display for UnknownConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, handler, owner, name, constraint } = self;
        // A constraint may name its own handler or plugin, which is never a target.
        let (of, is_own) = match (name.strip_suffix("/*"), owner) {
            (Some(id), Owner::Plugin(own)) => ("that plugin", id == own.as_str()),
            (Some(_), Owner::BuiltIn) => ("that plugin", false),
            (None, Owner::Plugin(own)) => {
                let qualified = name.strip_prefix(own.as_str()).and_then(|at| at.strip_prefix('/'));
                ("that name", qualified.unwrap_or(name) == &**handler)
            }
            (None, Owner::BuiltIn) => ("that name", name == handler),
        };
        let other = if is_own { "other " } else { "" };
        let (handler, constraint) = (escaped(handler), escaped(constraint));
        write!(
            f,
            "`{handler}` ({owner}) at `{point}` is ordered {constraint}, but no {other}handler of \
             {of} is registered there"
        )
    }
}

impl fmt::Display for DroppedConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, handler, owner, constraint, reason } = self;
        write!(f, "`{handler}` ({owner}) at `{point}` does not run {constraint}: {reason}")
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Circular => f.write_str("its constraints are part of a circle"),
            Self::NoPlace => {
                f.write_str("its constraints contradict the order of the other handlers")
            }
            Self::OutOfRange { lowest, highest } => write!(
                f,
                "its constraints would put it past handlers of others whose priority is not \
                 between {lowest} and {highest}"
            ),
        }
    }
}

impl fmt::Display for UnknownPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin `{}` is asked for, but never registered a handler", self.id)?;
        match &self.nearest {
            Some(nearest) => write!(f, ": is it `{nearest}`?"),
            None => Ok(()),
        }
    }
}
