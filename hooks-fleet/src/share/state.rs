//! The remote handlers of one registry, kept in step with who is there.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hooks_runtime::HookRegistry;
use hooks_runtime::point::ModelKind;
use hooks_runtime::registry::{Handle, HandlerInfo};

use super::entry::{RemoteEntry, Routing, Shape, Variant};
use super::tape::Tape;
use super::{Required, Services};
use crate::error::FleetError;
use crate::fleet::Caller;
use crate::presence::excerpt;
use crate::schema::{self, Fit};
use crate::wire::subject::Route;
use crate::wire::{AnnouncedHandler, AnnouncedPoint, Announcement};

/// A handler by service, point and name.
type Key = (String, &'static str, String);

/// What a registry shares, and the remote handlers that it has for that.
pub(crate) struct ShareState {
    hooks: HookRegistry,
    /// Where the host shares it.
    written: &'static Location<'static>,
    pub(super) own: BTreeMap<&'static str, (ModelKind, AnnouncedPoint)>,
    services: Services,
    pub(super) required: Vec<Required>,
    tape: Tape,
    entries: Mutex<Entries>,
}

/// The remote handlers that the registry has.
#[derive(Default)]
struct Entries {
    registered: BTreeMap<Key, Registered>,
    /// Whether sharing has ended: nothing comes any more.
    is_stopped: bool,
}

struct Registered {
    entry: Arc<RemoteEntry>,
    shape: Shape,
    handle: Handle,
}

/// A handler that is about to be registered, or registered anew.
struct Coming {
    key: Key,
    entry: Arc<RemoteEntry>,
    shape: Shape,
}

/// A handler as it is to be.
struct Wanted {
    shape: Shape,
    routing: Routing,
}

impl ShareState {
    pub(crate) fn new(
        (hooks, written): (HookRegistry, &'static Location<'static>),
        own: BTreeMap<&'static str, (ModelKind, AnnouncedPoint)>,
        services: Services,
        required: Vec<Required>,
        tape: Tape,
    ) -> Self {
        Self { hooks, written, own, services, required, tape, entries: Mutex::default() }
    }

    /// Whether processes of that service take part.
    pub(crate) fn admits(&self, service: &str) -> bool {
        self.services.any || self.services.named.contains(service)
    }

    /// Whether that handler is a remote one of this registry.
    pub(crate) fn owns(&self, service: &str, info: &HandlerInfo) -> bool {
        let key = (service.to_owned(), info.point, info.name.to_string());
        self.entries().registered.contains_key(&key)
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the registry have the handlers that are there. Those that come do so at one
    /// instant, and so do those that go. One that the registry refuses is noticed, and holds
    /// up no other; the error is that of one that is required.
    pub(crate) fn apply(
        &self,
        caller: &Arc<Caller>,
        present: impl FnOnce() -> Vec<Arc<Announcement>>,
    ) -> Result<(), FleetError> {
        let mut entries = self.entries();
        if entries.is_stopped {
            return Ok(());
        }
        // Asked for only now: the last call has the newest.
        let present = present();
        let entries = &mut entries.registered;
        let mut wanted = self.wanted(caller, &present, entries);
        // Where calls go, first: a handler that comes is served from its first call.
        let mut coming = Vec::new();
        for (key, Wanted { shape, routing }) in &mut wanted {
            let known = entries.get(key);
            let entry = known.map_or_else(
                || {
                    let (model, own) = &self.own[key.1];
                    let point = (key.1, *model);
                    let kept = (own.durable, &self.tape);
                    Arc::new(RemoteEntry::new(caller, &key.0, point, &key.2, kept))
                },
                |known| Arc::clone(&known.entry),
            );
            entry.set_routing(std::mem::take(routing));
            if known.is_none_or(|known| known.shape != *shape) {
                coming.push(Coming { key: key.clone(), entry, shape: shape.clone() });
            }
        }
        let is_gone = |key: &&Key| !wanted.contains_key(key);
        let gone: Vec<_> = entries.keys().filter(is_gone).cloned().collect();
        let mut refused = Vec::new();
        if self.change(&coming, &gone, entries).is_err() {
            refused = self.change_one_by_one(coming, &gone, entries);
        }
        self.note_refused(caller, &present, refused)
    }

    /// Registers them one after another, where the registry refuses the whole: what one process
    /// announces does not keep the handlers of others out of the order.
    fn change_one_by_one(
        &self,
        coming: Vec<Coming>,
        gone: &[Key],
        entries: &mut BTreeMap<Key, Registered>,
    ) -> Vec<(Key, FleetError)> {
        let mut refused = Vec::new();
        for mut coming in coming {
            let Err(error) = self.change(std::slice::from_ref(&coming), &[], entries) else {
                continue;
            };
            let is_new = !entries.contains_key(&coming.key);
            if is_new && self.requires(&coming.key) {
                // It has a place all the same, at which every fire finds why it does not work.
                let why = format!("it is refused here: {error}");
                let routing = Routing { incompatible: Some(why), ..Routing::default() };
                coming.entry.set_routing(routing);
                let limit = coming.shape.timeout.max(Duration::from_millis(1));
                // Its turn is nothing that could be refused.
                let turn = std::mem::take(&mut coming.shape.turn);
                coming.shape =
                    Shape { turn, ..Shape::unknown(&coming.key.0, &coming.key.2, limit) };
                match self.change(std::slice::from_ref(&coming), &[], entries) {
                    Ok(()) => {}
                    Err(error) => refused.push((coming.key, error)),
                }
            } else {
                refused.push((coming.key, error));
            }
        }
        // Nothing of these is refused.
        drop(self.change(&[], gone, entries));
        refused
    }

    /// Registers those that come and removes those that go, at one instant.
    fn change(
        &self,
        coming: &[Coming],
        gone: &[Key],
        entries: &mut BTreeMap<Key, Registered>,
    ) -> Result<(), FleetError> {
        if coming.is_empty() && gone.is_empty() {
            return Ok(());
        }
        // Only an entry of this share is replaced: never another one of the same name.
        let registration = |it: &Coming| {
            it.entry.registration(&it.shape, self.written, entries.contains_key(&it.key))
        };
        let registrations = coming.iter().map(registration).collect::<Result<Vec<_>, _>>()?;
        let leaving = gone.iter().filter_map(|key| Some(entries.get(key)?.handle.clone()));
        // Calls under way end by themselves: waiting for them here would hold up the others.
        let (handles, _removal) = self.hooks.exchange(leaving, registrations)?;
        entries.retain(|key, _| !gone.contains(key));
        for (Coming { key, entry, shape }, handle) in coming.iter().zip(handles) {
            let (entry, shape) = (Arc::clone(entry), shape.clone());
            entries.insert(key.clone(), Registered { entry, shape, handle });
        }
        Ok(())
    }

    fn requires(&self, (service, point, handler): &Key) -> bool {
        let is_it =
            |it: &Required| it.service == *service && it.point == *point && it.handler == *handler;
        self.required.iter().any(is_it)
    }

    fn note_refused(
        &self,
        caller: &Caller,
        present: &[Arc<Announcement>],
        refused: Vec<(Key, FleetError)>,
    ) -> Result<(), FleetError> {
        let mut of_required = Ok(());
        for (key, error) in refused {
            let (service, point, handler) = &key;
            let why = format!("`{}` at `{point}` is refused here: {error}", excerpt(handler));
            let brings = |it: &&Arc<Announcement>| {
                it.service == *service
                    && it.handlers.iter().any(|it| it.point == *point && it.handler == *handler)
            };
            for announcement in present.iter().filter(brings) {
                caller.strangers.note(service, &announcement.instance, &why);
            }
            if self.requires(&key) {
                of_required = Err(error);
            }
        }
        of_required
    }

    /// Removes all of them at one instant.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries();
        entries.is_stopped = true;
        let handles = std::mem::take(&mut entries.registered).into_values();
        drop(self.hooks.unregister(handles.map(|entry| entry.handle)));
    }

    /// Keeps the handlers in the registry, and has their calls fail: nobody is heard of any
    /// more, and a handler that left would open its gate.
    pub(crate) fn close(&self) {
        let mut entries = self.entries();
        entries.is_stopped = true;
        for known in entries.registered.values() {
            known.entry.set_routing(Routing { is_closed: true, ..Routing::default() });
        }
    }

    fn wanted(
        &self,
        caller: &Arc<Caller>,
        present: &[Arc<Announcement>],
        entries: &BTreeMap<Key, Registered>,
    ) -> BTreeMap<Key, Wanted> {
        let default = caller.options.timeout;
        let mut wanted: BTreeMap<Key, Wanted> = BTreeMap::new();
        // What is required is there first, as it was last seen.
        for Required { service, point, handler } in &self.required {
            let key = (service.clone(), *point, handler.clone());
            let shape = entries.get(&key).map_or_else(
                || Shape::unknown(service, handler, default),
                |known| known.shape.clone(),
            );
            wanted.insert(key, Wanted { shape, routing: Routing::default() });
        }
        // What is stored for a service waits for it: its absence loses nothing.
        for (key, known) in entries.iter().filter(|(_, known)| known.entry.durable) {
            wanted.entry(key.clone()).or_insert_with(|| Wanted {
                shape: known.shape.clone(),
                routing: Routing::default(),
            });
        }
        // A process of this one's own service and instance takes part as any other.
        for announcement in present.iter().filter(|it| self.admits(&it.service)) {
            for (place, handler) in announcement.handlers.iter().enumerate() {
                let Some((point, (_, own))) = self.own.get_key_value(&*handler.point) else {
                    continue;
                };
                let Some(theirs) = announcement.points.get(*point) else { continue };
                let key = (announcement.service.clone(), *point, handler.handler.clone());
                let shape = shape(&announcement.service, place, handler, default);
                let fit = schema::fit(own, theirs);
                let entry = wanted.entry(key).or_insert_with(|| Wanted {
                    shape: shape.clone(),
                    routing: Routing::default(),
                });
                entry.place(shape, fit.is_ok());
                entry.routing.add(announcement, handler, theirs, &own.schema, fit);
            }
        }
        wanted
    }
}

/// What decides among handlers of one priority: the service, then its own order, as it was
/// announced. So every process that fires has one order, in whatever order it heard of them.
fn turn(service: &str, place: usize, handler: &str) -> String {
    // No service has a space in its name, and the numbers are as long as each other.
    format!("{service} {:04} {handler}", place.min(9_999))
}

fn shape(service: &str, place: usize, handler: &AnnouncedHandler, default: Duration) -> Shape {
    Shape {
        priority: handler.priority,
        turn: turn(service, place, &handler.handler),
        guard: handler.guard,
        fail_closed: handler.fail_closed,
        timeout: handler.timeout_ms.map_or(default, Duration::from_millis),
        pure: handler.pure,
    }
}

impl Shape {
    /// That of a handler of which nothing is known yet.
    fn unknown(service: &str, handler: &str, timeout: Duration) -> Self {
        let turn = turn(service, usize::MAX, handler);
        Self { priority: 0, turn, guard: false, fail_closed: false, timeout, pure: false }
    }
}

impl Wanted {
    /// What one more process says of the handler. The first that fits decides on the place, so
    /// that all processes that fire agree; what makes it stricter counts from each of them.
    fn place(&mut self, shape: Shape, fits: bool) {
        let Routing { variants, incompatible, .. } = &self.routing;
        if variants.is_empty() && (fits || incompatible.is_none()) {
            self.shape = shape;
        } else if fits {
            self.shape.guard |= shape.guard;
            self.shape.fail_closed |= shape.fail_closed;
            self.shape.pure &= shape.pure;
        }
    }
}

impl Routing {
    /// Adds a process that serves the handler.
    fn add(
        &mut self,
        announcement: &Announcement,
        handler: &AnnouncedHandler,
        theirs: &AnnouncedPoint,
        own: &str,
        fit: Result<Fit, String>,
    ) {
        let fit = match fit {
            Ok(fit) => fit,
            Err(why) => {
                self.incompatible.get_or_insert(why);
                return;
            }
        };
        let instance = announcement.instance.clone();
        let known = self.variants.iter_mut().find(|it| it.route.schema == theirs.schema);
        if let Some(known) = known {
            known.instances.insert(instance);
            known.idempotent &= handler.idempotent;
            return;
        }
        let route = Route {
            service: announcement.service.clone(),
            point: handler.point.clone(),
            handler: handler.handler.clone(),
            schema: theirs.schema.clone(),
        };
        let (idempotent, instances) = (handler.idempotent, BTreeSet::from([instance]));
        self.variants.push(Variant { route, fit, instances, idempotent });
        // The own schema first: nothing is left out there.
        self.variants.sort_by_key(|it| it.route.schema != own);
    }
}
