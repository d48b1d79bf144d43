//! A process in a fleet.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_runtime::point::HookPoint;
use hooks_runtime::{HookRegistry, PluginId};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::carrier::{Carrier, LocalNetwork};
use crate::error::FleetError;
use crate::log::logged;
use crate::options::FleetOptions;
use crate::presence::{self, Stranger, Strangers, Table};
use crate::serve::Serve;
use crate::share::{Share, ShareState};

/// A process in a fleet: it shares points, so that handlers elsewhere take part in its fires,
/// or serves handlers to others, or both.
///
/// Cheap to clone. When the last clone is gone, and every [`Sharing`](crate::Sharing) of it, it
/// no longer hears of others: what it shared stays shared, and every call of a remote handler
/// fails at once, as [unreachable](crate::RemoteFailure::Unreachable), so that no gate is open
/// for who was there last. What a durable point stores is stored as before, and what is served
/// goes on.
#[derive(Clone)]
pub struct Fleet(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) caller: Arc<Caller>,
    pub(crate) table: Mutex<Table>,
    pub(crate) shares: Mutex<Vec<Arc<ShareState>>>,
    /// Counts the changes of who is there; 0 before all are known who were there at first.
    pub(crate) changes: watch::Sender<u64>,
    watching: Mutex<Option<AbortHandle>>,
}

/// What calls need of a fleet.
pub(crate) struct Caller {
    pub(crate) carrier: Arc<dyn Carrier>,
    pub(crate) options: FleetOptions,
    pub(crate) instance: String,
    pub(crate) strangers: Strangers,
    calls: AtomicU64,
    servings: AtomicU64,
}

impl Fleet {
    /// Joins over this carrier.
    pub fn over(carrier: impl Carrier, options: FleetOptions) -> Result<Self, FleetError> {
        PluginId::new(&options.service)?;
        let caller = Caller {
            carrier: Arc::new(carrier),
            options,
            instance: random_id(),
            strangers: Strangers::default(),
            calls: AtomicU64::new(0),
            servings: AtomicU64::new(0),
        };
        Ok(Self(Arc::new(Inner {
            caller: Arc::new(caller),
            table: Mutex::default(),
            shares: Mutex::default(),
            changes: watch::channel(0).0,
            watching: Mutex::default(),
        })))
    }

    /// Joins a network in memory: for the tests of hosts.
    pub fn local(network: &LocalNetwork, options: FleetOptions) -> Result<Self, FleetError> {
        Self::over(network.clone(), options)
    }

    /// Shares a point of this registry: handlers of other processes take part in its fires. Where
    /// this is written is the place of them, in introspection and in errors.
    ///
    /// The example of the crate shares one.
    #[track_caller]
    pub fn share<P: HookPoint>(&self, hooks: &HookRegistry) -> Share {
        Share::new(self, hooks).and::<P>()
    }

    /// Serves the handlers that this registry has at a point to other processes.
    ///
    /// The example of the crate serves one.
    pub fn serve<P: HookPoint>(&self, hooks: &HookRegistry) -> Serve {
        Serve::new(self, hooks).and::<P>()
    }

    /// This process among those of its service. Where it serves a second time, its
    /// [announcement](crate::Serving::announcement) says under which name.
    pub fn instance(&self) -> &str {
        &self.0.caller.instance
    }

    /// The processes that were heard of and not let in, that answered without having been
    /// announced, or that do not wholly fit: their handlers are not all that is required, or do not
    /// fit what is called or stored here. The newest last, at most 64.
    pub fn strangers(&self) -> Vec<Stranger> {
        self.0.caller.strangers.list()
    }

    /// Begins to listen to who is there, once; and again where that has ended, as it does with
    /// the runtime in which it began.
    pub(crate) async fn watch(&self) -> Result<(), FleetError> {
        let listens = {
            let watching = self.0.watching.lock().unwrap_or_else(PoisonError::into_inner);
            watching.as_ref().is_some_and(|task| !task.is_finished())
        };
        if !listens {
            self.0.changes.send_replace(0);
            let heard = self.0.caller.carrier.watch().await?;
            let task = tokio::spawn(presence::follow(Arc::downgrade(&self.0), heard));
            let before = self
                .0
                .watching
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .replace(task.abort_handle());
            // Two shares that start at once: one watch is enough.
            before.inspect(AbortHandle::abort);
        }
        let mut changes = self.0.changes.subscribe();
        // The sender is in this fleet.
        let _ = changes.wait_for(|changes| *changes > 0).await;
        Ok(())
    }
}

impl Inner {
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn shares(&self) -> Vec<Arc<ShareState>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Who is there has changed: every registry that shares gets the handlers that are there
    /// now.
    pub(crate) fn apply(&self) {
        let present = self.table().present();
        for share in self.shares() {
            if let Err(error) = share.apply(&self.caller, || self.table().present()) {
                logged(|| tracing::error!(%error, "a required handler is not in the order"));
            }
            share.note_strangers(&self.caller, &present);
        }
        self.changes.send_modify(|changes| *changes += 1);
    }
}

impl Caller {
    /// An id that no other call has.
    pub(crate) fn next_call(&self) -> String {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        [&*self.instance, "-", &*number.to_string()].concat()
    }

    /// Under which name what is served now is announced: the first time that of the process.
    /// Two registries that one process serves are two of the service to all others.
    pub(crate) fn next_instance(&self) -> String {
        match self.servings.fetch_add(1, Ordering::Relaxed) {
            0 => self.instance.clone(),
            again => format!("{}-{again}", self.instance),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let watching = self.watching.get_mut().unwrap_or_else(PoisonError::into_inner);
        watching.take().inspect(AbortHandle::abort);
        for share in self.shares() {
            share.close();
        }
    }
}

/// Sixteen letters or digits that nobody else has.
fn random_id() -> String {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the system has a source of random numbers");
    let letter =
        |byte: &u8| char::from(b"abcdefghijklmnopqrstuvwxyz234567"[usize::from(byte % 32)]);
    bytes.iter().map(letter).collect()
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("service", &self.0.caller.options.service)
            .field("instance", &self.0.caller.instance)
            .field("carrier", &self.0.caller.carrier)
            .finish_non_exhaustive()
    }
}
