//! The side that fires: remote handlers as entries of its registry.

mod call;
mod entry;
mod notice;
mod reply;
mod state;
mod tape;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, PoisonError};

use hooks_runtime::point::{HookPoint, ModelKind, PointDescriptor};
use hooks_runtime::{HookRegistry, PluginId};

pub(crate) use state::ShareState;
use tape::Tape;

use crate::error::{FleetError, quoted};
use crate::fleet::Fleet;
use crate::schema;

/// Points that are about to be shared: which, and with which services.
///
/// Only the services that are named here take part; others are noticed, as
/// [strangers](Fleet::strangers).
#[must_use = "nothing is shared before `start`"]
pub struct Share {
    fleet: Fleet,
    hooks: HookRegistry,
    points: Vec<&'static PointDescriptor>,
    services: Services,
    required: Vec<Required>,
    tape: Tape,
    written: &'static Location<'static>,
}

/// The services that take part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Services {
    pub(crate) any: bool,
    pub(crate) named: BTreeSet<String>,
}

/// A handler without which its point does not work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Required {
    pub(crate) service: String,
    pub(crate) point: &'static str,
    pub(crate) handler: String,
}

/// Points that are shared. Dropping this keeps them shared as long as there is a clone of the
/// [`Fleet`]: without one, the remote handlers stay in the order and fail. [`stop`](Self::stop)
/// ends it.
pub struct Sharing {
    fleet: Fleet,
    state: Arc<ShareState>,
}

impl Share {
    #[track_caller]
    pub(crate) fn new(fleet: &Fleet, hooks: &HookRegistry) -> Self {
        let (fleet, hooks) = (fleet.clone(), hooks.clone());
        Self {
            fleet,
            hooks,
            points: Vec::new(),
            services: Services::default(),
            required: Vec::new(),
            tape: Tape::default(),
            written: Location::caller(),
        }
    }

    /// Shares this point too. What a process brings to all of them comes and goes at one
    /// instant.
    pub fn and<P: HookPoint>(mut self) -> Self {
        let point = P::descriptor();
        if !self.points.iter().any(|known| known.name() == point.name()) {
            self.points.push(point);
        }
        self
    }

    /// Lets the handlers of this service take part, as long as they are there. Where its last
    /// process leaves, they leave; a call that comes too late fails, under its policy.
    pub fn from(mut self, service: impl Into<String>) -> Self {
        self.services.named.insert(service.into());
        self
    }

    /// Lets the handlers of every service take part. Whoever may announce one can then answer
    /// at these points: only where the server keeps strangers out.
    pub fn from_any_service(mut self) -> Self {
        self.services.any = true;
        self
    }

    /// Requires this handler of this service at `P`: it is in the order also while no process
    /// serves it, and a fire finds it absent, at once, under the policy of the point.
    ///
    /// The name is that in the service: of a handler that a plugin owns there, it begins with the
    /// plugin, `safety.no_rm`.
    pub fn require<P: HookPoint>(
        mut self,
        service: impl Into<String>,
        handler: impl Into<String>,
    ) -> Self {
        let (service, handler) = (service.into(), handler.into());
        self = self.and::<P>().from(service.clone());
        self.required.push(Required { service, point: P::NAME, handler });
        self
    }

