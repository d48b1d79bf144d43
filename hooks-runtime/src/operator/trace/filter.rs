//! Which fires a trace is for.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

#[cfg(feature = "json")]
use super::capture::Capture;
use super::outcome;
use super::payload::Payload;
use crate::engine::raw::Contained;
use crate::model::compose::Compose;
use crate::operator::apply::parse;
use crate::operator::error::OperatorError;
use crate::operator::target::{Pattern, glob};
use crate::plugin::PluginId;
use crate::point::{HookPoint, ModelKind, PointDescriptor};
use crate::report::{FireReport, HandlerReport};

/// Which fires a trace is for, and what it keeps of them.
///
/// A fire in its lazy form, such as `fire_void_with`, at a point without handlers has no
/// payload and is not traced, as it is not observed.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Stored { key: String } }
/// use hooks_runtime::operator::{TraceFilter, TraceLimit};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Stored>().name("copy").plugin("mirror").handler(|it: &StoredPayload| {
///     if it.key == "full" { Err("no space") } else { Ok(()) }
/// }))?;
/// // The fires in which a handler of the plugin `mirror` fails, for at most an hour.
/// let failing = TraceFilter::target("*:mirror/*")
///     .outcome("failed")
///     .until(Duration::from_secs(3_600));
/// let mut trace = hooks.operator().trace(failing, TraceLimit::count(10))?;
/// for key in ["a", "full"] {
///     hooks.fire_void::<Stored>(&StoredPayload { key: key.into() }).await?;
/// }
/// let fire = trace.try_next().unwrap();
/// assert_eq!(fire.report().handlers()[0].status().as_str(), "error");
/// assert!(trace.try_next().is_none());
/// # Ok(()) }
/// ```
#[must_use = "a filter does nothing by itself"]
pub struct TraceFilter<P = AnyPoint> {
    filter: Filter,
    point: PhantomData<fn() -> P>,
}

/// In a [`TraceFilter`]: it is not for one point, so it cannot read payloads by type.
///
/// ```
/// use hooks_runtime::operator::{AnyPoint, TraceFilter};
///
/// let all: TraceFilter<AnyPoint> = TraceFilter::all();
/// assert_eq!(all.to_string(), "*");
/// ```
#[derive(Debug)]
pub enum AnyPoint {}

