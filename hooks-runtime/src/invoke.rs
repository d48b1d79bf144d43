//! The one indirect call that runs a handler, and the forms of function that
//! can be behind it.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::context::HookContext;
use crate::dispatch::calling::{Calling, Step};
use crate::error::BoxError;
use crate::models::{Model, RegistersAs, Returns};
use crate::panics::Contained;
use crate::point::HookPoint;
use crate::registry::entry::Entry;

/// What a handler of `P` is given.
pub(crate) type Input<'a, P> = <<P as HookPoint>::Model as Model>::Input<'a, P>;

/// What a handler of `P` comes to, once its own return type is converted.
pub(crate) type Output<P> = Result<<<P as HookPoint>::Model as Model>::Output<P>, BoxError>;

/// A handler of `P`, whatever its form: builds its future in the place that
/// the fire lends, polls it once and, when that is all, lets the model take the
/// answer on the spot.
pub(crate) trait Invoke<P: HookPoint>: Send + Sync {
    fn start<'s>(&'s self, calling: &mut Calling<'s, '_, P>, entry: &'s Arc<Entry>) -> Step;
}

/// A future, as the return type of a handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future, so this is not an async handler",
    label = "this returns `{Self}`",
    note = "`register_*` takes an `async fn` or an `async` closure; register a sync one with \
            `hooks.register(on::<Point>().handler(f))`, a sync guard with `.guard(f)`, and one with \
            a state with `.handler_with(state, f)` or `.guard_with(state, f)`"
)]
pub trait Promise: Future {}

#[diagnostic::do_not_recommend]
impl<F: Future> Promise for F {}

/// An async function of one argument whose future is `Send`.
pub trait Call1<'a, A>: Send + Sync + 'static {
    /// The future of one call.
    type Future: Future<Output = Self::Out> + Send + 'a;
    /// What it returns.
    type Out;
    /// Calls it.
    fn call(&self, a: A) -> Self::Future;
}

impl<'a, A, F, Fut> Call1<'a, A> for F
where
    F: Fn(A) -> Fut + Send + Sync + 'static,
    Fut: Promise + Send + 'a,
{
    type Future = Fut;
    type Out = Fut::Output;

    #[inline]
    fn call(&self, a: A) -> Fut {
        self(a)
    }
}

/// An async function of two arguments whose future is `Send`.
pub trait Call2<'a, A, B>: Send + Sync + 'static {
    /// The future of one call.
    type Future: Future<Output = Self::Out> + Send + 'a;
    /// What it returns.
    type Out;
    /// Calls it.
    fn call(&self, a: A, b: B) -> Self::Future;
}

impl<'a, A, B, F, Fut> Call2<'a, A, B> for F
where
    F: Fn(A, B) -> Fut + Send + Sync + 'static,
    Fut: Promise + Send + 'a,
{
    type Future = Fut;
    type Out = Fut::Output;

    #[inline]
    fn call(&self, a: A, b: B) -> Fut {
        self(a, b)
    }
}

/// An async function of three arguments whose future is `Send`.
pub trait Call3<'a, A, B, C>: Send + Sync + 'static {
    /// The future of one call.
    type Future: Future<Output = Self::Out> + Send + 'a;
    /// What it returns.
    type Out;
    /// Calls it.
    fn call(&self, a: A, b: B, c: C) -> Self::Future;
}

impl<'a, A, B, C, F, Fut> Call3<'a, A, B, C> for F
where
    F: Fn(A, B, C) -> Fut + Send + Sync + 'static,
    Fut: Promise + Send + 'a,
{
    type Future = Fut;
    type Out = Fut::Output;

    #[inline]
    fn call(&self, a: A, b: B, c: C) -> Fut {
        self(a, b, c)
    }
}

/// Makes a context for one call, and a reference to it for the handler.
macro_rules! context {
    (let $cx:ident = $frame:expr) => {
        // SAFETY: the context is a local of the call, or of the async block
        // around it, declared before the handler's future and so dropped after
        // it; the block itself lives no longer than the frame's lifetime.
        #[allow(unsafe_code)]
        let context = unsafe { $crate::context::HookContext::new($frame) };
        // SAFETY: as above.
        #[allow(unsafe_code)]
        let $cx = unsafe { context.lend() };
    };
}

