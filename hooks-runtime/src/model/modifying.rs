//! Modifying: one after another; per field the first value wins.

use std::any::Any;
use std::fmt;
use std::future::Future;

use crate::engine::containment::{contained, drop_contained};
use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, DefaultPanicked, FireError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, IN_SHADOW, Sealed};
use crate::model::{FieldSet, Fired, FiresAs, Model, RegistersAs, Returns, ToFire};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;
use crate::report::{Contribution, FireReport};

/// The model of points that amend what the host does next.
///
/// Every handler gets the same unmodified payload and returns a result whose
/// fields are optional. For each field the first handler that sets it wins;
/// later ones fill only what is still empty.
///
/// ```
/// # use hooks_runtime::{HookPoint, hook_points};
/// # use hooks_runtime::point::ModelKind;
/// hook_points! {
///     /// Before a page is rendered. The first handler that sets a field has it.
///     pub modifying Rendering { path: String } -> { title: String, theme: String }
/// }
///
/// assert_eq!(Rendering::descriptor().model(), ModelKind::Modifying);
/// assert_eq!(RenderingResult::default().title, None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Modifying;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// One after another; per field the first value wins.
    pub const Modifying: Self = Self::new("Modifying", "modifying", FailurePolicy::Open);
}

impl Sealed for Modifying {}

impl Model for Modifying {
    const KIND: ModelKind = ModelKind::Modifying;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Option<P::Result>;
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = &'f P::Payload;
    type Accumulator<P: HookPoint> = Merged<P>;
}

/// What a handler of a modifying point with the result `R` may return.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub modifying Naming { id: u32 } -> { name: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// // The result, an option of it, or a `Result` of either.
/// hooks.register(on::<Naming>().handler(|_: &NamingPayload| None::<NamingResult>))?;
/// hooks.register(on::<Naming>().handler(|naming: &NamingPayload| {
///     Ok::<_, std::io::Error>(NamingResult { name: Some(format!("no. {}", naming.id)) })
/// }))?;
/// let named = hooks.fire_modifying::<Naming>(&NamingPayload { id: 7 }).await?;
/// assert_eq!(named.name.as_deref(), Some("no. 7"));
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `{R}`, or an `Option` or a `Result` of it",
    note = "return `{R}`, or `Option<{R}>` where it may have no opinion, or a `Result` of either; \
            the error of a `Result` is `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait ReturnsAmendment<P, R> {
    /// The uniform form.
    fn into_amendment(self) -> Result<Option<R>, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P: HookPoint<Model = Modifying>, R> ReturnsAmendment<P, R> for R {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        Ok(Some(self))
    }
}