/// A condition on the payload.
type When = Box<dyn Fn(&mut Payload<'_>) -> bool + Send + Sync>;

/// What makes a payload into text; `None` where it is of another point.
type Show = Box<dyn Fn(&mut Payload<'_>) -> Option<Result<String, String>> + Send + Sync>;

/// A filter whose point is forgotten.
pub(crate) struct Filter {
    points: Points,
    target: Option<String>,
    outcome: Option<String>,
    pub(super) code: FilterCode,
    is_conditional: bool,
    pub(super) buffer: usize,
    pub(super) payload_bytes: usize,
    pub(super) ttl: Option<Duration>,
    pub(super) may_match_none: bool,
}

/// What a filter asks of payloads: code of the one who traces, with what it captured.
#[derive(Default)]
pub(super) struct FilterCode {
    pub(super) when: Vec<Contained<When>>,
    pub(super) show: Option<ShowBy>,
}

pub(super) enum ShowBy {
    Type(Contained<Show>),
    #[cfg(feature = "json")]
    Capture(Capture),
}

enum Points {
    All,
    Named(String),
    One(&'static PointDescriptor),
}

/// So many fires wait to be taken, unless the filter says otherwise.
const BUFFER: usize = 1_024;
/// So many bytes of a payload are kept, unless the filter says otherwise.
const PAYLOAD_BYTES: usize = 4_096;

impl TraceFilter {
    /// Every fire of every point.
    ///
    /// The example of [`Trace`](super::Trace) traces all.
    pub fn all() -> Self {
        Self::new(Points::All)
    }

    /// The fires of the points of that wire name, in which `*` stands for any text. The
    /// point of a stage is called `flow/stage`.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void DoorOpened { door: u32 }  pub void DoorClosed { door: u32 } }
    /// use hooks_runtime::operator::{TraceFilter, TraceLimit};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.fire_void::<DoorOpened>(&DoorOpenedPayload { door: 1 }).await?;
    /// let operator = hooks.operator();
    /// let mut trace = operator.trace(TraceFilter::point("door_*"), TraceLimit::count(9))?;
    /// hooks.fire_void::<DoorClosed>(&DoorClosedPayload { door: 1 }).await?;
    /// assert_eq!(trace.try_next().unwrap().point(), "door_closed");
    ///
    /// let typo = operator.trace(TraceFilter::point("door_opend"), TraceLimit::count(9));
    /// assert_eq!(
    ///     typo.unwrap_err().to_string(),
    ///     "no hook point is `door_opend`; did you mean `door_opened`?; to trace one that comes \
    ///      later, say `even_if_none()`",
    /// );
    /// # Ok(()) }
    /// ```
    pub fn point(name: impl Into<String>) -> Self {
        Self::new(Points::Named(name.into()))
    }

    /// The fires that have a handler of that target, called or not: `point:plugin/handler`
    /// with `*` for any text, as everywhere. `*:*` is any handler.
    ///
    /// The example of [`TraceFilter`] has one.
    pub fn target(target: impl Into<String>) -> Self {
        let mut all = Self::all();
        all.filter.target = Some(target.into());
        all
    }

    /// The fires of the point `P`, or the runs of the flow `P`, whose payload the filter
    /// may look at.
    ///
    /// The example of [`Operator::trace`](crate::operator::Operator::trace) has one.
    pub fn at<P: HookPoint>() -> TraceFilter<P> {
        TraceFilter::new(Points::One(P::descriptor()))
    }
}

impl<P> TraceFilter<P> {
    fn new(points: Points) -> Self {
        let filter = Filter {
            points,
            target: None,
            outcome: None,
            code: FilterCode::default(),
            is_conditional: false,
            buffer: BUFFER,
            payload_bytes: PAYLOAD_BYTES,
            ttl: None,
            may_match_none: false,
        };
        Self { filter, point: PhantomData }
    }

    fn with(mut self, change: impl FnOnce(&mut Filter)) -> Self {
        change(&mut self.filter);
        self
    }

    /// Only fires that came to that. With a [`target`](TraceFilter::target), only fires
    /// in which a handler of the target came to that.
    ///
    /// | of | words |
    /// |---|---|
    /// | a fire | those of [`FireEnd`](crate::observe::FireEnd): `rejected`, `claimed`, `failed`, … |
    /// | a handler | `ran`, `filtered`, `failed`, `cancelled`, `shadowed`, `shadow_failed`; what it decided ([`ContributionKind`](crate::report::ContributionKind)); how it failed ([`FailureCause`](crate::error::FailureCause)); why it was not called ([`SkipReason`](crate::report::SkipReason)) |
    ///
    /// ```
    /// # use hooks_runtime::HookRegistry;
    /// # use hooks_runtime::operator::{TraceFilter, TraceLimit};
    /// # let hooks = HookRegistry::new();
    /// let typo = hooks.operator().trace(TraceFilter::all().outcome("rejcted"), TraceLimit::count(1));
    /// assert_eq!(
    ///     typo.unwrap_err().to_string(),
    ///     "this cannot be traced: no fire comes to `rejcted`; did you mean `rejected`?",
    /// );
    /// ```
    pub fn outcome(self, word: impl Into<String>) -> Self {
        self.with(|filter| filter.outcome = Some(word.into()))
    }

    /// How many fires wait to be taken, 1,024 by default: past that a fire is dropped, and
    /// [counted](super::Trace::dropped).
    ///
    /// The example of [`Trace`](super::Trace) has a small one.
    pub fn buffer(self, fires: usize) -> Self {
        self.with(|filter| filter.buffer = fires)
    }

    /// How many bytes of a payload are kept: 4,096 by default.
    ///
    /// The example of [`TracedPayload`](super::TracedPayload) keeps few.
    pub fn payload_bytes(self, bytes: usize) -> Self {
        self.with(|filter| filter.payload_bytes = bytes)
    }

    /// How long the trace lasts at most.
    ///
    /// The example of [`TraceFilter`] has a time.
    pub fn until(self, time: Duration) -> Self {
        self.with(|filter| filter.ttl = Some(time))
    }

    /// The trace is begun although no point or handler has that name yet.
    ///
    /// ```
    /// # use hooks_runtime::HookRegistry;
    /// # use hooks_runtime::operator::{TraceFilter, TraceLimit};
    /// # let hooks = HookRegistry::new();
    /// let later = TraceFilter::target("*:mirror/*").even_if_none();
    /// assert!(hooks.operator().trace(later, TraceLimit::count(1)).is_ok());
    /// ```
    pub fn even_if_none(self) -> Self {
        self.with(|filter| filter.may_match_none = true)
    }

    /// Keeps the payloads of points that serialise.
    ///
    /// The example of [`Capture`] keeps some.
    #[cfg(feature = "json")]
    pub fn capture(self, capture: Capture) -> Self {
        self.with(|filter| filter.code.show = Some(ShowBy::Capture(capture)))
    }

    pub(super) fn erased(self) -> Filter {
        self.filter
    }
}

impl<P: HookPoint<Model: Compose<P>>> TraceFilter<P> {
    /// Only fires with such a payload, as it is when the fire begins. Several conditions
    /// must all be met. One that panics ends the trace.
    ///
    /// The example of [`Operator::trace`](crate::operator::Operator::trace) has one.
    pub fn when(self, is_met: impl Fn(&P::Payload) -> bool + Send + Sync + 'static) -> Self {
        let when: When =
            Box::new(move |payload| payload.read::<P, _>(|it| is_met(it)).unwrap_or(false));
        self.with(|filter| {
            filter.code.when.push(Contained::new(when));
            filter.is_conditional = true;
        })
    }

    /// Keeps the payload, as that text: leave out what others must not read.
    ///
    /// The example of [`Operator::trace`](crate::operator::Operator::trace) has one.
    pub fn show(self, text: impl Fn(&P::Payload) -> String + Send + Sync + 'static) -> Self {
        let show: Show = Box::new(move |payload| payload.read::<P, _>(|it| Ok(text(it))));
        self.with(|filter| filter.code.show = Some(ShowBy::Type(Contained::new(show))))
    }
}

impl Filter {
    /// What is wrong with it.
    pub(super) fn validate(&self) -> Result<Option<Pattern>, OperatorError> {
        if let Some(word) = &self.outcome {
            outcome::check(word, self.target.is_some())?;
        }
        if self.buffer == 0 || self.ttl.is_some_and(|ttl| ttl.is_zero()) {
            let problem =
                "a buffer of 0 fires, or a time of nothing, would show nothing".to_owned();
            return Err(OperatorError::BadTrace { problem });
        }
        self.target.as_deref().map(parse).transpose()
    }

    /// The name that at least one point must have.
    pub(super) fn point_name(&self) -> Option<&str> {
        match &self.points {
            Points::Named(name) => Some(name),
            Points::All | Points::One(_) => None,
        }
    }

    /// Whether it may let fires of that point through.
    pub(super) fn may_match(&self, point: &PointDescriptor, target: Option<&Pattern>) -> bool {
        let is_named = match &self.points {
            Points::All => true,
            Points::Named(name) => glob(name, point.name()),
            Points::One(one) => std::ptr::eq(*one, point),
        };
        is_named && target.is_none_or(|target| target.may_name(point.name()))
    }

    /// Whether runs of that flow are to be recorded, for the sake of a stage.
    pub(super) fn may_match_stage(&self, flow: &PointDescriptor, target: Option<&Pattern>) -> bool {
        if flow.model() != ModelKind::Flow {
            return false;
        }
        crate::flow::StageKind::ALL.iter().any(|stage| {
            let name = format!("{}/{}", flow.name(), stage.name());
            let is_named = match &self.points {
                Points::All => true,
                Points::Named(pattern) => glob(pattern, &name),
                Points::One(one) => one.name() == name,
            };
            is_named && target.is_none_or(|target| target.may_name(&name))
        })
    }

    /// Whether it lets a fire through that came to that.
    pub(super) fn lets_through(
        &self,
        outcome: &str,
        report: &FireReport,
        target: Option<&Pattern>,
    ) -> bool {
        let wanted = self.outcome.as_deref();
        let Some(target) = target else { return wanted.is_none_or(|wanted| wanted == outcome) };
        let is_named = |row: &&HandlerReport| {
            let owner = row.owner().plugin().map(PluginId::as_str);
            target.matches_parts(report.point(), owner, row.handler())
        };
        let mut named = report.handlers().iter().filter(is_named);
        named.any(|row| wanted.is_none_or(|wanted| outcome::came_to(row.status(), wanted)))
    }
}

/// Which fires, in a few words.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::escape::escaped;

        let points = match &self.points {
            Points::All => "*",
            Points::Named(name) => name,
            Points::One(point) => point.name(),
        };
        write!(f, "{}", escaped(self.target.as_deref().unwrap_or(points)))?;
        if let Some(outcome) = &self.outcome {
            write!(f, " {}", escaped(outcome))?;
        }
        if self.is_conditional { f.write_str(" under a condition") } else { Ok(()) }
    }
}

impl<P> fmt::Display for TraceFilter<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter.fmt(f)
    }
}

impl<P> fmt::Debug for TraceFilter<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceFilter({self})")
    }
}
