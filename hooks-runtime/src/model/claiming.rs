//! Claiming: one after another until the first claim.

use std::future::Future;

use crate::engine::containment::drop_contained;
use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, FireError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, IN_SHADOW, Sealed};
use crate::model::{Fired, FiresAs, Model, RegistersAs, Returns, ToFire};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;
use crate::report::{Contribution, FireReport, SkipReason};

/// The model of points that ask who takes something over.
///
/// Handlers are asked in order; the first that returns a value has claimed,
/// and those after it are not called. That none claims is a normal outcome.
///
/// ```
/// # use hooks_runtime::{HookPoint, hook_points};
/// # use hooks_runtime::point::ModelKind;
/// hook_points! {
///     /// Which backend serves this path? The first handler that has one answers.
///     pub claiming Route { path: String } -> { port: u16 }
/// }
///
/// assert_eq!(Route::descriptor().model(), ModelKind::Claiming);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Claiming;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// One after another until the first claim.
    pub const Claiming: Self = Self::new("Claiming", "claiming", FailurePolicy::Open);
}

impl Sealed for Claiming {}

impl Model for Claiming {
    const KIND: ModelKind = ModelKind::Claiming;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Option<P::Result>;
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = &'f P::Payload;
    type Accumulator<P: HookPoint> = FirstClaim<P::Result>;
}

/// Whether a handler claimed. Which one did is in the report of the fire.
///
/// ```
/// use hooks_runtime::Claim;
///
/// let claim = Claim::Claimed(8080);
/// assert!(claim.is_claimed());
/// assert_eq!(claim.claimed(), Some(8080));
/// assert_eq!(Claim::<u16>::Unclaimed.claimed(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a claim that is not looked at is lost"]
pub enum Claim<R> {
    /// A handler did, with this value.
    Claimed(R),
    /// None did.
    Unclaimed,
}

impl<R> Claim<R> {
    /// The claim's value, if there is one.
    pub fn claimed(self) -> Option<R> {
        match self {
            Self::Claimed(value) => Some(value),
            Self::Unclaimed => None,
        }
    }

    /// Whether a handler claimed.
    pub const fn is_claimed(&self) -> bool {
        matches!(self, Self::Claimed(_))
    }
}