#[diagnostic::do_not_recommend]
impl<P, R> ReturnsAmendment<P, R> for Option<R> {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsAmendment<P, R> for Result<R, E> {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        self.map(Some).map_err(Into::into)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsAmendment<P, R> for Result<Option<R>, E> {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsAmendment<P, P::Result>> Returns<Modifying, P> for T {
    #[inline]
    fn into_output(self) -> Result<Option<P::Result>, BoxError> {
        self.into_amendment()
    }
}

impl HookRegistry {
    /// Registers an async function or closure at a modifying point.
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub modifying Compiling { file: String } -> { level: u8 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register_modifying::<Compiling>(async |unit: &CompilingPayload| {
    ///     unit.file.ends_with("_test.c").then(|| CompilingResult { level: Some(0) })
    /// })?;
    /// let flags = |file: &str| CompilingPayload { file: file.to_owned() };
    /// assert_eq!(hooks.fire_modifying::<Compiling>(&flags("a_test.c")).await?.level, Some(0));
    /// assert_eq!(hooks.fire_modifying::<Compiling>(&flags("a.c")).await?.level, None);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_modifying<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Modifying, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Modifying, P, As = Modifying>,
    {
        self.register_async(on(), handler)
    }

    /// As [`register_modifying`](Self::register_modifying), called on `state`
    /// first.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub modifying Pricing { item: String } -> { cents: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let discount = 10;
    /// hooks.register_modifying_with::<Pricing, _>(discount, async |discount, pricing| {
    ///     let full = 100 * u32::try_from(pricing.item.len()).unwrap();
    ///     PricingResult { cents: Some(full - discount) }
    /// })?;
    /// let priced = hooks.fire_modifying::<Pricing>(&PricingPayload { item: "lamp".into() }).await?;
    /// assert_eq!(priced.cents, Some(390));
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_modifying_with<P, S /* write `register_modifying_with::<P, _>(…)` */>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Modifying, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Modifying, P, As = Modifying>,
    {
        self.register_async_with(on(), state, handler)
    }
}

// What a fire comes to stands in its signature, in full.
#[allow(clippy::type_complexity)]
impl ScopedHooks {
    /// Asks every handler of `P` in order, and merges what they return.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub modifying Greeting { visitor: String } -> { text: String, colour: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Greeting>().handler(|_: &GreetingPayload| GreetingResult {
    ///     text: Some("welcome".into()),
    ///     ..Default::default()
    /// }))?;
    /// hooks.register(on::<Greeting>().handler(|_: &GreetingPayload| GreetingResult {
    ///     text: Some("hello".into()), // too late: the first value of a field is kept
    ///     colour: Some("blue".into()),
    /// }))?;
    /// let greeting = hooks.fire_modifying::<Greeting>(&GreetingPayload { visitor: "v-1".into() }).await?;
    /// assert_eq!(greeting.text.as_deref(), Some("welcome"));
    /// assert_eq!(greeting.colour.as_deref(), Some("blue"));
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn fire_modifying<'f, P>(
        &'f self,
        payload: ToFire<P, Modifying, &'f P::Payload>,
    ) -> Fired<P, Modifying, impl Future<Output = Result<P::Result, FireError>> + Send + use<'f, P>>
    where
        P: HookPoint,
        P::Model: FiresAs<Modifying, P>,
    {
        let payload = <P::Model as FiresAs<Modifying, P>>::taken(payload);
        <P::Model as FiresAs<Modifying, P>>::fired(self.fire::<Modifying, P>(payload))
    }

    /// As [`fire_modifying`](Self::fire_modifying); the payload is made only if
    /// there are handlers.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub modifying Prompting { history: Vec<String> } -> { hint: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// // Without handlers the history is not collected, and the result is the default.
    /// let prompt = hooks.fire_modifying_with::<Prompting>(|| unreachable!("the history")).await?;
    /// assert_eq!(prompt.hint, None);
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn fire_modifying_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Fired<P, Modifying, impl Future<Output = Result<P::Result, FireError>>>
    where
        P: HookPoint,
        P::Model: FiresAs<Modifying, P>,
    {
        <P::Model as FiresAs<Modifying, P>>::fired(async move {
            if self.needs_payload::<P>()? {
                return self.fire_made::<Modifying, P>(payload()).await;
            }
            made_default::<P>()
        })
    }

    /// As [`fire_modifying`](Self::fire_modifying), with a report.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # use hooks_runtime::report::{Contribution, HandlerStatus};
    /// # hook_points! { pub modifying Labelling { box_id: u32 } -> { title: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Labelling>().name("titles").handler(|label: &LabellingPayload| {
    ///     LabellingResult { title: Some(format!("box {}", label.box_id)) }
    /// }))?;
    /// let (label, report) = hooks.fire_modifying_reported::<Labelling>(&LabellingPayload { box_id: 7 }).await;
    /// assert_eq!(label?.title.as_deref(), Some("box 7"));
    /// let titles = report.handler("titles").unwrap();
    /// assert_eq!(titles.status(), &HandlerStatus::Ran(Contribution::Fields(vec!["title"])));
    /// # Ok(()) }
    /// ```
    pub fn fire_modifying_reported<'f, P>(
        &'f self,
        payload: ToFire<P, Modifying, &'f P::Payload>,
    ) -> Fired<P, Modifying, impl Future<Output = (Result<P::Result, FireError>, FireReport)>>
    where
        P: HookPoint,
        P::Model: FiresAs<Modifying, P>,
    {
        let payload = <P::Model as FiresAs<Modifying, P>>::taken(payload);
        <P::Model as FiresAs<Modifying, P>>::fired(self.fire_reported::<Modifying, P>(payload))
    }
}

/// A result with which nothing is merged yet. How it is made is the host's code.
#[inline]
fn made_default<P: HookPoint>() -> Result<P::Result, FireError> {
    contained(|| (P::MERGING.default)()).map_err(|message| {
        let result = std::any::type_name::<P::Result>();
        FireError::DefaultPanicked(Box::new(DefaultPanicked { result, message }))
    })
}

/// What has been merged so far; there once there are handlers.
pub struct Merged<P: HookPoint>(Option<P::Result>);

impl<P: HookPoint> fmt::Debug for Merged<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merged").finish_non_exhaustive()
    }
}

impl<P: HookPoint> Merged<P> {
    // Always inlined: where the handler is known, so is what its result leaves
    // empty, and that costs nothing to merge.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn merge(&mut self, result: P::Result) -> FieldSet {
        match &mut self.0 {
            Some(merged) => (P::MERGING.merge)(merged, result),
            None => FieldSet::new(),
        }
    }
}

impl<P: HookPoint> Drop for Merged<P> {
    fn drop(&mut self) {
        if let Some(result) = &mut self.0 {
            (P::MERGING.drop_fields)(result);
        }
    }
}

impl<P: HookPoint> Accumulator for Merged<P> {
    type Outcome = P::Result;
    const FIELDS: &'static [&'static str] = P::MERGING.fields;

