//! `GET api/state`: points, handlers, settings and failures in one document.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use hooks_runtime::catalogue::PointInfo;
use hooks_runtime::observe::HandlerStatistics;
use hooks_runtime::operator::{Setting, SettingChange};
use hooks_runtime::registry::HandlerInfo;
use hooks_runtime::{FailurePolicy, point::ModelKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failures::{Effect, Failure};
use crate::shared::Shared;
use crate::text::{address, nanoseconds, unix_ms};

/// The group of points that are in no catalogue.
const OTHER: &str = "other";

/// What is registered, what is set and what failed: as of one moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StateResponse {
    /// What the host is called.
    title: String,
    /// The version of this API.
    version: &'static str,
    /// When this was written, in milliseconds since 1970.
    at_ms: u64,
    /// Whether settings can be changed here, with the token.
    writable: bool,
    /// Whether latencies are known.
    timed: bool,
    /// The groups, in the order of the page.
    groups: Vec<String>,
    /// The points, group by group.
    points: Vec<PointRow>,
    /// The handlers: point by point, each point's in the order in which a fire walks them.
    handlers: Vec<HandlerEntry>,
    /// The settings that hold, in the order in which they count.
    settings: Vec<SettingRow>,
    /// The last failures, the latest first.
    failures: Vec<FailureRow>,
}

/// A point, or a stage of a flow that has handlers.
#[derive(Debug, Serialize, JsonSchema)]
struct PointRow {
    /// Its wire name.
    name: &'static str,
    group: String,
    model: String,
    /// Its doc comment; empty where it is in no catalogue.
    doc: &'static str,
    /// Of a stage, its flow.
    flow: Option<&'static str>,
    /// Whether it was fired; nothing is known of a stage.
    fired: Option<bool>,
    /// What `#[deprecated]` says of it.
    deprecated: Option<&'static str>,
}

/// A registered handler.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own about the handler")]
struct HandlerEntry {
    /// How an operator names it: `point:plugin/handler`, or `point:handler`.
    address: String,
    point: &'static str,
    name: String,
    /// The plugin that registered it; nothing where it is built-in.
    plugin: Option<String>,
    priority: i32,
    /// Whether it is a guard of a gating point.
    guard: bool,
    /// `open` or `closed`, as declared.
    on_failure: &'static str,
    /// Whether loosening it takes the break-glass form: it is at a gate, or fails closed.
    gate: bool,
    /// Its time limit as declared, in nanoseconds.
    time_limit_ns: Option<u64>,
    /// Where it is written.
    location: String,
    conditional: bool,
    once: bool,
    pure: bool,
    calls: u64,
    failures: u64,
    /// By cause, where there are any.
    failures_by: BTreeMap<&'static str, u64>,
    skips: u64,
    /// By reason, where there are any.
    skips_by: BTreeMap<&'static str, u64>,
    in_flight: u64,
    overruns: u64,
    /// `enforce`, `disable`, `shadow` or `warn`.
    mode: &'static str,
    /// What it decided in shadow, by kind.
    shadow: BTreeMap<&'static str, u64>,
    shadow_failures: u64,
    breaker: Option<BreakerRow>,
    latency: Option<LatencyRow>,
    /// The settings that count for it.
    settings: Vec<u64>,
}

/// The circuit breaker of a handler.
#[derive(Debug, Serialize, JsonSchema)]
struct BreakerRow {
    /// `closed`, `open` or `half_open`.
    state: &'static str,
    /// Whether it only counts.
    shadow: bool,
    /// How often it opened.
    opened: u64,
}

/// How long the calls of a handler took, in nanoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct LatencyRow {
    count: u64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

/// A setting of an operator.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SettingRow {
    id: u64,
    target: String,
    /// What is set, in one word: as in the request.
    setting: &'static str,
    /// The same with its value, in a few words.
    value: String,
    fail_closed: bool,
    by: Option<String>,
    why: Option<String>,
    /// How long it still holds, if it has an end, in nanoseconds.
    ends_in_ns: Option<u64>,
    /// `file` or `live`.
    layer: &'static str,
    break_glass: bool,
    /// How often it was in force when a handler's turn came.
    applied: u64,
}

/// A failure of a handler, or several that are the same.
#[derive(Debug, Serialize, JsonSchema)]
struct FailureRow {
    /// The handler, as `point:plugin/handler`.
    handler: String,
    point: &'static str,
    /// `error`, `panic`, `timeout`, `no_timer`, `breaker_open` or `rate_limited`.
    cause: &'static str,
    text: String,
    /// What it meant for the fire: `open`, `closed`, or `shadow` where it had no effect.
    effect: &'static str,
    /// How often it happened.
    count: u64,
    /// When it happened last, in milliseconds since 1970.
    last_ms: u64,
}

pub(super) async fn state(State(shared): State<Arc<Shared>>) -> Json<StateResponse> {
    let (handlers, settings) = consistent(&shared);
    let latencies = latencies(&shared);
    let points = points(&shared, &handlers);
    let mut groups: Vec<String> = Vec::new();
    for point in &points {
        if !groups.contains(&point.group) {
            groups.push(point.group.clone());
        }
    }
    Json(StateResponse {
        title: shared.title.clone(),
        version: env!("CARGO_PKG_VERSION"),
        at_ms: unix_ms(SystemTime::now()),
        writable: shared.changes.is_some(),
        timed: shared.statistics.is_some(),
        groups,
        points,
        handlers: handlers.iter().map(|info| HandlerEntry::new(info, &latencies)).collect(),
        settings: settings.iter().map(SettingRow::from).collect(),
        failures: shared.failures.latest().into_iter().map(FailureRow::from).collect(),
    })
}

