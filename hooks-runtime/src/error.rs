//! What can go wrong, as types.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::engine::containment::shown;
use crate::escape::{escaped, escaped_display};
use crate::operator::RateLimit;
use crate::plugin::id::PluginIdError;
use crate::plugin::quota::Refusal;
use crate::point::{FailurePolicy, SourceLocation};
use crate::readable::readable_debug;
use crate::registry::entry::{Entry, Owner, Phase};
use crate::registry::order::{self, Conflict, Fault};

/// Any error a handler returns.
///
/// ```
/// # use hooks_runtime::{BoxError, HookRegistry, hook_points, on};
/// # hook_points! { pub void Imported { line: String } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// // A handler with errors of several types.
/// hooks.register(on::<Imported>().handler(|imported: &ImportedPayload| -> Result<(), BoxError> {
///     let (name, count) = imported.line.split_once(',').ok_or("a comma is missing")?;
///     println!("{} of {name}", count.parse::<u32>()?);
///     Ok(())
/// }))?;
/// # Ok(()) }
/// ```
pub type BoxError = Box<dyn StdError + Send + Sync + 'static>;

/// How a handler failed.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::error::FailureKind;
/// # hook_points! { #[hook(on_failure = "closed")] pub void Written { file: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Written>().handler(|_: &WrittenPayload| -> () { panic!("no index") }))?;
/// let written = WrittenPayload { file: "a.txt".into() };
/// let error = hooks.fire_void::<Written>(&written).await.unwrap_err();
/// let kind = error.failure().unwrap().kind();
/// assert_eq!(kind.as_str(), "panic");
/// assert!(matches!(kind, FailureKind::Panicked(message) if message == "no index"));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FailureKind {
    /// It returned an error.
    Error(BoxError),
    /// It panicked: in the call, in a poll, or while its future was dropped.
    ///
    /// A panic while another unwinds, a stack that overflows, and any panic in
    /// a program built with `panic = "abort"` cannot be contained: they end the
    /// process.
    Panicked(String),
    /// It had no answer when its time limit had passed.
    TimedOut(Duration),
    /// It has a time limit and is pending, but no timer is available.
    NoTimer(Duration),
    /// It was not called: its circuit breaker is open.
    BreakerOpen {
        /// When a call can be let through, not before; `None` where an operator forced it
        /// open.
        retry_in: Option<Duration>,
    },
    /// It was not called: it is past the rate limit that an operator set.
    RateLimited {
        /// The limit.
        limit: RateLimit,
        /// When the next call can start.
        retry_in: Duration,
    },
}

/// Why a handler failed, without the error, the message or the limit: what failures are
/// counted by.
///
/// ```
/// use std::time::Duration;
/// use hooks_runtime::error::{FailureCause, FailureKind};
///
/// let late = FailureKind::TimedOut(Duration::from_secs(5));
/// assert_eq!(late.cause(), FailureCause::Timeout);
/// assert_eq!((late.cause().as_str(), late.as_str()), ("timeout", "timeout"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum FailureCause {
    /// It returned an error.
    Error,
    /// It panicked.
    Panic,
    /// It had no answer when its time limit had passed.
    Timeout,
    /// It has a time limit and is pending, but no timer is available.
    NoTimer,
    /// It was not called: its circuit breaker is open.
    BreakerOpen,
    /// It was not called: it is past the rate limit that an operator set.
    RateLimited,
}

impl FailureCause {
    /// Each has a count at the handler.
    pub(crate) const ALL: [Self; 6] = [
        Self::Error,
        Self::Panic,
        Self::Timeout,
        Self::NoTimer,
        Self::BreakerOpen,
        Self::RateLimited,
    ];

    /// The cause of that word.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == word)
    }

    /// One word for logs and counters, as it is serialised.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Panic => "panic",
            Self::Timeout => "timeout",
            Self::NoTimer => "no_timer",
            Self::BreakerOpen => "breaker_open",
            Self::RateLimited => "rate_limited",
        }
    }

    /// Whether the handler was not called.
    pub(crate) fn is_uncalled(self) -> bool {
        matches!(self, Self::BreakerOpen | Self::RateLimited)
    }
}

