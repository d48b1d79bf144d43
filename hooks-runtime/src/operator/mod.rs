//! Changing what runs, while it runs: the operator's side of a registry.
//!
//! [`HookRegistry::operator`] hands out an [`Operator`]. It is a capability: a plugin,
//! whose code sees a [`ScopedHooks`](crate::ScopedHooks) or a
//! [`Registrar`](crate::plugin::Registrar), has no way to get one.
//!
//! ```
//! # use std::time::Duration;
//! # use hooks_runtime::{HookRegistry, hook_points, on};
//! # hook_points! { pub modifying Titling { page: u32 } -> { title: String } }
//! use hooks_runtime::operator::BreakerSettings;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let hooks = HookRegistry::new();
//! let numbers = on::<Titling>().name("numbers").plugin("titles");
//! hooks.register(numbers.handler(|page: &TitlingPayload| TitlingResult {
//!     title: Some(format!("page {}", page.page)),
//! }))?;
//!
//! let operator = hooks.operator();
//! let setting = operator
//!     .shadow("titling:titles/*")
//!     .because("new version")
//!     .by("ops")
//!     .until(Duration::from_secs(3_600))
//!     .apply()?;
//! let (titled, report) = hooks.fire_modifying_reported::<Titling>(&TitlingPayload { page: 7 }).await;
//! assert_eq!(titled?.title, None); // it was called, to no effect
//! assert_eq!(report.handlers()[0].status().to_string(), "in shadow: set title");
//!
//! operator.clear(setting.id())?;
//! operator.breaker("*:titles/*", BreakerSettings::consecutive(5)).by("ops").apply()?;
//! println!("{}", operator.explain("titling:titles/numbers")?);
//! # Ok(()) }
//! ```
//!
//! # Targets
//!
//! One form everywhere: `point:plugin/handler`, `point:handler` for a built-in handler
//! (or `point:built-in/handler`), with `*` for any text, and `point:*` for all handlers of
//! a point. `*:analytics/*` is all that the plugin `analytics` has, and what it registers
//! later. The point of a stage is called `flow/stage`, as in
//! `tools:call-tool/beforeExecute:audit/cache`. A target that names no handler is an error
//! with the nearest name, unless that is [meant](NewSetting::even_if_none).
//!
//! # What can be set
//!
//! | call | effect |
//! |---|---|
//! | [`disable`](Operator::disable) | the handler is not called |
//! | [`shadow`](Operator::shadow) | it is called with the real payload; what it decides is recorded and has no effect |
//! | [`warn`](Operator::warn) | the same for a guard, and the report of the fire has a warning |
//! | [`enforce`](Operator::enforce) | normal, over an earlier one of these |
//! | [`time_limit`](Operator::time_limit) | a shorter time limit |
//! | [`fail_closed`](Operator::fail_closed), [`fail_open`](Operator::fail_open) | what its failures mean |
//! | [`sample`](Operator::sample) | it is called for a stable part of the fires |
//! | [`rate_limit`](Operator::rate_limit) | a call past the limit is a failure, under its policy |
//! | [`breaker`](Operator::breaker) | after too many failures, a call is a failure at once, under its policy |
//! | [`force_breaker`](Operator::force_breaker) | its breaker is open, or closed, whatever the calls come to |
//!
//! Several settings of one kind may name a handler: the later one counts, all are
//! [listed](Operator::settings), and when one ends or is cleared the one before counts
//! again. A fire uses the settings that it began with, to its end.
//!
//! With the feature `config` the same can be [in a file](crate::guides::settings_in_a_file).
//!
//! # No gate is opened by the way
//!
//! To disable, shadow or sample a handler of a gate, or one that fails closed, to let it
//! fail open, and to limit a handler of a gate that fails open (unless it is set to
//! [fail closed](NewSetting::fail_closed) with it), takes the break-glass form. What counts
//! there is what the point and the registration declare: what an operator tightened, an
//! operator may undo. The form is
//! [`break_glass`](NewSetting::break_glass), with a reason, and an end. Such a setting
//! applies to handlers that come later as well, is in every report while it holds, and in
//! the log when it begins and ends. Any other setting that
//! names a handler which comes later does not apply to it where it would need that form;
//! the log and [`explain`](Operator::explain) say so.
//!
//! # The log
//!
//! | level | event | fields |
//! |---|---|---|
//! | info, of break-glass warn | an operator's setting begins, has ended, was cleared, left the file | `id`, `layer`, `break_glass` |
//! | warn | an operator's file was refused | – |
//! | warn | a setting does not apply to a handler that came later | `id`, `handler` |
//! | warn, of one that only counts info | the circuit breaker of a hook handler changed | `point`, `handler`, `owner`, `from`, `to` |
//! | error | every circuit breaker of a hook point is open | `point` |

