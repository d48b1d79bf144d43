//! The builder of a registration: options first, then the handler.

use std::fmt;
use std::marker::PhantomData;

use crate::engine::raw::ErasedCondition;
use crate::handler::forms::{Handler, IntoHandler, Sent};
use crate::handler::options::{Options, option_methods};
use crate::handler::registration::Registration;
use crate::model::Guard;
use crate::model::compose::Compose;
use crate::point::{HookPoint, SourceLocation};
use crate::registry::entry::Phase;

/// Starts a registration at `P`: options first, then the handler.
///
/// ```
/// # use std::sync::Arc;
/// # use std::sync::atomic::{AtomicU32, Ordering};
/// # use hooks_runtime::{hook_points, on, HookRegistry};
/// # hook_points! { pub void Ping { n: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::new();
/// let sum = Arc::new(AtomicU32::new(0));
/// let summed = Arc::clone(&sum);
/// hooks.register(on::<Ping>().name("sum").priority(-10).handler(move |ping: &PingPayload| {
///     summed.fetch_add(ping.n, Ordering::Relaxed);
/// }))?;
/// # hooks.fire_void::<Ping>(&PingPayload { n: 3 }).await?;
/// # assert_eq!(sum.load(Ordering::Relaxed), 3);
/// # Ok(()) }
/// ```
///
/// A closure names the types of its parameters. What state it has, and how:
///
/// | closure | written |
/// |---|---|
/// | sync | captures as it likes: `.handler(move \|p: &P\| …)` |
/// | async, without state | `.handler(async \|p: &P\| …)` |
/// | async, with a state that it borrows | [`.handler_with(state, async \|state: &S, p: &P\| …)`](On::handler_with) |
/// | async, with what it captured cloned for each call | [`.handler(capturing(async move \|p: &P\| …))`](crate::capturing) |
#[track_caller]
pub fn on<P: HookPoint>() -> On<P> {
    On::at(SourceLocation::caller())
}

/// The options of a handler of `P`; [`On::handler`] or [`On::guard`] completes
/// it.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{FailurePolicy, HookContext, HookRegistry, hook_points, on};
/// # hook_points! { pub void Saved { page: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let backup = on::<Saved>()
///     .name("backup")
///     .plugin("storage")
///     .priority(10)
///     .after("spelling")
///     .timeout(Duration::from_secs(5))
///     .on_failure(FailurePolicy::Closed);
/// hooks.register([
///     backup.handler(async |_: &SavedPayload, _: &HookContext| ()),
///     on::<Saved>().name("spelling").once().handler(|_: &SavedPayload| ()),
/// ])?;
/// let order: Vec<_> = hooks.handlers_at::<Saved>().into_iter().map(|it| it.name).collect();
/// assert_eq!(order, ["spelling".into(), "backup".into()]);
/// # Ok(()) }
/// ```
#[must_use = "add the handler, then give it to `register`"]
pub struct On<P> {
    /// In a box, so that each step of a builder moves one word.
    options: Box<Options>,
    point: PhantomData<fn() -> P>,
}

impl<P> On<P> {
    pub(crate) fn at(location: SourceLocation) -> Self {
        Self::with_options(Options::new(location))
    }

    #[inline]
    pub(crate) fn with_options(options: Box<Options>) -> Self {
        Self { options, point: PhantomData }
    }

    option_methods!();

    /// Puts the handler among the guards. Only for a handler that was made as
    /// one, so no public method returns what this does.
    pub(crate) fn guarding(mut self) -> Self {
        self.options.phase = Phase::Guard;
        self
    }
}