impl FailureKind {
    /// Its cause.
    ///
    /// The example of [`FailureCause`] asks for one.
    pub fn cause(&self) -> FailureCause {
        match self {
            Self::Error(_) => FailureCause::Error,
            Self::Panicked(_) => FailureCause::Panic,
            Self::TimedOut(_) => FailureCause::Timeout,
            Self::NoTimer(_) => FailureCause::NoTimer,
            Self::BreakerOpen { .. } => FailureCause::BreakerOpen,
            Self::RateLimited { .. } => FailureCause::RateLimited,
        }
    }

    /// One word for logs and counters.
    pub fn as_str(&self) -> &'static str {
        self.cause().as_str()
    }

    /// Whether it is a failure of the handler itself, and not of what is around it.
    pub(crate) fn is_of_handler(&self) -> bool {
        matches!(self, Self::Error(_) | Self::Panicked(_) | Self::TimedOut(_))
    }

    /// The message, unescaped: for what programs read.
    pub(crate) fn raw(&self) -> impl fmt::Display {
        Raw(self)
    }
}

/// In one line, escaped; the error itself and the message of a panic are in the
/// variants.
impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped_display(&self.raw()))
    }
}

/// The message of a failure, unescaped.
struct Raw<'k>(&'k FailureKind);

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use FailureKind::{BreakerOpen, Error, NoTimer, Panicked, RateLimited, TimedOut};
        match self.0 {
            Error(error) => write!(f, "{error}"),
            Panicked(message) => write!(f, "panicked: {message}"),
            TimedOut(limit) => write!(f, "did not finish within {limit:?}"),
            NoTimer(limit) => write!(
                f,
                "waits with a limit of {limit:?}, but there is no timer: fire inside a tokio \
                 runtime with time enabled, or give the registry a `Timer`"
            ),
            BreakerOpen { retry_in: None } => {
                f.write_str("not called: an operator has forced its circuit breaker open")
            }
            BreakerOpen { retry_in: Some(Duration::ZERO) } => {
                f.write_str("not called: its circuit breaker waits for the call that tries it")
            }
            BreakerOpen { retry_in: Some(retry_in) } => {
                write!(f, "not called: its circuit breaker is open for another {retry_in:?}")
            }
            RateLimited { limit, retry_in } => {
                write!(f, "not called: past its rate limit of {limit}, for another {retry_in:?}")
            }
        }
    }
}

/// One handler's failure, with everything needed to find it.
///
/// ```
/// # use hooks_runtime::{FireError, HookRegistry, hook_points, on};
/// # hook_points! { #[hook(on_failure = "closed")] pub void Stored { key: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let replicate = on::<Stored>().name("replicate").plugin("mirror");
/// hooks.register(replicate.handler(|_: &StoredPayload| Err(std::fmt::Error)))?;
/// let error = hooks.fire_void::<Stored>(&StoredPayload { key: "k".into() }).await.unwrap_err();
/// let FireError::Failed(failure) = error else { panic!("{error}") };
/// assert_eq!((failure.point(), failure.handler()), ("stored", "replicate"));
/// assert_eq!(failure.owner().as_ref(), "mirror");
/// assert_eq!(failure.kind().as_str(), "error");
/// assert!(failure.location().file().ends_with(".rs"));
/// assert_eq!(failure.elapsed(), None); // nothing measured it
/// # Ok(()) }
/// ```
pub struct HandlerFailure(Box<FailureParts>);

#[derive(Debug)]
struct FailureParts {
    point: &'static str,
    handler: Arc<str>,
    owner: Owner,
    location: SourceLocation,
    kind: FailureKind,
    elapsed: Option<Duration>,
}

impl HandlerFailure {
    pub(crate) fn new(
        point: &'static str,
        handler: Arc<str>,
        owner: Owner,
        location: SourceLocation,
        kind: FailureKind,
        elapsed: Option<Duration>,
    ) -> Self {
        Self(Box::new(FailureParts { point, handler, owner, location, kind, elapsed }))
    }

