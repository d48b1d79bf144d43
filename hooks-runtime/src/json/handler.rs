//! Handlers that speak JSON.

use std::future::{Future, ready};
use std::pin::Pin;

use serde::Serialize;
use serde_json::Value;

use super::answers::{claim_json, verdict_json};
use crate::engine::raw::HookContext;
use crate::error::BoxError;
use crate::handler::calls::{Call1, Call2, Call3};
use crate::handler::forms::{Async1, Async2, Sync1, Sync2};
use crate::model::{Claim, NoReplacement, Verdict};

pub(crate) type Answering<'a> = Pin<Box<dyn Future<Output = Result<Value, BoxError>> + Send + 'a>>;

/// Calls a handler.
#[cfg(feature = "replay")]
pub(crate) type Calling<'a> = Box<dyn FnOnce() -> Answering<'a> + Send + 'a>;

/// Writes what a fire has merged so far, `null` where its model merges nothing.
pub(super) type Merged = fn(&HookContext) -> Result<Value, BoxError>;

/// What a handler is asked with; what it does not take is not made.
struct Asked<'a> {
    payload: Value,
    cx: &'a HookContext,
    merged: Merged,
}

/// A handler that speaks JSON, whatever its form.
#[doc(hidden)]
pub struct JsonHandler(Box<dyn for<'a> Fn(Asked<'a>) -> Answering<'a> + Send + Sync>);

impl JsonHandler {
    fn new(call: impl for<'a> Fn(Asked<'a>) -> Answering<'a> + Send + Sync + 'static) -> Self {
        Self(Box::new(call))
    }

    /// This handler, called by way of a function that gets its payload and what calls it.
    #[cfg(feature = "replay")]
    pub(crate) fn by_way_of<W>(self, way: W) -> Self
    where
        W: for<'a> Fn(Value, Calling<'a>) -> Answering<'a> + Send + Sync + 'static,
    {
        let inner = std::sync::Arc::new(self);
        Self::new(move |asked| {
            let inner = std::sync::Arc::clone(&inner);
            way(asked.payload.clone(), Box::new(move || (inner.0)(asked)))
        })
    }

    /// A handler that stands in for another: it answers from the payload.
    #[cfg(feature = "replay")]
    pub(crate) fn stand_in(
        answer: impl Fn(Value) -> Answering<'static> + Send + Sync + 'static,
    ) -> Self {
        Self::new(move |asked| answer(asked.payload))
    }

    /// Calls it with `what` and waits for its answer.
    pub(super) async fn ask<T: Serialize + ?Sized>(
        &self,
        what: &T,
        cx: &HookContext,
        merged: Merged,
    ) -> Result<Value, BoxError> {
        (self.0)(Asked { payload: serde_json::to_value(what)?, cx, merged }).await
    }
}

impl std::fmt::Debug for JsonHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JsonHandler")
    }
}

/// A function or closure, sync or async, from a JSON value to an answer. `Form`
/// is found by the compiler.
///
/// The example of [`JsonOn`](super::JsonOn) has one.
#[diagnostic::on_unimplemented(
    message = "this is not a handler that speaks JSON",
    label = "expected a function or closure from `serde_json::Value` to an answer",
    note = "it takes the payload, and, if it likes, `&HookContext`, and then what has been merged: \
            `|payload: Value, cx: &HookContext, merged: Value| …`; a closure names its types",
    note = "it may be async, with a future that is `Send`; an async closure that captures is \
            wrapped: `capturing(async move |payload: Value| …)`",
    note = "it answers with `()`, a `Value`, a `Verdict`, a `Verdict<Value>`, a `Claim<Value>`, or \
            a `Result` of one of these"
)]
pub trait IntoJsonHandler<Form> {
    #[doc(hidden)]
    fn into_json_handler(self) -> JsonHandler;
}

/// `fn(Value, &HookContext, Value) -> …`
#[allow(unreachable_pub, reason = "as the other forms")]
#[derive(Debug)]
pub struct Sync3;

/// `async fn(Value, &HookContext, Value) -> …`
#[allow(unreachable_pub, reason = "as the other forms")]
#[derive(Debug)]
pub struct Async3;

/// A sync form: what it takes, and how it is called.
macro_rules! answers_at_once {
    ($form:ty, Fn($($argument:ty),+), |$f:ident, $asked:ident| $call:expr) => {
        #[diagnostic::do_not_recommend]
        impl<F, T> IntoJsonHandler<$form> for F
        where
            F: Fn($($argument),+) -> T + Send + Sync + 'static,
            T: IntoAnswer,
        {
            fn into_json_handler(self) -> JsonHandler {
                let $f = self;
                let answer = move |$asked: Asked<'_>| $call.into_answer();
                JsonHandler::new(move |asked| Box::pin(ready(answer(asked))))
            }
        }
    };
}

answers_at_once!(Sync1, Fn(Value), |f, asked| f(asked.payload));
answers_at_once!(Sync2, Fn(Value, &HookContext), |f, asked| f(asked.payload, asked.cx));
answers_at_once!(Sync3, Fn(Value, &HookContext, Value), |f, asked| {
    f(asked.payload, asked.cx, (asked.merged)(asked.cx)?)
});

/// An async form: what it takes, and how it is called.
macro_rules! answers_later {
    ($form:ty, $call:ident<'a, $($argument:ty),+>, |$f:ident, $asked:ident| $answering:expr) => {
        #[diagnostic::do_not_recommend]
        impl<F, T> IntoJsonHandler<$form> for F
        where
            F: for<'a> $call<'a, $($argument,)+ Out = T>,
            T: IntoAnswer,
        {
            fn into_json_handler(self) -> JsonHandler {
                let $f = self;
                JsonHandler::new(move |$asked| {
                    let answering = $answering;
                    Box::pin(async move { answering.await.into_answer() })
                })
            }
        }
    };
}

answers_later!(Async1, Call1<'a, Value>, |f, asked| f.call(asked.payload));
answers_later!(Async2, Call2<'a, Value, &'a HookContext>, |f, asked| {
    f.call(asked.payload, asked.cx)
});
answers_later!(Async3, Call3<'a, Value, &'a HookContext, Value>, |f, asked| {
    match (asked.merged)(asked.cx) {
        Ok(merged) => f.call(asked.payload, asked.cx, merged),
        Err(error) => return Box::pin(ready(Err(error))),
    }
});

/// What a handler that speaks JSON may return.
///
/// The example of [`JsonOn`](super::JsonOn) has an answer.
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
