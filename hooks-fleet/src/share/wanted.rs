//! The remote handlers that a registry is to have, from who is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::Required;
use super::entry::{Routing, Shape, Variant};
use super::state::{Key, Registered, ShareState};
use crate::fleet::Caller;
use crate::presence::line;
use crate::schema::{self, Fit};
use crate::wire::subject::Route;
use crate::wire::{AnnouncedHandler, AnnouncedPoint, Announcement};

/// Whether the points of a process fit those that are shared here, by their names.
type PointFits = BTreeMap<&'static str, Result<Arc<Fit>, String>>;

/// That of each process that is there, by its service and its instance, with what it announced.
pub(super) type Fits = BTreeMap<(String, String), (Arc<Announcement>, Arc<PointFits>)>;

/// A handler as it is to be.
pub(super) struct Wanted {
    pub(super) shape: Shape,
    pub(super) routing: Routing,
}

impl ShareState {
    pub(super) fn wanted(
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
        let before = std::mem::take(&mut *self.fits());
        let mut fits = Fits::new();
        // A process of this one's own service and instance takes part as any other.
        for announcement in present.iter().filter(|it| self.admits(&it.service)) {
            let process = (announcement.service.clone(), announcement.instance.clone());
            let points = match before.get(&process) {
                Some((known, points)) if Arc::ptr_eq(known, announcement) => Arc::clone(points),
                _ => Arc::new(self.fits_of(announcement)),
            };
            for (place, handler) in announcement.handlers.iter().enumerate() {
                let Some((point, fit)) = points.get_key_value(&*handler.point) else { continue };
                let (own, theirs) = (&self.own[point].1, &announcement.points[*point]);
                let key = (announcement.service.clone(), *point, handler.handler.clone());
                let shape = shape(&announcement.service, place, handler, default);
                let entry = wanted.entry(key).or_insert_with(|| Wanted {
                    shape: shape.clone(),
                    routing: Routing::default(),
                });
                entry.place(shape, fit.is_ok());
                entry.routing.add(announcement, handler, theirs, &own.schema, fit.clone());
            }
            fits.insert(process, (Arc::clone(announcement), points));
        }
        *self.fits() = fits;
        wanted
    }

    /// Whether the points that a process announces fit those that are shared here. That is found
    /// out once for each announcement: a schema may be large, and thousands of handlers share it.
    fn fits_of(&self, announcement: &Announcement) -> PointFits {
        let shared = announcement.points.iter().filter_map(|(name, theirs)| {
            let (point, (_, own)) = self.own.get_key_value(&**name)?;
            let fit = schema::fit(own, theirs).map(Arc::new);
            Some((*point, fit.map_err(|why| line(&why))))
        });
        shared.collect()
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
    pub(super) fn unknown(service: &str, handler: &str, timeout: Duration) -> Self {
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
        fit: Result<Arc<Fit>, String>,
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
