//! One turn's view of the hooks.

use std::time::Instant;

use hooks_points::Personality;
use hooks_runtime::flow::{FlowPoint, Operation};
use hooks_runtime::model::{Claiming, Gating, Modifying, Void};
use hooks_runtime::{Claim, FireError, FlowError, Gate, HookPoint, Merge, ScopedHooks};
use serde::Serialize;
use serde_json::Value;

use super::trace::{Entry, Event, Fired, Outcome, Record, Report, Speaker, Trace};

/// One turn: the hooks as its personality sees them, and what happens in it.
///
/// The plugins that take part are worked out once, when the turn begins. A
/// plugin that is unloaded in the middle of it is gone all the same.
#[derive(Clone, Debug)]
pub struct Turn {
    hooks: ScopedHooks,
    personality: Personality,
    trace: Trace,
    depth: usize,
}

impl Turn {
    pub(crate) fn new(hooks: ScopedHooks, personality: Personality) -> Self {
        Self { hooks, personality, trace: Trace::default(), depth: 0 }
    }

    /// The personality whose turn it is.
    pub fn personality(&self) -> &Personality {
        &self.personality
    }

    /// Part of this turn that runs beside others. What happens in it is added
    /// by [`join`](Self::join), so that the record does not depend on who
    /// finishes first.
    pub(crate) fn branch(&self) -> Self {
        Self { trace: Trace::default(), ..self.clone() }
    }

    /// Takes up what happened in a branch.
    pub(crate) fn join(&self, branch: &Self) {
        self.trace.extend(branch.trace.take());
    }

    /// The turn of a subagent, recorded in this one.
    pub(crate) fn within(self, parent: &Self) -> Self {
        Self { trace: parent.trace.clone(), depth: parent.depth + 1, ..self }
    }

    /// What happened.
    pub(crate) fn finish(self, title: impl Into<String>) -> Record {
        Record { title: title.into(), personality: self.personality.id, entries: self.trace.take() }
    }

    /// Fires a void point, for `about`.
    pub async fn notify<P>(&self, about: &str, payload: &P::Payload) -> Result<(), FireError>
    where
        P: HookPoint<Model = Void>,
    {
        let began = Instant::now();
        let (fired, report) = self.hooks.fire_void_reported::<P>(payload).await;
        let outcome = fired.as_ref().map_or_else(failed, |()| Outcome::Called);
        self.fired(about, Report::Fire(report), outcome, began);
        fired
    }

    /// Fires a modifying point, for `about`.
    pub async fn amend<P>(&self, about: &str, payload: &P::Payload) -> Result<P::Result, FireError>
    where
        P: HookPoint<Model = Modifying>,
        P::Result: Merge + Serialize,
    {
        let began = Instant::now();
        let (amended, report) = self.hooks.fire_modifying_reported::<P>(payload).await;
        let report = Report::Fire(report);
        let outcome = amended.as_ref().map_or_else(failed, |result| match json(result) {
            Value::Object(fields) => Outcome::amended(&report, &fields),
            _ => Outcome::Amended(Vec::new()),
        });
        self.fired(about, report, outcome, began);
        amended
    }

    /// Fires a claiming point, for `about`.
    pub async fn ask<P>(
        &self,
        about: &str,
        payload: &P::Payload,
    ) -> Result<Claim<P::Result>, FireError>
    where
        P: HookPoint<Model = Claiming>,
        P::Result: Serialize,
    {
        let began = Instant::now();
        let (claim, report) = self.hooks.fire_claiming_reported::<P>(payload).await;
        let report = Report::Fire(report);
        let outcome = claim.as_ref().map_or_else(failed, |claim| match claim {
            Claim::Claimed(value) => Outcome::claimed(&report, json(value)),
            Claim::Unclaimed => Outcome::Unclaimed,
        });
        self.fired(about, report, outcome, began);
        claim
    }

    /// Fires a gating point, for `about`.
    pub async fn gate<P>(
        &self,
        about: &str,
        payload: P::Payload,
    ) -> Result<Gate<P::Payload, P::Result>, FireError>
    where
        P: HookPoint<Model = Gating>,
    {
        let began = Instant::now();
        let (gate, report) = self.hooks.fire_gating_reported::<P>(payload).await;
        let report = Report::Fire(report);
        let outcome = gate.as_ref().map_or_else(failed, |gate| match gate {
            Gate::Passed(_) => Outcome::passed(&report),
            Gate::Rejected(_) => Outcome::rejected(&report),
        });
        self.fired(about, report, outcome, began);
        gate
    }

    /// Runs a flow around an operation, for `about`.
    pub async fn run<F, O>(
        &self,
        about: &str,
        input: F::Payload,
        operation: O,
    ) -> Result<F::Result, FlowError>
    where
        F: FlowPoint,
        O: Operation<F>,
    {
        let began = Instant::now();
        let (output, report) = self.hooks.flow::<F>().run_reported(input, operation).await;
        let report = Report::Flow(report);
        let outcome = match &output {
            Ok(_) => Outcome::run(&report),
            Err(error) => Outcome::Failed(error.to_string()),
        };
        self.fired(about, report, outcome, began);
        output
    }

    /// Notes what was said.
    pub(crate) fn said(&self, by: Speaker, text: &str) {
        self.happened(Event::Said { by, text: text.to_owned() });
    }

    /// Notes what the host did.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.happened(Event::Note(text.into()));
    }

    /// Notes anything.
    pub(crate) fn happened(&self, event: Event) {
        self.trace.push(Entry { depth: self.depth, event });
    }

    /// Notes that the last fire was taken for a no.
    pub(crate) fn refused(&self, what: impl Into<String>, reason: &str) {
        let by = self.trace.last_decider().unwrap_or_default();
        self.happened(Event::Refused { what: what.into(), reason: reason.to_owned(), by });
    }

    fn fired(&self, about: &str, report: Report, outcome: Outcome, began: Instant) {
        let fired = Fired { about: about.to_owned(), report, outcome, took: began.elapsed() };
        self.happened(Event::Fired(fired));
    }
}

fn failed(error: &FireError) -> Outcome {
    Outcome::Failed(error.to_string())
}

/// A result as data, to be looked at. What cannot be serialised is left empty.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
