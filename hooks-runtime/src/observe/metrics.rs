//! Counts and durations, by way of the `metrics` facade.

use std::time::Duration;

use metrics::{Label, counter, gauge, histogram};

use crate::error::FailureCause;
use crate::observe::{FireEnd, ObservedCall, ObservedFire, ObservedHandler, Observer};
use crate::operator::Transition;
use crate::point::FailurePolicy;
use crate::report::{HandlerStatus, SkipReason};

/// Counts fires, decisions, failures and durations with whatever recorder the program has
/// installed for the `metrics` facade:
///
/// | name | kind | labels |
/// |---|---|---|
/// | `hook_fires_total` | counter | `point`, `outcome` |
/// | `hook_fire_seconds` | histogram | `point` |
/// | `hook_handler_in_flight` | gauge | `point`, `handler`, `owner` |
/// | `hook_handler_seconds` | histogram | `point`, `handler`, `owner` |
/// | `hook_handler_overruns_total` | counter | `point`, `handler`, `owner` |
/// | `hook_handler_decisions_total` | counter | `point`, `handler`, `owner`, `decision` |
/// | `hook_handler_failures_total` | counter | `point`, `handler`, `owner`, `kind`, `policy` |
/// | `hook_handler_skips_total` | counter | `point`, `handler`, `owner`, `reason` |
/// | `hook_handler_shadow_decisions_total` | counter | `point`, `handler`, `owner`, `decision` |
/// | `hook_handler_shadow_failures_total` | counter | `point`, `handler`, `owner`, `kind` |
/// | `hook_breaker_transitions_total` | counter | `point`, `handler`, `owner`, `to` |
/// | `hook_shadow_breaker_transitions_total` | counter | `point`, `handler`, `owner`, `to` |
///
/// | label | its values |
/// |---|---|
/// | `point` | the wire name of the point |
/// | `outcome` | the word of [`FireEnd::as_str`] |
/// | `handler` | the handler's name |
/// | `owner` | the id of the plugin, or `built-in` for the host |
/// | `decision` | the word of [`ContributionKind::as_str`](crate::report::ContributionKind::as_str): `passed`, `rejected`, … |
/// | `kind` | why it failed, the word of [`FailureCause::as_str`](crate::error::FailureCause::as_str): `error`, `panic`, … |
/// | `policy` | what the failure meant: `open`, the fire went on; `closed`, it ended with an error |
/// | `to` | the state that a circuit breaker came to, the word of [`BreakerState::as_str`](crate::operator::BreakerState::as_str) |
/// | `reason` | why it was not called, the word of [`SkipReason::as_str`] |
///
/// What a handler decided and what a failure of it was turned into are so told apart: a
/// rejection is a decision, a gate that ended because its handler failed is a failure of
/// the policy `closed`. A call ends with a decision or a failure unless its fire was
/// dropped; `hook_handler_seconds` has all three, but not the calls that a breaker or a rate
/// limit refused.
///
/// Behind the feature `metrics`.
///
/// ```
/// use hooks_runtime::HookRegistry;
/// use hooks_runtime::observe::Metrics;
///
/// let hooks = HookRegistry::builder().observer(Metrics).build();
/// assert!(hooks.handlers().is_empty());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics;

impl Observer for Metrics {
    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, took: Duration) {
        counter!("hook_fires_total", "point" => fire.point(), "outcome" => end.as_str())
            .increment(1);
        histogram!("hook_fire_seconds", "point" => fire.point()).record(took);
    }

    fn handler_started(&self, call: &ObservedCall<'_>) {
        gauge!("hook_handler_in_flight", labels(call, [])).increment(1);
    }

    fn handler_overran(&self, call: &ObservedCall<'_>, _: Duration, _: Duration) {
        counter!("hook_handler_overruns_total", labels(call, [])).increment(1);
    }

    fn handler_filtered(&self, call: &ObservedCall<'_>, reason: SkipReason) {
        let labels = labels(call, [("reason", reason.as_str())]);
        counter!("hook_handler_skips_total", labels).increment(1);
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, took: Duration) {
        // First: a recorder that panics at another leaves it right.
        gauge!("hook_handler_in_flight", labels(call, [])).decrement(1);
        match status {
            HandlerStatus::Ran(contribution) => {
                let labels = labels(call, [("decision", contribution.kind().as_str())]);
                counter!("hook_handler_decisions_total", labels).increment(1);
            }
            HandlerStatus::Failed { kind, policy, .. } => {
                let policy = match policy {
                    FailurePolicy::Open => "open",
                    FailurePolicy::Closed => "closed",
                };
                let labels = labels(call, [("kind", kind), ("policy", policy)]);
                counter!("hook_handler_failures_total", labels).increment(1);
            }
            HandlerStatus::Shadowed { decision, .. } => {
                let labels = labels(call, [("decision", decision.kind().as_str())]);
                counter!("hook_handler_shadow_decisions_total", labels).increment(1);
            }
            HandlerStatus::ShadowFailed { kind, .. } => {
                let labels = labels(call, [("kind", kind)]);
                counter!("hook_handler_shadow_failures_total", labels).increment(1);
            }
            HandlerStatus::Filtered(_) | HandlerStatus::Cancelled => {}
        }
        let cause = FailureCause::named(status.as_str());
        if !cause.is_some_and(FailureCause::is_uncalled) {
            histogram!("hook_handler_seconds", labels(call, [])).record(took);
        }
    }

    fn breaker_changed(&self, handler: &ObservedHandler<'_>, transition: Transition) {
        counter!("hook_breaker_transitions_total", change(handler, transition)).increment(1);
    }

    fn shadow_breaker_changed(&self, handler: &ObservedHandler<'_>, transition: Transition) {
        counter!("hook_shadow_breaker_transitions_total", change(handler, transition)).increment(1);
    }
}

/// The labels of a transition.
fn change(handler: &ObservedHandler<'_>, transition: Transition) -> Vec<Label> {
    vec![
        Label::from_static_parts("point", handler.point()),
        Label::new("handler", handler.handler().to_owned()),
        Label::new("owner", handler.owner().as_ref().to_owned()),
        Label::from_static_parts("to", transition.to.as_str()),
    ]
}

/// The labels of a handler, and more. Its owner is the bare id, for filters.
fn labels<const N: usize>(
    call: &ObservedCall<'_>,
    more: [(&'static str, &'static str); N],
) -> Vec<Label> {
    let mut labels = vec![
        Label::from_static_parts("point", call.fire().point()),
        Label::new("handler", call.handler().to_owned()),
        Label::new("owner", call.owner().as_ref().to_owned()),
    ];
    labels.extend(more.map(|(key, value)| Label::from_static_parts(key, value)));
    labels
}