mod apply;
pub(crate) mod breaker;
mod check;
mod error;
mod explain;
#[cfg(feature = "config")]
mod file;
mod mode;
pub(crate) mod rate;
pub(crate) mod rules;
mod sample;
mod setting;
mod shown;
pub(crate) mod store;
pub(crate) mod target;
pub(crate) mod trace;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use breaker::{BreakerSettings, BreakerState, Transition, TransitionCounts};
pub use error::OperatorError;
pub use explain::{Explained, Explanation};
#[cfg(feature = "config")]
pub use file::{
    FileError, FileMistake, FileProblem, FileSetting, Follow, Loaded, Preview, SettingsFile,
};
pub use mode::Mode;
pub use rate::RateLimit;
pub use sample::Fraction;
pub use setting::{End, Layer, Setting, SettingChange, SettingEnd, SettingId};
pub(crate) use shown::{BreakGlass, all_breakers_open, breaker_changed, withheld};
#[cfg(feature = "json")]
pub use trace::Capture;
pub use trace::{
    AnyPoint, Trace, TraceEnd, TraceFilter, TraceId, TraceInfo, TraceLimit, TracedFire,
    TracedPayload,
};

use crate::operator::apply::{is_readable, no_match, parse};
use crate::operator::setting::Draft;
use crate::operator::target::address;
use crate::point::FailurePolicy;
use crate::registry::{HookRegistry, Inner};
use crate::timer::now;

impl HookRegistry {
    /// The operator's side of this registry: a capability to hand out with care.
    ///
    /// The module [`operator`](crate::operator) has an example.
    pub fn operator(&self) -> Operator {
        Operator { inner: Arc::clone(&self.inner) }
    }
}

/// Changes what runs in a registry, while it runs.
///
/// The module [`operator`](crate::operator) says what can be set.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_runtime::operator::Operator;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let operator: Operator = hooks.operator();
/// let at_the_console = operator.clone(); // the same settings
/// operator.disable("sent:notify").by("ops").apply()?;
/// assert_eq!(at_the_console.settings().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Operator {
    inner: Arc<Inner>,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator").finish_non_exhaustive()
    }
}

/// A setting that is not applied yet: say by whom, why and until when.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Sent { to: String } }
/// use hooks_runtime::operator::NewSetting;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
/// let operator = hooks.operator();
/// let new: NewSetting<'_> = operator.disable("sent:notify").by("ops").because("no route");
/// let setting = new.until(std::time::Duration::from_secs(60)).apply()?;
/// assert!(setting.ends_in().is_some());
/// # Ok(()) }
/// ```
#[must_use = "nothing is set before `apply`"]
#[derive(Debug)]
pub struct NewSetting<'o> {
    operator: &'o Operator,
    /// An error of a value, for `apply`.
    draft: Result<Draft, OperatorError>,
}