/// What a handler of a claiming point with the result `R` may return.
///
/// ```
/// # use hooks_runtime::{Claim, HookRegistry, hook_points, on};
/// # hook_points! { pub claiming Parse(String) -> u32; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// // An option of the result, or a `Result` of such an option.
/// hooks.register(on::<Parse>().handler(|text: &String| (text == "one").then_some(1)))?;
/// hooks.register(on::<Parse>().handler(|text: &String| text.parse().map(Some)))?;
/// assert_eq!(hooks.fire_claiming::<Parse>(&"one".to_owned()).await?, Claim::Claimed(1));
/// assert_eq!(hooks.fire_claiming::<Parse>(&"2".to_owned()).await?, Claim::Claimed(2));
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `Option<{R}>`, or a `Result` of it",
    note = "return `Some(value)` to claim and `None` to leave it to others: `Option<{R}>`, or \
            `Result<Option<{R}>, E>`; the error `E` is `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait ReturnsClaim<P, R> {
    /// The uniform form.
    fn into_claim(self) -> Result<Option<R>, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P, R> ReturnsClaim<P, R> for Option<R> {
    #[inline]
    fn into_claim(self) -> Result<Option<R>, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsClaim<P, R> for Result<Option<R>, E> {
    #[inline]
    fn into_claim(self) -> Result<Option<R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsClaim<P, P::Result>> Returns<Claiming, P> for T {
    #[inline]
    fn into_output(self) -> Result<Option<P::Result>, BoxError> {
        self.into_claim()
    }
}

impl HookRegistry {
    /// Registers an async function or closure at a claiming point.
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    ///
    /// ```
    /// # use hooks_runtime::{Claim, HookRegistry, hook_points};
    /// # hook_points! { pub claiming Complete { prefix: String } -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register_claiming::<Complete>(async |line: &CompletePayload| {
    ///     ("hook_points".starts_with(&line.prefix)).then(|| "hook_points".to_owned())
    /// })?;
    /// let line = |prefix: &str| CompletePayload { prefix: prefix.to_owned() };
    /// let completed = hooks.fire_claiming::<Complete>(&line("hook")).await?;
    /// assert_eq!(completed.claimed().as_deref(), Some("hook_points"));
    /// assert_eq!(hooks.fire_claiming::<Complete>(&line("x")).await?, Claim::Unclaimed);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_claiming<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Claiming, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Claiming, P, As = Claiming>,
    {
        self.register_async(on(), handler)
    }

    /// As [`register_claiming`](Self::register_claiming), called on `state`
    /// first.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use hooks_runtime::{Claim, HookRegistry, hook_points};
    /// # hook_points! { pub claiming Resolve(String) -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let aliases = HashMap::from([("b".to_owned(), "build".to_owned())]);
    /// hooks.register_claiming_with::<Resolve, _>(aliases, async |aliases, word| {
    ///     aliases.get(word).cloned()
    /// })?;
    /// let resolved = hooks.fire_claiming::<Resolve>(&"b".to_owned()).await?;
    /// assert_eq!(resolved, Claim::Claimed("build".to_owned()));
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_claiming_with<P, S /* write `register_claiming_with::<P, _>(…)` */>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Claiming, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Claiming, P, As = Claiming>,
    {
        self.register_async_with(on(), state, handler)
    }
}

// What a fire comes to stands in its signature, in full.
#[allow(clippy::type_complexity)]
impl ScopedHooks {
    /// Asks the handlers of `P` in order until one claims.
    ///
    /// ```
    /// # use hooks_runtime::{Claim, HookRegistry, hook_points, on};
    /// # hook_points! { pub claiming Desk { topic: String } -> u32; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Desk>().handler(|question: &DeskPayload| {
    ///     (question.topic == "refunds").then_some(4)
    /// }))?;
    /// match hooks.fire_claiming::<Desk>(&DeskPayload { topic: "refunds".into() }).await? {
    ///     Claim::Claimed(desk) => assert_eq!(desk, 4),
    ///     Claim::Unclaimed => panic!("the first desk takes it"),
    /// }
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn fire_claiming<'f, P>(
        &'f self,
        payload: ToFire<P, Claiming, &'f P::Payload>,
    ) -> Fired<
        P,
        Claiming,
        impl Future<Output = Result<Claim<P::Result>, FireError>> + Send + use<'f, P>,
    >
    where
        P: HookPoint,
        P::Model: FiresAs<Claiming, P>,
    {
        let payload = <P::Model as FiresAs<Claiming, P>>::taken(payload);
        <P::Model as FiresAs<Claiming, P>>::fired(self.fire::<Claiming, P>(payload))
    }

    /// As [`fire_claiming`](Self::fire_claiming); the payload is made only if
    /// there are handlers.
    ///
    /// ```
    /// # use hooks_runtime::{Claim, HookRegistry, hook_points};
    /// # hook_points! { pub claiming Cached { key: Vec<u8> } -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// // No cache is installed, so the key is not computed.
    /// let cached = hooks.fire_claiming_with::<Cached>(|| unreachable!("the key")).await?;
    /// assert_eq!(cached, Claim::Unclaimed);
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn fire_claiming_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Fired<P, Claiming, impl Future<Output = Result<Claim<P::Result>, FireError>>>
    where
        P: HookPoint,
        P::Model: FiresAs<Claiming, P>,
    {
        <P::Model as FiresAs<Claiming, P>>::fired(async move {
            if self.needs_payload::<P>()? {
                return self.fire_made::<Claiming, P>(payload()).await;
            }
            Ok(Claim::Unclaimed)
        })
    }

    /// As [`fire_claiming`](Self::fire_claiming), with a report.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub claiming Printer(u32) -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Printer>().name("near").handler(|_: &u32| Some("hall".to_owned())))?;
    /// hooks.register(on::<Printer>().name("far").handler(|_: &u32| Some("cellar".to_owned())))?;
    /// let (printer, report) = hooks.fire_claiming_reported::<Printer>(&7).await;
    /// assert_eq!(printer?.claimed().as_deref(), Some("hall"));
    /// let far = report.handler("far").unwrap();
    /// assert_eq!(far.status().to_string(), "not called: an earlier handler claimed");
    /// # Ok(()) }
    /// ```
    pub fn fire_claiming_reported<'f, P>(
        &'f self,
        payload: ToFire<P, Claiming, &'f P::Payload>,
    ) -> Fired<P, Claiming, impl Future<Output = (Result<Claim<P::Result>, FireError>, FireReport)>>
    where
        P: HookPoint,
        P::Model: FiresAs<Claiming, P>,
    {
        let payload = <P::Model as FiresAs<Claiming, P>>::taken(payload);
        <P::Model as FiresAs<Claiming, P>>::fired(self.fire_reported::<Claiming, P>(payload))
    }
}

/// The first claim, once there is one.
#[derive(Debug)]
pub struct FirstClaim<R>(Claim<R>);

impl<R: Send> Accumulator for FirstClaim<R> {
    type Outcome = Claim<R>;

    #[inline]
    fn finish(self) -> Claim<R> {
        self.0
    }

    fn label(&self) -> &'static str {
        if self.0.is_claimed() { "claimed" } else { "unclaimed" }
    }
}

impl<P: HookPoint<Model = Self>> Compose<P> for Claiming {
    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        call.payload()
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    // Always inlined: a handler that never claims is then done at once.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn compose(call: &mut Call<'_, '_, P>, claim: Option<P::Result>) -> CallStep {
        let Some(value) = claim else { return CallStep::Continue };
        call.accumulator().0 = Claim::Claimed(value);
        call.contribute(Contribution::Claimed);
        call.end(SkipReason::AfterClaim)
    }

    fn decided(call: &mut Call<'_, '_, P>, claim: Option<P::Result>) -> CallStep {
        if claim.is_some() {
            call.contribute(Contribution::Claimed);
        }
        drop_contained(IN_SHADOW, claim);
        CallStep::Continue
    }
}

impl<P: HookPoint<Model = Self>> Begin<P> for Claiming {
    #[inline]
    fn begin<'f>(
        hooks: &'f ScopedHooks,
        payload: &'f P::Payload,
    ) -> FireFuture<'f, P, FirstClaim<P::Result>> {
        FireFuture::of(hooks, payload, FirstClaim(Claim::Unclaimed))
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> &P::Payload {
        payload.as_ref().expect("it was made")
    }
}
