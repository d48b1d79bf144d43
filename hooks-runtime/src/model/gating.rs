//! Gating: rewriters in order, then guards; the first rejection stops.

use std::future::Future;

use crate::engine::containment::{drop_contained, shown_reason};
use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, FireError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, IN_SHADOW, Sealed};
use crate::model::guard::{NoReplacement, guard_that_replaces};
use crate::model::rejection::Rejection;
use crate::model::{Fired, FiresAs, Model, RegistersAs, Returns, ToFire};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;
use crate::report::{Contribution, FireReport, SkipReason};

/// The model of points that a payload must pass before the host uses it.
///
/// Rewriters run one after another, each sees the payload that the one before
/// left. Then guards run, which see the final payload and cannot change it: so
/// what a guard judged is what the host gets. The first rejection ends the
/// fire.
///
/// ```
/// # use hooks_runtime::{FailurePolicy, HookPoint, hook_points};
/// hook_points! {
///     /// Before a commit is made. No verdict is no pass, so a failure stops it.
///     pub gating Committing { message: String }
/// }
///
/// assert_eq!(Committing::descriptor().policy(), FailurePolicy::Closed);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Gating;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// Rewriters, then guards; the first rejection stops.
    // No verdict is not a pass, so it fails closed.
    pub const Gating: Self = Self::new("Gating", "gating", FailurePolicy::Closed);
}

impl Sealed for Gating {}

impl Model for Gating {
    const KIND: ModelKind = ModelKind::Gating;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Verdict<P::Payload, P::Result>;
    type Reason<P: HookPoint> = P::Result;
    type Given<'f, P: HookPoint> = P::Payload;
    type Accumulator<P: HookPoint> = Passing<P::Payload, P::Result>;
}

/// What a gating handler decides.
///
/// A rewriter returns `Verdict<Payload>`. A guard returns `Verdict`, whose
/// `Replace` cannot be made. The reason of a rejection is text, or of the type
/// that the point declares, `R`: then a rewriter returns `Verdict<Payload, R>` and
/// a guard [`Judgement<R>`](crate::Judgement). [`Rejection`] has an example.
///
/// ```
/// use hooks_runtime::Verdict;
///
/// fn shorten(subject: &String) -> Verdict<String> {
///     match subject.len() {
///         0 => Verdict::reject("a commit needs a subject"),
///         1..=50 => Verdict::Pass,
///         _ => Verdict::Replace(subject[..50].to_owned()),
///     }
/// }
///
/// assert_eq!(shorten(&"fix".to_owned()), Verdict::Pass);
/// assert_eq!(shorten(&String::new()), Verdict::Reject("a commit needs a subject".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a verdict decides only when it is returned"]
pub enum Verdict<P = NoReplacement, R = String> {
    /// The payload may pass as it is.
    Pass,
    /// The payload may pass, but this one in its place.
    Replace(P),
    /// The payload must not pass, for this reason.
    Reject(R),
}

impl<P, R> Verdict<P, R> {
    /// The payload must not pass, for this reason.
    pub fn reject(reason: impl Into<R>) -> Self {
        Self::Reject(reason.into())
    }
}

/// Whether the payload passed the gate.
///
/// ```
/// # use hooks_runtime::{Gate, HookRegistry, hook_points};
/// # hook_points! { pub gating Deploying { version: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// match hooks.fire_gating::<Deploying>(DeployingPayload { version: "1.2".into() }).await? {
///     Gate::Passed(deploying) => assert_eq!(deploying.version, "1.2"),
///     Gate::Rejected(rejection) => println!("not today: {}", rejection.reason()),
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the payload is usable only where the gate passed it"]
pub enum Gate<P, R = String> {
    /// It did, as the rewriters left it.
    Passed(P),
    /// It did not.
    Rejected(Rejection<R>),
}

impl<P, R> Gate<P, R> {
    /// The payload, or the rejection as an error, for `?`.
    ///
    /// ```
    /// use hooks_runtime::{HookRegistry, hook_points};
    ///
    /// hook_points! {
    ///     /// Before a message leaves.
    ///     pub gating Sending { text: String }
    /// }
    ///
    /// async fn send(hooks: &HookRegistry, text: String) -> Result<(), Box<dyn std::error::Error>> {
    ///     let message = hooks.fire_gating::<Sending>(SendingPayload { text }).await?.into_result()?;
    ///     println!("sent {}", message.text);
    ///     Ok(())
    /// }
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(send(&HookRegistry::new(), "hello".into()))?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_result(self) -> Result<P, Rejection<R>> {
        match self {
            Self::Passed(payload) => Ok(payload),
            Self::Rejected(rejection) => Err(rejection),
        }
    }
}

