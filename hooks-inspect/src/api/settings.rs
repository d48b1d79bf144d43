//! `POST api/settings`, `DELETE api/settings/{id}`, `POST api/breakers/reset`: changes.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use hooks_runtime::FailurePolicy;
use hooks_runtime::operator::{
    BreakerSettings, BreakerState, Fraction, Mode, RateLimit, SettingChange, SettingId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::body::{allowed, read};
use super::state::SettingRow;
use crate::shared::Shared;

/// The longest texts, in bytes.
const LONGEST_NAME: usize = 200;
const LONGEST_TARGET: usize = 1_000;
const LONGEST_REASON: usize = 1_000;

/// A setting to be applied.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SettingRequest {
    /// `point:plugin/handler`, or `point:handler` for a built-in one, with `*` for any text.
    #[schemars(length(min = 1, max = 1000))]
    target: String,
    /// What is set.
    change: Change,
    /// Who sets it.
    #[schemars(length(min = 1, max = 200))]
    by: String,
    /// Why.
    #[schemars(length(min = 1, max = 1000))]
    why: String,
    /// After how many seconds it ends. Without this it holds until it is cleared.
    #[serde(default)]
    until_s: Option<u64>,
    /// The handlers fail closed as long as it holds.
    #[serde(default)]
    fail_closed: bool,
    /// It loosens what a gate or a fail-closed handler promises, and that is meant. It needs
    /// an end.
    #[serde(default)]
    break_glass: bool,
}

/// What is set.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Change {
    /// The handler is called, and what it decides counts: over an earlier setting.
    Enforce,
    /// It is not called.
    Disable,
    /// It is called, and what it decides has no effect.
    Shadow,
    /// The same of a guard, with a warning in the report of the fire.
    Warn,
    /// Its failures end the fire.
    FailClosed,
    /// Its failures are reported, and the fire goes on.
    FailOpen,
    /// A shorter time limit.
    TimeLimit {
        /// In milliseconds.
        ms: u64,
    },
    /// It is called for a part of the fires.
    Sample {
        /// From 0 to 1.
        part: f64,
    },
    /// How often it may be called; a call past that is a failure.
    RateLimit {
        calls: u32,
        /// In how many milliseconds; a second by default.
        #[serde(default = "second")]
        per_ms: u64,
        /// How many may come at once; as many as `calls` by default.
        #[serde(default)]
        burst: Option<u32>,
    },
    /// A circuit breaker that opens after so many failures in a row, or at a rate of them.
    Breaker {
        /// So many failures in a row: either this or `percent`.
        #[serde(default)]
        consecutive: Option<u32>,
        /// So many failures in a hundred calls.
        #[serde(default)]
        percent: Option<u8>,
        /// The window of `percent`, in milliseconds; a minute by default.
        #[serde(default)]
        over_ms: Option<u64>,
        /// The calls that the window needs; ten by default.
        #[serde(default)]
        at_least: Option<u32>,
        /// How long it is open, in milliseconds; a minute by default.
        #[serde(default)]
        open_for_ms: Option<u64>,
        /// It only counts, and calls go on.
        #[serde(default)]
        shadow: bool,
    },
    /// The state of its breaker, whatever the calls come to.
    ForceBreaker { state: ForcedState },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ForcedState {
    Open,
    Closed,
}

/// Whose breakers are reset.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResetRequest {
    /// As of a setting.
    #[schemars(length(min = 1, max = 1000))]
    target: String,
}

/// How many breakers were reset.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ResetResponse {
    reset: usize,
}

fn second() -> u64 {
    1_000
}

