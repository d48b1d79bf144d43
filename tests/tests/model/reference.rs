//! A registry that is plainly right: a list of handlers, sorted anew on every
//! look, and everything done one step after another.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use hooks_runtime::{FailurePolicy, Plugins};

use crate::event::{Audited, Event, Listed};
use crate::log;
use crate::naive_order;
use crate::plan::{Op, PLUGINS, Script, Shot, Spot, Way, Wish, handlers_of_east};
use crate::real::nth;
use crate::reference_order::{NO_ORDER, because, sorted};
use crate::world::PATIENCE;

/// A registered handler.
pub struct Handler {
    pub tag: u32,
    /// The turn among equals; a replacement keeps it.
    pub seq: u64,
    pub spot: Spot,
    pub name: String,
    pub plugin: Option<&'static str>,
    pub priority: i32,
    pub before: Vec<&'static str>,
    pub after: Vec<&'static str>,
    /// The priorities that its plugin was allowed.
    pub allowed: Option<(i32, i32)>,
    pub policy: FailurePolicy,
    pub limit: Option<u32>,
    pub target: Option<&'static str>,
    pub guard: bool,
    pub script: Arc<Script>,
    pub calls: Cell<u64>,
    pub failures: Cell<u64>,
    pub filtered: Cell<u64>,
    /// Whether no fire may start it any more.
    pub closed: Cell<bool>,
    /// Whether it was closed with all of its plugin: runs in which that has begun
    /// still come to it at their end.
    pub leaves: Cell<bool>,
    /// The stay of its plugin.
    pub stay: Cell<u64>,
    pub running: Cell<u32>,
}