    #[inline]
    fn begin(&mut self) -> Result<(), FireError> {
        let before = self.0.replace(made_default::<P>()?);
        // There was nothing in it, which the compiler does not see.
        std::mem::forget(before);
        Ok(())
    }

    #[inline]
    fn empty(self) -> Result<P::Result, FireError> {
        // There is nothing in it, which the compiler does not see.
        std::mem::forget(self);
        made_default::<P>()
    }

    #[inline]
    fn finish(mut self) -> P::Result {
        self.0.take().expect("it is there since the fire began")
    }

    fn label(&self) -> &'static str {
        if self.filled().is_empty() { "unchanged" } else { "amended" }
    }

    fn filled(&self) -> FieldSet {
        self.0.as_ref().map_or(FieldSet::new(), P::MERGING.filled)
    }

    #[inline]
    fn merged(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.0.as_ref().map(|result| result as _)
    }
}

/// What was set before an answer is merged, for a report or a trace: where a `filled`
/// that is written by hand panics, the answer is merged all the same.
#[cold]
#[inline(never)]
fn filled_so_far<P: HookPoint>(merged: &Merged<P>) -> FieldSet {
    contained(|| merged.filled()).unwrap_or_default()
}

impl<P: HookPoint<Model = Self>> Compose<P> for Modifying {
    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        call.payload()
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn compose(call: &mut Call<'_, '_, P>, result: Option<P::Result>) -> CallStep {
        let Some(result) = result else { return CallStep::Continue };
        let is_recording = call.is_recording();
        let before = if is_recording { filled_so_far(call.accumulator()) } else { FieldSet::new() };
        // In a derived `merge` the only code of the user that may unwind is the drop
        // of the result itself. By then all is merged, so that is no failure of the
        // handler, which would have added nothing; nor is it in one that is written
        // by hand.
        call.merging(before);
        let set = call.accumulator().merge(result);
        call.merged();
        if is_recording {
            call.contribute(Contribution::Fields(set.names_of(P::MERGING.fields)));
        }
        CallStep::Continue
    }

    fn decided(call: &mut Call<'_, '_, P>, result: Option<P::Result>) -> CallStep {
        if let Some(result) = result {
            // Both may be written by hand, and panic.
            let set =
                contained(|| (P::MERGING.filled)(&result).without(call.accumulator().filled()));
            let set = set.unwrap_or_default();
            call.contribute(Contribution::Fields(set.names_of(P::MERGING.fields)));
            // Field by field: of two panics in one drop the second ends the process.
            drop_contained(IN_SHADOW, Merged::<P>(Some(result)));
        }
        CallStep::Continue
    }
}

impl<P: HookPoint<Model = Self>> Begin<P> for Modifying {
    #[inline]
    fn begin<'f>(hooks: &'f ScopedHooks, payload: &'f P::Payload) -> FireFuture<'f, P, Merged<P>> {
        FireFuture::of(hooks, payload, Merged(None))
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> &P::Payload {
        payload.as_ref().expect("it was made")
    }
}
