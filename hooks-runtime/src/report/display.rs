//! Reports for a terminal: a row for each handler, in columns.

use std::fmt;
use std::time::Duration;

use super::{
    AnswerRefusal, Contribution, FireReport, HandlerReport, HandlerStatus, RecoveryRefusal,
    SkipReason,
};
use crate::escape::escaped;
use crate::flow::{FlowStep, StepReport};
use crate::operator::Setting;

impl fmt::Display for FireReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.point, self.model)?;
        if self.handlers.is_empty() {
            f.write_str("\n  no handlers")?;
        } else {
            Columns::of(&self.handlers).write(f, 2, &self.handlers)?;
        }
        for setting in &self.break_glass {
            write!(f, "\n  {setting}")?;
        }
        Ok(())
    }
}

/// The columns that all stages and steps of one run of a flow share.
pub(crate) struct FlowColumns(Columns);

impl FlowColumns {
    pub(crate) fn of<'r>(
        stages: &'r [FireReport],
        steps: impl Iterator<Item = (FlowStep, &'r StepReport)>,
    ) -> Self {
        let mut widest = Columns::of(stages.iter().flat_map(|stage| &stage.handlers));
        for (step, report) in steps {
            // Its column is that of the stages, two to the left of the handlers.
            widest.handler = widest.handler.max(step.name().len().saturating_sub(2));
            widest.elapsed = widest.elapsed.max(elapsed(report.elapsed()).chars().count());
        }
        Self(widest)
    }

    pub(crate) fn write_stage(
        &self,
        f: &mut fmt::Formatter<'_>,
        report: &FireReport,
    ) -> fmt::Result {
        match report.stage {
            Some(stage) => write!(f, "\n  {stage}")?,
            None => write!(f, "\n  {}", report.point)?,
        }
        self.0.write(f, 4, &report.handlers)
    }

    pub(crate) fn write_step(
        &self,
        f: &mut fmt::Formatter<'_>,
        step: FlowStep,
        report: &StepReport,
    ) -> fmt::Result {
        let Columns { handler, owner, elapsed: time } = self.0;
        write!(
            f,
            "\n  {:width$}  {:owner$}  {:>time$}  {}",
            step.name(),
            "",
            elapsed(report.elapsed()),
            report.status(),
            width = handler + 2,
        )
    }
}

/// The widths of the columns before the last.
struct Columns {
    handler: usize,
    owner: usize,
    elapsed: usize,
}

impl Columns {
    fn of<'r>(rows: impl IntoIterator<Item = &'r HandlerReport>) -> Self {
        let mut widest = Self { handler: 0, owner: 0, elapsed: 0 };
        for row in rows {
            widest.handler = widest.handler.max(escaped(&row.handler).to_string().chars().count());
            widest.owner = widest.owner.max(row.owner.to_string().chars().count());
            widest.elapsed = widest.elapsed.max(elapsed(row.elapsed).chars().count());
        }
        widest
    }

    fn write(
        &self,
        f: &mut fmt::Formatter<'_>,
        indent: usize,
        rows: &[HandlerReport],
    ) -> fmt::Result {
        let Self { handler, owner, elapsed: time } = *self;
        for row in rows {
            write!(
                f,
                "\n{:indent$}{:handler$}  {:owner$}  {:>time$}  {}{}{}{}",
                "",
                escaped(&row.handler),
                row.owner.to_string(),
                elapsed(row.elapsed),
                row.status,
                Overrun(row.overrun),
                Settings(&row.settings),
                Notes(row),
            )?;
        }
        Ok(())
    }
}

/// How long a handler ran; a dash when it was not called.
fn elapsed(elapsed: Option<Duration>) -> String {
    elapsed.map_or_else(|| "-".to_owned(), |elapsed| format!("{elapsed:.1?}"))
}

/// How long after its limit a handler answered.
struct Overrun(Option<Duration>);

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(overrun) => write!(f, " ({overrun:.1?} after its time limit)"),
            None => Ok(()),
        }
    }
}

/// The settings that counted for a handler.
struct Settings<'r>(&'r [Setting]);

impl fmt::Display for Settings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|setting| write!(f, " [{setting}]"))
    }
}

impl fmt::Display for HandlerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran(contribution) => write!(f, "{contribution}"),
            Self::Filtered(reason) => write!(f, "not called: {reason}"),
            Self::Failed { kind, message, policy } => {
                write!(f, "{kind}, {policy}: {}", escaped(message))
            }
            Self::Cancelled => f.write_str("cancelled: the fire was dropped"),
            Self::Shadowed { decision, .. } => write!(f, "in shadow: {decision}"),
            Self::ShadowFailed { kind, message } => {
                write!(f, "in shadow: {kind}: {}", escaped(message))
            }
        }
    }
}

impl fmt::Display for Contribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("ran"),
            Self::Fields(fields) if fields.is_empty() => f.write_str("ran, set nothing"),
            Self::Fields(fields) => write!(f, "set {}", fields.join(", ")),
            Self::Claimed => f.write_str("claimed"),
            Self::Passed => f.write_str("passed"),
            Self::Replaced => f.write_str("replaced the payload"),
            Self::Rejected(reason) => write!(f, "rejected: {}", escaped(reason)),
            Self::Answered => f.write_str("answered"),
            Self::AnswerRefused(refusal) => write!(f, "{refusal}"),
            Self::Recovered => f.write_str("recovered"),
            Self::RecoveryRefused(refusal) => write!(f, "{refusal}"),
            Self::Skipped => f.write_str("skipped the rest of the stage"),
            Self::Aborted(reason) => write!(f, "aborted: {}", escaped(reason)),
        }
    }
}

impl fmt::Display for AnswerRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EarlierAnswer => "answer refused: an earlier handler answered",
            Self::OwnAnswer => "answered, second answer refused",
            Self::Settled => "answer refused: the outcome stands already",
        })
    }
}

impl fmt::Display for RecoveryRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EarlierRecovery => "recovery refused: an earlier handler recovered",
            Self::OwnRecovery => "recovered, second recovery refused",
            Self::OtherStage => "recovery refused: only a handler of onError can recover",
            Self::OtherFailure => "recovery refused: it is not the operation that failed",
        })
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scope => "its plugin is not in scope",
            Self::Target => "bound to another target",
            Self::Unregistered => "unregistered meanwhile",
            Self::Condition => "its condition was not met",
            Self::Once => "called once already",
            Self::Disabled => "disabled",
            Self::SampledOut => "not in the sample",
            Self::AfterClaim => "an earlier handler claimed",
            Self::AfterRejection => "an earlier handler rejected",
            Self::AfterFailure => "an earlier handler failed closed",
            Self::AfterSkip => "an earlier handler skipped the rest of the stage",
            Self::AfterAbort => "an earlier handler aborted the flow",
        })
    }
}

/// What a handler noted of its call.
struct Notes<'r>(&'r HandlerReport);

impl fmt::Display for Notes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (key, value)) in self.0.notes().enumerate() {
            let before = if at == 0 { " {" } else { ", " };
            write!(f, "{before}{}: {}", escaped(key), escaped(value))?;
        }
        if self.0.notes.is_empty() { Ok(()) } else { f.write_str("}") }
    }
}
