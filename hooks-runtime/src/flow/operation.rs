//! The operation of a flow, as the host gives it to a run.

use std::future::Future;

use crate::error::BoxError;
use crate::point::HookPoint;

/// The operation of a flow: an async function or closure from its input to a
/// `Result` of its output.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub flow Square(u32) -> u32; }
/// async fn square(side: u32) -> Result<u32, &'static str> {
///     side.checked_mul(side).ok_or("too large")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// assert_eq!(hooks.run_flow::<Square, _>(7, square).await?, 49);
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not an operation for the flow `{F}`",
    label = "expected an async function or closure from `{Input}` to `Result<{Output}, E>`",
    note = "write `async |input: {Input}| -> Result<{Output}, E> {{ … }}`",
    note = "the error `E` is `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait Operation<
    F: HookPoint,
    Input = <F as HookPoint>::Payload,
    Output = <F as HookPoint>::Result,
>: Attempt<Input, Output, Error: Into<BoxError>>
{
}

#[diagnostic::do_not_recommend]
impl<F, I, R, O, Fut, E> Operation<F, I, R> for O
where
    F: HookPoint,
    // What `Attempt` asks for, once more: the compiler explains what is not met first.
    O: FnOnce(I) -> Fut + AsyncFnOnce(I) -> Result<R, E>,
    O: Attempt<I, R, Future = Fut, Error = E>,
    E: Into<BoxError>,
{
}

/// An [`Operation`] without the conversion of its error.
// Where a run is to be `Send`, the compiler looks into the futures of which it is made.
// It has erased lifetimes there, so that the error of a closure is a `dyn Error + '0`,
// and finds the types below anew. That may depend on nothing that holds for `'static`
// alone, as `Into<BoxError>` does.
pub trait Attempt<Input, Output>:
    // Both say the same; the second lets the compiler infer a closure's types.
    FnOnce(Input) -> <Self as Attempt<Input, Output>>::Future
    + AsyncFnOnce(Input) -> Result<Output, <Self as Attempt<Input, Output>>::Error>
{
    /// The future of the call.
    type Future: Future<Output = Result<Output, Self::Error>>;
    /// The operation's own error.
    type Error;
}

#[diagnostic::do_not_recommend]
impl<I, R, O, Fut, E> Attempt<I, R> for O
where
    O: FnOnce(I) -> Fut + AsyncFnOnce(I) -> Result<R, E>,
    Fut: Future<Output = Result<R, E>>,
{
    type Future = Fut;
    type Error = E;
}

/// The conversion of a host's error, which is taken where its lifetimes are known and
/// handed on beside the code that fails with it.
pub(super) type Convert<E> = fn(E) -> BoxError;