    /// The wire name of the point.
    pub fn point(&self) -> &'static str {
        self.0.point
    }

    /// The handler's name.
    pub fn handler(&self) -> &str {
        &self.0.handler
    }

    /// Who registered the handler.
    pub fn owner(&self) -> &Owner {
        &self.0.owner
    }

    /// Where the handler is written.
    pub fn location(&self) -> SourceLocation {
        self.0.location
    }

    /// How it failed.
    pub fn kind(&self) -> &FailureKind {
        &self.0.kind
    }

    /// How long it ran, where that was measured: always for handlers with a
    /// time limit and in fires that are observed or reported.
    pub fn elapsed(&self) -> Option<Duration> {
        self.0.elapsed
    }

    /// The same in one line, with a message in place of the error's own.
    pub(crate) fn with_message(&self, message: &str) -> String {
        let FailureParts { point, handler, owner, .. } = &*self.0;
        let (handler, message) = (escaped(handler), escaped(message));
        format!("handler `{handler}` ({owner}) at `{point}`: {message}")
    }
}

impl fmt::Display for HandlerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_message(&shown(&self.0.kind.raw())))
    }
}

impl StdError for HandlerFailure {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.kind {
            FailureKind::Error(error) => Some(&**error),
            _ => None,
        }
    }
}

/// Why a fire has no outcome.
///
/// ```
/// # use hooks_runtime::{FireError, HookRegistry, hook_points, on};
/// # hook_points! { #[hook(on_failure = "closed")] pub void Locked { door: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Locked>().name("bolt").handler(|_: &LockedPayload| Err("it is stuck")))?;
/// match hooks.fire_void::<Locked>(&LockedPayload { door: 1 }).await {
///     Ok(()) => println!("locked"),
///     Err(FireError::Failed(failure)) => assert_eq!(failure.handler(), "bolt"),
///     Err(other) => return Err(other.into()),
/// }
/// # Ok(()) }
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum FireError {
    /// A fail-closed handler failed.
    #[error(transparent)]
    Failed(HandlerFailure),
    /// Fires are nested deeper than the registry allows.
    #[error("{0}")]
    Nesting(Box<NestingError>),
    /// Another declaration uses the same wire name in this registry.
    #[error("{0}")]
    NameClash(Box<NameClash>),
    /// A fire cannot be handed over to the background: there is no tokio runtime. No
    /// handler was called.
    #[error(
        "there is no tokio runtime here to run a fire in the background: call `spawn_void` inside \
         of one, or await `fire_void`"
    )]
    NoRuntime,
    /// A fire in the background was aborted, or its runtime shut down before its end.
    #[error(
        "the fire was dropped in the background before its end: its runtime shut down, or it was \
         aborted; await `settled` before the runtime shuts down"
    )]
    Cancelled,
    /// The result of a modifying point panicked while it was made. No handler was
    /// called.
    #[error("{0}")]
    DefaultPanicked(Box<DefaultPanicked>),
}

/// A result whose `Default` panicked, so that there is nothing to merge into.
///
/// ```
/// # use hooks_runtime::{FireError, HookRegistry, Merge, hook_points, on};
/// # hook_points! { pub modifying Measuring { probe: u32 } -> Readings; }
/// # #[derive(Merge)]
/// # pub struct Readings { volts: Option<u32> }
/// impl Default for Readings {
///     fn default() -> Self { panic!("the probe is gone") }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// # hooks.register(on::<Measuring>().handler(|_: &MeasuringPayload| None::<Readings>))?;
/// let measured = hooks.fire_modifying::<Measuring>(&MeasuringPayload { probe: 1 }).await;
/// let Err(FireError::DefaultPanicked(panicked)) = measured else { panic!() };
/// assert_eq!(panicked.message, "the probe is gone");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "the default of `{result}` panicked: {}; no handler was called: write a `Default` that cannot \
     panic",
    escaped(.message)
)]
pub struct DefaultPanicked {
    /// The type of the result.
    pub result: &'static str,
    /// The message of the panic.
    pub message: String,
}

/// A fire that was refused because of its depth.
///
/// ```
/// # use hooks_runtime::{FireError, HookContext, HookRegistry, hook_points, on};
/// # hook_points! { #[hook(on_failure = "closed")] pub void Echo(u32); }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::builder().max_depth(2).build();
/// hooks.register(on::<Echo>().handler(async |left: &u32, cx: &HookContext| {
///     let again = cx.hooks().fire_void::<Echo>(&(left - 1)).await;
///     if let Err(FireError::Nesting(error)) = again {
///         assert_eq!((error.limit, error.chain), (2, vec!["echo", "echo", "echo"]));
///     }
/// }))?;
/// hooks.fire_void::<Echo>(&9).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "fires are nested deeper than {limit}: {}; end the recursion, or raise `max_depth` of the \
     builder",
    .chain.join(" > ")
)]
pub struct NestingError {
    /// The depth that the registry allows.
    pub limit: usize,
    /// The points under way, outermost first; the last is the refused one.
    pub chain: Vec<&'static str>,
}

