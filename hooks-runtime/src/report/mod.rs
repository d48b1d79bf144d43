//! What happened in one fire, handler by handler.

mod counts;
mod display;
mod kind;
mod warning;
#[cfg(feature = "serde")]
mod wire;

use std::sync::Arc;
use std::time::Duration;

pub use crate::escape::{Escaped, escaped};
pub use counts::ContributionCounts;
pub(crate) use display::FlowColumns;
pub use kind::ContributionKind;
pub use warning::Warning;

use crate::flow::StageKind;
use crate::observe::notes::Note;
use crate::operator::Setting;
use crate::operator::rules::HandlerRules;
use crate::point::{FailurePolicy, ModelKind, PointDescriptor};
use crate::registry::entry::{Entry, Owner};

/// What happened in one fire, handler by handler, in the order of the list.
///
/// It prints as a table. With the feature `serde` it serialises, here as JSON:
///
/// ```json
/// {
///   "point": "sending",
///   "model": "gating",
///   "stage": null,
///   "handlers": [
///     {
///       "handler": "no_secrets",
///       "owner": { "kind": "plugin", "id": "safety" },
///       "status": {
///         "kind": "ran",
///         "contribution": { "kind": "rejected", "reason": "it mentions a password" }
///       },
///       "elapsed_ns": 4100,
///       "overrun_ns": null,
///       "settings": [],
///       "notes": {}
///     }
///   ],
///   "break_glass": []
/// }
/// ```
///
/// The same rules hold for everything that serialises in this crate: every key is
/// always present, what can hold more than a word is an object with a `kind`,
/// words are in snake case, and times are whole nanoseconds.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::point::ModelKind;
/// # hook_points! { pub claiming Shelf(String) -> u32; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Shelf>().name("lamps").handler(|item: &String| (item == "lamp").then_some(4)))?;
/// let (_, report) = hooks.fire_claiming_reported::<Shelf>(&"lamp".to_owned()).await;
/// assert_eq!((report.point(), report.model(), report.stage()), ("shelf", ModelKind::Claiming, None));
/// assert_eq!(report.handlers().len(), 1);
/// assert_eq!(report.handler("lamps").unwrap().status().to_string(), "claimed");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FireReport {
    point: &'static str,
    model: ModelKind,
    stage: Option<StageKind>,
    handlers: Vec<HandlerReport>,
    break_glass: Vec<Setting>,
}

/// What happened to one handler in one fire.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::registry::Owner;
/// # hook_points! { pub void Rang { bell: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Rang>().name("open").handler(|_: &RangPayload| ()))?;
/// let (_, report) = hooks.fire_void_reported::<Rang>(&RangPayload { bell: 1 }).await;
/// let open = &report.handlers()[0];
/// assert_eq!((open.handler(), open.owner(), open.status().as_str()), ("open", &Owner::BuiltIn, "ran"));
/// assert!(open.elapsed().is_some()); // a reported fire is timed
/// assert_eq!(open.overrun(), None);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HandlerReport {
    handler: Arc<str>,
    owner: Owner,
    status: HandlerStatus,
    #[cfg_attr(
        feature = "serde",
        serde(rename = "elapsed_ns", serialize_with = "crate::wire::nanoseconds")
    )]
    elapsed: Option<Duration>,
    #[cfg_attr(
        feature = "serde",
        serde(rename = "overrun_ns", serialize_with = "crate::wire::nanoseconds")
    )]
    overrun: Option<Duration>,
    settings: Vec<Setting>,
    #[cfg_attr(feature = "serde", serde(serialize_with = "wire::notes"))]
    notes: Vec<Note>,
}

/// What became of a handler in one fire.
///
/// ```
/// use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};
///
/// let ran = HandlerStatus::Ran(Contribution::Fields(vec!["title"]));
/// assert_eq!((ran.as_str(), ran.to_string()), ("ran", "set title".to_owned()));
/// let skipped = HandlerStatus::Filtered(SkipReason::Scope);
/// assert_eq!(skipped.to_string(), "not called: its plugin is not in scope");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerStatus {
    /// It ran to its end.
    Ran(Contribution),
    /// It was not called.
    Filtered(SkipReason),
    /// It failed.
    Failed {
        /// `error`, `panic`, `timeout`, `no_timer`, `breaker_open` or `rate_limited`.
        kind: &'static str,
        /// The message of the failure.
        message: String,
        /// What the failure meant for the fire.
        policy: FailurePolicy,
    },
    /// The fire was dropped while it ran.
    Cancelled,
    /// It ran in shadow: what it would have contributed, to no effect.
    Shadowed {
        /// What it decided.
        decision: Contribution,
        /// Whether a rejection is a [warning](FireReport::warnings).
        warns: bool,
    },
    /// It failed in shadow, to no effect.
    ShadowFailed {
        /// As of a failure that has an effect.
        kind: &'static str,
        /// The message of the failure.
        message: String,
    },
}

