//! The last failures of handlers, with their texts.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use hooks_runtime::observe::{ObservedCall, Observer};
use hooks_runtime::operator::TracedFire;
use hooks_runtime::registry::Owner;
use hooks_runtime::report::HandlerStatus;

use crate::text::shortened;

/// How many are kept.
const KEPT: usize = 64;

/// Keeps the last failures of handlers, with their texts, also while no page is open.
///
/// It is an observer; a clone is the same failures. Without it, the page has the failures
/// of the fires that it saw itself. Failures of one handler with the same text are one,
/// with a count; the last 64 are kept.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_inspect::{Failures, Inspector};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let failures = Failures::new();
/// let hooks = HookRegistry::builder().observer(failures.clone()).build();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| Err("no route")))?;
/// for _ in 0..2 {
///     hooks.fire_void::<Sent>(&SentPayload { to: "desk".into() }).await?;
/// }
/// assert_eq!(failures.len(), 1); // one, which happened twice
/// let inspector = Inspector::new(&hooks).failures(failures);
/// # let _ = inspector;
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct Failures {
    /// The latest at the end.
    kept: Arc<Mutex<VecDeque<Failure>>>,
}

/// One failure, or several that are the same.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) handler: String,
    pub(crate) point: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) text: String,
    /// Whether it was the fire's error, whether it had no effect at all.
    pub(crate) effect: Effect,
    pub(crate) count: u64,
    pub(crate) last: SystemTime,
}

/// What a failure meant for its fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Open,
    Closed,
    Shadow,
}

impl Failures {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many there are, at most 64.
    pub fn len(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The latest first.
    pub(crate) fn latest(&self) -> Vec<Failure> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }

    /// Keeps the failures of a fire that was traced.
    pub(crate) fn note_fire(&self, fire: &TracedFire) {
        for row in fire.report().handlers() {
            self.note((fire.point(), row.owner(), row.handler()), row.status(), fire.at());
        }
    }

    /// Keeps a failure, where the status is one.
    pub(crate) fn note(
        &self,
        (point, owner, handler): (&'static str, &Owner, &str),
        status: &HandlerStatus,
        at: SystemTime,
    ) {
        let (cause, message, effect) = match status {
            HandlerStatus::Failed { kind, message, policy } => {
                let closed = *policy == hooks_runtime::FailurePolicy::Closed;
                (*kind, message, if closed { Effect::Closed } else { Effect::Open })
            }
            HandlerStatus::ShadowFailed { kind, message } => (*kind, message, Effect::Shadow),
            _ => return,
        };
        let handler = crate::text::address(point, owner, handler);
        let text = shortened(message);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |it: &Failure| {
            (&it.handler, it.cause, &it.text, it.effect) == (&handler, cause, &text, effect)
        };
        let before = kept.iter().position(same).and_then(|place| kept.remove(place));
        let count = before.map_or(0, |failure| failure.count) + 1;
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Failure { handler, point, cause, text, effect, count, last: at });
    }
}

impl Observer for Failures {
    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        // Most calls do not fail, and need no clock.
        if matches!(status, HandlerStatus::Failed { .. } | HandlerStatus::ShadowFailed { .. }) {
            let handler = (call.fire().point(), &call.owner(), call.handler());
            self.note(handler, status, SystemTime::now());
        }
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failures").field("kept", &self.len()).finish_non_exhaustive()
    }
}
