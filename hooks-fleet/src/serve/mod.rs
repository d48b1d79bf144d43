//! The side that serves: handlers of a registry, called for other processes.

mod answer;
mod cancels;
mod durable;
mod request;
mod stage;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::HookRegistry;
use hooks_runtime::point::{FailurePolicy, HookPoint, ModelKind, PointDescriptor};
use hooks_runtime::registry::{HandlerInfo, Owner};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use self::cancels::Cancels;
use crate::error::{FleetError, quoted};
use crate::fleet::{Caller, Fleet};
use crate::log::logged;
use crate::schema;
use crate::share::check;
use crate::wire::subject::Route;
use crate::wire::{AnnouncedHandler, AnnouncedPoint, Announcement, VERSION};

/// Handlers that are about to be served.
#[must_use = "nothing is served before `start`"]
pub struct Serve {
    fleet: Fleet,
    hooks: HookRegistry,
    points: Vec<&'static PointDescriptor>,
    idempotent: BTreeSet<String>,
}

/// Handlers that are served. Dropped, they are no longer, at once, and the calls under way fail;
/// [`leave`](Self::leave) waits for them.
pub struct Serving {
    server: Arc<Server>,
    tasks: JoinSet<()>,
    announcing: JoinSet<()>,
    /// Listens until all calls have ended.
    _cancelling: JoinSet<()>,
    leaving: watch::Sender<bool>,
    alive: Option<Box<dyn Send + Sync>>,
}

/// What the calls of a serving process share.
pub(crate) struct Server {
    pub(crate) caller: Arc<Caller>,
    pub(crate) hooks: HookRegistry,
    pub(crate) announcement: Announcement,
    pub(crate) handlers: HashMap<Route, Served>,
    /// One permit for each call that may run.
    pub(crate) permits: Arc<Semaphore>,
    cancels: Cancels,
}

/// One handler, as the registry knows it.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) point: &'static str,
    pub(crate) model: ModelKind,
    pub(crate) owner: Owner,
    pub(crate) name: Arc<str>,
    pub(crate) timeout: Option<Duration>,
}

impl Serve {
    pub(crate) fn new(fleet: &Fleet, hooks: &HookRegistry) -> Self {
        let (fleet, hooks) = (fleet.clone(), hooks.clone());
        Self { fleet, hooks, points: Vec::new(), idempotent: BTreeSet::new() }
    }

    /// Serves the handlers at this point too.
    pub fn and<P: HookPoint>(mut self) -> Self {
        let point = P::descriptor();
        if !self.points.iter().any(|known| known.name() == point.name()) {
            self.points.push(point);
        }
        self
    }

    /// Declares that handlers of that name may be called again where it is not known whether
    /// they ran. Those that are declared `pure` may anyway. The name of a plugin's handler begins
    /// with the plugin, `safety.no_rm`.
    pub fn idempotent(mut self, handler: impl Into<String>) -> Self {
        self.idempotent.insert(handler.into());
        self
    }

    /// Begins: takes calls first, and is announced when it does. Served are the handlers that
    /// the registry has now, without those of other services.
    pub async fn start(self) -> Result<Serving, FleetError> {
        let announcement = self.announcement()?;
        let Self { fleet, hooks, points, .. } = self;
        let caller = Arc::clone(&fleet.0.caller);
        let entries = entries(&fleet, &hooks, &points);
        let route = |name: &str, point: &str| Route {
            service: announcement.service.clone(),
            point: point.to_owned(),
            handler: name.to_owned(),
            schema: announcement.points[point].schema.clone(),
        };
        let handlers: HashMap<_, _> =
            entries.into_iter().map(|(name, entry)| (route(&name, entry.point), entry)).collect();
        let routes: Vec<_> = handlers.keys().cloned().collect();
        let server = Arc::new(Server {
            permits: Arc::new(Semaphore::new(caller.options.max_in_flight)),
            caller: Arc::clone(&caller),
            hooks,
            announcement,
            handlers,
            cancels: Cancels::default(),
        });
        let (leaving, is_leaving) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let (service, carrier) = (&*caller.options.service, &caller.carrier);
        let cancellations = carrier.cancellations(service).await?;
        let mut cancelling = JoinSet::new();
        cancelling.spawn(cancels::follow(Arc::clone(&server), cancellations));
        for route in routes {
            let (server, is_leaving) = (Arc::clone(&server), is_leaving.clone());
            if server.announcement.points[&route.point].durable {
                let deliveries = carrier.consume(&route, caller.options.deliveries).await?;
                tasks.spawn(durable::consume(server, route, deliveries, is_leaving));
            } else {
                let requests = carrier.serve(&route).await?;
                tasks.spawn(request::serve(server, route, requests, is_leaving));
            }
        }
        let alive = carrier.answer_pings(service, &server.announcement.instance).await?;
        carrier.announce(&server.announcement).await?;
        let mut announcing = JoinSet::new();
        announcing.spawn(announce(Arc::clone(&server), is_leaving));
        let alive = Some(alive);
        Ok(Serving { server, tasks, announcing, _cancelling: cancelling, leaving, alive })
    }