/// What a handler that ran added to the outcome.
///
/// The example of [`HandlerStatus`] has one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contribution {
    /// Nothing: no opinion, no claim, or a void point.
    Nothing,
    /// These fields of the result; other fields that it set were set already.
    Fields(Vec<&'static str>),
    /// The claim.
    Claimed,
    /// It let the payload pass as it was.
    Passed,
    /// It put another payload in place.
    Replaced,
    /// It rejected the payload, for this reason.
    Rejected(String),
    /// It answered in place of the flow's operation, or after it.
    Answered,
    /// It answered, and that answer, or its last one, was refused.
    AnswerRefused(AnswerRefusal),
    /// It recovered the flow from a failure of the operation.
    Recovered,
    /// It recovered, and that recovery, or its last one, was refused.
    RecoveryRefused(RecoveryRefusal),
    /// It skipped the rest of its stage.
    Skipped,
    /// It aborted the flow, for this reason.
    Aborted(String),
}

/// Why an answer of a flow's handler was refused.
///
/// ```
/// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
/// # use hooks_runtime::report::{AnswerRefusal, Contribution, HandlerStatus};
/// # hook_points! { pub flow Quote(u32) -> u32; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// for name in ["cache", "guess"] {
///     let stage = on::<BeforeExecute<Quote>>().name(name);
///     hooks.register(stage.handler(|flow: &mut FlowContext<Quote>| { flow.respond(7); }))?;
/// }
/// let quote = async |_| -> Result<u32, std::io::Error> { unreachable!("answered before") };
/// let (_, report) = hooks.flow::<Quote>().run_reported(1, quote).await;
/// let refused = Contribution::AnswerRefused(AnswerRefusal::EarlierAnswer);
/// assert_eq!(report.stages()[0].handler("guess").unwrap().status(), &HandlerStatus::Ran(refused));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum AnswerRefusal {
    /// An earlier handler of the stage answered.
    EarlierAnswer,
    /// It answered itself before: its first answer stands.
    OwnAnswer,
    /// The outcome is final already: in `OnError` and `Finally`.
    Settled,
}

/// Why a recovery by a flow's handler was refused.
///
/// ```
/// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
/// # use hooks_runtime::report::{Contribution, HandlerStatus, RecoveryRefusal};
/// # hook_points! { pub flow Quote(u32) -> u32; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let early = on::<BeforeExecute<Quote>>().name("early");
/// hooks.register(early.handler(|flow: &mut FlowContext<Quote>| assert!(!flow.recover(7))))?;
/// let (_, report) = hooks.flow::<Quote>().run_reported(1, async |n| Ok::<_, std::io::Error>(n)).await;
/// let refused = Contribution::RecoveryRefused(RecoveryRefusal::OtherStage);
/// assert_eq!(report.stages()[0].handlers()[0].status(), &HandlerStatus::Ran(refused));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum RecoveryRefusal {
    /// An earlier handler recovered.
    EarlierRecovery,
    /// It recovered itself before: its first output stands.
    OwnRecovery,
    /// It is not a handler of `OnError`.
    OtherStage,
    /// It is not the operation that failed: the flow was aborted, its input is not
    /// valid, or a stage failed.
    OtherFailure,
}

/// Why a handler was not called.
///
/// The example of [`SkipCounts`](crate::registry::SkipCounts) counts one, that of [`HandlerStatus`] prints one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its plugin is not in the scope of the fire.
    Scope,
    /// It is bound to another target.
    Target,
    /// It was unregistered while the fire was under way.
    Unregistered,
    /// Its condition was not met.
    Condition,
    /// It is called once, and was.
    Once,
    /// An operator has disabled it.
    Disabled,
    /// An operator has it called for a sample of fires, and this is not one of them.
    SampledOut,
    /// An earlier handler claimed.
    AfterClaim,
    /// An earlier handler rejected.
    AfterRejection,
    /// An earlier handler failed closed.
    AfterFailure,
    /// An earlier handler skipped the rest of the stage.
    AfterSkip,
    /// An earlier handler aborted the flow.
    AfterAbort,
}

