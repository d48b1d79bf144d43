//! One setting: what it changes, for which handlers, by whom, why and until when.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::escape::escaped;
use crate::operator::breaker::{BreakerSettings, BreakerState};
use crate::operator::error::OperatorError;
use crate::operator::mode::Mode;
use crate::operator::rate::RateLimit;
use crate::operator::sample::Fraction;
use crate::operator::target::Pattern;
use crate::point::FailurePolicy;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::timer::{Timer, now};

/// What a setting changes.
///
/// The example of [`Setting`] reads one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SettingChange {
    /// Whether the handler is called, and whether what it decides counts.
    Mode(Mode),
    /// A shorter time limit.
    TimeLimit(Duration),
    /// What its failures mean for the fire.
    OnFailure(FailurePolicy),
    /// It is called for a part of the fires only.
    Sample(Fraction),
    /// How often it may be called; a call past that is a failure.
    RateLimit(RateLimit),
    /// A circuit breaker: while it is open, a call is a failure at once.
    Breaker(BreakerSettings),
    /// The state of its circuit breaker, whatever the calls come to.
    ForceBreaker(BreakerState),
}

/// What of a handler a setting changes: of several settings, the last one counts for
/// each of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    Mode,
    TimeLimit,
    OnFailure,
    Sample,
    RateLimit,
    Breaker,
    ForcedBreaker,
}

impl SettingChange {
    pub(crate) fn aspect(&self) -> Aspect {
        match self {
            Self::Mode(_) => Aspect::Mode,
            Self::TimeLimit(_) => Aspect::TimeLimit,
            Self::OnFailure(_) => Aspect::OnFailure,
            Self::Sample(_) => Aspect::Sample,
            Self::RateLimit(_) => Aspect::RateLimit,
            Self::Breaker(_) => Aspect::Breaker,
            Self::ForceBreaker(_) => Aspect::ForcedBreaker,
        }
    }

    /// A sample of that part of the fires.
    pub(crate) fn sample(part: f64) -> Result<Self, OperatorError> {
        Fraction::new(part).map(Self::Sample).map_err(|problem| {
            let (setting, problem) = ("sample", format!("{problem}, not {part}"));
            OperatorError::BadValue { setting, problem }
        })
    }

    /// The method of the operator that makes it.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            Self::Mode(Mode::Enforce) => "enforce",
            Self::Mode(Mode::Disable) => "disable",
            Self::Mode(Mode::Shadow) => "shadow",
            Self::Mode(Mode::Warn) => "warn",
            Self::TimeLimit(_) => "time_limit",
            Self::OnFailure(FailurePolicy::Open) => "fail_open",
            Self::OnFailure(FailurePolicy::Closed) => "fail_closed",
            Self::Sample(_) => "sample",
            Self::RateLimit(_) => "rate_limit",
            Self::Breaker(_) => "breaker",
            Self::ForceBreaker(_) => "force_breaker",
        }
    }
}

/// What it sets, in a few words.
impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode(mode) => write!(f, "{mode}"),
            Self::TimeLimit(limit) => write!(f, "time limit {limit:?}"),
            Self::OnFailure(policy) => write!(f, "{policy}"),
            Self::Sample(part) => write!(f, "sample {part}"),
            Self::RateLimit(rate) => write!(f, "rate limit {rate}"),
            Self::Breaker(breaker) => write!(f, "breaker {breaker}"),
            Self::ForceBreaker(state) => write!(f, "breaker forced {state}"),
        }
    }
}

/// Where the value of a setting comes from. A later layer counts before an earlier one.
///
/// ```
/// use hooks_runtime::operator::Layer;
///
/// assert!(Layer::Declaration < Layer::Live);
/// assert_eq!((Layer::File.as_str(), Layer::File.to_string()), ("file", "file".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Layer {
    /// What the registry was built with.
    Registry,
    /// The declaration of the point.
    Declaration,
    /// The registration of the handler. Not called so: of two items of one name, the
    /// compiler's messages write out the paths.
    #[cfg_attr(feature = "serde", serde(rename = "registration"))]
    Handler,
    /// The operator's file.
    File,
    /// What an operator set while the program runs.
    Live,
}

impl Layer {
    /// One word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Registry => "registry",
            Self::Declaration => "declaration",
            Self::Handler => "registration",
            Self::File => "file",
            Self::Live => "live",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a setting ended.
///
/// ```
/// use hooks_runtime::operator::SettingEnd;
///
/// assert_ne!(SettingEnd::Passed, SettingEnd::Cleared);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum SettingEnd {
    /// Its time has passed.
    Passed,
    /// An operator cleared it.
    Cleared,
    /// It is no longer in the operator's file.
    LeftFile,
}

