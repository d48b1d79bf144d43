//! Points and processes for the tests.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of it")]

#[cfg(feature = "nats")]
pub mod nats;
pub mod tamper;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_fleet::{Fleet, FleetOptions, LocalNetwork, RemoteFailure, Serving, Sharing};
use hooks_runtime::catalogue::Catalogue;
use hooks_runtime::{FireError, HookRegistry, hook_points};

hook_points! {
    #![hook(json = "camelCase", schema, catalogue = pub fn points)]

    /// Before a command is run.
    pub gating Running { line: String }
    /// Before a page is labelled.
    pub modifying Labelling { page: u32 } -> { title: String, footer: String }
    /// Who takes a message.
    pub claiming Routing(String) -> u32;
    /// A page was printed.
    #[hook(on_failure = "closed")]
    pub void Printed { page: u32 }
    /// A page was stored.
    #[hook(on_failure = "closed")]
    pub void Stored { page: u32 }
    /// One sum, stage by stage.
    pub flow Sum(u32) -> u32;
}

/// What handlers did, in order.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn push(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

pub fn command(line: &str) -> RunningPayload {
    RunningPayload { line: line.to_owned() }
}

pub fn options(service: &str) -> FleetOptions {
    with_points(service, points())
}

pub fn with_points(service: &str, points: Catalogue) -> FleetOptions {
    FleetOptions::new(service, points).timeout(Duration::from_secs(5))
}

/// A process that serves what its registry has at `Running`.
pub async fn serve_running(network: &LocalNetwork, service: &str, hooks: &HookRegistry) -> Serving {
    let fleet = Fleet::local(network, options(service)).unwrap();
    fleet.serve::<Running>(hooks).start().await.unwrap()
}

/// A process that fires `Running`, with the handlers of that service.
pub async fn share_running(network: &LocalNetwork, service: &str, hooks: &HookRegistry) -> Sharing {
    let fleet = Fleet::local(network, options("agent")).unwrap();
    fleet.share::<Running>(hooks).from(service).start().await.unwrap()
}

/// The failure of a remote handler that ended a fire.
pub fn remote<T: std::fmt::Debug>(fired: Result<T, FireError>) -> RemoteFailure {
    let error = fired.unwrap_err();
    RemoteFailure::of(&error).unwrap_or_else(|| panic!("{error}")).clone()
}

/// The names of the handlers at a point, in order.
pub fn names(infos: &[hooks_runtime::registry::HandlerInfo]) -> Vec<String> {
    infos.iter().map(|info| format!("{}/{}", info.owner.as_ref(), info.name)).collect()
}
