//! `GET api/state`: points, handlers, settings and failures in one document.

mod rows;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use hooks_runtime::catalogue::PointInfo;
use hooks_runtime::observe::{HandlerStatistics, Statistics};
use hooks_runtime::operator::{Setting, SettingId};
use hooks_runtime::registry::HandlerInfo;
use hooks_runtime::{FailurePolicy, point::ModelKind};

use rows::{BreakerRow, FailureRow, HandlerEntry, LatencyRow, PointRow};
pub(super) use rows::{SettingRow, StateResponse};

use crate::shared::Shared;
use crate::text::{address, nanoseconds, unix_ms};

/// The group of points that are in no catalogue.
const OTHER: &str = "other";

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
    let rows = shared.statistics.as_ref().map(Statistics::handlers).unwrap_or_default();
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
            settings: info.settings.iter().copied().map(SettingId::number).collect(),
            address,
        }
    }
}
