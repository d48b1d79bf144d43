//! What a handler does to its run, for a recording, and again in a replay.

use super::FlowContext;
use super::answer::Given;
use super::context::Signal;
use super::stages::FlowPoint;
use crate::engine::containment::shown;
#[cfg(feature = "replay")]
use crate::sync::atomic::{AtomicBool, Ordering};

/// A run as a handler has left it, before what it asked for is done.
pub(crate) struct Left<'f, F: FlowPoint> {
    pub(crate) input: Option<&'f F::Payload>,
    /// Without what the handler gave.
    pub(crate) output: Option<&'f F::Result>,
    /// What it gave, and as what.
    pub(crate) given: Option<(Given, &'f F::Result)>,
    /// Whether it gave something that was refused.
    pub(crate) refused: Option<Given>,
    pub(crate) skips: bool,
    /// The reason, where it aborts.
    pub(crate) aborts: Option<String>,
    /// How often handlers may have changed the state.
    pub(crate) changes: u64,
    /// In a replay: whether one has asked for state that is not there.
    pub(crate) asked_for_lost: bool,
}

impl<F: FlowPoint> FlowContext<F> {
    /// The run as a handler has left it.
    pub(crate) fn left(&self) -> Left<'_, F> {
        let given = self.answers.given.as_ref();
        Left {
            input: self.input.as_ref(),
            output: self.output.as_ref(),
            given: given.map(|given| (self.answers.kind_of_given(), given)),
            refused: self.answers.refused(),
            skips: matches!(self.signal, Some(Signal::Skip)),
            aborts: match &self.signal {
                Some(Signal::Abort(error)) => Some(shown(&**error)),
                _ => None,
            },
            changes: self.state.changes,
            #[cfg(feature = "replay")]
            asked_for_lost: self.state.lost.was_asked_for(),
            #[cfg(not(feature = "replay"))]
            asked_for_lost: false,
        }
    }
}

#[cfg(feature = "replay")]
impl<F: FlowPoint> FlowContext<F> {
    /// The output, where there is one, is now this, as if it was changed in place.
    pub(crate) fn change_output(&mut self, output: F::Result) {
        if let Some(old) = &mut self.output {
            let old = std::mem::replace(old, output);
            crate::engine::containment::drop_contained("an output that was changed", old);
        }
    }

    /// Whether an output of the next handler is refused whatever it is.
    pub(crate) fn refuses(&self, kind: Given) -> bool {
        self.answers.refuses(kind)
    }

    /// Has an output refused that is not known.
    pub(crate) fn refuse(&mut self, kind: Given) {
        self.answers.refuse(kind);
    }

    /// A handler is not called that had changed the state: what it has is not what it would
    /// have.
    pub(crate) fn lose_state(&mut self) {
        self.state.lost.lose();
    }
}

/// Whether the state is what it would be, and whether that mattered.
#[cfg(feature = "replay")]
#[derive(Debug, Default)]
pub(super) struct Lost {
    is_lost: bool,
    asked: AtomicBool,
}

#[cfg(feature = "replay")]
impl Lost {
    fn lose(&mut self) {
        self.is_lost = true;
    }

    /// The state is read or changed.
    pub(super) fn ask(&self) {
        if self.is_lost {
            self.asked.store(true, Ordering::Relaxed);
        }
    }

    fn was_asked_for(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