impl<P: HookPoint> On<P> {
    /// Calls the handler only where the condition is met.
    ///
    /// It is asked right before the handler would be called, about the payload that
    /// the handler would be given: a guard's about what the rewriters left, that of a
    /// stage about its [`FlowContext`](crate::FlowContext). Where it is not met, the
    /// handler is skipped, which reports, counters and audits show as such. It sees the
    /// payload only: what depends on a state or on the context is asked in the handler. Where it
    /// panics, the handler has failed. Of several conditions all must be met.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # use hooks_runtime::report::SkipReason;
    /// # hook_points! { pub void SessionStart { platform: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hooks = HookRegistry::new();
    /// hooks.register(
    ///     on::<SessionStart>()
    ///         .when(|start: &SessionStartPayload| start.platform == "cli")
    ///         .handler(|_: &SessionStartPayload| println!("welcome")),
    /// )?;
    /// let start = SessionStartPayload { platform: "web".into() };
    /// hooks.fire_void::<SessionStart>(&start).await?;
    /// let greeting = &hooks.handlers_at::<SessionStart>()[0];
    /// assert_eq!((greeting.calls, greeting.skips.of(SkipReason::Condition)), (0, 1));
    /// # Ok(()) }
    /// ```
    pub fn when(mut self, condition: impl Fn(&P::Payload) -> bool + Send + Sync + 'static) -> Self
    where
        P::Model: Compose<P>,
    {
        self.options.add_condition(ErasedCondition::new::<P, _>(condition));
        self
    }

    /// The handler: a function or closure, sync or async, of `&Payload` and,
    /// if it likes, `&HookContext`.
    ///
    /// The example of [`On`] has a sync and an async one.
    pub fn handler<F, Form>(self, handler: F) -> Registration
    where
        F: IntoHandler<P::Model, P, (), Form, P::Payload>,
        Form: Sent<F, (), P::Model, P>,
    {
        self.finish(Form::handler(handler, ()))
    }

    /// A handler that is called on `state` first: `async |state: &S, payload: &P| …`.
    ///
    /// Two values are a tuple: `async |(db, clock): &(Db, Clock), payload: &P| …`.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub claiming Serve(String) -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let root = String::from("/srv");
    /// hooks.register(on::<Serve>().handler_with(root, async |root: &String, path: &String| {
    ///     path.starts_with("/files/").then(|| format!("{root}{path}"))
    /// }))?;
    /// let file = hooks.fire_claiming::<Serve>(&"/files/a.txt".to_owned()).await?.claimed();
    /// assert_eq!(file.as_deref(), Some("/srv/files/a.txt"));
    /// # Ok(()) }
    /// ```
    pub fn handler_with<S, F, Form>(self, state: S, handler: F) -> Registration
    where
        F: IntoHandler<P::Model, P, S, Form, P::Payload>,
        Form: Sent<F, S, P::Model, P>,
    {
        self.finish(Form::handler(handler, state))
    }

    /// A guard of a gating point: sees the payload that will be used and
    /// returns a [`Verdict`](crate::Verdict) that cannot replace it.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Judgement, hook_points, on};
    /// # hook_points! { pub gating Releasing { version: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Releasing>().name("semver").guard(|release: &ReleasingPayload| {
    ///     if release.version.contains('.') { Judgement::Pass } else { Judgement::reject("no dot") }
    /// }))?;
    /// let gate = hooks.fire_gating::<Releasing>(ReleasingPayload { version: "1".into() }).await?;
    /// assert_eq!(gate.into_result().unwrap_err().reason(), "no dot");
    /// # Ok(()) }
    /// ```
    pub fn guard<F, Form>(self, handler: F) -> Registration
    where
        F: IntoHandler<Guard, P, (), Form, P::Payload>,
        Form: Sent<F, (), Guard, P>,
    {
        self.guarding().finish(Form::handler(handler, ()))
    }

    /// A guard that is called on `state` first: `async |state: &S, payload: &P| …`.
    ///
    /// ```
    /// # use hooks_runtime::{Gate, HookRegistry, Verdict, hook_points, on};
    /// # hook_points! { pub gating Send(String); }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let limit = 140;
    /// hooks.register(on::<Send>().guard_with(limit, async |limit: &usize, text: &String| {
    ///     if text.len() <= *limit { Verdict::Pass } else { Verdict::reject("too long") }
    /// }))?;
    /// # assert!(matches!(hooks.fire_gating::<Send>("hi".into()).await?, Gate::Passed(_)));
    /// # Ok(()) }
    /// ```
    pub fn guard_with<S, F, Form>(self, state: S, handler: F) -> Registration
    where
        F: IntoHandler<Guard, P, S, Form, P::Payload>,
        Form: Sent<F, S, Guard, P>,
    {
        self.guarding().finish(Form::handler(handler, state))
    }

    pub(crate) fn finish(mut self, handler: Handler<P>) -> Registration {
        let handler = handler.0.when(self.options.condition.take());
        Registration { point: P::descriptor(), options: self.options, handler }
    }
}

impl<P: HookPoint> fmt::Debug for On<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("On").field("point", &P::NAME).field("options", &self.options).finish()
    }
}
