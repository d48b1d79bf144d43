//! Counts and durations, by way of the `metrics` facade.

use std::time::Duration;

use metrics::{counter, histogram};

use crate::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use crate::report::HandlerStatus;

/// Counts fires, failures and durations with whatever recorder the program has
/// installed for the `metrics` facade:
///
/// | name | kind | labels |
/// |---|---|---|
/// | `hook_fires_total` | counter | `point`, `outcome` |
/// | `hook_fire_seconds` | histogram | `point` |
/// | `hook_handler_seconds` | histogram | `point`, `handler`, `owner` |
/// | `hook_handler_overruns_total` | counter | `point`, `handler`, `owner` |
/// | `hook_handler_failures_total` | counter | `point`, `handler`, `owner`, `kind` |
///
/// The `owner` is the id of the plugin, or `built-in` for the host.
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

    fn handler_overran(&self, call: &ObservedCall<'_>, _: Duration, _: Duration) {
        counter!(
            "hook_handler_overruns_total",
            "point" => call.fire().point(),
            "handler" => call.handler().to_owned(),
            "owner" => owner(call),
        )
        .increment(1);
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, took: Duration) {
        let (point, handler) = (call.fire().point(), call.handler().to_owned());
        // The bare id, for filters; no plugin can be called `built-in`.
        let owner = owner(call);
        if let HandlerStatus::Failed { kind, .. } = status {
            counter!(
                "hook_handler_failures_total",
                "point" => point,
                "handler" => handler.clone(),
                "owner" => owner.clone(),
                "kind" => *kind,
            )
            .increment(1);
        }
        histogram!(
            "hook_handler_seconds",
            "point" => point,
            "handler" => handler,
            "owner" => owner,
        )
        .record(took);
    }
}

/// The label of a handler's owner.
fn owner(call: &ObservedCall<'_>) -> String {
    call.owner().as_ref().to_owned()
}
