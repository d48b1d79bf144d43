//! What the verbs `register_*` take: of the forms, the async ones without context.

use std::sync::Arc;

use crate::handler::calls::{Call1, Call2};
use crate::handler::forms::{Async1, Handler, Sent, StateAsync1};
use crate::model::{Model, RegistersAs, Returns};
use crate::point::HookPoint;

/// An async function or closure of `&Payload`: what `register_*` takes.
///
/// The example of [`register_void`](crate::HookRegistry::register_void) gives it one.
#[diagnostic::on_unimplemented(
    message = "this is not an async `{Verb}` handler of `{P}`",
    label = "expected an async function or closure of `&Payload`",
    note = "`register_*` takes an `async fn` or an `async |payload: &Payload| …`, with a `Send` \
            future and a return type that a `{Verb}` point accepts; one that captures is wrapped, \
            `capturing(async move |payload: &Payload| …)`, or lent a state by `register_*_with`",
    note = "for a sync function, one that takes `&HookContext`, or options: \
            `hooks.register(on::<{P}>().handler(f))`, of a guard `.guard(f)`"
)]
pub trait AsyncHandler<Verb: Model, P: HookPoint>: Sized {
    #[doc(hidden)]
    fn into_async(self) -> Handler<P>
    where
        P::Model: RegistersAs<Verb, P>;
}

impl<V, P, F, T> AsyncHandler<V, P> for F
where
    V: Model,
    P: HookPoint,
    F: for<'a> Call1<'a, V::Input<'a, P>, Out = T>,
    T: Returns<V, P>,
{
    fn into_async(self) -> Handler<P>
    where
        P::Model: RegistersAs<V, P>,
    {
        <Async1 as Sent<F, (), V, P>>::handler(self, ())
    }
}

/// The same, called on a state first.
///
/// The example of [`register_void_with`](crate::HookRegistry::register_void_with) gives it one.
#[diagnostic::on_unimplemented(
    message = "this is not an async `{Verb}` handler of `{P}` with the state `{S}`",
    label = "expected an async function or closure of `&{S}` and `&Payload`",
    note = "`register_*_with` takes an `async fn` or an `async |state, payload| …` that captures \
            nothing more, with a `Send` future and a return type that a `{Verb}` point accepts; two \
            values are a tuple: `async |(quota, clock), payload| …`",
    note = "for a sync function, one that takes `&HookContext`, or options: \
            `hooks.register(on::<{P}>().handler_with(state, f))`, of a guard \
            `.guard_with(state, f)`"
)]
pub trait AsyncHandlerWith<S, Verb: Model, P: HookPoint>: InferredWith<S, P> + Sized {
    #[doc(hidden)]
    fn into_async_with(self, state: Arc<S>) -> Handler<P>
    where
        P::Model: RegistersAs<Verb, P>;
}

impl<S, V, P, F, T> AsyncHandlerWith<S, V, P> for F
where
    S: Send + Sync + 'static,
    V: Model,
    P: HookPoint,
    F: for<'a> Call2<'a, &'a S, V::Input<'a, P>, Out = T> + InferredWith<S, P>,
    T: Returns<V, P>,
{
    fn into_async_with(self, state: Arc<S>) -> Handler<P>
    where
        P::Model: RegistersAs<V, P>,
    {
        <StateAsync1 as Sent<F, S, V, P>>::handler(self, state)
    }
}

/// Lets the compiler infer the types of the parameters of an async closure.
///
/// It reads them from an `AsyncFn` bound, which in turn cannot ask for a `Send`
/// future; that is what `Call2` does.
///
/// The example of [`register_void_with`](crate::HookRegistry::register_void_with) has a closure without types.
pub trait InferredWith<S, P: HookPoint>:
    for<'a> AsyncFn(&'a S, <P::Model as Model>::Input<'a, P>) -> <Self as InferredWith<S, P>>::Returned
{
    /// What it returns.
    #[doc(hidden)]
    type Returned;
}

#[diagnostic::do_not_recommend]
impl<S, P, F, T> InferredWith<S, P> for F
where
    P: HookPoint,
    F: for<'a> AsyncFn(&'a S, <P::Model as Model>::Input<'a, P>) -> T,
{
    type Returned = T;
}