impl SkipReason {
    /// The reasons that are a handler's own: each is counted at the handler.
    pub(crate) const COUNTED: [Self; 7] = [
        Self::Scope,
        Self::Target,
        Self::Unregistered,
        Self::Condition,
        Self::Once,
        Self::Disabled,
        Self::SampledOut,
    ];

    pub(crate) const ALL: [Self; 12] = [
        Self::Scope,
        Self::Target,
        Self::Unregistered,
        Self::Condition,
        Self::Once,
        Self::Disabled,
        Self::SampledOut,
        Self::AfterClaim,
        Self::AfterRejection,
        Self::AfterFailure,
        Self::AfterSkip,
        Self::AfterAbort,
    ];

    /// One word for logs and counters, as it is serialised.
    ///
    /// ```
    /// use hooks_runtime::report::SkipReason;
    ///
    /// assert_eq!(SkipReason::AfterClaim.as_str(), "after_claim");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Target => "target",
            Self::Unregistered => "unregistered",
            Self::Condition => "condition",
            Self::Once => "once",
            Self::Disabled => "disabled",
            Self::SampledOut => "sampled_out",
            Self::AfterClaim => "after_claim",
            Self::AfterRejection => "after_rejection",
            Self::AfterFailure => "after_failure",
            Self::AfterSkip => "after_skip",
            Self::AfterAbort => "after_abort",
        }
    }
}

/// Adds the break-glass settings that counted for these handlers, where they are not there:
/// a setting may begin between the look at those that hold and the beginning of the fire.
pub(crate) fn add_counted(break_glass: &mut Vec<Setting>, handlers: &[HandlerReport]) {
    let counted = handlers.iter().flat_map(|row| &row.settings);
    for setting in counted.filter(|setting| setting.is_break_glass()) {
        if !break_glass.contains(setting) {
            break_glass.push(setting.clone());
        }
    }
}

impl FireReport {
    pub(crate) fn new(point: &PointDescriptor, handlers: Vec<HandlerReport>) -> Self {
        Self {
            point: point.name(),
            model: point.model(),
            stage: point.stage(),
            handlers,
            break_glass: Vec::new(),
        }
    }

    /// With the break-glass settings that held when the fire began.
    /// What counted for a handler is among them, whenever it was set.
    pub(crate) fn under(mut self, break_glass: Vec<Setting>) -> Self {
        self.break_glass = break_glass;
        add_counted(&mut self.break_glass, &self.handlers);
        self
    }

    /// The report of a fire that called no handler.
    pub(crate) fn without_handlers(point: &PointDescriptor) -> Self {
        Self::new(point, Vec::new())
    }

    /// The wire name of the point.
    pub fn point(&self) -> &'static str {
        self.point
    }

    /// The model of the point.
    pub fn model(&self) -> ModelKind {
        self.model
    }

    /// The stage, if the point is one of a flow.
    pub fn stage(&self) -> Option<StageKind> {
        self.stage
    }

    /// The handlers, in order.
    pub fn handlers(&self) -> &[HandlerReport] {
        &self.handlers
    }

    /// The handler of that name, of whichever owner comes first.
    pub fn handler(&self, name: &str) -> Option<&HandlerReport> {
        self.handlers.iter().find(|row| &*row.handler == name)
    }

    /// The break-glass settings that held anywhere in the registry when the fire began.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
    /// # hook_points! { pub gating Posting { text: String }  pub void Rang { bell: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Posting>().name("spam").guard(|_: &PostingPayload| Judgement::Pass))?;
    /// let operator = hooks.operator();
    /// let disable = operator.disable("posting:spam").break_glass("it is broken");
    /// disable.until(Duration::from_secs(60)).apply()?;
    /// let (_, report) = hooks.fire_void_reported::<Rang>(&RangPayload { bell: 1 }).await;
    /// assert_eq!(report.break_glass()[0].to_string(), "break-glass disable posting:spam: it is broken");
    /// # Ok(()) }
    /// ```
    pub fn break_glass(&self) -> &[Setting] {
        &self.break_glass
    }

    /// What guards would have rejected that an operator has only [warn].
    ///
    /// The example of [`warn`] has one.
    ///
    /// [warn]: crate::operator::Operator::warn
    /// [`warn`]: crate::operator::Operator::warn
    pub fn warnings(&self) -> impl Iterator<Item = Warning<'_>> {
        self.handlers.iter().filter_map(Warning::of)
    }
}