/// A function in one of the accepted forms, with the state it is called on.
///
/// `Verb` is the model it was registered as.
#[derive(Debug)]
pub struct Function<F, S, Form, Verb> {
    call: Contained<F>,
    state: Contained<Arc<S>>,
    form: PhantomData<fn() -> (Form, Verb)>,
}

impl<F, S, Form, Verb> Function<F, S, Form, Verb> {
    #[inline]
    pub(crate) fn parts(&self) -> (&F, &S) {
        (self.call.get(), self.state.get())
    }
}

/// One accepted form: its marker, the bound on the function, how it is called.
/// Only where the function takes a context is one made: copying the frame costs
/// more than the rest of a call.
macro_rules! form {
    (
        $(#[$doc:meta])*
        $kind:ident $form:ident($f:ident, $state:ident, $input:ident $(, $cx:ident)?) -> $returns:ident
        where $bound:path => $call:expr
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $form;

        impl<P, F, S, V, T> $crate::invoke::Invoke<P> for $crate::invoke::Function<F, S, $form, V>
        where
            P: $crate::point::HookPoint,
            V: $crate::models::Model,
            P::Model: $crate::models::RegistersAs<V, P>,
            S: Send + Sync + 'static,
            F: for<'a> $bound + Send + Sync + 'static,
            T: $returns<V, P>,
        {
            #[allow(unused_variables)]
            fn start<'s>(
                &'s self,
                calling: &mut $crate::dispatch::calling::Calling<'s, '_, P>,
                entry: &'s ::std::sync::Arc<$crate::registry::entry::Entry>,
            ) -> $crate::dispatch::calling::Step {
                let ($f, $state) = self.parts();
                form!(@$kind calling, entry, V, $input $(, $cx)?; $call)
            }
        }
    };
    (@sync $calling:ident, $entry:ident, $v:ident, $input:ident $(, $cx:ident)?; $call:expr) => {
        $calling.start_sync($entry, |lent, fire| {
            $($crate::invoke::context!(
                let $cx = $crate::context::Frame { fire, entry: $entry, merged: lent.merged }
            );)?
            let $input = <P::Model as $crate::models::RegistersAs<$v, P>>::given(lent.input);
            $call.into_output().map(<P::Model as $crate::models::RegistersAs<$v, P>>::returned)
        })
    };
    (@async $calling:ident, $entry:ident, $v:ident, $input:ident; $call:expr) => {
        form!(@start $calling, $entry, $v, |lent, fire| {
            let $input = <P::Model as $crate::models::RegistersAs<$v, P>>::given(lent.input);
            $call
        })
    };
    (@async $calling:ident, $entry:ident, $v:ident, $input:ident, $cx:ident; $call:expr) => {
        form!(@start $calling, $entry, $v, |lent, fire| async move {
            $crate::invoke::context!(
                let $cx = $crate::context::Frame { fire, entry: $entry, merged: lent.merged }
            );
            let $input = <P::Model as $crate::models::RegistersAs<$v, P>>::given(lent.input);
            $call.await
        })
    };
    (@start $calling:ident, $entry:ident, $v:ident, $make:expr) => {
        $calling.start_async($entry, $make, |returned| {
            returned.into_output().map(<P::Model as $crate::models::RegistersAs<$v, P>>::returned)
        })
    };
}

pub(crate) use {context, form};