impl Operator {
    /// The handlers are not called.
    ///
    /// The example of [`Setting`] disables one.
    pub fn disable(&self, target: impl Into<String>) -> NewSetting<'_> {
        self.set(target, SettingChange::Mode(Mode::Disable))
    }

    /// The handlers are called, and what they decide counts: over an earlier setting.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Counted { number: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// # for name in ["total", "mean"] {
    /// #     let handler = on::<Counted>().name(name).plugin("stats");
    /// #     hooks.register(handler.handler(|_: &CountedPayload| ()))?;
    /// # }
    /// let operator = hooks.operator();
    /// operator.disable("*:stats/*").apply()?;
    /// operator.enforce("*:stats/total").apply()?; // all but this one
    /// let (_, report) = hooks.fire_void_reported::<Counted>(&CountedPayload { number: 1 }).await;
    /// assert_eq!(report.handler("total").unwrap().status().as_str(), "ran");
    /// assert_eq!(report.handler("mean").unwrap().status().to_string(), "not called: disabled");
    /// # Ok(()) }
    /// ```
    pub fn enforce(&self, target: impl Into<String>) -> NewSetting<'_> {
        self.set(target, SettingChange::Mode(Mode::Enforce))
    }

    /// The handlers are called with the real payload; what they decide is recorded, and
    /// has no effect. Void handlers must be declared `pure`; handlers of stages cannot.
    ///
    /// The module [`operator`](crate::operator) has an example.
    pub fn shadow(&self, target: impl Into<String>) -> NewSetting<'_> {
        self.set(target, SettingChange::Mode(Mode::Shadow))
    }

    /// As [`shadow`](Self::shadow), for guards: a rejection that has no effect is a
    /// [warning](crate::report::FireReport::warnings) in the report of the fire.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
    /// # hook_points! { pub gating Posting { text: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Posting>().name("short").guard(|_: &PostingPayload| Judgement::reject("too long")))?;
    /// hooks.operator()
    ///     .warn("posting:short")
    ///     .break_glass("counting what it would refuse")
    ///     .until(Duration::from_secs(600))
    ///     .apply()?;
    /// let post = PostingPayload { text: "…".into() };
    /// let (gate, report) = hooks.fire_gating_reported::<Posting>(post).await;
    /// assert!(gate?.into_result().is_ok());
    /// let warnings: Vec<_> = report.warnings().map(|warning| warning.to_string()).collect();
    /// assert_eq!(warnings, ["`short` (built-in) would have rejected: too long"]);
    /// # Ok(()) }
    /// ```
    pub fn warn(&self, target: impl Into<String>) -> NewSetting<'_> {
        self.set(target, SettingChange::Mode(Mode::Warn))
    }

    /// A time limit that is shorter than the handlers' own. Where theirs is shorter, it
    /// stays.
    ///
    /// The example of [`Explanation`] sets one.
    pub fn time_limit(&self, target: impl Into<String>, limit: Duration) -> NewSetting<'_> {
        self.set(target, SettingChange::TimeLimit(limit))
    }

    /// A failure of the handlers ends the fire.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Stored { key: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Stored>().name("mirror").handler(|_: &StoredPayload| Err("no space")))?;
    /// let stored = StoredPayload { key: "k".into() };
    /// assert!(hooks.fire_void::<Stored>(&stored).await.is_ok());
    /// hooks.operator().fail_closed("stored:mirror").because("audit week").apply()?;
    /// assert!(hooks.fire_void::<Stored>(&stored).await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn fail_closed(&self, target: impl Into<String>) -> NewSetting<'_> {
        self.set(target, SettingChange::OnFailure(FailurePolicy::Closed))
    }

    /// A failure of the handlers is reported, and the fire goes on. Of a gate, and of a
    /// handler that fails closed, this takes the break-glass form.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookRegistry, Verdict, hook_points, on};
    /// # hook_points! { pub gating Paying { cents: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Paying>().name("fraud").handler(|_: &PayingPayload| {
    ///     Err::<Verdict<PayingPayload>, _>("the scoring service is down")
    /// }))?;
    /// assert!(hooks.fire_gating::<Paying>(PayingPayload { cents: 5 }).await.is_err());
    /// hooks.operator()
    ///     .fail_open("paying:fraud")
    ///     .break_glass("scoring is down, small sums only")
    ///     .by("ops")
    ///     .until(Duration::from_secs(900))
    ///     .apply()?;
    /// assert!(hooks.fire_gating::<Paying>(PayingPayload { cents: 5 }).await?.into_result().is_ok());
    /// # Ok(()) }
    /// ```
    pub fn fail_open(&self, target: impl Into<String>) -> NewSetting<'_> {
        self.set(target, SettingChange::OnFailure(FailurePolicy::Open))
    }

    /// The handlers are called for this part of the fires, from 0 to 1: the same part
    /// whenever it is asked.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # use hooks_runtime::report::SkipReason;
    /// # hook_points! { pub void Viewed { page: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Viewed>().name("heatmap").handler(|_: &ViewedPayload| ()))?;
    /// hooks.operator().sample("viewed:heatmap", 0.0).apply()?;
    /// hooks.fire_void::<Viewed>(&ViewedPayload { page: 1 }).await?;
    /// assert_eq!(hooks.handlers()[0].skips.of(SkipReason::SampledOut), 1);
    /// # Ok(()) }
    /// ```
    pub fn sample(&self, target: impl Into<String>, part: f64) -> NewSetting<'_> {
        match SettingChange::sample(part) {
            Ok(change) => self.set(target, change),
            Err(error) => NewSetting { operator: self, draft: Err(error) },
        }
    }

    /// How often each of the handlers may be called. A call past that is not made: it is a
    /// failure, under the handler's policy.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Viewed { page: u32 } }
    /// use hooks_runtime::operator::RateLimit;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Viewed>().name("heatmap").handler(|_: &ViewedPayload| ()))?;
    /// hooks.operator().rate_limit("viewed:heatmap", RateLimit::per_second(1)).apply()?;
    /// for page in 0..3 {
    ///     hooks.fire_void::<Viewed>(&ViewedPayload { page }).await?;
    /// }
    /// let heatmap = &hooks.handlers()[0];
    /// assert_eq!((heatmap.calls, heatmap.failures), (1, 2));
    /// # Ok(()) }
    /// ```
    pub fn rate_limit(&self, target: impl Into<String>, limit: RateLimit) -> NewSetting<'_> {
        self.set(target, SettingChange::RateLimit(limit))
    }

    /// A circuit breaker for each of the handlers: after too many failures it opens, and a
    /// call is a failure at once, under the handler's policy. What a handler decides, also
    /// a rejection, is no failure.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Sent { to: String } }
    /// use hooks_runtime::operator::{BreakerSettings, BreakerState};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| Err("no route")))?;
    /// let operator = hooks.operator();
    /// operator.breaker("sent:notify", BreakerSettings::consecutive(2)).apply()?;
    /// for _ in 0..3 {
    ///     hooks.fire_void::<Sent>(&SentPayload { to: "x".into() }).await?;
    /// }
    /// let notify = &hooks.handlers()[0];
    /// assert_eq!((notify.calls, notify.failures), (2, 3)); // the third call was not made
    /// assert_eq!(notify.breaker, Some(BreakerState::Open));
    ///
    /// operator.reset_breaker("sent:notify")?;
    /// assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Closed));
    /// # Ok(()) }
    /// ```
    pub fn breaker(&self, target: impl Into<String>, breaker: BreakerSettings) -> NewSetting<'_> {
        self.set(target, SettingChange::Breaker(breaker))
    }

    /// The breakers of the handlers are open, or closed, whatever the calls come to. A
    /// handler without a breaker can be forced too.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Sent { to: String } }
    /// use hooks_runtime::operator::BreakerState;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
    /// hooks.operator().force_breaker("sent:notify", BreakerState::Open).because("no route").apply()?;
    /// assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Open));
    /// # Ok(()) }
    /// ```
    pub fn force_breaker(&self, target: impl Into<String>, state: BreakerState) -> NewSetting<'_> {
        self.set(target, SettingChange::ForceBreaker(state))
    }

    /// Any setting, as data: what the methods above make one of each.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Sent { to: String } }
    /// use hooks_runtime::operator::{Mode, SettingChange};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
    /// let operator = hooks.operator();
    /// let setting = operator.set("sent:notify", SettingChange::Mode(Mode::Disable)).apply()?;
    /// assert_eq!(operator.setting(setting.id()), Some(setting));
    /// # Ok(()) }
    /// ```
    pub fn set(&self, target: impl Into<String>, change: SettingChange) -> NewSetting<'_> {
        let draft = Draft {
            target: target.into(),
            change,
            fails_closed: false,
            by: None,
            why: None,
            end: None,
            layer: Layer::Live,
            break_glass: false,
            may_name_none: false,
        };
        NewSetting { operator: self, draft: Ok(draft) }
    }

    /// Closes the breakers of the handlers, and forgets what they have counted. How many
    /// there were.
    ///
    /// The example of [`breaker`](Self::breaker) resets one.
    pub fn reset_breaker(&self, target: impl AsRef<str>) -> Result<usize, OperatorError> {
        self.inner.reset_breakers(target.as_ref())
    }

    /// The settings that hold, in the order in which they count: of two for one thing, the
    /// one behind the other does.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Counted { number: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Counted>().name("total").handler(|_: &CountedPayload| ()))?;
    /// let operator = hooks.operator();
    /// operator.disable("counted:total").by("ops").apply()?;
    /// assert_eq!(operator.settings()[0].by(), Some("ops"));
    /// # Ok(()) }
    /// ```
    pub fn settings(&self) -> Vec<Setting> {
        self.inner.end_settings();
        self.inner.store().settings.all().to_vec()
    }

    /// The setting of that number, as long as it holds.
    ///
    /// The example of [`set`](Self::set) looks one up.
    pub fn setting(&self, id: SettingId) -> Option<Setting> {
        self.settings().into_iter().find(|setting| setting.id() == id)
    }

    /// Ends a setting. What was there before counts again.
    ///
    /// The module [`operator`](crate::operator) has an example.
    pub fn clear(&self, id: SettingId) -> Result<Setting, OperatorError> {
        self.inner.clear_setting(id)
    }

    /// Where each setting of one handler comes from, and why.
    ///
    /// The example of [`Explanation`] prints one.
    pub fn explain(&self, target: impl AsRef<str>) -> Result<Explanation, OperatorError> {
        let pattern = parse(target.as_ref())?;
        self.inner.end_settings();
        let at = now(&*self.inner.config.timer);
        let store = self.inner.store();
        let mut matching = store.matching(&pattern);
        // Parts of a handler are explained by their own names.
        matching.retain(|(_, entry)| pattern.names(entry));
        let [(_, entry)] = &matching[..] else {
            if matching.is_empty() {
                return Err(no_match(&pattern, store));
            }
            let handlers = matching.iter().map(|(_, entry)| address(entry)).collect();
            return Err(OperatorError::Several { target: target.as_ref().to_owned(), handlers });
        };
        Ok(Explanation::of(entry, &store.settings, &self.inner.config, at))
    }
}