impl FireError {
    /// The failure of the handler that ended the fire, if one did.
    ///
    /// The example of [`FailureKind`] uses it.
    pub fn failure(&self) -> Option<&HandlerFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// Two declarations share one wire name.
///
/// ```
/// # use hooks_runtime::{HookRegistry, RegisterError, on};
/// mod desk { hooks_runtime::hook_points! { pub void Called { by: String } } }
/// mod lift { hooks_runtime::hook_points! { pub void Called { floor: u32 } } }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<desk::Called>().handler(|_: &desk::CalledPayload| ()))?;
/// let second = on::<lift::Called>().handler(|_: &lift::CalledPayload| ());
/// let Err(RegisterError::NameClash(clash)) = hooks.register(second) else { panic!() };
/// assert_eq!(clash.name, "called");
/// assert!(clash.first.line() < clash.second.line());
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[error(
    "two hook points are called `{name}`: one declared at {first}, one at {second}; rename one \
     with `#[hook(name = \"…\")]`"
)]
pub struct NameClash {
    /// The wire name.
    pub name: &'static str,
    /// Where the point that was used first is declared.
    pub first: SourceLocation,
    /// Where the other is declared.
    pub second: SourceLocation,
}

/// Why a registration was refused. Nothing of its group was registered.
///
/// ```
/// # use hooks_runtime::{FailurePolicy, HookRegistry, hook_points, on};
/// # hook_points! { pub gating Entering { room: u32 } }
/// # let hooks = HookRegistry::new();
/// use hooks_runtime::{RegisterError, Verdict};
///
/// let lenient = on::<Entering>().name("camera").on_failure(FailurePolicy::Open);
/// let refused = hooks.register(lenient.handler(|_: &EnteringPayload| Verdict::Pass)).unwrap_err();
/// assert!(matches!(refused, RegisterError::PolicyTooLax { .. }));
/// assert_eq!(
///     refused.to_string(),
///     "`camera` asks for fail-open, but `entering` is fail-closed: a handler may only tighten its \
///      point's policy; leave `on_failure` out",
/// );
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The owner has a handler of that name at that point already.
    #[error("{0}")]
    Duplicate(Box<Duplicate>),
    /// The handler's name cannot be used.
    #[error(
        "`{name}` cannot be a handler's name: {problem}; a name is 1 to 200 bytes of printable \
         text without `/`"
    )]
    BadName {
        /// The name, shortened and escaped.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The plugin id cannot be used.
    #[error(transparent)]
    BadPlugin(#[from] PluginIdError),
    /// A handler cannot be bound to something of that name.
    #[error(
        "`{name}` cannot be the name of a target: {problem}; such a name is 1 to 200 bytes of \
         printable text"
    )]
    BadTarget {
        /// The name, shortened and escaped.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// `before` and `after` contradict each other.
    #[error(
        "the order of the handlers at `{point}` is circular: {}{}; leave out one `before` or \
         `after` of them",
        joined(.path),
        phases(.path)
    )]
    Cycle {
        /// The wire name of the point.
        point: &'static str,
        /// The handlers in the circle; the first is repeated at the end.
        path: Vec<CycleStep>,
    },
    /// The constraints of a plugin's handler contradict the order of others.
    #[error(
        "`{handler}` of plugin `{plugin}` has no place at `{point}`: {constraints} contradicts the \
         order of the other handlers, which a plugin cannot change; leave a constraint out"
    )]
    NoPlace {
        /// The wire name of the point.
        point: &'static str,
        /// The handler's name.
        handler: String,
        /// The plugin's id.
        plugin: String,
        /// The constraints of the handler.
        constraints: String,
    },
    /// A handler asked to be more lenient than its point.
    #[error(
        "`{handler}` asks for {asked}, but `{point}` is {declared}: a handler may only tighten \
         its point's policy; leave `on_failure` out"
    )]
    PolicyTooLax {
        /// The wire name of the point.
        point: &'static str,
        /// The handler's name.
        handler: String,
        /// What the handler asked for.
        asked: FailurePolicy,
        /// What the point declares.
        declared: FailurePolicy,
    },
    /// A handler asked for a policy where the point allows none.
    #[error(
        "`{handler}` asks for a failure policy at `{point}`, where a failure is reported and never \
         changes the outcome: leave `on_failure` out"
    )]
    FixedPolicy {
        /// The wire name of the point.
        point: &'static str,
        /// The handler's name.
        handler: String,
    },
    /// A time limit of zero would fail every call.
    #[error("`{handler}` at `{point}` has a time limit of zero: leave it out or make it longer")]
    ZeroTimeout {
        /// The wire name of the point.
        point: &'static str,
        /// The handler's name.
        handler: String,
    },
    /// A registrar bound to one plugin was given another's handler.
    #[error(
        "`{handler}` names plugin `{owner}`, but this registrar is bound to plugin `{bound}`; leave \
         the name out"
    )]
    WrongOwner {
        /// The handler's name.
        handler: String,
        /// The plugin that the handler names.
        owner: String,
        /// The plugin that the registrar is bound to.
        bound: String,
    },
    /// The host does not allow it to the plugin.
    #[error(
        "`{handler}` of plugin `{plugin}` is refused at `{point}`: {refusal}; the host allows more \
         with `set_quota`"
    )]
    Refused {
        /// The wire name of the point.
        point: &'static str,
        /// The handler's name.
        handler: String,
        /// The plugin's id.
        plugin: String,
        /// Which limit it would break.
        refusal: Refusal,
    },
    /// The plugin has handlers already, from an installation or a registrar.
    #[error(
        "plugin `{plugin}` has handlers here already: remove them first with {}",
        if *.can_be_replaced {
            "`uninstall` or `unregister_plugin`, or use `install_or_replace`"
        } else {
            "`uninstall().await` or `unregister_plugin(…).await`"
        }
    )]
    Installed {
        /// The plugin's id.
        plugin: String,
        /// Whether `install_or_replace` would have taken the new one: not where that
        /// has a `#[start]` or was to be started, or where the installed one has a
        /// `#[stop]`.
        can_be_replaced: bool,
    },
    /// A plugin with a `#[start]` was installed without it.
    #[error(
        "plugin `{plugin}` has a `#[start]`, which is not run here: use \
         `hooks.start(plugin).await` or `hooks.start_all(plugins).await`"
    )]
    NeedsStart {
        /// The plugin's id.
        plugin: String,
    },
    /// A plugin with a `#[stop]` was to be replaced.
    #[error(
        "plugin `{plugin}` has a `#[stop]`, which a replacement does not run: uninstall it first, \
         with `uninstall().await` or `unregister_plugin(\"{plugin}\").await`"
    )]
    HasStop {
        /// The plugin's id.
        plugin: String,
    },
    /// A plugin is in a group twice.
    #[error(
        "plugin `{plugin}` is in the group twice: a registry has one plugin of an id; leave one out"
    )]
    GivenTwice {
        /// The plugin's id.
        plugin: String,
    },
    /// A plugin of a group could not be installed.
    #[error("plugin `{plugin}` cannot be installed: {error}")]
    OfPlugin {
        /// The plugin's id, or the type of a block of built-in handlers.
        plugin: &'static str,
        /// Why not.
        error: Box<RegisterError>,
    },
    /// Another declaration uses the same wire name in this registry.
    #[error("{0}")]
    NameClash(#[from] NameClash),
}

