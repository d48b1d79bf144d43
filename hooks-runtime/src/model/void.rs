//! Void: all handlers concurrently, all awaited to the end.

use std::future::Future;

use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, FireError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::{Fired, FiresAs, Model, RegistersAs, Returns, ToFire};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;
use crate::report::FireReport;

/// The model of points that only notify: logs, telemetry, notifications.
///
/// Handlers run concurrently in one task, not in parallel: each is started
/// before any is awaited to the end, and the fire returns when all have
/// settled. A fail-closed handler's failure is returned after that.
///
/// ```
/// # use hooks_runtime::{HookPoint, hook_points};
/// # use hooks_runtime::point::ModelKind;
/// hook_points! {
///     /// A page was saved.
///     pub void Saved { page: u32 }
/// }
///
/// assert_eq!(Saved::descriptor().model(), ModelKind::Void);
/// assert_eq!(Saved::NAME, "saved");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Void;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// All handlers, concurrently; nothing to compose.
    pub const Void: Self = Self::new("Void", "void", FailurePolicy::Open);
}

impl Sealed for Void {}

impl Model for Void {
    const KIND: ModelKind = ModelKind::Void;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = ();
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = &'f P::Payload;
    type Accumulator<P: HookPoint> = Nothing;
}

/// What a handler of a void point, or of a flow's stage, may return.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Built { target: String } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Built>().name("note").handler(|_: &BuiltPayload| ()))?;
/// hooks.register(on::<Built>().name("record").handler(|built: &BuiltPayload| {
///     std::fs::write("/dev/null", &built.target) // a `Result<(), E>`
/// }))?;
/// assert_eq!(hooks.handlers_at::<Built>().len(), 2);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected nothing, or a `Result` of nothing",
    note = "return `()` or `Result<(), E>`; the error `E` is \
            `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait ReturnsNothing<P> {
    /// The uniform form.
    fn into_nothing(self) -> Result<(), BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P> ReturnsNothing<P> for () {
    #[inline]
    fn into_nothing(self) -> Result<(), BoxError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<P, E: Into<BoxError>> ReturnsNothing<P> for Result<(), E> {
    #[inline]
    fn into_nothing(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsNothing<P>> Returns<Void, P> for T {
    #[inline]
    fn into_output(self) -> Result<(), BoxError> {
        self.into_nothing()
    }
}

impl HookRegistry {
    /// Registers an async function or closure at a void point, built-in and
    /// with the defaults. What an annotation on it says counts only in
    /// [`handlers!`](crate::handlers).
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void Opened { file: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hooks = HookRegistry::new();
    /// let handle = hooks.register_void::<Opened>(async |opened: &OpenedPayload| {
    ///     println!("{} is open", opened.file);
    /// })?;
    /// hooks.fire_void::<Opened>(&OpenedPayload { file: "main.rs".into() }).await?;
    /// assert_eq!(hooks.handlers()[0].calls, 1);
    /// handle.unregister();
    /// assert!(!hooks.has_handlers::<Opened>());
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_void<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Void, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Void, P, As = Void>,
    {
        self.register_async(on(), handler)
    }

    /// As [`register_void`](Self::register_void), called on `state` first.
    ///
    /// ```
    /// # use std::sync::{Arc, Mutex};
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void Opened { file: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let recent = Arc::new(Mutex::new(Vec::new()));
    /// hooks.register_void_with::<Opened, _>(Arc::clone(&recent), async |recent, opened| {
    ///     recent.lock().unwrap().push(opened.file.clone());
    /// })?;
    /// hooks.fire_void::<Opened>(&OpenedPayload { file: "main.rs".into() }).await?;
    /// assert_eq!(*recent.lock().unwrap(), ["main.rs"]);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_void_with<P, S /* write `register_void_with::<P, _>(…)` */>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Void, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Void, P, As = Void>,
    {
        self.register_async_with(on(), state, handler)
    }
}

impl ScopedHooks {
    /// Calls every handler of `P`, and returns when all have settled.
    ///
    /// ```
    /// # use hooks_runtime::{FireError, HookRegistry, hook_points, on};
    /// hook_points! {
    ///     /// A part was taken from the shelf. The audit must not miss one.
    ///     #[hook(on_failure = "closed")]
    ///     pub void Taken { part: u32 }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hooks = HookRegistry::new();
    /// hooks.fire_void::<Taken>(&TakenPayload { part: 7 }).await?; // no handlers: nothing to do
    ///
    /// hooks.register(on::<Taken>().name("audit").handler(|_: &TakenPayload| Err("the disk is full")))?;
    /// let error = hooks.fire_void::<Taken>(&TakenPayload { part: 7 }).await.unwrap_err();
    /// assert_eq!(error.to_string(), "handler `audit` (built-in) at `taken`: the disk is full");
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn fire_void<'f, P>(
        &'f self,
        payload: ToFire<P, Void, &'f P::Payload>,
    ) -> Fired<P, Void, impl Future<Output = Result<(), FireError>> + Send + use<'f, P>>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        let payload = <P::Model as FiresAs<Void, P>>::taken(payload);
        <P::Model as FiresAs<Void, P>>::fired(self.fire::<Void, P>(payload))
    }

    /// As [`fire_void`](Self::fire_void); the payload is made only if there are
    /// handlers.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void Frame { pixels: Vec<u8> } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// // There are no handlers, so the copy is not made.
    /// hooks.fire_void_with::<Frame>(|| unreachable!("a copy of all pixels")).await?;
    ///
    /// hooks.register_void::<Frame>(async |frame: &FramePayload| assert_eq!(frame.pixels.len(), 2))?;
    /// hooks.fire_void_with::<Frame>(|| FramePayload { pixels: vec![0; 2] }).await?;
    /// # Ok(()) }
    /// ```
    #[inline]
    pub fn fire_void_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Fired<P, Void, impl Future<Output = Result<(), FireError>>>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        <P::Model as FiresAs<Void, P>>::fired(async move {
            if self.needs_payload::<P>()? {
                return self.fire_made::<Void, P>(payload()).await;
            }
            Ok(())
        })
    }

    /// As [`fire_void`](Self::fire_void), with a report.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Started { service: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Started>().name("greet").handler(|_: &StartedPayload| ()))?;
    /// hooks.register(on::<Started>().name("mail").handler(|_: &StartedPayload| Err("no route")))?;
    /// let started = StartedPayload { service: "gateway".into() };
    /// let (outcome, report) = hooks.fire_void_reported::<Started>(&started).await;
    /// outcome?; // void points are fail-open: the failure is in the report
    /// assert_eq!(report.handler("greet").unwrap().status().as_str(), "ran");
    /// assert_eq!(report.handler("mail").unwrap().status().to_string(), "error, fail-open: no route");
    /// # Ok(()) }
    /// ```
    pub fn fire_void_reported<'f, P>(
        &'f self,
        payload: ToFire<P, Void, &'f P::Payload>,
    ) -> Fired<P, Void, impl Future<Output = (Result<(), FireError>, FireReport)>>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        let payload = <P::Model as FiresAs<Void, P>>::taken(payload);
        <P::Model as FiresAs<Void, P>>::fired(self.fire_reported::<Void, P>(payload))
    }
}

/// Handlers of void points have no answer.
#[derive(Debug)]
pub struct Nothing;

impl Accumulator for Nothing {
    type Outcome = ();
    const CONCURRENT: bool = true;

    #[inline]
    fn finish(self) {}

    fn label(&self) -> &'static str {
        "notified"
    }
}

impl<P: HookPoint<Model = Self>> Compose<P> for Void {
    const COMPOSES: bool = false;

    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        call.payload()
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    #[inline]
    fn compose(_: &mut Call<'_, '_, P>, (): ()) -> CallStep {
        CallStep::Continue
    }
}

impl<P: HookPoint<Model = Self>> Begin<P> for Void {
    #[inline]
    fn begin<'f>(hooks: &'f ScopedHooks, payload: &'f P::Payload) -> FireFuture<'f, P, Nothing> {
        FireFuture::of(hooks, payload, Nothing)
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> &P::Payload {
        payload.as_ref().expect("it was made")
    }
}