/// Identifies a setting in its registry; never used again.
///
/// ```
/// use hooks_runtime::operator::SettingId;
///
/// let third = SettingId::from_number(3);
/// assert_eq!((third.number(), third.to_string()), (3, "#3".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct SettingId(u64);

impl SettingId {
    pub(crate) fn new(id: u64) -> Self {
        Self(id)
    }

    /// The setting of that number, as a list of settings shows it.
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for SettingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// One setting of an operator.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Counted { number: u32 } }
/// use hooks_runtime::operator::{Layer, Mode, SettingChange};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Counted>().name("total").plugin("stats").handler(|_: &CountedPayload| ()))?;
/// let operator = hooks.operator();
/// let setting = operator.disable("counted:stats/*").by("ops").because("too slow").apply()?;
/// assert_eq!(setting.change(), &SettingChange::Mode(Mode::Disable));
/// assert_eq!((setting.target(), setting.by(), setting.why()), ("counted:stats/*", Some("ops"), Some("too slow")));
/// assert_eq!((setting.layer(), setting.is_break_glass(), setting.ends_in()), (Layer::Live, false, None));
/// assert_eq!(setting.to_string(), "disable counted:stats/* by ops: too slow");
/// assert_eq!((setting.id().to_string(), setting.applied()), ("#1".to_owned(), 0));
/// assert!(!setting.fails_closed());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Setting(Arc<Parts>);

struct Parts {
    id: SettingId,
    target: Pattern,
    change: SettingChange,
    fails_closed: bool,
    by: Option<Arc<str>>,
    why: Option<Arc<str>>,
    /// As it was given, and on the registry's clock.
    end: Option<End>,
    ends: Option<Instant>,
    layer: Layer,
    break_glass: bool,
    applied: AtomicU64,
    timer: Arc<dyn Timer>,
}

/// A setting before it is checked.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) target: String,
    pub(crate) change: SettingChange,
    pub(crate) fails_closed: bool,
    pub(crate) by: Option<Arc<str>>,
    pub(crate) why: Option<Arc<str>>,
    pub(crate) end: Option<End>,
    pub(crate) layer: Layer,
    pub(crate) break_glass: bool,
    pub(crate) may_name_none: bool,
}

impl Draft {
    /// Checks its values.
    pub(crate) fn validate(&self) -> Result<(), OperatorError> {
        let checked = match &self.change {
            SettingChange::TimeLimit(limit) if limit.is_zero() => {
                Err("a time limit is longer than nothing; to call no handler, disable it"
                    .to_owned())
            }
            SettingChange::OnFailure(FailurePolicy::Open) if self.fails_closed => {
                Err("it cannot fail open and closed at once".to_owned())
            }
            SettingChange::ForceBreaker(BreakerState::HalfOpen) => {
                Err("a breaker is forced open or closed; `reset_breaker` lets it decide anew"
                    .to_owned())
            }
            SettingChange::RateLimit(limit) => limit.validate(),
            SettingChange::Breaker(breaker) => breaker.validate(),
            _ => Ok(()),
        };
        let setting = self.change.verb();
        checked.map_err(|problem| OperatorError::BadValue { setting, problem })
    }
}

impl Setting {
    pub(crate) fn new(
        id: SettingId,
        target: Pattern,
        draft: Draft,
        ends: Option<Instant>,
        timer: &Arc<dyn Timer>,
    ) -> Self {
        let Draft { change, fails_closed, by, why, end, layer, break_glass, .. } = draft;
        let (applied, timer) = (AtomicU64::new(0), Arc::clone(timer));
        Self(Arc::new(Parts {
            id,
            target,
            change,
            fails_closed,
            by,
            why,
            end,
            ends,
            layer,
            break_glass,
            applied,
            timer,
        }))
    }

    /// Its number.
    pub fn id(&self) -> SettingId {
        self.0.id
    }

    /// Which handlers it is for, as it was given.
    pub fn target(&self) -> &str {
        self.0.target.as_str()
    }

    pub(crate) fn pattern(&self) -> &Pattern {
        &self.0.target
    }

    /// What it changes.
    pub fn change(&self) -> &SettingChange {
        &self.0.change
    }

    /// Whether it makes its handlers fail closed as well.
    pub fn fails_closed(&self) -> bool {
        self.0.fails_closed
    }

    /// Who set it.
    pub fn by(&self) -> Option<&str> {
        self.0.by.as_deref()
    }

    /// Why it was set.
    pub fn why(&self) -> Option<&str> {
        self.0.why.as_deref()
    }

    /// When it ends, as that was given.
    ///
    /// The example of [`End`] reads one.
    pub fn end(&self) -> Option<End> {
        self.0.end
    }