impl RegisterError {
    /// The error, with the plugin of a group that it is about.
    pub(crate) fn of_plugin(plugin: Option<&'static str>, error: Self) -> Self {
        match (plugin, error) {
            // These name the plugin themselves.
            (None, error)
            | (
                Some(_),
                error @ (Self::Installed { .. }
                | Self::GivenTwice { .. }
                | Self::NeedsStart { .. }
                | Self::HasStop { .. }),
            ) => error,
            (Some(plugin), error) => Self::OfPlugin { plugin, error: Box::new(error) },
        }
    }

    pub(crate) fn of_order(point: &'static str, fault: Fault) -> Self {
        let (entry, conflict) = match fault {
            Fault::Circle(path) => {
                let path = path.iter().map(|entry| CycleStep::new(entry)).collect();
                return Self::Cycle { point, path };
            }
            Fault::Conflict(entry, conflict) => (entry, conflict),
        };
        let handler = entry.name.to_string();
        let plugin = entry.plugin.as_ref().map_or_else(String::new, |it| it.id().to_string());
        let constraints = order::constraints(&entry).collect::<Vec<_>>().join(", ");
        match conflict {
            Conflict::Range(range) => {
                let (lowest, highest) = (*range.start(), *range.end());
                let refusal = Refusal::Constraint { constraints, lowest, highest };
                Self::Refused { point, handler, plugin, refusal }
            }
            Conflict::Circle | Conflict::NoPlace => {
                Self::NoPlace { point, handler, plugin, constraints }
            }
        }
    }
}