    fn announcement(&self) -> Result<Announcement, FleetError> {
        let caller = &self.fleet.0.caller;
        let options = &caller.options;
        let mut points = BTreeMap::new();
        for point in &self.points {
            let (name, durable) = (point.name(), options.durable.contains(point.name()));
            check(point, durable)?;
            points.insert(name.to_owned(), schema::of_point(&options.catalogue, name, durable)?);
        }
        let handlers = self.handlers(&points)?;
        if handlers.is_empty() {
            return Err(FleetError::NothingToServe { points: quoted(points.keys()) });
        }
        let served: BTreeSet<_> = handlers.iter().map(|it| it.handler.clone()).collect();
        if let Some(handler) = self.idempotent.difference(&served).next() {
            let (handler, served) = (handler.clone(), quoted(&served));
            return Err(FleetError::UnknownHandler { handler, served });
        }
        Ok(Announcement {
            v: VERSION,
            service: options.service.clone(),
            instance: caller.next_instance(),
            version: options.version.clone(),
            points,
            handlers,
        })
    }

    fn handlers(
        &self,
        points: &BTreeMap<String, AnnouncedPoint>,
    ) -> Result<Vec<AnnouncedHandler>, FleetError> {
        let mut names = BTreeSet::new();
        let mut announced = Vec::new();
        for info in handlers_of(&self.fleet, &self.hooks) {
            if !points.contains_key(info.point) {
                continue;
            }
            let handler = wire_name(&info.owner, &info.name);
            if !names.insert((info.point, handler.clone())) {
                return Err(FleetError::SameName { point: info.point.to_owned(), handler });
            }
            announced.push(AnnouncedHandler {
                point: info.point.to_owned(),
                priority: info.priority,
                guard: info.guard,
                fail_closed: info.policy == FailurePolicy::Closed,
                timeout_ms: info.timeout.map(milliseconds),
                pure: info.pure,
                idempotent: info.pure || self.idempotent.contains(&handler),
                handler,
            });
        }
        Ok(announced)
    }
}

/// Whole milliseconds, at least one.
fn milliseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// The handlers of a registry that are its own: those of other services are not passed on.
fn handlers_of(fleet: &Fleet, hooks: &HookRegistry) -> Vec<HandlerInfo> {
    let shares = fleet.0.shares();
    let is_remote = |info: &HandlerInfo| {
        info.owner.plugin().is_some_and(|id| shares.iter().any(|it| it.owns(id.as_str(), info)))
    };
    hooks.handlers().into_iter().filter(|info| !is_remote(info)).collect()
}

fn entries(
    fleet: &Fleet,
    hooks: &HookRegistry,
    points: &[&'static PointDescriptor],
) -> Vec<(String, Served)> {
    let of_points = handlers_of(fleet, hooks).into_iter().filter_map(|info| {
        points.iter().any(|point| point.name() == info.point).then(|| {
            let HandlerInfo { point, model, owner, name, timeout, .. } = info;
            (wire_name(&owner, &name), Served { point, model, owner, name, timeout })
        })
    });
    of_points.collect()
}

/// The name of a handler in its service: that of a plugin begins with the plugin's id.
fn wire_name(owner: &Owner, name: &str) -> String {
    match owner.plugin() {
        None => name.to_owned(),
        Some(plugin) => format!("{plugin}.{name}"),
    }
}

/// Says again and again that this process is there, until it leaves.
async fn announce(server: Arc<Server>, mut leaving: watch::Receiver<bool>) {
    let every = server.caller.options.announce_every;
    // Whoever begins to listen later would not hear of this process.
    let kept = server.caller.carrier.keeps_announcements();
    let every = kept.map_or(every, |kept| every.min(kept / 3)).max(Duration::from_millis(1));
    loop {
        tokio::select! {
            () = sleep(every) => {}
            _ = leaving.wait_for(|leaving| *leaving) => return,
        }
        if let Err(error) = server.caller.carrier.announce(&server.announcement).await {
            logged(|| tracing::warn!(%error, "this process could not be announced"));
        }
    }
}

impl Serving {
    /// What this process has announced.
    pub fn announcement(&self) -> &Announcement {
        &self.server.announcement
    }

    /// Leaves: says so, goes on serving those who have not heard of it, takes no more calls,
    /// and returns when those under way have ended and their answers are sent, or after that
    /// time, which ends those that are left. Whether all have.
    pub async fn leave(mut self, limit: Duration) -> bool {
        let Announcement { service, instance, .. } = &self.server.announcement;
        let caller = &self.server.caller;
        let _ = self.leaving.send(true);
        let permits = u32::try_from(caller.options.max_in_flight).unwrap_or(u32::MAX);
        let ended = async {
            // An announcement that is under way comes first: none comes after the farewell.
            while self.announcing.join_next().await.is_some() {}
            if let Err(error) = caller.carrier.withdraw(service, instance).await {
                logged(|| tracing::warn!(%error, "this process could not say that it leaves"));
            }
            self.alive = None;
            // Its tasks drain their routes after a while, and end; then all permits are free.
            while self.tasks.join_next().await.is_some() {}
            let have_ended = self.server.permits.acquire_many(permits).await.is_ok();
            have_ended && caller.carrier.flush().await.is_ok()
        };
        timeout(limit, ended).await.unwrap_or(false)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.server.cancels.end();
    }
}

impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points: Vec<_> = self.points.iter().map(|point| point.name()).collect();
        f.debug_struct("Serve").field("points", &points).finish_non_exhaustive()
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("announcement", &self.server.announcement)
            .finish_non_exhaustive()
    }
}