impl HandlerStatus {
    /// One word for logs and counters: `ran`, `filtered`, `error`, `panic`,
    /// `timeout`, `no_timer`, `breaker_open`, `rate_limited`, `cancelled`, `shadowed` or
    /// `shadow_failed`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Ran(_) => "ran",
            Self::Filtered(_) => "filtered",
            Self::Failed { kind, .. } => kind,
            Self::Cancelled => "cancelled",
            Self::Shadowed { .. } => "shadowed",
            Self::ShadowFailed { .. } => "shadow_failed",
        }
    }

    /// What it decided, with or without an effect.
    ///
    /// ```
    /// use hooks_runtime::report::{Contribution, HandlerStatus};
    ///
    /// let shadowed = HandlerStatus::Shadowed { decision: Contribution::Claimed, warns: false };
    /// assert_eq!((shadowed.decision(), shadowed.effect()), (Some(&Contribution::Claimed), None));
    /// assert_eq!(shadowed.to_string(), "in shadow: claimed");
    /// ```
    pub fn decision(&self) -> Option<&Contribution> {
        match self {
            Self::Ran(decision) | Self::Shadowed { decision, .. } => Some(decision),
            _ => None,
        }
    }

    /// What of that had an effect on the fire: nothing of a handler in shadow.
    ///
    /// The example of [`decision`](Self::decision) has one of each.
    pub fn effect(&self) -> Option<&Contribution> {
        match self {
            Self::Ran(contribution) => Some(contribution),
            _ => None,
        }
    }
}

impl HandlerReport {
    pub(crate) fn new(
        entry: &Entry,
        status: HandlerStatus,
        elapsed: Option<Duration>,
        limit: Option<Duration>,
        rules: Option<&HandlerRules>,
    ) -> Self {
        let overrun = elapsed.zip(limit).map(|(elapsed, limit)| elapsed.saturating_sub(limit));
        let settings = rules.map_or_else(Vec::new, |rules| rules.settings.to_vec());
        let (handler, owner) = (Arc::clone(&entry.name), entry.owner());
        Self { handler, owner, status, elapsed, overrun, settings, notes: Vec::new() }
    }

    /// With what the handler noted of the call.
    pub(crate) fn with_notes(mut self, notes: Vec<Note>) -> Self {
        self.notes = notes;
        self
    }

    /// The handler's name.
    pub fn handler(&self) -> &str {
        &self.handler
    }

    /// Who registered it.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// What became of it.
    pub fn status(&self) -> &HandlerStatus {
        &self.status
    }

    /// How long it ran; `None` when it was not called.
    pub fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }

    /// How long after its time limit it ended by itself, if it did. What it
    /// answered counts all the same.
    pub fn overrun(&self) -> Option<Duration> {
        self.overrun
    }

    /// The settings of an operator that counted for it.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Rang { bell: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Rang>().name("open").handler(|_: &RangPayload| ()))?;
    /// hooks.operator().disable("rang:open").by("ops").because("night").apply()?;
    /// let (_, report) = hooks.fire_void_reported::<Rang>(&RangPayload { bell: 1 }).await;
    /// assert_eq!(report.handlers()[0].settings()[0].by(), Some("ops"));
    /// # Ok(()) }
    /// ```
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What the handler noted of its call under that key; see
    /// [`HookContext::note`](crate::HookContext::note), which has an example.
    ///
    /// ```
    /// use hooks_runtime::report::HandlerReport;
    ///
    /// fn edition(row: &HandlerReport) -> &str {
    ///     row.note("edition").unwrap_or("not known")
    /// }
    /// ```
    pub fn note(&self, key: &str) -> Option<&str> {
        self.notes().find(|(noted, _)| *noted == key).map(|(_, value)| value)
    }

    /// All that the handler noted of its call, in the order in which it did.
    ///
    /// ```
    /// use hooks_runtime::report::HandlerReport;
    ///
    /// fn noted(row: &HandlerReport) -> Vec<String> {
    ///     row.notes().map(|(key, value)| format!("{key}={value}")).collect()
    /// }
    /// ```
    pub fn notes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.notes.iter().map(|(key, value)| (*key, value.as_str()))
    }
}
