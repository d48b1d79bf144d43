//! The document of the state, row by row.

use std::collections::BTreeMap;

use hooks_runtime::FailurePolicy;
use hooks_runtime::operator::{Setting, SettingChange};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failures::{Effect, Failure};
use crate::text::{nanoseconds, unix_ms};

/// What is registered, what is set and what failed: as of one moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct StateResponse {
    /// What the host is called.
    pub(super) title: String,
    /// The version of this API.
    pub(super) version: &'static str,
    /// When this was written, in milliseconds since 1970.
    pub(super) at_ms: u64,
    /// Whether settings can be changed here, with the token.
    pub(super) writable: bool,
    /// Whether latencies are known.
    pub(super) timed: bool,
    /// The groups, in the order of the page.
    pub(super) groups: Vec<String>,
    /// The points, group by group.
    pub(super) points: Vec<PointRow>,
    /// The handlers: point by point, each point's in the order in which a fire walks them.
    pub(super) handlers: Vec<HandlerEntry>,
    /// The settings that hold, in the order in which they count.
    pub(super) settings: Vec<SettingRow>,
    /// The last failures, the latest first.
    pub(super) failures: Vec<FailureRow>,
}

/// A point, or a stage of a flow that has handlers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PointRow {
    /// Its wire name.
    pub(super) name: &'static str,
    pub(super) group: String,
    pub(super) model: String,
    /// Its doc comment; empty where it is in no catalogue.
    pub(super) doc: &'static str,
    /// Of a stage, its flow.
    pub(super) flow: Option<&'static str>,
    /// Whether it was fired; nothing is known of a stage.
    pub(super) fired: Option<bool>,
    /// What `#[deprecated]` says of it.
    pub(super) deprecated: Option<&'static str>,
}

/// A registered handler.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own about the handler")]
pub(super) struct HandlerEntry {
    /// How an operator names it: `point:plugin/handler`, or `point:handler`.
    pub(super) address: String,
    pub(super) point: &'static str,
    pub(super) name: String,
    /// The plugin that registered it; nothing where it is built-in.
    pub(super) plugin: Option<String>,
    pub(super) priority: i32,
    /// Whether it is a guard of a gating point.
    pub(super) guard: bool,
    /// `open` or `closed`, as declared.
    pub(super) on_failure: &'static str,
    /// Whether loosening it takes the break-glass form: it is at a gate, or fails closed.
    pub(super) gate: bool,
    /// Its time limit as declared, in nanoseconds.
    pub(super) time_limit_ns: Option<u64>,
    /// Where it is written.
    pub(super) location: String,
    pub(super) conditional: bool,
    pub(super) once: bool,
    pub(super) pure: bool,
    pub(super) calls: u64,
    pub(super) failures: u64,
    /// By cause, where there are any.
    pub(super) failures_by: BTreeMap<&'static str, u64>,
    pub(super) skips: u64,
    /// By reason, where there are any.
    pub(super) skips_by: BTreeMap<&'static str, u64>,
    pub(super) in_flight: u64,
    pub(super) overruns: u64,
    /// `enforce`, `disable`, `shadow` or `warn`.
    pub(super) mode: &'static str,
    /// What it decided in shadow, by kind.
    pub(super) shadow: BTreeMap<&'static str, u64>,
    pub(super) shadow_failures: u64,
    pub(super) breaker: Option<BreakerRow>,
    pub(super) latency: Option<LatencyRow>,
    /// The settings that count for it.
    pub(super) settings: Vec<u64>,
}

/// The circuit breaker of a handler.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BreakerRow {
    /// `closed`, `open` or `half_open`.
    pub(super) state: &'static str,
    /// Whether it only counts.
    pub(super) shadow: bool,
    /// How often it opened.
    pub(super) opened: u64,
}

/// How long the calls of a handler took, in nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct LatencyRow {
    pub(super) count: u64,
    pub(super) p50_ns: u64,
    pub(super) p99_ns: u64,
    pub(super) max_ns: u64,
}

/// A setting of an operator.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct SettingRow {
    pub(super) id: u64,
    pub(super) target: String,
    /// What is set, in one word: as in the request.
    pub(super) setting: &'static str,
    /// The same with its value, in a few words.
    pub(super) value: String,
    pub(super) fail_closed: bool,
    pub(super) by: Option<String>,
    pub(super) why: Option<String>,
    /// How long it still holds, if it has an end, in nanoseconds.
    pub(super) ends_in_ns: Option<u64>,
    /// `file` or `live`.
    pub(super) layer: &'static str,
    pub(super) break_glass: bool,
    /// How often it was in force when a handler's turn came.
    pub(super) applied: u64,
}

/// A failure of a handler, or several that are the same.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FailureRow {
    /// The handler, as `point:plugin/handler`.
    pub(super) handler: String,
    pub(super) point: &'static str,
    /// `error`, `panic`, `timeout`, `no_timer`, `breaker_open` or `rate_limited`.
    pub(super) cause: &'static str,
    pub(super) text: String,
    /// What it meant for the fire: `open`, `closed`, or `shadow` where it had no effect.
    pub(super) effect: &'static str,
    /// How often it happened.
    pub(super) count: u64,
    /// When it happened last, in milliseconds since 1970.
    pub(super) last_ms: u64,
}

impl From<&Setting> for SettingRow {
    fn from(setting: &Setting) -> Self {
        Self {
            id: setting.id().number(),
            target: setting.target().to_owned(),
            setting: word(setting.change()),
            value: setting.change().to_string(),
            fail_closed: setting.fails_closed(),
            by: setting.by().map(str::to_owned),
            why: setting.why().map(str::to_owned),
            ends_in_ns: setting.ends_in().map(nanoseconds),
            layer: setting.layer().as_str(),
            break_glass: setting.is_break_glass(),
            applied: setting.applied(),
        }
    }
}

/// What is set, in the word of a request.
fn word(change: &SettingChange) -> &'static str {
    match change {
        SettingChange::Mode(mode) => mode.as_str(),
        SettingChange::TimeLimit(_) => "time_limit",
        SettingChange::OnFailure(FailurePolicy::Open) => "fail_open",
        SettingChange::OnFailure(FailurePolicy::Closed) => "fail_closed",
        SettingChange::Sample(_) => "sample",
        SettingChange::RateLimit(_) => "rate_limit",
        SettingChange::Breaker(_) => "breaker",
        SettingChange::ForceBreaker(_) => "force_breaker",
        // A setting that came with a later version of the runtime.
        _ => "other",
    }
}

impl From<Failure> for FailureRow {
    fn from(failure: Failure) -> Self {
        let Failure { handler, point, cause, text, effect, count, last } = failure;
        let effect = match effect {
            Effect::Open => "open",
            Effect::Closed => "closed",
            Effect::Shadow => "shadow",
        };
        Self { handler, point, cause, text, effect, count, last_ms: unix_ms(last) }
    }
}
