//! The builder of a registration: options first, then the handler.

use std::fmt;
use std::marker::PhantomData;

use crate::engine::raw::ErasedCondition;
use crate::handler::forms::{Handler, IntoHandler};
use crate::handler::options::{Options, option_methods};
use crate::handler::registration::Registration;
use crate::model::compose::Compose;
use crate::model::{Guard, RegistersAs};
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
    /// # use hooks_runtime::{HookRegistry, SkipReason, hook_points, on};
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
    pub fn handler<Form>(
        self,
        handler: impl IntoHandler<P::Model, P, (), Form, P::Payload>,
    ) -> Registration {
        self.finish(handler.into_handler(()))
    }

    /// A handler that is called on `state` first: `async |state: &S, payload: &P| …`.
    ///
    /// Two values are a tuple: `async |(db, clock): &(Db, Clock), payload: &P| …`.
    pub fn handler_with<S, Form>(
        self,
        state: S,
        handler: impl IntoHandler<P::Model, P, S, Form, P::Payload>,
    ) -> Registration {
        self.finish(handler.into_handler(state))
    }

    /// A guard of a gating point: sees the payload that will be used and
    /// returns a [`Verdict`](crate::Verdict) that cannot replace it.
    pub fn guard<Form>(
        self,
        handler: impl IntoHandler<Guard, P, (), Form, P::Payload>,
    ) -> Registration
    where
        P::Model: RegistersAs<Guard, P>,
    {
        self.guarding().finish(handler.into_handler(()))
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
    pub fn guard_with<S, Form>(
        self,
        state: S,
        handler: impl IntoHandler<Guard, P, S, Form, P::Payload>,
    ) -> Registration
    where
        P::Model: RegistersAs<Guard, P>,
    {
        self.guarding().finish(handler.into_handler(state))
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
