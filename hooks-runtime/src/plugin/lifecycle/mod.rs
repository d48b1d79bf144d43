//! The life of a plugin: what runs before its first handler and after its last.

mod start;
mod stop;

use std::any::Any;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

pub use start::StartError;
pub(crate) use stop::Stop;
pub use stop::StopFailure;

use crate::engine::containment::{contained, drop_contained};
use crate::error::{BoxError, FailureKind};

type StepFuture = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

/// A `#[start]` or a `#[stop]` that has not begun. It shares the plugin's value.
#[doc(hidden)]
pub struct LifecycleStep {
    future: Option<StepFuture>,
    /// Beside the future, which drops what it has of the plugin with its last poll: a
    /// panic in the drop of the plugin's value is no failure of the step.
    plugin: Option<Arc<dyn Any + Send + Sync>>,
}

/// A step whose future is not known to be `Send` yet.
#[doc(hidden)]
#[derive(Debug)]
pub struct LifecycleFuture<F>(pub F);

impl<F: Future<Output = Result<(), BoxError>>> LifecycleFuture<F> {
    /// A method of its own, so that the compiler underlines the user's method.
    pub fn assert_send(self) -> LifecycleStep
    where
        F: Send + 'static,
    {
        LifecycleStep { future: Some(Box::pin(self.0)), plugin: None }
    }
}

impl LifecycleStep {
    /// The step, as one of that plugin.
    pub(crate) fn of(mut self, plugin: Arc<dyn Any + Send + Sync>) -> Self {
        self.plugin = Some(plugin);
        self
    }

    /// Runs the step to its end. A panic in it is its failure.
    async fn run(mut self) -> Result<(), FailureKind> {
        poll_fn(|task| self.poll(task)).await
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<(), FailureKind>> {
        let Some(step) = &mut self.future else { return Poll::Ready(Ok(())) };
        match contained(|| step.as_mut().poll(task)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(ended)) => Poll::Ready(ended.map_err(FailureKind::Error)),
            Err(message) => Poll::Ready(Err(FailureKind::Panicked(message))),
        }
    }
}

/// The step is the user's, and so is the value that it may be the last to share.
impl Drop for LifecycleStep {
    fn drop(&mut self) {
        drop_contained("a step of a plugin's life", self.future.take());
        drop_contained("a plugin", self.plugin.take());
    }
}

impl fmt::Debug for LifecycleStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LifecycleStep")
    }
}

/// What a `#[start]` and a `#[stop]` may return.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a `#[start]` or `#[stop]` cannot return `{Self}`",
    label = "expected nothing, or `Result<(), E>` with an error `E`",
    note = "an error is `Send + Sync + 'static` and implements `std::error::Error`, or is text"
)]
pub trait StepReturns {
    fn into_result(self) -> Result<(), BoxError>;
}

impl StepReturns for () {
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> StepReturns for Result<(), E> {
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// What a step returned, as the runtime takes it.
#[doc(hidden)]
pub fn step_returned(returned: impl StepReturns) -> Result<(), BoxError> {
    returned.into_result()
}
