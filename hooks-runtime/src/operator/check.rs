//! Which settings a handler may have: no setting opens a gate by the way.

use crate::operator::breaker::BreakerState;
use crate::operator::error::OperatorError;
use crate::operator::mode::Mode;
use crate::operator::setting::SettingChange;
use crate::operator::target::address;
use crate::point::{FailurePolicy, ModelKind};
use crate::registry::entry::{Entry, Phase};

/// What a setting needs to apply to a handler.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Need {
    /// Nothing.
    Nothing,
    /// The break-glass form, or that the handler is set to fail closed as well where that
    /// is said.
    BreakGlass { effect: String, or_fail_closed: bool },
    /// It cannot apply.
    Refused(OperatorError),
}

/// What a setting needs to apply to that handler.
///
/// Only what the point and the registration declare is asked, never another setting: that
/// one ends or is cleared, and this one would then hold without it.
pub(crate) fn need(entry: &Entry, change: &SettingChange, fails_closed: bool) -> Need {
    let is_gate = entry.point.model() == ModelKind::Gating;
    let is_closed = entry.policy == FailurePolicy::Closed;
    let handler = || address(entry);
    if entry.point.is_fixed()
        && (fails_closed || *change == SettingChange::OnFailure(FailurePolicy::Closed))
    {
        let stage = entry.point.stage().map_or("stage", |stage| stage.name());
        return Need::Refused(OperatorError::Fixed { handler: handler(), stage });
    }
    let opens = || {
        let point = entry.point.name();
        let effect = if is_gate {
            format!("open the gate `{point}`")
        } else {
            format!("let fires of `{point}` go on without a handler that fails closed")
        };
        Need::BreakGlass { effect, or_fail_closed: false }
    };
    match change {
        SettingChange::Mode(Mode::Enforce) | SettingChange::OnFailure(FailurePolicy::Closed) => {
            Need::Nothing
        }
        SettingChange::Mode(Mode::Shadow) if entry.point.stage().is_some() => {
            Need::Refused(OperatorError::SharesRun { handler: handler() })
        }
        SettingChange::Mode(Mode::Shadow)
            if entry.point.model() == ModelKind::Void && !entry.pure =>
        {
            Need::Refused(OperatorError::NotPure { handler: handler() })
        }
        SettingChange::Mode(Mode::Warn) if entry.phase != Phase::Guard => {
            Need::Refused(OperatorError::NotAGuard { handler: handler() })
        }
        SettingChange::Mode(_)
        | SettingChange::Sample(_)
        | SettingChange::OnFailure(FailurePolicy::Open) => {
            if is_gate || is_closed {
                opens()
            } else {
                Need::Nothing
            }
        }
        SettingChange::ForceBreaker(BreakerState::Closed) => Need::Nothing,
        SettingChange::Breaker(breaker) if breaker.is_shadow() => Need::Nothing,
        SettingChange::TimeLimit(_)
        | SettingChange::RateLimit(_)
        | SettingChange::Breaker(_)
        | SettingChange::ForceBreaker(_) => {
            // A call that is not made, or not waited for, is a failure; a gate that fails
            // open would let the payload pass on it.
            if is_gate && !is_closed && !fails_closed {
                let point = entry.point.name();
                let effect = format!("let payloads pass `{point}`, which fails open");
                Need::BreakGlass { effect, or_fail_closed: true }
            } else {
                Need::Nothing
            }
        }
    }
}