    /// How long it still holds, if it has an end; nothing is left once it has ended.
    pub fn ends_in(&self) -> Option<Duration> {
        self.0.ends.map(|ends| ends.saturating_duration_since(now(&*self.0.timer)))
    }

    pub(crate) fn ends(&self) -> Option<Instant> {
        self.0.ends
    }

    /// Whether it holds at that time.
    pub(crate) fn holds_at(&self, at: Instant) -> bool {
        self.0.ends.is_none_or(|ends| at < ends)
    }

    /// Where it comes from.
    pub fn layer(&self) -> Layer {
        self.0.layer
    }

    /// Whether it loosens what is declared, in the form that says so.
    pub fn is_break_glass(&self) -> bool {
        self.0.break_glass
    }

    /// How often it was in force when a handler's turn came.
    pub fn applied(&self) -> u64 {
        self.0.applied.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.0.applied.fetch_add(1, Ordering::Relaxed);
    }

    /// The same setting for a copy of its registry, which counts for itself, with another
    /// change, and without an end: a replay takes its time.
    #[cfg(feature = "replay")]
    pub(crate) fn copied(&self, change: SettingChange) -> Self {
        let Parts { id, target, fails_closed, by, why, end, layer, break_glass, timer, .. } =
            &*self.0;
        Self(Arc::new(Parts {
            id: *id,
            target: target.clone(),
            change,
            fails_closed: *fails_closed,
            by: by.clone(),
            why: why.clone(),
            end: *end,
            ends: None,
            layer: *layer,
            break_glass: *break_glass,
            applied: AtomicU64::new(0),
            timer: Arc::clone(timer),
        }))
    }
}

/// Whether they are the same setting.
impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Setting {}

/// What it sets, for which handlers, by whom and why, in one line.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { target, change, fails_closed, by, why, break_glass, .. } = &*self.0;
        let glass = if *break_glass { "break-glass " } else { "" };
        let closed = if *fails_closed { ", fail-closed" } else { "" };
        write!(f, "{glass}{change}{closed} {}", escaped(target.as_str()))?;
        write!(f, "{}", Reason { by: by.as_deref(), why: why.as_deref() })
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Setting({} {self})", self.0.id)
    }
}

/// By whom and why, behind what was set.
pub(crate) struct Reason<'s> {
    pub(crate) by: Option<&'s str>,
    pub(crate) why: Option<&'s str>,
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(by) = self.by {
            write!(f, " by {}", escaped(by))?;
        }
        if let Some(why) = self.why {
            write!(f, ": {}", escaped(why))?;
        }
        Ok(())
    }
}

/// When a setting ends: after a [`Duration`], or at a [`SystemTime`].
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use hooks_runtime::operator::End;
///
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// # hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let in_an_hour: End = Duration::from_secs(3_600).into();
/// let tonight: End = (SystemTime::now() + Duration::from_secs(7_200)).into();
/// let setting = hooks.operator().disable("sent:notify").until(tonight).apply()?;
/// assert_eq!(setting.end(), Some(tonight));
/// assert!(setting.end() != Some(in_an_hour) && setting.ends_in().is_some());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// So long after it was applied.
    After(Duration),
    /// At that time of the system's clock; a change of that clock afterwards does not
    /// move it.
    At(SystemTime),
}

impl From<Duration> for End {
    fn from(after: Duration) -> Self {
        Self::After(after)
    }
}

impl From<SystemTime> for End {
    fn from(at: SystemTime) -> Self {
        Self::At(at)
    }
}

impl End {
    /// How long from now; `None` where it has passed.
    pub(crate) fn time_left(self) -> Option<Duration> {
        match self {
            Self::After(after) => (!after.is_zero()).then_some(after),
            Self::At(at) => {
                at.duration_since(SystemTime::now()).ok().filter(|left| !left.is_zero())
            }
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Setting {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;

        use crate::wire::Nanoseconds;

        let mut map = serializer.serialize_map(Some(10))?;
        map.serialize_entry("id", &self.id())?;
        map.serialize_entry("target", self.target())?;
        map.serialize_entry("setting", self.change().verb())?;
        map.serialize_entry("value", &self.change().to_string())?;
        map.serialize_entry("fail_closed", &self.fails_closed())?;
        map.serialize_entry("by", &self.by())?;
        map.serialize_entry("why", &self.why())?;
        map.serialize_entry("ends_in_ns", &self.ends_in().map(Nanoseconds))?;
        map.serialize_entry("layer", &self.layer())?;
        map.serialize_entry("break_glass", &self.is_break_glass())?;
        map.end()
    }
}