form! {
    /// `fn(&Payload) -> …`
    sync Sync1(f, state, input) -> Returns
    where Fn(V::Input<'a, P>) -> T => f(input)
}
form! {
    /// `fn(&Payload, &HookContext) -> …`
    sync Sync2(f, state, input, cx) -> Returns
    where Fn(V::Input<'a, P>, &'a HookContext) -> T => f(input, cx)
}
form! {
    /// `async fn(&Payload) -> …`
    async Async1(f, state, input) -> Returns
    where Call1<'a, V::Input<'a, P>, Out = T> => f.call(input)
}
form! {
    /// `async fn(&Payload, &HookContext) -> …`
    async Async2(f, state, input, cx) -> Returns
    where Call2<'a, V::Input<'a, P>, &'a HookContext, Out = T> => f.call(input, cx)
}
form! {
    /// `fn(&State, &Payload) -> …`
    sync StateSync1(f, state, input) -> Returns
    where Fn(&'a S, V::Input<'a, P>) -> T => f(state, input)
}
form! {
    /// `fn(&State, &Payload, &HookContext) -> …`
    sync StateSync2(f, state, input, cx) -> Returns
    where Fn(&'a S, V::Input<'a, P>, &'a HookContext) -> T => f(state, input, cx)
}
form! {
    /// `async fn(&State, &Payload) -> …`
    async StateAsync1(f, state, input) -> Returns
    where Call2<'a, &'a S, V::Input<'a, P>, Out = T> => f.call(state, input)
}
form! {
    /// `async fn(&State, &Payload, &HookContext) -> …`
    async StateAsync2(f, state, input, cx) -> Returns
    where Call3<'a, &'a S, V::Input<'a, P>, &'a HookContext, Out = T> => f.call(state, input, cx)
}

/// A function or closure that can handle `P` as a `Verb`. `Form` is found by
/// the compiler.
#[diagnostic::on_unimplemented(
    message = "this is not a `{Verb}` handler of `{P}`",
    label = "not a handler of `{P}`",
    note = "a handler is a function or closure, sync or async, of `&Payload` and, if it likes, \
            `&HookContext`; with a state, of a reference to what was given as the state first; a \
            closure names its types: `|p: &Payload| …`",
    note = "it returns `()` at a `Void` point or a stage, `R` or `Option<R>` at a `Modifying` one, \
            `Option<R>` at a `Claiming` one, `Verdict<Payload>` at a `Gating` one, `Verdict` as a \
            `Guard`, which cannot replace the payload, or a `Result` of that",
    note = "an async handler's future must be `Send`; an async closure captures nothing, its state \
            goes in with `handler_with`, that of a guard with `guard_with`"
)]
pub trait IntoHandler<Verb, P: HookPoint, S, Form>: Sized {
    #[doc(hidden)]
    fn into_handler(self, state: Arc<S>) -> Handler<P>;
}

/// A handler of `P` whose form is forgotten.
#[doc(hidden)]
pub struct Handler<P: HookPoint>(pub(crate) Box<dyn Invoke<P>>);

impl<P: HookPoint> std::fmt::Debug for Handler<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handler")
    }
}

#[diagnostic::do_not_recommend]
impl<V, P, S, F, Form> IntoHandler<V, P, S, Form> for F
where
    V: 'static,
    P: HookPoint,
    S: 'static,
    F: 'static,
    Form: 'static,
    Function<F, S, Form, V>: Invoke<P>,
{
    fn into_handler(self, state: Arc<S>) -> Handler<P> {
        Handler(Box::new(Function::<F, S, Form, V> {
            call: Contained::new(self),
            state: Contained::new(state),
            form: PhantomData,
        }))
    }
}

/// An async function or closure of `&Payload`: what `register_*` takes.
#[diagnostic::on_unimplemented(
    message = "this is not an async `{Verb}` handler of `{P}`",
    label = "expected an async function or closure of `&Payload`",
    note = "`register_*` takes an `async fn` or an `async |payload: &Payload| …` that captures \
            nothing, with a `Send` future and a return type that a `{Verb}` point accepts",
    note = "for a sync function, one that takes `&HookContext`, or options: \
            `hooks.register(on::<{P}>().handler(f))`, of a guard `.guard(f)`; for state: \
            `register_*_with`, of a guard `register_guard_with`, or a plugin"
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
        IntoHandler::<V, P, (), Async1>::into_handler(self, Arc::new(()))
    }
}

/// The same, called on a state first.
#[diagnostic::on_unimplemented(
    message = "this is not an async `{Verb}` handler of `{P}` with the state `{S}`",
    label = "expected an async function or closure of `&{S}` and `&Payload`",
    note = "`register_*_with` takes an `async fn` or an `async |state: &S, payload: &Payload| …` \
            that captures nothing, with a `Send` future and a return type that a `{Verb}` point \
            accepts",
    note = "for a sync function, one that takes `&HookContext`, or options: \
            `hooks.register(on::<{P}>().handler_with(state, f))`, of a guard \
            `.guard_with(state, f)`"
)]
pub trait AsyncHandlerWith<S, Verb: Model, P: HookPoint>: Sized {
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
    F: for<'a> Call2<'a, &'a S, V::Input<'a, P>, Out = T>,
    T: Returns<V, P>,
{
    fn into_async_with(self, state: Arc<S>) -> Handler<P>
    where
        P::Model: RegistersAs<V, P>,
    {
        IntoHandler::<V, P, S, StateAsync1>::into_handler(self, state)
    }
}
