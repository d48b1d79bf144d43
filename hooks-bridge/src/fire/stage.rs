//! Firing an event by the model that its kind has.

use hooks_runtime::model::{Claiming, Gating, Modifying, Void};
use hooks_runtime::report::{FireReport, escaped};
use hooks_runtime::{Claim, FireError, Gate, HookPoint, HookRegistry, RegisterError, ScopedHooks};
use serde_json::{Map, Value};

use super::event::Event;
use crate::bridge::Bridge;
use crate::mapping::{AmendPoint, CommandPoint, GatePoint, StopPoint};
use crate::points::{GoOn, SessionContext};

/// How a fire of any model ended.
pub(super) enum Ended {
    Passed(Map<String, Value>),
    Rejected(String),
    Failed(String),
}

/// Where one event is fired.
pub(super) struct Stage<'s> {
    pub(super) bridge: &'s Bridge,
    pub(super) hooks: &'s HookRegistry,
    pub(super) scope: &'s ScopedHooks,
}

pub(super) type Shown = Result<(Ended, FireReport), RegisterError>;

impl Stage<'_> {
    pub(super) async fn gate<P>(&self, event: Event) -> Shown
    where
        P: GatePoint + HookPoint<Payload = Event, Result = String, Model = Gating>,
    {
        self.hooks.register(self.bridge.gate::<P>())?;
        let (gate, report) = self.scope.fire_gating_reported::<P>(event).await;
        let ended = match gate {
            Ok(Gate::Passed(event)) => Ended::Passed(event.document),
            Ok(Gate::Rejected(rejection)) => Ended::Rejected(rejection.into_reason()),
            Err(error) => Ended::Failed(said(&error)),
        };
        Ok((ended, report))
    }

    pub(super) async fn claim<P>(&self, event: &Event) -> Shown
    where
        P: StopPoint + HookPoint<Payload = Event, Result = GoOn, Model = Claiming>,
    {
        self.hooks.register(self.bridge.claim::<P>())?;
        let (claim, report) = self.scope.fire_claiming_reported::<P>(event).await;
        let ended = match claim {
            Ok(Claim::Unclaimed) => Ended::Passed(event.document.clone()),
            Ok(Claim::Claimed(go_on)) => Ended::Rejected(go_on.reason),
            Err(error) => Ended::Failed(said(&error)),
        };
        Ok((ended, report))
    }

    pub(super) async fn amend<P>(&self, event: &Event) -> Shown
    where
        P: AmendPoint + HookPoint<Payload = Event, Result = SessionContext, Model = Modifying>,
    {
        self.hooks.register(self.bridge.amend::<P>())?;
        let (amended, report) = self.scope.fire_modifying_reported::<P>(event).await;
        let ended = match amended {
            Ok(SessionContext { stopped: Some(reason), .. }) => Ended::Rejected(reason),
            amended => unless_failed(amended, event),
        };
        Ok((ended, report))
    }

    pub(super) async fn observe<P>(&self, event: &Event) -> Shown
    where
        P: CommandPoint + HookPoint<Payload = Event, Model = Void>,
    {
        self.hooks.register(self.bridge.observe::<P>())?;
        let (observed, report) = self.scope.fire_void_reported::<P>(event).await;
        Ok((unless_failed(observed, event), report))
    }
}

fn unless_failed<T>(fired: Result<T, FireError>, event: &Event) -> Ended {
    match fired {
        Ok(_) => Ended::Passed(event.document.clone()),
        Err(error) => Ended::Failed(said(&error)),
    }
}

/// Why a fire failed, without the names of the points here, which no file has.
fn said(error: &FireError) -> String {
    match error.failure() {
        Some(failure) => format!("`{}` failed: {}", escaped(failure.handler()), failure.kind()),
        None => error.to_string(),
    }
}