pub(super) async fn set(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<SettingRow>), ApiError> {
    let operator = allowed(&shared, &headers)?;
    let request: SettingRequest = read(body).await?;
    check("target", &request.target, LONGEST_TARGET)?;
    check("by", &request.by, LONGEST_NAME)?;
    check("why", &request.why, LONGEST_REASON)?;
    let mut setting = operator.set(request.target, request.change.checked()?).by(request.by);
    setting = if request.break_glass {
        setting.break_glass(request.why)
    } else {
        setting.because(request.why)
    };
    if request.fail_closed {
        setting = setting.fail_closed();
    }
    if let Some(seconds) = request.until_s {
        setting = setting.until(Duration::from_secs(seconds));
    }
    Ok((StatusCode::CREATED, Json(SettingRow::from(&setting.apply()?))))
}

pub(super) async fn clear(
    State(shared): State<Arc<Shared>>,
    id: Result<Path<u64>, axum::extract::rejection::PathRejection>,
    headers: HeaderMap,
) -> Result<Json<SettingRow>, ApiError> {
    let operator = allowed(&shared, &headers)?;
    let Path(id) = id.map_err(|_| ApiError::bad_request("the number of a setting is a number"))?;
    let cleared = operator.clear(SettingId::from_number(id))?;
    Ok(Json(SettingRow::from(&cleared)))
}

pub(super) async fn reset(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ResetResponse>, ApiError> {
    let operator = allowed(&shared, &headers)?;
    let ResetRequest { target } = read(body).await?;
    check("target", &target, LONGEST_TARGET)?;
    Ok(Json(ResetResponse { reset: operator.reset_breaker(target)? }))
}

/// Whether a text says something, and not too much.
fn check(field: &str, text: &str, longest: usize) -> Result<(), ApiError> {
    if text.trim().is_empty() {
        return Err(ApiError::not_possible(format!("`{field}` says nothing")));
    }
    if text.len() > longest {
        return Err(ApiError::not_possible(format!(
            "`{field}` has {} bytes, and {longest} are the most",
            text.len()
        )));
    }
    Ok(())
}

impl Change {
    fn checked(self) -> Result<SettingChange, ApiError> {
        Ok(match self {
            Self::Enforce => SettingChange::Mode(Mode::Enforce),
            Self::Disable => SettingChange::Mode(Mode::Disable),
            Self::Shadow => SettingChange::Mode(Mode::Shadow),
            Self::Warn => SettingChange::Mode(Mode::Warn),
            Self::FailClosed => SettingChange::OnFailure(FailurePolicy::Closed),
            Self::FailOpen => SettingChange::OnFailure(FailurePolicy::Open),
            Self::TimeLimit { ms } => SettingChange::TimeLimit(Duration::from_millis(ms)),
            Self::Sample { part } => {
                SettingChange::Sample(Fraction::new(part).map_err(|problem| {
                    ApiError::not_possible(format!("`part` cannot be {part}: {problem}"))
                })?)
            }
            Self::RateLimit { calls, per_ms, burst } => {
                let limit = RateLimit::new(calls, Duration::from_millis(per_ms));
                SettingChange::RateLimit(match burst {
                    Some(burst) => limit.burst(burst),
                    None => limit,
                })
            }
            Self::Breaker { consecutive, percent, over_ms, at_least, open_for_ms, shadow } => {
                let mut breaker = match (consecutive, percent) {
                    (Some(failures), None) => BreakerSettings::consecutive(failures),
                    (None, Some(percent)) => BreakerSettings::rate(percent),
                    _ => {
                        return Err(ApiError::not_possible(
                            "a breaker opens after `consecutive` failures or at a `percent` of \
                             them: give one of the two",
                        ));
                    }
                };
                if let Some(window) = over_ms {
                    breaker = breaker.over(Duration::from_millis(window));
                }
                if let Some(calls) = at_least {
                    breaker = breaker.at_least(calls);
                }
                if let Some(open) = open_for_ms {
                    breaker = breaker.open_for(Duration::from_millis(open));
                }
                SettingChange::Breaker(if shadow { breaker.shadow() } else { breaker })
            }
            Self::ForceBreaker { state } => SettingChange::ForceBreaker(match state {
                ForcedState::Open => BreakerState::Open,
                ForcedState::Closed => BreakerState::Closed,
            }),
        })
    }
}