    /// Keeps the answers of the remote handlers in a file: recorded the first time, given
    /// again after, without a call. For tests.
    ///
    /// What is asked is the address of the handler with the payload. A handler that is
    /// [required](Self::require) is in the order also while no process serves it, so that a
    /// test with `CassetteMode::None` needs no service. A failure is given again with its
    /// text; a call that its fire dropped is not recorded.
    ///
    /// ```
    /// use hooks_fleet::{Fleet, FleetOptions, LocalNetwork};
    /// use hooks_runtime::replay::{Cassette, CassetteMode};
    /// use hooks_runtime::{Gate, HookRegistry, hook_points};
    ///
    /// hook_points! {
    ///     #![hook(json = "camelCase", schema, catalogue = pub fn points)]
    ///     /// Before a command is run.
    ///     pub gating Running { line: String }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let file = std::env::temp_dir().join(format!("policy-{}.jsonl", std::process::id()));
    /// # let no = r#"{"v":1,"who":"running:policy/no_rm","request":{"line":"rm notes"},"answer":{"verdict":"reject","reason":"nothing is deleted"}}"#;
    /// # std::fs::write(&file, no)?;
    /// // Recorded before, while the service was there.
    /// let cassette = Cassette::open(&file, CassetteMode::None)?;
    /// let hooks = HookRegistry::new();
    /// let fleet = Fleet::local(&LocalNetwork::new(), FleetOptions::new("agent", points()))?;
    /// let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "no_rm");
    /// let _sharing = share.cassette(&cassette).start().await?;
    /// let command = RunningPayload { line: "rm notes".into() };
    /// let Gate::Rejected(rejection) = hooks.fire_gating::<Running>(command).await? else { panic!() };
    /// assert_eq!(rejection.reason(), "nothing is deleted");
    /// # std::fs::remove_file(&file)?;
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "cassette")]
    pub fn cassette(mut self, cassette: &hooks_runtime::replay::Cassette) -> Self {
        self.tape.cassette = Some(cassette.clone());
        self
    }

    /// Begins: when this returns, the handlers that are there are in the order.
    pub async fn start(self) -> Result<Sharing, FleetError> {
        let Self { fleet, hooks, points, services, required, tape, written } = self;
        for service in &services.named {
            PluginId::new(service)?;
        }
        let options = &fleet.0.caller.options;
        let names: Vec<_> = points.iter().map(|point| point.name()).collect();
        let mut own = BTreeMap::new();
        for point in points {
            let (name, durable) = (point.name(), options.durable.contains(point.name()));
            check(point, durable)?;
            own.insert(name, (point.model(), schema::of_point(&options.catalogue, name, durable)?));
        }
        if services.named.is_empty() && !services.any {
            return Err(FleetError::NoService { points: quoted(names) });
        }
        let state = Arc::new(ShareState::new((hooks, written), own, services, required, tape));
        fleet.watch().await?;
        let shares = &fleet.0.shares;
        shares.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&state));
        let caller = &fleet.0.caller;
        let applied = state.apply(caller, || fleet.0.table().present());
        state.note_strangers(caller, &fleet.0.table().present());
        let sharing = Sharing { fleet, state };
        match applied {
            Ok(()) => Ok(sharing),
            Err(error) => {
                // Nothing of it may take part later on.
                sharing.stop();
                Err(error)
            }
        }
    }
}

/// Refuses what cannot be shared or served.
pub(crate) fn check(point: &PointDescriptor, durable: bool) -> Result<(), FleetError> {
    match point.model() {
        ModelKind::Flow => Err(FleetError::Flow { flow: point.name().to_owned() }),
        model if durable && model != ModelKind::Void => {
            Err(FleetError::NotVoid { point: point.name().to_owned(), model: model.to_string() })
        }
        _ => Ok(()),
    }
}

impl Sharing {
    /// Whether a process of that service is there.
    pub fn is_present(&self, service: &str) -> bool {
        self.fleet.0.table().present().iter().any(|known| known.service == service)
    }

    /// Waits until a process of that service is there, and its handlers are in the order.
    pub async fn wait_for(&self, service: &str) {
        let mut changes = self.fleet.0.changes.subscribe();
        // The sender is in the fleet.
        let _ = changes.wait_for(|_| self.is_present(service)).await;
    }

    /// Waits until no process of that service is there.
    pub async fn wait_for_absence_of(&self, service: &str) {
        let mut changes = self.fleet.0.changes.subscribe();
        let _ = changes.wait_for(|_| !self.is_present(service)).await;
    }

    /// How many processes of that service are there.
    pub fn processes(&self, service: &str) -> usize {
        let present = self.fleet.0.table().present();
        present.iter().filter(|known| known.service == service).count()
    }

    /// Waits until that many processes of that service are there.
    pub async fn wait_for_processes(&self, service: &str, count: usize) {
        let mut changes = self.fleet.0.changes.subscribe();
        let _ = changes.wait_for(|_| self.processes(service) == count).await;
    }

    /// Ends it: the remote handlers leave the registry at one instant, required ones too.
    pub fn stop(self) {
        let mut shares = self.fleet.0.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares.retain(|share| !Arc::ptr_eq(share, &self.state));
        drop(shares);
        self.state.clear();
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points: Vec<_> = self.points.iter().map(|point| point.name()).collect();
        f.debug_struct("Share")
            .field("points", &points)
            .field("services", &self.services)
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharing").field("fleet", &self.fleet).finish_non_exhaustive()
    }
}