/// Two registrations of one name, owner and point.
///
/// ```
/// # use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};
/// # hook_points! { pub void Typed { key: char } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let spelling = || on::<Typed>().name("spelling").handler(|_: &TypedPayload| ());
/// hooks.register(spelling())?;
/// let Err(RegisterError::Duplicate(twice)) = hooks.register(spelling()) else { panic!() };
/// assert_eq!((twice.point, &*twice.handler), ("typed", "spelling"));
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[error(
    "`{handler}` ({owner}) is registered at `{point}` already: give it another name, or say \
     `replace`; the first is at {first}, the second at {second}"
)]
pub struct Duplicate {
    /// The wire name of the point.
    pub point: &'static str,
    /// The handler's name.
    pub handler: String,
    /// Who registered both.
    pub owner: Owner,
    /// Where the one that is registered is written.
    pub first: SourceLocation,
    /// Where the refused one is written.
    pub second: SourceLocation,
}

/// A handler in a circle of constraints.
///
/// ```
/// # use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};
/// # hook_points! { pub void Linted { file: String } }
/// # let hooks = HookRegistry::new();
/// let first = on::<Linted>().name("style").before("imports").handler(|_: &LintedPayload| ());
/// let then = on::<Linted>().name("imports").before("style").handler(|_: &LintedPayload| ());
/// let Err(RegisterError::Cycle { path, .. }) = hooks.register([first, then]) else { panic!() };
/// let names: Vec<_> = path.iter().map(|step| &*step.handler).collect();
/// assert_eq!(names, ["style", "imports", "style"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleStep {
    /// The handler's name.
    pub handler: String,
    /// Who registered it.
    pub owner: Owner,
    /// Where it is written.
    pub location: SourceLocation,
    /// Whether it is a guard.
    pub guard: bool,
}

impl CycleStep {
    fn new(entry: &Entry) -> Self {
        Self {
            handler: entry.name.to_string(),
            owner: entry.owner(),
            location: entry.location,
            guard: entry.phase == Phase::Guard,
        }
    }
}

impl fmt::Display for CycleStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { handler, owner, location, .. } = self;
        write!(f, "`{handler}` ({owner}, {location})")
    }
}

/// What closes a circle beside the constraints, where it leads from guards to
/// rewriters.
fn phases(path: &[CycleStep]) -> &'static str {
    let guards = path.iter().filter(|step| step.guard).count();
    if guards == 0 || guards == path.len() { "" } else { "; guards run after all rewriters" }
}

fn joined(path: &[CycleStep]) -> String {
    path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" > ")
}

readable_debug! { struct HandlerFailure(parts) }
readable_debug! { struct DefaultPanicked { result, message } }
readable_debug! { struct NestingError { limit, chain } }
readable_debug! { struct NameClash { name, first, second } }
readable_debug! { struct Duplicate { point, handler, owner, first, second } }
readable_debug! {
    enum FireError {
        Failed(failure),
        Nesting(error),
        NameClash(clash),
        NoRuntime,
        Cancelled,
        DefaultPanicked(panicked),
    }
}
readable_debug! {
    enum RegisterError {
        Duplicate(duplicate),
        BadName { name, problem },
        BadPlugin(error),
        BadTarget { name, problem },
        Cycle { point, path },
        NoPlace { point, handler, plugin, constraints },
        PolicyTooLax { point, handler, asked, declared },
        FixedPolicy { point, handler },
        ZeroTimeout { point, handler },
        WrongOwner { handler, owner, bound },
        Refused { point, handler, plugin, refusal },
        Installed { plugin, can_be_replaced },
        NeedsStart { plugin },
        HasStop { plugin },
        GivenTwice { plugin },
        OfPlugin { plugin, error },
        NameClash(clash),
    }
}
