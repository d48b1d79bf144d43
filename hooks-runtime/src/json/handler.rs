//! Handlers that speak JSON.

use std::future::{Future, ready};
use std::pin::Pin;

use serde::Serialize;
use serde_json::Value;

use super::answers::{claim_json, verdict_json};
use crate::error::BoxError;
use crate::handler::forms::{Async1, Sync1};
use crate::model::{Claim, NoReplacement, Verdict};

type Answering = Pin<Box<dyn Future<Output = Result<Value, BoxError>> + Send>>;

/// A handler that speaks JSON, whatever its form.
#[doc(hidden)]
pub struct JsonHandler(Box<dyn Fn(Value) -> Answering + Send + Sync>);

impl JsonHandler {
    /// Calls it with `what` and waits for its answer.
    pub(super) async fn ask<T: Serialize + ?Sized>(&self, what: &T) -> Result<Value, BoxError> {
        (self.0)(serde_json::to_value(what)?).await
    }
}

impl std::fmt::Debug for JsonHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JsonHandler")
    }
}

/// A function or closure, sync or async, from a JSON value to an answer. `Form`
/// is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "this is not a handler that speaks JSON",
    label = "expected a function or closure from `serde_json::Value` to an answer",
    note = "it may be async, with a future that is `Send` and borrows nothing; a closure names its \
            type: `|payload: Value| …`",
    note = "it answers with `()`, a `Value`, a `Verdict<Value>`, a `Claim<Value>`, or a `Result` \
            of one of these"
)]
pub trait IntoJsonHandler<Form> {
    #[doc(hidden)]
    fn into_json_handler(self) -> JsonHandler;
}

#[diagnostic::do_not_recommend]
impl<F, T> IntoJsonHandler<Sync1> for F
where
    F: Fn(Value) -> T + Send + Sync + 'static,
    T: IntoAnswer,
{
    fn into_json_handler(self) -> JsonHandler {
        JsonHandler(Box::new(move |event| Box::pin(ready(self(event).into_answer()))))
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut> IntoJsonHandler<Async1> for F
where
    F: Fn(Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer> + Send + 'static,
{
    fn into_json_handler(self) -> JsonHandler {
        JsonHandler(Box::new(move |event| {
            let answering = self(event);
            Box::pin(async move { answering.await.into_answer() })
        }))
    }
}

/// What a handler that speaks JSON may return.
pub trait IntoAnswer {
    #[doc(hidden)]
    fn into_answer(self) -> Result<Value, BoxError>;
}

impl IntoAnswer for Value {
    fn into_answer(self) -> Result<Value, BoxError> {
        Ok(self)
    }
}

/// No answer.
impl IntoAnswer for () {
    fn into_answer(self) -> Result<Value, BoxError> {
        Ok(Value::Null)
    }
}

/// The fields of an object stand beside `handled`, anything else in `claim`.
impl IntoAnswer for Claim<Value> {
    fn into_answer(self) -> Result<Value, BoxError> {
        let claim = self.claimed();
        let is_object = claim.as_ref().is_some_and(Value::is_object);
        Ok(claim_json(claim, is_object))
    }
}

impl IntoAnswer for Verdict<Value> {
    fn into_answer(self) -> Result<Value, BoxError> {
        Ok(verdict_json(self))
    }
}

impl IntoAnswer for Verdict<NoReplacement> {
    fn into_answer(self) -> Result<Value, BoxError> {
        Ok(verdict_json(match self {
            Verdict::Pass => Verdict::Pass,
            Verdict::Replace(never) => match never {},
            Verdict::Reject(reason) => Verdict::Reject(reason),
        }))
    }
}

impl<T: IntoAnswer, E: Into<BoxError>> IntoAnswer for Result<T, E> {
    fn into_answer(self) -> Result<Value, BoxError> {
        self.map_err(Into::into)?.into_answer()
    }
}
