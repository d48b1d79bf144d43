//! The notifications of observers: each start has one end, and the words are those
//! of the reference.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_runtime::flow::{NotRun, StepStatus};
use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, ObservedStep, Observer};
use hooks_runtime::report::{HandlerStatus, SkipReason};

use crate::event::placeless;

/// An observer that notes everything, and what is under way.
#[derive(Clone, Debug, Default)]
pub struct Spy(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    lines: Vec<String>,
    /// The fires and the calls under way, and whether a call is being polled.
    fires: BTreeMap<u64, &'static str>,
    calls: BTreeMap<u64, bool>,
}

impl Spy {
    /// The notifications since the last call, sorted; nothing is under way.
    pub fn take(&self) -> Vec<String> {
        let mut seen = self.0.lock().unwrap();
        assert_eq!(seen.fires, BTreeMap::new(), "L20: every fire has an end");
        assert_eq!(seen.calls, BTreeMap::new(), "L20: every call has an end");
        let mut lines = std::mem::take(&mut seen.lines);
        lines.sort();
        lines
    }

    fn told(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.0.lock().unwrap());
    }
}

/// The lines of the log, which the reference writes too.
pub fn fire(point: &str, depth: usize) -> String {
    format!("fire {point} at {depth}")
}

pub fn fired(point: &str, word: &str) -> String {
    format!("fired {point}: {word}")
}

pub fn begins(point: &str, handler: &str, owner: &str) -> String {
    format!("{point}: {} ({owner}) begins", placeless(handler))
}

pub fn came_to(point: &str, handler: &str, owner: &str, status: &HandlerStatus) -> String {
    format!("{point}: {} ({owner}): {status}", placeless(handler))
}

pub fn step_begins(flow: &str, step: &str) -> String {
    format!("{flow}: {step} begins")
}

pub fn step_came_to(flow: &str, step: &str, status: &str) -> String {
    format!("{flow}: {step}: {status}")
}

fn of(call: &ObservedCall<'_>) -> (&'static str, String, String) {
    (call.fire().point(), call.handler().to_owned(), call.owner().to_string())
}

impl Observer for Spy {
    fn fire_started(&self, told: &ObservedFire) {
        self.told(|seen| {
            seen.lines.push(fire(told.point(), told.depth()));
            assert!(seen.fires.insert(told.id(), told.point()).is_none(), "it starts once");
        });
    }

    fn fire_ended(&self, told: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.told(|seen| {
            seen.lines.push(fired(told.point(), end.as_str()));
            assert!(seen.fires.remove(&told.id()).is_some(), "it ends once");
        });
    }

    fn handler_started(&self, call: &ObservedCall<'_>) {
        let (point, handler, owner) = of(call);
        self.told(|seen| {
            seen.lines.push(begins(point, &handler, &owner));
            assert!(seen.fires.contains_key(&call.fire().id()), "its fire is under way");
            assert!(seen.calls.insert(call.id(), false).is_none(), "it starts once");
        });
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        let (point, handler, owner) = of(call);
        self.told(|seen| {
            seen.lines.push(came_to(point, &handler, &owner, status));
            assert!(seen.fires.contains_key(&call.fire().id()), "its fire is under way");
            assert_eq!(seen.calls.remove(&call.id()), Some(false), "it ends once, not in a poll");
        });
    }

    fn handler_filtered(&self, call: &ObservedCall<'_>, filter: SkipReason) {
        let (point, handler, owner) = of(call);
        let status = HandlerStatus::Filtered(filter);
        self.told(|seen| seen.lines.push(came_to(point, &handler, &owner, &status)));
    }

    fn step_started(&self, step: &ObservedStep<'_>) {
        self.told(|seen| {
            seen.lines.push(step_begins(step.run().point(), step.step().name()));
            assert!(seen.fires.contains_key(&step.run().id()), "its run is under way");
            assert!(seen.calls.insert(step.id(), false).is_none(), "it starts once");
        });
    }

    fn step_ended(&self, step: &ObservedStep<'_>, status: &StepStatus, _: Duration) {
        let (run, name, status) = (step.run(), step.step().name(), status.to_string());
        self.told(|seen| {
            seen.lines.push(step_came_to(run.point(), name, &status));
            assert!(seen.fires.contains_key(&run.id()), "its run is under way");
            assert_eq!(seen.calls.remove(&step.id()), Some(false), "it ends once, not in a poll");
        });
    }

    fn step_not_run(&self, step: &ObservedStep<'_>, reason: NotRun) {
        let status = StepStatus::NotRun(reason).to_string();
        let line = step_came_to(step.run().point(), step.step().name(), &status);
        self.told(|seen| seen.lines.push(line));
    }

    fn step_poll_started(&self, step: &ObservedStep<'_>) {
        self.told(|seen| assert_eq!(seen.calls.insert(step.id(), true), Some(false)));
    }

    fn step_poll_ended(&self, step: &ObservedStep<'_>) {
        self.told(|seen| assert_eq!(seen.calls.insert(step.id(), false), Some(true)));
    }

    fn poll_started(&self, call: &ObservedCall<'_>) {
        self.told(|seen| assert_eq!(seen.calls.insert(call.id(), true), Some(false)));
    }

    fn poll_ended(&self, call: &ObservedCall<'_>) {
        self.told(|seen| assert_eq!(seen.calls.insert(call.id(), false), Some(true)));
    }
}
