//! Why an operator's call was refused. Nothing was changed then.

use std::time::Duration;

use thiserror::Error;

use crate::escape::escaped;
use crate::operator::setting::SettingId;
use crate::operator::target::FORM;
use crate::readable::readable_debug;

/// Why an operator's call was refused. Nothing was changed.
///
/// ```
/// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
/// # hook_points! { pub gating Leaving { room: u32 } }
/// use hooks_runtime::operator::OperatorError;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Leaving>().name("door").guard(|_: &LeavingPayload| Judgement::Pass))?;
/// let operator = hooks.operator();
/// let refused = operator.disable("leaving:door").apply().unwrap_err();
/// assert!(matches!(refused, OperatorError::NeedsBreakGlass { .. }));
/// assert_eq!(
///     refused.to_string(),
///     "`disable` of `leaving:door` would open the gate `leaving`: if that is meant, write \
///      `operator.disable(\"leaving:door\").break_glass(\"why\").until(…).apply()`",
/// );
/// let refused = operator.disable("leaving:dor").apply().unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "no handler is `leaving:dor`; did you mean `leaving:door`?",
/// );
/// # Ok(()) }
/// ```
#[derive(Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum OperatorError {
    /// The text cannot be a target.
    #[error("`{}` is no target: {problem}; {FORM}", escaped(.target))]
    BadTarget {
        /// The text.
        target: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No handler has that name.
    #[error(
        "no handler is `{}`{}", escaped(.target),
        match .nearest {
            Some(nearest) => format!("; did you mean `{}`?", escaped(nearest)),
            None => format!("; {FORM}, and `hooks.handlers()` lists what there is"),
        }
    )]
    NoMatch {
        /// The target.
        target: String,
        /// The target that was most likely meant.
        nearest: Option<String>,
    },
    /// Several handlers are meant where one was expected.
    #[error(
        "`{}` is more than one handler ({}); name one", escaped(.target),
        .handlers.iter().map(|it| format!("`{}`", escaped(it))).collect::<Vec<_>>().join(", ")
    )]
    Several {
        /// The target.
        target: String,
        /// The handlers.
        handlers: Vec<String>,
    },
    /// The setting loosens what a gate or a fail-closed handler promises.
    #[error(
        "`{setting}` of `{}`{} would {effect}: if that is meant, write \
         `operator.{form}.break_glass(\"why\").until(…).apply()`{}",
        escaped(.handler),
        match .more { 0 => String::new(), more => format!(", and of {more} more that need it,") },
        if *.or_fail_closed { ", or make the handler fail closed with it: `.fail_closed()`" } else { "" }
    )]
    NeedsBreakGlass {
        /// The setting that was asked for.
        setting: &'static str,
        /// The first handler, in the order of the points, for which that is so.
        handler: String,
        /// How many more of the handlers need the form.
        more: usize,
        /// What it would do.
        effect: String,
        /// The call, without its end.
        form: String,
        /// Whether failing closed would do as well.
        or_fail_closed: bool,
    },
    /// A break-glass setting has no end.
    #[error("a break-glass setting has an end: add `.until(…)`, as `Duration::from_secs(600)`")]
    NoEnd,
    /// A break-glass setting says nothing of why.
    #[error("a break-glass setting has a reason that people can read: `.break_glass(\"why\")`")]
    NoReason,
    /// The end has passed already.
    #[error("the setting would have ended already: `until` takes a time from now on")]
    Ended,
    /// The end is too far away to be one.
    #[error(
        "a setting ends within a year: give `until` a time of at most 365 days, or leave it out \
         where the setting is to hold until it is cleared"
    )]
    TooFar,
    /// A void handler with effects that cannot be left out.
    #[error(
        "`{}` cannot run in shadow: it is void, so its effects are all it has; declare it `pure` \
         if it has none, or disable it",
        escaped(.handler)
    )]
    NotPure {
        /// The handler.
        handler: String,
    },
    /// A handler of a stage shares the context of the run.
    #[error(
        "`{}` cannot run in shadow: a handler of a stage changes the context of its run; disable \
         it instead",
        escaped(.handler)
    )]
    SharesRun {
        /// The handler.
        handler: String,
    },
    /// Only guards warn.
    #[error("`{}` cannot warn: only a guard of a gating point can; use `shadow`", escaped(.handler))]
    NotAGuard {
        /// The handler.
        handler: String,
    },
    /// The failures of a stage at the end of a run never change its outcome.
    #[error(
        "`{}` cannot fail closed: the outcome of a run stands when its `{stage}` begins",
        escaped(.handler)
    )]
    Fixed {
        /// The handler.
        handler: String,
        /// The stage.
        stage: &'static str,
    },
    /// The time limit is not shorter than what the handlers have.
    #[error(
        "a time limit of {asked:?} changes nothing: `{}` has one of {own:?}, and an operator only \
         shortens it",
        escaped(.handler)
    )]
    NotShorter {
        /// The handler.
        handler: String,
        /// Its own limit.
        own: Duration,
        /// What was asked for.
        asked: Duration,
    },
    /// A value of the setting is out of range.
    #[error("`{setting}` was given a value that it cannot have: {problem}")]
    BadValue {
        /// The setting that was asked for.
        setting: &'static str,
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// There are as many settings as a registry can have.
    #[error("there are {most} settings, which is the most: clear some, or use fewer with `*`")]
    TooMany {
        /// How many there can be.
        most: usize,
    },
    /// No point of that name was fired or has handlers.
    #[error(
        "no hook point is `{}`{}; to trace one that comes later, say `even_if_none()`",
        escaped(.point),
        match .nearest {
            Some(nearest) => format!("; did you mean `{}`?", escaped(nearest)),
            None => " so far".to_owned(),
        }
    )]
    NoPoint {
        /// The name, or the pattern.
        point: String,
        /// The name that was most likely meant.
        nearest: Option<String>,
    },
    /// A trace was asked for that cannot be.
    #[error("this cannot be traced: {problem}")]
    BadTrace {
        /// What is wrong, and what is expected.
        problem: String,
    },
    /// There are as many traces as a registry can have.
    #[error("there are {most} traces, which is the most: drop one")]
    TooManyTraces {
        /// How many there can be.
        most: usize,
    },
    /// There is no such setting, or no longer.
    #[error("there is no setting {id}: it has ended, was cleared, or never was")]
    NoSetting {
        /// The setting.
        id: SettingId,
    },
}

readable_debug! {
    enum OperatorError {
        BadTarget { target, problem },
        NoMatch { target, nearest },
        Several { target, handlers },
        NeedsBreakGlass { setting, handler, more, effect, form, or_fail_closed },
        NoEnd,
        NoReason,
        Ended,
        TooFar,
        NotPure { handler },
        SharesRun { handler },
        NotAGuard { handler },
        Fixed { handler, stage },
        NotShorter { handler, own, asked },
        BadValue { setting, problem },
        TooMany { most },
        NoPoint { point, nearest },
        BadTrace { problem },
        TooManyTraces { most },
        NoSetting { id },
    }
}
