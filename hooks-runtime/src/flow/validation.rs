//! The flow's own validation, as the host gives it to a run.

use std::fmt;
use std::future::Future;

use crate::engine::containment::drop_contained;
use crate::error::BoxError;
use crate::flow::{FlowPoint, FlowStep};
use crate::point::HookPoint;

/// A validation of the flow `F`, which a run calls at most once: a
/// [`SyncValidation`], which may be none at all, or an [`AsyncValidation`].
///
/// [`FlowRun::validate`](crate::flow::FlowRun::validate) and
/// [`validate_async`](crate::flow::FlowRun::validate_async) make them.
///
/// The example of [`FlowRun`](crate::flow::FlowRun) has one.
pub trait Validation<F: FlowPoint>: sealed::Sealed {
    /// Whether there is anything to call.
    #[doc(hidden)]
    fn is_given(&self) -> bool;

    /// Calls it.
    #[doc(hidden)]
    fn judge(self, input: &F::Payload) -> impl Future<Output = Result<(), BoxError>>;
}

mod sealed {
    pub trait Sealed {}
}

type SyncJudge<'v, F> = dyn FnOnce(&<F as HookPoint>::Payload) -> Result<(), BoxError> + Send + 'v;

/// A synchronous validation, or none.
///
/// The example of [`FlowRun`](crate::flow::FlowRun) has one.
pub struct SyncValidation<'v, F: FlowPoint>(Uncalled<Box<SyncJudge<'v, F>>>);

impl<'v, F: FlowPoint> SyncValidation<'v, F> {
    pub(super) fn none() -> Self {
        Self(Uncalled { which: FlowStep::Validation, code: None })
    }

    pub(super) fn new<E: Into<BoxError>>(
        judge: impl FnOnce(&F::Payload) -> Result<(), E> + Send + 'v,
    ) -> Self {
        let judge = Box::new(|input: &F::Payload| judge(input).map_err(Into::into));
        Self(Uncalled::new(FlowStep::Validation, judge))
    }
}

impl<F: FlowPoint> sealed::Sealed for SyncValidation<'_, F> {}

impl<F: FlowPoint> Validation<F> for SyncValidation<'_, F> {
    fn is_given(&self) -> bool {
        self.0.code.is_some()
    }

    async fn judge(mut self, input: &F::Payload) -> Result<(), BoxError> {
        self.0.take().map_or(Ok(()), |judge| judge(input))
    }
}

/// An async function or closure `V` that refuses the input of the flow `F`.
///
/// The example of [`validate_async`](crate::flow::FlowRun::validate_async) has one.
pub struct AsyncValidation<F: FlowPoint, V: Judge<F>> {
    judge: Uncalled<V>,
    convert: for<'i> fn(Refusal<'i, F, V>) -> BoxError,
}

/// What `V` refuses an input with.
type Refusal<'i, F, V> = <V as JudgeOf<'i, <F as HookPoint>::Payload>>::Error;

/// An async function or closure that can refuse the input of `F`.
// Its error is no parameter, and not `Into<BoxError>`, for the reason at `Attempt`.
#[doc(hidden)]
pub trait Judge<F: FlowPoint>: for<'i> JudgeOf<'i, F::Payload> {}

impl<F: FlowPoint, V: for<'i> JudgeOf<'i, F::Payload>> Judge<F> for V {}

/// A [`Judge`] of inputs that live for `'i`.
#[doc(hidden)]
pub trait JudgeOf<'i, Input: 'i>:
    AsyncFnOnce(&'i Input) -> Result<(), <Self as JudgeOf<'i, Input>>::Error>
{
    /// What it refuses them with.
    type Error;
}

impl<'i, Input: 'i, V, E> JudgeOf<'i, Input> for V
where
    V: AsyncFnOnce(&'i Input) -> Result<(), E>,
{
    type Error = E;
}

/// The validation by `judge`.
// Not a method of the type: beside its bound `Judge<F>` the compiler would not see that
// `E` is the error of every call.
pub(super) fn awaited<F, V, E>(judge: V) -> AsyncValidation<F, V>
where
    F: FlowPoint,
    V: AsyncFnOnce(&F::Payload) -> Result<(), E>,
    E: Into<BoxError>,
{
    AsyncValidation { judge: Uncalled::new(FlowStep::Validation, judge), convert: E::into }
}

impl<F: FlowPoint, V: Judge<F>> sealed::Sealed for AsyncValidation<F, V> {}

impl<F: FlowPoint, V: Judge<F>> Validation<F> for AsyncValidation<F, V> {
    fn is_given(&self) -> bool {
        true
    }

    async fn judge(mut self, input: &F::Payload) -> Result<(), BoxError> {
        match self.judge.take() {
            Some(judge) => judge(input).await.map_err(self.convert),
            None => Ok(()),
        }
    }
}

/// A validation or an operation that has not been called. What it captured is the
/// host's code, so that its drop may panic.
pub(super) struct Uncalled<O> {
    which: FlowStep,
    code: Option<O>,
}

impl<O> Uncalled<O> {
    pub(super) fn new(which: FlowStep, code: O) -> Self {
        Self { which, code: Some(code) }
    }

    pub(super) fn take(&mut self) -> Option<O> {
        self.code.take()
    }
}

impl<O> Drop for Uncalled<O> {
    fn drop(&mut self) {
        if let Some(code) = self.code.take() {
            drop_contained(self.which.of_a_flow(), code);
        }
    }
}

impl<F: FlowPoint> fmt::Debug for SyncValidation<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncValidation").finish_non_exhaustive()
    }
}

impl<F: FlowPoint, V: Judge<F>> fmt::Debug for AsyncValidation<F, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncValidation").finish_non_exhaustive()
    }
}
