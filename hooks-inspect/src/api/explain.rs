//! `GET api/explain?target=…`: where each setting of a handler comes from, and why it stands
//! where it does.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use hooks_runtime::operator::{Explained, Explanation, SettingId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApiError;
use crate::shared::Shared;
use crate::text::{address, nanoseconds};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainQuery {
    /// One handler: `point:plugin/handler`.
    target: String,
}

/// Where each setting of a handler comes from, and why it stands where it does.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExplainResponse {
    /// The handler, as `point:plugin/handler`.
    handler: String,
    /// Its place in the order in which a fire walks the handlers of its point, from 1.
    place: usize,
    /// How many handlers the point has.
    of: usize,
    /// Why it has that place.
    why_here: String,
    /// Of each setting first the value that counts, then those that do not.
    values: Vec<ExplainedValue>,
}

/// One value of a setting.
#[derive(Debug, Serialize, JsonSchema)]
struct ExplainedValue {
    /// `mode`, `on_failure`, `time_limit`, `sample`, `rate_limit`, `breaker` or
    /// `forced_breaker`.
    setting: &'static str,
    value: String,
    /// `registry`, `declaration`, `registration`, `file` or `live`.
    layer: &'static str,
    by: Option<String>,
    /// Why; of what is declared, where.
    why: Option<String>,
    /// How long it still holds, if it has an end, in nanoseconds.
    ends_in_ns: Option<u64>,
    /// The setting of an operator that it comes from.
    id: Option<u64>,
    break_glass: bool,
    /// Why it does not count, where it does not.
    without_effect: Option<String>,
}

pub(super) async fn explain(
    State(shared): State<Arc<Shared>>,
    query: Result<Query<ExplainQuery>, QueryRejection>,
) -> Result<Json<ExplainResponse>, ApiError> {
    let Query(ExplainQuery { target }) = query.map_err(|_| {
        ApiError::bad_request("say which handler: `api/explain?target=point:plugin/handler`")
    })?;
    let Explanation { handler, values, .. } = shared.reader().explain(&target)?;
    let (place, of, why_here) = placed(&shared, &handler).ok_or_else(ApiError::not_found)?;
    let values = values.into_iter().map(ExplainedValue::from).collect();
    Ok(Json(ExplainResponse { handler, place, of, why_here, values }))
}

/// The place of a handler, how many there are, and why. `None` where it left meanwhile.
fn placed(shared: &Shared, handler: &str) -> Option<(usize, usize, String)> {
    // The name of a point may have a `:` itself.
    let points = handler.match_indices(':').map(|(at, _)| &handler[..at]);
    points.into_iter().find_map(|point| {
        let order = shared.hooks.explain_order_of(point)?;
        let of = order.len();
        let mut order = order.into_iter().zip(1..);
        let (row, place) =
            order.find(|(row, _)| address(point, &row.owner, &row.handler) == handler)?;
        Some((place, of, row.reason))
    })
}

impl From<Explained> for ExplainedValue {
    fn from(value: Explained) -> Self {
        Self {
            setting: value.setting,
            value: value.value,
            layer: value.layer.as_str(),
            by: value.by,
            why: value.why,
            ends_in_ns: value.ends_in.map(nanoseconds),
            id: value.id.map(SettingId::number),
            break_glass: value.break_glass,
            without_effect: value.without_effect,
        }
    }
}