/// Handlers and settings of one moment: every setting that counts for a handler is listed.
fn consistent(shared: &Shared) -> (Vec<HandlerInfo>, Vec<Setting>) {
    let operator = shared.reader();
    let mut before = operator.settings();
    // A setting begins or ends between the two rarely, and twice in a row more rarely.
    for _ in 0..8 {
        let handlers = shared.hooks.handlers();
        let after = operator.settings();
        if before == after {
            return (handlers, after);
        }
        before = after;
    }
    (shared.hooks.handlers(), before)
}

/// By the address of the handler.
fn latencies(shared: &Shared) -> HashMap<String, LatencyRow> {
    let rows = shared.statistics.as_ref().map(|it| it.handlers()).unwrap_or_default();
    let row = |row: &HandlerStatistics| {
        let HandlerStatistics { point, owner, handler, latency, .. } = row;
        let latency = LatencyRow {
            count: latency.count(),
            p50_ns: nanoseconds(latency.quantile(0.5)),
            p99_ns: nanoseconds(latency.quantile(0.99)),
            max_ns: nanoseconds(latency.max()),
        };
        (address(point, owner, handler), latency)
    };
    rows.iter().map(row).collect()
}

/// The declared points group by group, then those that only the registry knows. The stages
/// of a flow that have handlers are behind it.
fn points(shared: &Shared, handlers: &[HandlerInfo]) -> Vec<PointRow> {
    let mut used: Vec<&HandlerInfo> = Vec::new();
    for info in handlers {
        if used.last().is_none_or(|last| last.point != info.point) {
            used.push(info);
        }
    }
    let mut known = HashSet::new();
    let mut rows = Vec::new();
    for group in &shared.groups {
        let never_fired: HashSet<_> =
            group.catalogue.never_fired(&shared.hooks).into_iter().map(PointInfo::name).collect();
        for point in group.catalogue.points() {
            let name = point.name();
            // Of two points of one name, the registry has one at most.
            let is_other = used.iter().any(|it| it.point == name && it.model != point.model());
            if is_other || !known.insert(name) {
                continue;
            }
            rows.push(PointRow {
                name,
                group: group.name.clone(),
                model: point.model().to_string(),
                doc: point.doc(),
                flow: None,
                fired: Some(!never_fired.contains(name)),
                deprecated: point.deprecated(),
            });
            let stages = used.iter().filter(|it| it.flow == Some(name));
            rows.extend(stages.map(|stage| PointRow::undocumented(stage, &group.name, None)));
            known.extend(point.stage_names());
        }
    }
    let audit = shared.hooks.audit();
    let others = used.iter().filter(|it| !known.contains(it.point));
    rows.extend(others.map(|it| {
        let fired = it.stage.is_none().then(|| !audit.never_fired.contains(&it.point));
        PointRow::undocumented(it, OTHER, fired)
    }));
    rows
}

impl PointRow {
    fn undocumented(info: &HandlerInfo, group: &str, fired: Option<bool>) -> Self {
        Self {
            name: info.point,
            group: group.to_owned(),
            model: info.model.to_string(),
            doc: "",
            flow: info.flow,
            fired,
            deprecated: None,
        }
    }
}

impl HandlerEntry {
    fn new(info: &HandlerInfo, latencies: &HashMap<String, LatencyRow>) -> Self {
        let address = info.address();
        let closed = info.policy == FailurePolicy::Closed;
        let counts = |counts: Vec<(&'static str, u64)>| -> BTreeMap<_, _> {
            counts.into_iter().filter(|(_, count)| *count > 0).collect()
        };
        Self {
            point: info.point,
            name: info.name.to_string(),
            plugin: info.owner.plugin().map(ToString::to_string),
            priority: info.priority,
            guard: info.guard,
            on_failure: if closed { "closed" } else { "open" },
            gate: closed || info.model == ModelKind::Gating,
            time_limit_ns: info.timeout.map(nanoseconds),
            location: info.location.to_string(),
            conditional: info.conditional,
            once: info.once,
            pure: info.pure,
            calls: info.calls,
            failures: info.failures,
            failures_by: counts(info.failures_by.iter().map(|(it, n)| (it.as_str(), n)).collect()),
            skips: info.skips.total(),
            skips_by: counts(info.skips.iter().map(|(it, n)| (it.as_str(), n)).collect()),
            in_flight: info.in_flight,
            overruns: info.overruns,
            mode: info.mode.as_str(),
            shadow: counts(info.shadow.iter().map(|(it, n)| (it.as_str(), n)).collect()),
            shadow_failures: info.shadow_failures,
            breaker: info.breaker.map(|state| BreakerRow {
                state: state.as_str(),
                shadow: info.breaker_is_shadow,
                opened: info.breaker_transitions.opened,
            }),
            latency: latencies.get(&address).cloned(),
            settings: info.settings.iter().map(|id| id.number()).collect(),
            address,
        }
    }
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