/// The plugins that have begun in one run of a flow, each with its stay.
pub type Begun = Rc<RefCell<BTreeSet<(&'static str, u64)>>>;

/// The plugins that may take part; `None` admits all.
pub type Admitted = Option<BTreeSet<String>>;

impl Handler {
    /// Leaves with all of its plugin.
    fn leave(&self) {
        let is_last = matches!(self.spot, Spot::OnError | Spot::Finally);
        if !self.closed.replace(true) {
            self.leaves.set(is_last);
        }
    }
}

/// The registry.
#[derive(Default)]
pub struct Reference {
    handlers: Vec<Rc<Handler>>,
    /// Those that have left, which a fire under way may still be running.
    left: Vec<Rc<Handler>>,
    /// When each plugin that has handlers began to have them.
    stays: BTreeMap<&'static str, u64>,
    limits: BTreeMap<&'static str, (usize, (i32, i32))>,
    scopes: Vec<Admitted>,
    /// The tags of what registrations left.
    handles: Vec<u32>,
    /// The stays of what installations left.
    installed: Vec<Option<u64>>,
    pub fired: BTreeSet<Spot>,
    /// The points under way, outermost first.
    pub chain: Vec<&'static str>,
    /// The handlers that are being run, by tag and plugin, outermost first.
    pub inside: Vec<(u32, Option<&'static str>)>,
    /// The runs of flows under way, outermost first.
    pub runs: Vec<Begun>,
    pub events: Vec<Event>,
    /// The expected lines of the log.
    pub logged: Vec<String>,
    /// The expected notifications of observers, if there are any.
    pub observed: Vec<String>,
    has_observer: bool,
    /// Whether limits can be kept at all.
    pub timer: bool,
    names: BTreeMap<u32, String>,
    numbers: u64,
    tags: u32,
    patience: u32,
}

/// Who is asked to be what, after the checks.
struct Joining {
    handler: Handler,
    replaces: Option<Rc<Handler>>,
}

impl Joining {
    /// Whether it takes the very place of another: it brings no constraint.
    fn keeps_place(&self) -> bool {
        let place = |it: &Handler| {
            let key = (it.guard, it.priority, it.seq);
            (key, it.before.clone(), it.after.clone(), it.allowed)
        };
        self.replaces.as_ref().is_some_and(|old| place(old) == place(&self.handler))
    }
}

impl Reference {
    pub fn new(timer: bool, has_observer: bool) -> Self {
        Self { timer, has_observer, ..Self::default() }
    }

    /// Notifies observers.
    pub fn observe(&mut self, line: String) {
        if self.has_observer {
            self.observed.push(line);
        }
    }

    /// A step of the case: what happens in it. The names are those that the
    /// real registry made up.
    pub fn step(&mut self, op: &Op, names: &BTreeMap<u32, String>) -> Vec<Event> {
        self.patience = PATIENCE;
        self.names.clone_from(names);
        self.perform(op, None);
        std::mem::take(&mut self.events)
    }

    /// What a handler does, with the hooks that it was given or without.
    pub fn act(&mut self, op: &Op, given: Option<&Admitted>) {
        if self.patience > 0 {
            self.patience -= 1;
            self.perform(op, given);
        }
    }

    fn perform(&mut self, op: &Op, given: Option<&Admitted>) {
        let what = match op {
            Op::Register { registrar, wishes } => self.register_for(*registrar, wishes),
            Op::Install { replace, scripts } => self.install(*replace, scripts),
            Op::Uninstall(number) => self.uninstall(*number),
            Op::Unregister(number) => self.unregister(*number),
            Op::UnregisterPlugin(id) => {
                let removed = self.remove(|handler| handler.plugin == Some(id));
                let running = self.running_of(id, u64::MAX);
                format!("removed {removed}, {running:?} run, {}", self.drained(id, u64::MAX))
            }
            Op::Limit { plugin, most, priorities } => {
                self.limits.insert(plugin, (*most, *priorities));
                "limited".into()
            }
            Op::Scope { parent, plugins } => {
                let parent = parent.and_then(|number| nth(&self.scopes, number).cloned());
                self.scopes.push(narrowed(parent.unwrap_or(None), plugins));
                "a scope".into()
            }
            Op::Fire { shot, payload, scope, way, stop } => {
                let admitted = self.scope_of(scope, given);
                let unheard = self.lazy(*way, shot);
                let observed = self.observed.len();
                let (what, report) = self.fire(shot, *payload, admitted, *stop);
                if unheard {
                    // A lazy fire without handlers does not start.
                    self.observed.truncate(observed);
                }
                let told = *way == Way::Reported && what != "dropped";
                let report = if told { report } else { Vec::new() };
                return self.events.push(Event::Did { what, report });
            }
        };
        self.events.push(Event::Did { what, report: Vec::new() });
    }

    /// Makes the payload of a lazy fire; returns whether there are no handlers.
    fn lazy(&mut self, way: Way, shot: &Shot) -> bool {
        let Shot::At(spot) = shot else { return false };
        if way != Way::Lazy || spot.is_gating() {
            return false;
        }
        let unheard = self.at(*spot).is_empty();
        if !unheard {
            self.events.push(Event::Built);
        }
        unheard
    }

    pub fn scope_made(&self, number: usize) -> Admitted {
        nth(&self.scopes, number).cloned().unwrap_or(None)
    }

    fn register_for(&mut self, registrar: Option<&'static str>, wishes: &[Wish]) -> String {
        let tags = self.draw(wishes.len());
        let mut wishes = wishes.to_vec();
        if let Some(bound) = registrar {
            for wish in &mut wishes {
                let owner = *wish.plugin.get_or_insert(bound);
                if owner != bound {
                    return format!(
                        "`{}` names plugin `{owner}`, but this registrar is bound to plugin \
                         `{bound}`; leave the name out",
                        wish.name.unwrap_or("<place>").escape_default(),
                    );
                }
            }
        }
        match self.join(&wishes, &tags, None) {
            Ok(()) => "registered".into(),
            Err(refusal) => refusal,
        }
    }

    fn install(&mut self, replace: bool, scripts: &[Arc<Script>; 4]) -> String {
        let tags = self.draw(4);
        let stay = self.stays.get("east").copied();
        if stay.is_some() && !replace {
            return "plugin `east` has handlers here already: remove them first with `uninstall` \
                    or `unregister_plugin`, or use `install_or_replace`"
                .into();
        }
        if let Err(refusal) = self.join(&handlers_of_east(scripts), &tags, stay.map(|_| "east")) {
            return refusal;
        }
        self.installed.push(Some(self.stays["east"]));
        "installed".into()
    }

    fn uninstall(&mut self, number: usize) -> String {
        let Some(at) = number.checked_rem(self.installed.len()) else {
            return "nothing to uninstall".into();
        };
        let Some(stay) = self.installed[at].take() else { return "gone".into() };
        if self.stays.get("east") == Some(&stay) {
            self.remove(|handler| handler.plugin == Some("east"));
        }
        // Of later stays it touches nothing.
        let left = self.left.iter();
        let left = left.filter(|it| it.plugin == Some("east") && it.stay.get() <= stay);
        left.for_each(|handler| handler.leave());
        self.drained("east", stay)
    }

    fn unregister(&mut self, number: usize) -> String {
        let Some(&tag) = nth(&self.handles, number) else {
            return "nothing to unregister".into();
        };
        let removed = self.leave(|handler| handler.tag == tag).len();
        // For itself: no run comes to it any more. One that was replaced before is
        // closed as well.
        let closes = self.left.iter().filter(|handler| handler.tag == tag);
        closes.for_each(|handler| {
            handler.closed.set(true);
            handler.leaves.set(false);
        });
        let left = self.left.iter().find(|handler| handler.tag == tag).cloned();
        let waits = left.filter(|handler| handler.running.get() > 0);
        let drained = waits.map_or("drained".into(), |handler| {
            let is_inside = self.inside.iter().any(|(inside, _)| *inside == tag);
            self.waits(is_inside, &owner(handler.plugin))
        });
        format!("removed {removed}, {drained}")
    }

    /// Removes handlers of one plugin, and lets fires start none of those
    /// that left before either.
    fn remove(&mut self, is_it: impl Fn(&Handler) -> bool) -> usize {
        let removed = self.leave(&is_it).len();
        self.left.iter().filter(|handler| is_it(handler)).for_each(|h| h.leave());
        removed
    }

    /// Takes handlers away. A plugin without handlers has ended its stay.
    fn leave(&mut self, is_it: impl Fn(&Handler) -> bool) -> Vec<Rc<Handler>> {
        let (gone, stay): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.handlers).into_iter().partition(|handler| is_it(handler));
        self.handlers = stay;
        self.left.extend(gone.iter().cloned());
        let handlers = &self.handlers;
        self.stays.retain(|plugin, _| handlers.iter().any(|h| h.plugin == Some(*plugin)));
        gone
    }

    /// The handlers of a plugin, up to that stay, that left and run.
    fn running_of(&self, plugin: &str, newest: u64) -> Vec<String> {
        let running = self
            .left
            .iter()
            .filter(|h| h.plugin == Some(plugin) && h.stay.get() <= newest && h.running.get() > 0);
        let mut running: Vec<_> = running.collect();
        running.sort_by_key(|handler| handler.tag);
        running.iter().map(|handler| crate::event::placeless(&handler.name)).collect()
    }

    /// What one look at a wait for a plugin, up to that stay, says.
    fn drained(&mut self, plugin: &str, newest: u64) -> String {
        let has_begun =
            |run: &Begun| run.borrow().iter().any(|(it, stay)| *it == plugin && *stay <= newest);
        let in_run = self.runs.iter().any(has_begun);
        if self.running_of(plugin, newest).is_empty() && !in_run {
            return "drained".into();
        }
        let is_inside = self.inside.iter().any(|(_, inside)| *inside == Some(plugin));
        if !is_inside && in_run {
            let refused = format!(
                "plugin `{plugin}` cannot be waited for here: this is inside a run of made, in \
                 which it has begun"
            );
            self.logged.push(log::unwaited(&refused));
            return refused;
        }
        self.waits(is_inside, &format!("plugin `{plugin}`"))
    }

    /// A wait for handlers that run; from inside it is refused and logged.
    fn waits(&mut self, is_inside: bool, owner: &str) -> String {
        if !is_inside {
            return "waits".into();
        }
        let refused = format!(
            "{owner} cannot wait for itself: this is one of its own handlers; \
                               await the removal outside of them, or drop it"
        );
        self.logged.push(log::unwaited(&refused));
        refused
    }

    fn draw(&mut self, count: usize) -> Vec<u32> {
        (0..count)
            .map(|_| {
                self.tags += 1;
                self.tags - 1
            })
            .collect()
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Registers a group, whole or not at all, in place of all handlers of
    /// `leaving`.
    fn join(
        &mut self,
        wishes: &[Wish],
        tags: &[u32],
        leaving: Option<&'static str>,
    ) -> Result<(), String> {
        let staying: Vec<_> = self
            .handlers
            .iter()
            .filter(|handler| leaving.is_none() || handler.plugin != leaving)
            .cloned()
            .collect();
        let mut group: Vec<Joining> = Vec::new();
        for (wish, &tag) in wishes.iter().zip(tags) {
            let joining = self.check(wish, tag, &staying, &group)?;
            group.push(joining);
        }
        let replaced: Vec<_> =
            group.iter().filter_map(|j| Some(j.replaces.as_ref()?.tag)).collect();
        let tags: Vec<_> =
            group.iter().filter(|j| !j.keeps_place()).map(|j| j.handler.tag).collect();
        let new: Vec<_> = group.into_iter().map(|joining| Rc::new(joining.handler)).collect();
        let mut all: Vec<_> =
            staying.into_iter().filter(|handler| !replaced.contains(&handler.tag)).collect();
        all.extend(new.iter().cloned());
        let spots: BTreeSet<_> = new.iter().map(|handler| handler.spot).collect();
        let refusals: Vec<_> =
            spots.iter().filter_map(|spot| sorted(&all, *spot, &tags).err()).collect();
        if !refusals.is_empty() {
            return Err(format!("{NO_ORDER}{}", refusals.join("\n")));
        }
        self.leave(|handler| {
            replaced.contains(&handler.tag) || (leaving.is_some() && handler.plugin == leaving)
        });
        if let Some(plugin) = leaving {
            self.stays.remove(plugin);
        }
        for handler in &new {
            if let Some(plugin) = handler.plugin
                && !self.stays.contains_key(plugin)
            {
                let stay = self.number();
                self.stays.insert(plugin, stay);
            }
            handler.stay.set(handler.plugin.map_or(0, |plugin| self.stays[plugin]));
        }
        self.handles.extend(new.iter().map(|handler| handler.tag));
        self.handlers = all;
        Ok(())
    }

    /// The checks of one handler, in the order in which they are made.
    fn check(
        &mut self,
        wish: &Wish,
        tag: u32,
        staying: &[Rc<Handler>],
        group: &[Joining],
    ) -> Result<Joining, String> {
        let point = name_of(wish.spot);
        let shown = wish.name.unwrap_or("<place>");
        if wish.plugin == Some(PLUGINS[3]) {
            return Err(format!(
                "`{}` cannot be a plugin id: it reads like `built-in`, which is reserved for the \
                 host; an id is 1 to 64 ASCII letters, digits, `-`, `_` or `.`, and starts and \
                 ends with a letter or digit",
                PLUGINS[3],
            ));
        }
        match wish.name {
            Some("") => {
                return Err("`` cannot be a handler's name: it is empty; a name is 1 to \
                                    200 bytes of printable text without `/`"
                    .into());
            }
            Some("a\u{202e}b") => {
                return Err("`a\\u{202e}b` cannot be a handler's name: it has control or \
                            invisible characters; a name is 1 to 200 bytes of printable text \
                            without `/`"
                    .into());
            }
            _ => (),
        }
        let same = |handler: &Handler| {
            handler.spot == wish.spot
                && handler.plugin == wish.plugin
                && Some(&*handler.name) == wish.name
        };
        let replaces = staying.iter().find(|handler| same(handler)).cloned();
        if group.iter().any(|joining| same(&joining.handler))
            || (replaces.is_some() && !wish.replace)
        {
            return Err(format!(
                "`{shown}` ({}) is registered at `{point}` already: give it another name, or say \
                 `replace`; the first is at <place>, the second at <place>",
                owner(wish.plugin),
            ));
        }
        let declared = policy_of(wish.spot);
        if wish.policy.is_some() && matches!(wish.spot, Spot::OnError | Spot::Finally) {
            return Err(format!(
                "`{shown}` asks for a failure policy at `{point}`, where a failure is reported \
                 and never changes the outcome: leave `on_failure` out"
            ));
        }
        if wish.policy == Some(FailurePolicy::Open) && declared == FailurePolicy::Closed {
            return Err(format!(
                "`{shown}` asks for fail-open, but `{point}` is fail-closed: a handler may only \
                 tighten its point's policy; leave `on_failure` out"
            ));
        }
        if wish.limit == Some(0) {
            return Err(format!(
                "`{shown}` at `{point}` has a time limit of zero: leave it out or make it longer"
            ));
        }
        let moves = |old: &Rc<Handler>| {
            wish.priority.is_some_and(|priority| priority != old.priority)
                || !wish.before.is_empty()
                || !wish.after.is_empty()
        };
        let kept = replaces.as_ref().filter(|old| !moves(old));
        let place = match kept {
            Some(old) => (old.priority, old.before.clone(), old.after.clone()),
            None => (wish.priority.unwrap_or(0), wish.before.clone(), wish.after.clone()),
        };
        let limits = wish.plugin.and_then(|plugin| self.limits.get(plugin)).copied();
        if let Some(plugin) = wish.plugin
            && let Some((most, (lowest, highest))) = limits
        {
            let refused = |why: String| {
                Err(format!(
                    "`{shown}` of plugin `{plugin}` is refused at `{point}`: {why}; the \
                             host allows more with `set_quota`"
                ))
            };
            let theirs = |handler: &Handler| handler.plugin == Some(plugin);
            let new = group.iter().filter(|j| j.replaces.is_none() && theirs(&j.handler)).count();
            let has = staying.iter().filter(|handler| theirs(handler)).count() + new;
            if has - usize::from(replaces.is_some()) >= most {
                let handlers = if most == 1 { "handler" } else { "handlers" };
                return refused(format!("it may have at most {most} {handlers}"));
            }
            if !(lowest..=highest).contains(&place.0) {
                return refused(format!(
                    "priority {} is not between {lowest} and {highest}",
                    place.0
                ));
            }
        }
        let number = self.number();
        let handler = Handler {
            tag,
            seq: kept.map_or(number, |old| old.seq),
            spot: wish.spot,
            name: self.name(wish, tag, staying, group),
            plugin: wish.plugin,
            priority: place.0,
            before: place.1,
            after: place.2,
            allowed: limits.map(|(_, priorities)| priorities),
            policy: wish.policy.unwrap_or(declared),
            limit: wish.limit,
            target: wish.target,
            guard: wish.guard && wish.spot.is_gating(),
            script: Arc::clone(&wish.script),
            calls: Cell::new(0),
            failures: Cell::new(0),
            filtered: Cell::new(0),
            closed: Cell::new(false),
            leaves: Cell::new(false),
            stay: Cell::new(0),
            running: Cell::new(0),
        };
        Ok(Joining { handler, replaces })
    }

    /// Its own name, or the one that the real registry made up: from a place
    /// in the source, and of no other handler at that point.
    fn name(&self, wish: &Wish, tag: u32, staying: &[Rc<Handler>], group: &[Joining]) -> String {
        if let Some(name) = wish.name {
            return name.into();
        }
        let Some(name) = self.names.get(&tag) else {
            // Its group was refused for the sake of a later one.
            return format!("<place> {tag}");
        };
        assert!(name.contains("tests/model/points.rs:"), "{name} is a place in the source");
        let all = staying.iter().map(|handler| &**handler);
        let clash = all.chain(group.iter().map(|joining| &joining.handler)).find(|handler| {
            handler.spot == wish.spot && handler.plugin == wish.plugin && handler.name == *name
        });
        assert!(clash.is_none(), "L18: the anonymous name {name} is taken already");
        name.clone()
    }

    /// The handlers of a point, in the order in which they run.
    pub fn at(&self, spot: Spot) -> Vec<Rc<Handler>> {
        sorted(&self.handlers, spot, &[]).expect("what is registered has an order").0
    }

    /// What introspection says of one point.
    pub fn listed(&self, spot: Spot) -> Vec<Listed> {
        let listed = self.at(spot).into_iter().map(|handler| Listed {
            name: handler.name.clone(),
            owner: owner(handler.plugin),
            priority: handler.priority,
            guard: handler.guard,
            policy: handler.policy,
            limit: handler.limit,
            target: handler.target.map(|name| format!("\"{name}\"")),
            calls: handler.calls.get(),
            failures: handler.failures.get(),
            filtered: handler.filtered.get(),
        });
        listed.collect()
    }

    /// What the audit says.
    pub fn audited(&self) -> Audited {
        let fired = |spot: Spot| self.fired.contains(&spot);
        let quiet: BTreeSet<_> =
            self.handlers.iter().map(|h| h.spot).filter(|spot| !fired(*spot)).collect();
        let never_called = self.handlers.iter().filter(|handler| handler.calls.get() == 0);
        let why = |handler: &Handler| match (fired(handler.spot), handler.filtered.get()) {
            (false, _) => "NeverFired",
            (true, 0) => "NeverReached",
            (true, _) => "AlwaysFiltered",
        };
        let who = |h: &Handler| format!("{} {} {}", name_of(h.spot), owner(h.plugin), h.name);
        let (mut unnamed, mut dropped) = (Vec::new(), Vec::new());
        for spot in Spot::ALL {
            let here: Vec<_> = self.handlers.iter().filter(|h| h.spot == spot).collect();
            let placed: Vec<_> = here.iter().map(|handler| handler.placed(false)).collect();
            for (at, handler) in here.iter().enumerate() {
                let names = handler.before.iter().chain(&handler.after);
                let nobody = names.filter(|name| naive_order::meant(&placed, at, name).is_empty());
                unnamed.extend(nobody.map(|name| format!("{} {name}", who(handler))));
            }
            let (_, given_up) = sorted(&self.handlers, spot, &[]).expect("there is an order");
            for (handler, why) in given_up {
                let before = handler.before.iter().map(|name| format!("before `{name}`"));
                let after = handler.after.iter().map(|name| format!("after `{name}`"));
                dropped.extend(before.chain(after).map(|constraint| {
                    format!(
                        "`{}` ({}) at `{}` does not run {constraint}: {}",
                        handler.name,
                        owner(handler.plugin),
                        name_of(spot),
                        because(why),
                    )
                }));
            }
        }
        let mut audited = Audited {
            never_fired: quiet.into_iter().map(|spot| name_of(spot).into()).collect(),
            never_called: never_called.map(|h| format!("{} {}", who(h), why(h))).collect(),
            unknown_constraints: unnamed,
            dropped,
        };
        audited.never_fired.sort();
        audited.never_called.sort();
        audited.unknown_constraints.sort();
        audited.dropped.sort();
        audited
    }
}

impl Handler {
    pub fn is_guard(&self) -> bool {
        self.guard
    }
}

/// A scope of a scope can only narrow it.
pub fn narrowed(scope: Admitted, plugins: &Plugins) -> Admitted {
    let wanted: BTreeSet<String> = match plugins {
        Plugins::All => return scope,
        Plugins::BuiltIn => BTreeSet::new(),
        Plugins::Only(ids) => ids.iter().cloned().collect(),
        other => unreachable!("{other:?} is not of this model"),
    };
    Some(match scope {
        None => wanted,
        Some(already) => already.intersection(&wanted).cloned().collect(),
    })
}

pub fn owner(plugin: Option<&str>) -> String {
    plugin.map_or("built-in".into(), |id| format!("plugin `{id}`"))
}

/// The wire name of a point.
pub fn name_of(spot: Spot) -> &'static str {
    match spot {
        Spot::Told => "told",
        Spot::Vowed => "vowed",
        Spot::Amended => "amended",
        Spot::Routed => "routed",
        Spot::Posted => "posted",
        Spot::Mailed => "mailed",
        Spot::BeforeValidation => "made/beforeValidation",
        Spot::AfterValidation => "made/afterValidation",
        Spot::BeforeExecute => "made/beforeExecute",
        Spot::AfterExecute => "made/afterExecute",
        Spot::OnError => "made/onError",
        Spot::Finally => "made/finally",
    }
}

/// What the point declares, or its model where it declares nothing.
fn policy_of(spot: Spot) -> FailurePolicy {
    match spot {
        Spot::Told | Spot::Amended | Spot::Routed | Spot::Mailed => FailurePolicy::Open,
        Spot::OnError | Spot::Finally => FailurePolicy::Open,
        _ => FailurePolicy::Closed,
    }
}