impl NewSetting<'_> {
    fn with(mut self, change: impl FnOnce(&mut Draft)) -> Self {
        if let Ok(draft) = &mut self.draft {
            change(draft);
        }
        self
    }

    /// Why it is set.
    pub fn because(self, why: impl Into<Arc<str>>) -> Self {
        self.with(|draft| draft.why = Some(why.into()))
    }

    /// Who sets it.
    pub fn by(self, who: impl Into<Arc<str>>) -> Self {
        self.with(|draft| draft.by = Some(who.into()).filter(|who: &Arc<str>| is_readable(who)))
    }

    /// When it ends: after a [`Duration`], or at a [`SystemTime`](std::time::SystemTime).
    /// Without this it holds until it is cleared.
    pub fn until(self, end: impl Into<End>) -> Self {
        self.with(|draft| draft.end = Some(end.into()))
    }

    /// The handlers fail closed as long as it holds: a call that a limit keeps from being
    /// made, at a gate that fails open, is then the fire's error, instead of letting the
    /// payload pass.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
    /// # hook_points! { #[hook(on_failure = "open")] pub gating Entering { room: u32 } }
    /// use hooks_runtime::operator::RateLimit;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Entering>().name("badge").guard(|_: &EnteringPayload| Judgement::Pass))?;
    /// let limit = || RateLimit::per_second(1);
    /// let operator = hooks.operator();
    /// assert!(operator.rate_limit("entering:badge", limit()).apply().is_err());
    /// operator.rate_limit("entering:badge", limit()).fail_closed().apply()?;
    /// assert!(hooks.fire_gating::<Entering>(EnteringPayload { room: 1 }).await.is_ok());
    /// assert!(hooks.fire_gating::<Entering>(EnteringPayload { room: 2 }).await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn fail_closed(self) -> Self {
        self.with(|draft| draft.fails_closed = true)
    }

    /// This loosens what a gate or a fail-closed handler promises, and is meant. It needs
    /// a reason and an [end](Self::until), is in every report while it holds, and in the
    /// log when it begins and ends.
    ///
    /// The example of [`fail_open`](Operator::fail_open) needs it.
    pub fn break_glass(self, why: impl Into<Arc<str>>) -> Self {
        self.with(|draft| (draft.break_glass, draft.why) = (true, Some(why.into())))
    }

    /// It comes from a file of the operator, which the host reads in its own way: a
    /// [live](Layer::Live) setting counts before it, whichever came first. A load of a
    /// `hooks.toml` (feature `config`) takes its place.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Sent { to: String } }
    /// use hooks_runtime::operator::{Layer, Mode};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Sent>().name("notify").handler(|_: &SentPayload| ()))?;
    /// let operator = hooks.operator();
    /// operator.enforce("sent:notify").apply()?;
    /// operator.disable("sent:notify").from_file().apply()?;
    /// assert_eq!(hooks.handlers()[0].mode, Mode::Enforce);
    /// assert_eq!(operator.explain("sent:notify")?.values[1].layer, Layer::File);
    /// # Ok(()) }
    /// ```
    pub fn from_file(self) -> Self {
        self.with(|draft| draft.layer = Layer::File)
    }

    /// It is applied although no handler has that name yet: for one that comes later.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Sent { to: String } }
    /// use hooks_runtime::operator::Mode;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.operator().disable("*:stats/*").even_if_none().apply()?;
    /// hooks.register(on::<Sent>().plugin("stats").handler(|_: &SentPayload| ()))?;
    /// assert_eq!(hooks.handlers()[0].mode, Mode::Disable);
    /// # Ok(()) }
    /// ```
    pub fn even_if_none(self) -> Self {
        self.with(|draft| draft.may_name_none = true)
    }

    /// Checks and applies it: fires that begin from now on use it. Refused, it changes
    /// nothing.
    pub fn apply(self) -> Result<Setting, OperatorError> {
        self.operator.inner.apply_setting(self.draft?)
    }
}
