//! Of which kind a contribution is.

use super::Contribution;

/// What a handler decided, in one word: the kind of its [`Contribution`].
///
/// ```
/// use hooks_runtime::report::{Contribution, ContributionKind};
///
/// let rejected = Contribution::Rejected("too long".to_owned());
/// assert_eq!(rejected.kind(), ContributionKind::Rejected);
/// assert_eq!(rejected.kind().as_str(), "rejected");
/// // What sets no field that was empty decides nothing.
/// assert_eq!(Contribution::Fields(Vec::new()).kind(), ContributionKind::Nothing);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ContributionKind {
    /// Nothing: no opinion, no claim, no field, or a void point.
    Nothing,
    /// Fields of the result, at least one.
    Fields,
    /// The claim.
    Claimed,
    /// It let the payload pass as it was.
    Passed,
    /// It put another payload in place.
    Replaced,
    /// It rejected the payload.
    Rejected,
    /// It answered in place of the flow's operation, or after it.
    Answered,
    /// It answered, and that answer, or its last one, was refused.
    AnswerRefused,
    /// It recovered the flow from a failure of the operation.
    Recovered,
    /// It recovered, and that recovery, or its last one, was refused.
    RecoveryRefused,
    /// It skipped the rest of its stage.
    Skipped,
    /// It aborted the flow.
    Aborted,
}

impl ContributionKind {
    pub(crate) const ALL: [Self; 12] = [
        Self::Nothing,
        Self::Fields,
        Self::Claimed,
        Self::Passed,
        Self::Replaced,
        Self::Rejected,
        Self::Answered,
        Self::AnswerRefused,
        Self::Recovered,
        Self::RecoveryRefused,
        Self::Skipped,
        Self::Aborted,
    ];

    /// One word for logs and counters, as it is serialised.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Fields => "fields",
            Self::Claimed => "claimed",
            Self::Passed => "passed",
            Self::Replaced => "replaced",
            Self::Rejected => "rejected",
            Self::Answered => "answered",
            Self::AnswerRefused => "answer_refused",
            Self::Recovered => "recovered",
            Self::RecoveryRefused => "recovery_refused",
            Self::Skipped => "skipped",
            Self::Aborted => "aborted",
        }
    }
}

impl Contribution {
    /// Of which kind it is.
    ///
    /// The example of [`ContributionKind`] asks for some.
    pub fn kind(&self) -> ContributionKind {
        match self {
            Self::Nothing => ContributionKind::Nothing,
            Self::Fields(fields) if fields.is_empty() => ContributionKind::Nothing,
            Self::Fields(_) => ContributionKind::Fields,
            Self::Claimed => ContributionKind::Claimed,
            Self::Passed => ContributionKind::Passed,
            Self::Replaced => ContributionKind::Replaced,
            Self::Rejected(_) => ContributionKind::Rejected,
            Self::Answered => ContributionKind::Answered,
            Self::AnswerRefused(_) => ContributionKind::AnswerRefused,
            Self::Recovered => ContributionKind::Recovered,
            Self::RecoveryRefused(_) => ContributionKind::RecoveryRefused,
            Self::Skipped => ContributionKind::Skipped,
            Self::Aborted(_) => ContributionKind::Aborted,
        }
    }
}
