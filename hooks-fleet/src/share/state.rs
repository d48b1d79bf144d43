//! The remote handlers of one registry, kept in step with who is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hooks_runtime::HookRegistry;
use hooks_runtime::point::ModelKind;
use hooks_runtime::registry::{Handle, HandlerInfo};

use super::entry::{RemoteEntry, Routing, Shape, Variant};
use super::{Required, Services};
use crate::error::FleetError;
use crate::fleet::Caller;
use crate::schema;
use crate::wire::subject::Route;
use crate::wire::{AnnouncedHandler, AnnouncedPoint, Announcement};

/// A handler by service, point and name.
type Key = (String, &'static str, String);

/// What a registry shares, and the remote handlers that it has for that.
pub(crate) struct ShareState {
    hooks: HookRegistry,
    own: BTreeMap<&'static str, (ModelKind, AnnouncedPoint)>,
    services: Services,
    required: Vec<Required>,
    entries: Mutex<BTreeMap<Key, Registered>>,
}

struct Registered {
    entry: Arc<RemoteEntry>,
    shape: Shape,
    handle: Handle,
}

/// A handler as it is to be.
struct Wanted {
    shape: Shape,
    routing: Routing,
}

impl ShareState {
    pub(crate) fn new(
        hooks: HookRegistry,
        own: BTreeMap<&'static str, (ModelKind, AnnouncedPoint)>,
        services: Services,
        required: Vec<Required>,
    ) -> Self {
        Self { hooks, own, services, required, entries: Mutex::default() }
    }

    /// Whether processes of that service take part.
    pub(crate) fn admits(&self, service: &str) -> bool {
        self.services.any || self.services.named.contains(service)
    }

    /// Whether that handler is a remote one of this registry.
    pub(crate) fn owns(&self, service: &str, info: &HandlerInfo) -> bool {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.contains_key(&(service.to_owned(), info.point, info.name.to_string()))
    }

    /// Makes the registry have the handlers that are there; what cannot be is logged.
    pub(crate) fn apply(&self, caller: &Arc<Caller>, present: &[Announcement]) {
        if let Err(error) = self.apply_checked(caller, present) {
            tracing::error!(%error, "remote handlers are not in the order");
        }
    }

    /// Makes the registry have the handlers that are there. Those that come do so at one
    /// instant, and so do those that go.
    pub(crate) fn apply_checked(
        &self,
        caller: &Arc<Caller>,
        present: &[Announcement],
    ) -> Result<(), FleetError> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut wanted = self.wanted(caller, present, &entries);
        // Where calls go, first: a handler that comes is served from its first call.
        let mut coming = Vec::new();
        for (key, Wanted { shape, routing }) in &mut wanted {
            let known = entries.get(key);
            let entry = known.map_or_else(
                || {
                    let (model, own) = &self.own[key.1];
                    let point = (key.1, *model);
                    Arc::new(RemoteEntry::new(caller, &key.0, point, &key.2, own.durable))
                },
                |known| Arc::clone(&known.entry),
            );
            entry.set_routing(std::mem::take(routing));
            if known.is_none_or(|known| known.shape != *shape) {
                coming.push((key.clone(), entry, shape.clone()));
            }
        }
        let registrations = coming.iter().map(|(_, entry, shape)| entry.registration(shape));
        let registrations = registrations.collect::<Result<Vec<_>, _>>()?;
        if !registrations.is_empty() {
            let handles = self.hooks.register(registrations)?;
            for ((key, entry, shape), handle) in coming.into_iter().zip(handles) {
                entries.insert(key, Registered { entry, shape, handle });
            }
        }
        let gone: Vec<_> =
            entries.keys().filter(|key| !wanted.contains_key(key)).cloned().collect();
        let gone = gone.iter().filter_map(|key| entries.remove(key));
        let handles: Vec<_> = gone.map(|registered| registered.handle).collect();
        if !handles.is_empty() {
            // Calls under way end by themselves: nobody waits for them here.
            drop(self.hooks.unregister(handles));
        }
        Ok(())
    }

    /// Notices those that are there and are not let in.
    pub(crate) fn note_strangers(&self, caller: &Caller, present: &[Announcement]) {
        for announcement in present.iter().filter(|it| !self.admits(&it.service)) {
            if announcement.handlers.iter().any(|it| self.own.contains_key(&*it.point)) {
                let why = "its service is not named by `from` or `require`";
                caller.strangers.note(&announcement.service, &announcement.instance, why);
            }
        }
    }

    /// Removes all of them at one instant.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let handles = std::mem::take(&mut *entries).into_values().map(|entry| entry.handle);
        drop(self.hooks.unregister(handles));
    }

    fn wanted(
        &self,
        caller: &Arc<Caller>,
        present: &[Announcement],
        entries: &BTreeMap<Key, Registered>,
    ) -> BTreeMap<Key, Wanted> {
        let default = caller.options.timeout;
        let mut wanted: BTreeMap<Key, Wanted> = BTreeMap::new();
        // What is required is there first, as it was last seen.
        for Required { service, point, handler } in &self.required {
            let key = (service.clone(), *point, handler.clone());
            let shape = entries.get(&key).map_or_else(
                || Shape {
                    priority: 0,
                    guard: false,
                    fail_closed: false,
                    timeout: default,
                    pure: false,
                },
                |known| known.shape.clone(),
            );
            let routing = Routing { limit: shape.timeout, ..Routing::default() };
            wanted.insert(key, Wanted { shape, routing });
        }
        // What is stored for a service waits for it: its absence loses nothing.
        for (key, known) in entries.iter().filter(|(_, known)| known.entry.durable) {
            wanted.entry(key.clone()).or_insert_with(|| Wanted {
                shape: known.shape.clone(),
                routing: Routing { limit: known.shape.timeout, ..Routing::default() },
            });
        }
        // A process of this one's own service and instance takes part as any other.
        for announcement in present.iter().filter(|it| self.admits(&it.service)) {
            for handler in &announcement.handlers {
                let Some((point, (_, own))) = self.own.get_key_value(&*handler.point) else {
                    continue;
                };
                let Some(theirs) = announcement.points.get(*point) else { continue };
                let key = (announcement.service.clone(), *point, handler.handler.clone());
                let shape = shape(handler, default);
                // The first process decides on the place, so that all processes that fire agree.
                let is_seen = wanted.get(&key).is_some_and(|it| !it.routing.is_empty());
                let entry = wanted.entry(key).or_insert_with(|| Wanted {
                    shape: shape.clone(),
                    routing: Routing { limit: shape.timeout, ..Routing::default() },
                });
                if !is_seen {
                    entry.routing.limit = shape.timeout;
                    entry.shape = shape;
                }
                entry.routing.add(announcement, handler, own, theirs);
            }
        }
        wanted
    }
}

fn shape(handler: &AnnouncedHandler, default: Duration) -> Shape {
    Shape {
        priority: handler.priority,
        guard: handler.guard,
        fail_closed: handler.fail_closed,
        timeout: handler.timeout_ms.map_or(default, Duration::from_millis),
        pure: handler.pure,
    }
}

impl Routing {
    fn is_empty(&self) -> bool {
        self.variants.is_empty() && self.incompatible.is_none()
    }

    /// Adds a process that serves the handler.
    fn add(
        &mut self,
        announcement: &Announcement,
        handler: &AnnouncedHandler,
        own: &AnnouncedPoint,
        theirs: &AnnouncedPoint,
    ) {
        let fit = match schema::fit(own, theirs) {
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
        self.variants.sort_by_key(|it| it.route.schema != own.schema);
    }
}
