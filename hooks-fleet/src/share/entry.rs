//! One remote handler, as the registry that fires knows it.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hooks_runtime::handler::Registration;
use hooks_runtime::json::Value;
use hooks_runtime::point::{FailurePolicy, ModelKind};
use hooks_runtime::{HookContext, capturing};

use super::tape::Tape;
use crate::calls::note;
use crate::error::FleetError;
use crate::fleet::Caller;
use crate::schema::Fit;
use crate::wire::subject::Route;

/// One handler of a service. What is asked about it may change while it is registered.
pub(crate) struct RemoteEntry {
    pub(crate) caller: Arc<Caller>,
    pub(crate) service: String,
    pub(crate) point: &'static str,
    pub(crate) model: ModelKind,
    /// The model as requests name it.
    pub(crate) model_name: String,
    pub(crate) handler: String,
    pub(crate) durable: bool,
    tape: Tape,
    routing: RwLock<Arc<Routing>>,
}

/// What decides about its place and its limits: where that changes it is registered anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) priority: i32,
    /// What decides among those of its priority.
    pub(crate) turn: String,
    pub(crate) guard: bool,
    pub(crate) fail_closed: bool,
    pub(crate) timeout: Duration,
    pub(crate) pure: bool,
}

/// Where its calls go now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Routing {
    /// One for each schema that fits, the own one first.
    pub(crate) variants: Vec<Variant>,
    /// Why those that are there do not fit, where none does.
    pub(crate) incompatible: Option<String>,
    /// Whether nobody is heard of any more, because the fleet is gone.
    pub(crate) is_closed: bool,
}

/// The processes that serve it with one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) route: Route,
    pub(crate) fit: Arc<Fit>,
    pub(crate) instances: BTreeSet<String>,
    /// Whether all of them say that it may be called again.
    pub(crate) idempotent: bool,
}

impl RemoteEntry {
    pub(crate) fn new(
        caller: &Arc<Caller>,
        service: &str,
        (point, model): (&'static str, ModelKind),
        handler: &str,
        (durable, tape): (bool, &Tape),
    ) -> Self {
        let (service, handler) = (service.to_owned(), handler.to_owned());
        let model_name = model.to_string();
        let (caller, tape, routing) = (Arc::clone(caller), tape.clone(), RwLock::default());
        Self { caller, service, point, model, model_name, handler, durable, tape, routing }
    }

    pub(crate) fn routing(&self) -> Arc<Routing> {
        Arc::clone(&self.routing.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_routing(&self, routing: Routing) {
        *self.routing.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(routing);
    }

    /// How an operator names it.
    fn address(&self) -> String {
        format!("{}:{}/{}", self.point, self.service, self.handler)
    }

    /// The registration of it, or of it anew, in its own place.
    pub(crate) fn registration(
        self: &Arc<Self>,
        shape: &Shape,
        written: &'static Location<'static>,
        anew: bool,
    ) -> Result<Registration, FleetError> {
        let catalogue = &self.caller.options.catalogue;
        let mut on = catalogue
            .on(self.point)?
            .written_at(written)
            .name(&*self.handler)
            .plugin(&*self.service)
            .priority(shape.priority)
            .turn(&*shape.turn)
            .timeout(shape.timeout);
        if anew {
            on = on.replace();
        }
        if shape.fail_closed {
            on = on.on_failure(FailurePolicy::Closed);
        }
        if shape.pure {
            on = on.pure();
        }
        let entry = Arc::clone(self);
        let call = capturing(async move |payload: Value, cx: &HookContext, merged: Value| {
            let mut is_called = false;
            let call = |payload| {
                is_called = true;
                Arc::clone(&entry).call(payload, cx, merged)
            };
            let answer = entry.tape.ask(|| entry.address(), payload, call).await;
            if !is_called {
                cx.note(note::OUTCOME, "from the cassette");
            }
            answer
        });
        Ok(if shape.guard { on.guard(call)? } else { on.handler(call) })
    }
}