/// What a rewriter of a gating point with reasons of the type `R` may return, where it
/// is to be an `Expected`.
///
/// The example of [`Verdict`] has a handler that returns one.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `{Expected}`, or a `Result` of it",
    note = "return `{Expected}` or `Result<{Expected}, E>`; the error `E` is \
            `Into<Box<dyn Error + Send + Sync>>`",
    note = "a guard, which cannot replace the payload, returns `Judgement<{R}>`: write `guard` in \
            the annotation, or use `register_guard` or `on::<{P}>().guard(f)`; with state \
            `register_guard_with` or `guard_with`"
)]
pub trait ReturnsVerdict<P, Expected, R> {
    /// The uniform form.
    fn into_verdict(self) -> Result<Expected, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P, T, R> ReturnsVerdict<P, Self, R> for Verdict<T, R> {
    #[inline]
    fn into_verdict(self) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, T, R, E> ReturnsVerdict<P, Verdict<T, R>, R> for Result<Verdict<T, R>, E>
where
    E: Into<BoxError>,
{
    #[inline]
    fn into_verdict(self) -> Result<Verdict<T, R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P, T> Returns<Gating, P> for T
where
    P: HookPoint,
    T: ReturnsVerdict<P, Verdict<P::Payload, P::Result>, P::Result>,
{
    #[inline]
    fn into_output(self) -> Result<Verdict<P::Payload, P::Result>, BoxError> {
        self.into_verdict()
    }
}

impl HookRegistry {
    /// Registers an async function or closure as a rewriter at a gating point.
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    ///
    /// ```
    /// # use hooks_runtime::{Gate, HookRegistry, Verdict, hook_points};
    /// # hook_points! { pub gating Searching(String); }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register_gating::<Searching>(async |query: &String| {
    ///     Verdict::Replace(query.trim().to_owned())
    /// })?;
    /// let query = hooks.fire_gating::<Searching>(" lamps ".to_owned()).await?;
    /// assert_eq!(query, Gate::Passed("lamps".to_owned()));
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_gating<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Gating, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Gating, P, As = Gating>,
    {
        self.register_async(on(), handler)
    }

    /// As [`register_gating`](Self::register_gating), called on `state` first.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Verdict, hook_points};
    /// # hook_points! { pub gating Uploading { bytes: u64 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let limit = 1_000;
    /// hooks.register_gating_with::<Uploading, _>(limit, async |limit, upload| {
    ///     if upload.bytes > *limit { Verdict::reject("too large") } else { Verdict::Pass }
    /// })?;
    /// let upload = hooks.fire_gating::<Uploading>(UploadingPayload { bytes: 2_000 }).await?;
    /// assert_eq!(upload.into_result().unwrap_err().reason(), "too large");
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_gating_with<P, S /* write `register_gating_with::<P, _>(…)` */>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Gating, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Gating, P, As = Gating>,
    {
        self.register_async_with(on(), state, handler)
    }
}

// What a fire comes to stands in its signature, in full.
#[allow(clippy::type_complexity)]
impl ScopedHooks {
    /// Passes `payload` through the rewriters and the guards of `P`.
    ///
    /// It comes back in [`Gate::Passed`], without a clone where no handler
    /// replaced it.
    ///
    /// The example of [`Gate`] looks at what comes of it.
    #[inline]
    pub fn fire_gating<P>(
        &self,
        payload: ToFire<P, Gating, P::Payload>,
    ) -> Fired<
        P,
        Gating,
        impl Future<Output = Result<Gate<P::Payload, P::Result>, FireError>> + Send + use<'_, P>,
    >
    where
        P: HookPoint,
        P::Model: FiresAs<Gating, P>,
    {
        let payload = <P::Model as FiresAs<Gating, P>>::taken(payload);
        <P::Model as FiresAs<Gating, P>>::fired(self.fire::<Gating, P>(payload))
    }

    /// As [`fire_gating`](Self::fire_gating); the payload is made only if there
    /// are handlers. `None` where there are none, and no payload was made: the
    /// caller goes on with what it has.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Verdict, hook_points};
    /// # hook_points! { pub gating Publishing { pages: Vec<String> } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// // Without handlers there is no payload, and nothing that could reject it.
    /// assert!(hooks.fire_gating_with::<Publishing>(|| unreachable!("the pages")).await?.is_none());
    ///
    /// hooks.register_gating::<Publishing>(async |_: &PublishingPayload| Verdict::Pass)?;
    /// let gate = hooks.fire_gating_with::<Publishing>(|| PublishingPayload { pages: vec![] }).await?;
    /// assert!(gate.unwrap().into_result()?.pages.is_empty());
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn fire_gating_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Fired<
        P,
        Gating,
        impl Future<Output = Result<Option<Gate<P::Payload, P::Result>>, FireError>>,
    >
    where
        P: HookPoint,
        P::Model: FiresAs<Gating, P>,
    {
        <P::Model as FiresAs<Gating, P>>::fired(async move {
            if self.needs_payload::<P>()? {
                return self.fire::<Gating, P>(payload()).await.map(Some);
            }
            Ok(None)
        })
    }

    /// As [`fire_gating`](Self::fire_gating), with a report.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Judgement, Verdict, hook_points, on};
    /// # hook_points! { pub gating Ordering { item: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let in_stock = on::<Ordering>().name("in_stock");
    /// hooks.register(in_stock.guard(|_: &OrderingPayload| Judgement::reject("sold out")))?;
    /// let order = OrderingPayload { item: "lamp".into() };
    /// let (gate, report) = hooks.fire_gating_reported::<Ordering>(order).await;
    /// assert_eq!(gate?.into_result().unwrap_err().handler(), "in_stock");
    /// assert_eq!(report.handlers()[0].status().to_string(), "rejected: sold out");
    /// # Ok(()) }
    /// ```
    pub fn fire_gating_reported<P>(
        &self,
        payload: ToFire<P, Gating, P::Payload>,
    ) -> Fired<
        P,
        Gating,
        impl Future<Output = (Result<Gate<P::Payload, P::Result>, FireError>, FireReport)>,
    >
    where
        P: HookPoint,
        P::Model: FiresAs<Gating, P>,
    {
        let payload = <P::Model as FiresAs<Gating, P>>::taken(payload);
        <P::Model as FiresAs<Gating, P>>::fired(self.fire_reported::<Gating, P>(payload))
    }
}

/// A payload on its way through the gate.
#[derive(Debug)]
pub struct Passing<T, R> {
    payload: T,
    rejection: Option<Box<Rejection<R>>>,
}

#[cold]
#[inline(never)]
fn rejected<T, R>(payload: T, rejection: Rejection<R>) -> Gate<T, R> {
    drop_contained("a payload that was rejected", payload);
    Gate::Rejected(rejection)
}

impl<T: Send, R: Send> Accumulator for Passing<T, R> {
    type Outcome = Gate<T, R>;

    #[inline]
    fn empty(self) -> Result<Gate<T, R>, FireError> {
        let Self { payload, rejection } = self;
        // There is none, which the compiler does not see.
        std::mem::forget(rejection);
        Ok(Gate::Passed(payload))
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.rejection.is_none()
    }

    #[inline]
    fn finish(self) -> Gate<T, R> {
        match self.rejection {
            None => Gate::Passed(self.payload),
            Some(rejection) => rejected(self.payload, *rejection),
        }
    }

    fn label(&self) -> &'static str {
        if self.rejection.is_some() { "rejected" } else { "passed" }
    }
}

impl<P: HookPoint<Model = Self>> Compose<P> for Gating {
    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        &call.accumulator().payload
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    /// No failure swallows a rejection; and where a failure lets the payload
    /// pass, it does not undo what a rewriter took out of it.
    fn stands(verdict: &Verdict<P::Payload, P::Result>, policy: FailurePolicy) -> bool {
        match verdict {
            Verdict::Reject(_) => true,
            Verdict::Replace(_) => policy == FailurePolicy::Open,
            Verdict::Pass => false,
        }
    }

    // Always inlined, for where the handler lets it pass, as most do.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn compose(call: &mut Call<'_, '_, P>, verdict: Verdict<P::Payload, P::Result>) -> CallStep {
        match verdict {
            Verdict::Pass => {
                if call.is_recording() {
                    call.contribute(Contribution::Passed);
                }
                CallStep::Continue
            }
            Verdict::Replace(payload) => replace(call, payload),
            Verdict::Reject(reason) => reject(call, reason),
        }
    }

    fn decided(call: &mut Call<'_, '_, P>, verdict: Verdict<P::Payload, P::Result>) -> CallStep {
        let replaces = matches!(verdict, Verdict::Replace(_));
        if !(replaces && call.is_guard()) {
            call.contribute(match &verdict {
                Verdict::Pass => Contribution::Passed,
                Verdict::Replace(_) => Contribution::Replaced,
                Verdict::Reject(reason) => {
                    Contribution::Rejected(shown_reason(P::displayed(reason)))
                }
            });
        }
        drop_contained(IN_SHADOW, verdict);
        if replaces && call.is_guard() {
            return call.fail(guard_that_replaces(P::NAME));
        }
        CallStep::Continue
    }
}

#[inline(never)]
fn replace<P: HookPoint<Model = Gating>>(
    call: &mut Call<'_, '_, P>,
    payload: P::Payload,
) -> CallStep {
    // What the guards before this one judged must be what the host gets.
    if call.is_guard() {
        drop_contained("a payload that a guard cannot replace", payload);
        return call.fail(guard_that_replaces(P::NAME));
    }
    call.contribute(Contribution::Replaced);
    let replaced = std::mem::replace(&mut call.accumulator().payload, payload);
    drop_contained("a payload that was replaced", replaced);
    CallStep::Continue
}

#[inline(never)]
fn reject<P: HookPoint<Model = Gating>>(call: &mut Call<'_, '_, P>, reason: P::Result) -> CallStep {
    if call.is_recording() {
        call.contribute(Contribution::Rejected(shown_reason(P::displayed(&reason))));
    }
    let (handler, owner) = call.handler();
    let rejection = Rejection::new(P::NAME, handler, owner, reason);
    call.accumulator().rejection = Some(Box::new(rejection));
    call.end(SkipReason::AfterRejection)
}

impl<P: HookPoint<Model = Self>> Begin<P> for Gating {
    #[inline]
    fn begin(
        hooks: &ScopedHooks,
        payload: P::Payload,
    ) -> FireFuture<'_, P, Passing<P::Payload, P::Result>> {
        FireFuture::owning(hooks, Passing { payload, rejection: None })
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> P::Payload {
        payload.take().expect("it was made")
    }
}
