//! The forms of function that can be a handler.
//!
//! Each is one row of the table below: its marker, the bound on the function and
//! how it is called. Behind each stands the form that an annotation of such a
//! function expands to.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::raw::{Contained, ErasedHandler, HookContext, Invoke};
use crate::handler::annotated::{Answers, HandlerInput};
use crate::handler::calls::{Call1, Call2, Call3, Shape1, Shape2, Shape3};
use crate::model::Returns;
use crate::point::HookPoint;

/// A function in one of the accepted forms, with the state it is called on.
///
/// `Verb` is the model it was registered as.
#[derive(Debug)]
pub struct Function<F, S, Form: Keeps, Verb> {
    call: Contained<F>,
    state: Contained<Form::State<S>>,
    form: PhantomData<fn() -> Verb>,
}

impl<F, S, Form: Keeps, Verb> Function<F, S, Form, Verb> {
    #[inline]
    pub(crate) fn parts(&self) -> (&F, &Form::State<S>) {
        (self.call.get(), self.state.get())
    }
}

/// What a form keeps of the state: nothing where its function is not called on
/// one, so that such a handler has no memory of its own and nothing to drop.
pub trait Keeps {
    /// What is kept.
    type State<S>;
    /// Keeps it.
    fn keep<S>(state: impl Into<Arc<S>>) -> Self::State<S>;
}

macro_rules! keeps {
    ($state:ident => $kept:ty, $keep:expr; $($form:ident)*) => {
        $(impl Keeps for $form {
            type State<S> = $kept;

            #[inline]
            fn keep<S>($state: impl Into<Arc<S>>) -> $kept {
                $keep
            }
        })*
    };
}

keeps!(_state => (), (); Sync1 AnnotatedSync1 Sync2 AnnotatedSync2 Async1 AnnotatedAsync1 Async2
    AnnotatedAsync2);
keeps!(state => Arc<S>, state.into(); StateSync1 StateAnnotatedSync1 StateSync2 StateAnnotatedSync2
    StateAsync1 StateAnnotatedAsync1 StateAsync2 StateAnnotatedAsync2);

/// One accepted form: its marker, the bound on the function, how it is called.
macro_rules! form {
    (
        $(#[$doc:meta])*
        $kind:ident $form:ident($f:ident, $state:ident, $input:ident $(, $cx:ident)?) -> $returns:ident
        where $bound:path $(, of the shape $shape:path $(, itself $sent:path)*)? => $call:expr
    ) => {
        $(#[$doc])*
        // Callers cannot name a form, but the compiler infers it in their crates,
        // where it must not be private.
        #[allow(unreachable_pub)]
        #[derive(Debug)]
        pub struct $form;

        impl<P, F, S, V, T> $crate::engine::raw::Invoke<P>
            for $crate::handler::forms::Function<F, S, $form, V>
        where
            P: $crate::point::HookPoint,
            V: $crate::model::Model,
            P::Model: $crate::model::RegistersAs<V, P>,
            S: Send + Sync + 'static,
            F: for<'a> $bound + Send + Sync + 'static,
            T: $returns<V, P>,
        {
            #[inline]
            #[allow(unused_variables)]
            fn start<'s>(
                &'s self,
                call: $crate::engine::raw::Call<'_, 's, P>,
            ) -> $crate::engine::raw::CallStep {
                let ($f, $state) = self.parts();
                form!(@$kind call, V, $input $(, $cx)?; $call)
            }
        }

        $(impl<P, F, S, V, T> $crate::handler::forms::Shaped<P>
            for $crate::handler::forms::Function<F, S, $form, V>
        where
            P: $crate::point::HookPoint,
            V: $crate::model::Model,
            F: for<'a> $shape $(+ $sent)*,
            T: $returns<V, P>,
        {
        })?
    };
    (@sync $start:ident, $v:ident, $input:ident; $call:expr) => {
        $start.sync(|input| {
            let $input = <P::Model as $crate::model::RegistersAs<$v, P>>::given(input);
            $call.into_output().map(<P::Model as $crate::model::RegistersAs<$v, P>>::returned)
        })
    };
    (@sync $start:ident, $v:ident, $input:ident, $cx:ident; $call:expr) => {
        $start.sync_with_context(|input, $cx| {
            let $input = <P::Model as $crate::model::RegistersAs<$v, P>>::given(input);
            $call.into_output().map(<P::Model as $crate::model::RegistersAs<$v, P>>::returned)
        })
    };
    (@async $start:ident, $v:ident, $input:ident; $call:expr) => {
        $start.future(
            |input| {
                let $input = <P::Model as $crate::model::RegistersAs<$v, P>>::given(input);
                $call
            },
            |returned| {
                returned.into_output().map(<P::Model as $crate::model::RegistersAs<$v, P>>::returned)
            },
        )
    };
    (@async $start:ident, $v:ident, $input:ident, $cx:ident; $call:expr) => {
        $start.future_with_context(
            |input, $cx| {
                let $input = <P::Model as $crate::model::RegistersAs<$v, P>>::given(input);
                $call
            },
            |returned| {
                returned.into_output().map(<P::Model as $crate::model::RegistersAs<$v, P>>::returned)
            },
        )
    };
}

form! {
    /// `fn(&Payload) -> …`
    sync Sync1(f, state, input) -> Returns
    where Fn(V::Input<'a, P>) -> T, of the shape FnOnce(V::Input<'a, P>) -> T, itself Send, itself Sync => f(input)
}
form! {
    /// A closure around a function of the payload.
    sync AnnotatedSync1(f, state, input) -> Answers
    where Fn(HandlerInput<'a, V, P>) -> T => f(HandlerInput::new(input))
}
form! {
    /// `fn(&Payload, &HookContext) -> …`
    sync Sync2(f, state, input, cx) -> Returns
    where Fn(V::Input<'a, P>, &'a HookContext) -> T, of the shape FnOnce(V::Input<'a, P>, &'a HookContext) -> T, itself Send, itself Sync => f(input, cx)
}
form! {
    /// A closure around a function of payload and context.
    sync AnnotatedSync2(f, state, input, cx) -> Answers
    where Fn(HandlerInput<'a, V, P>, &'a HookContext) -> T => f(HandlerInput::new(input), cx)
}
form! {
    /// `async fn(&Payload) -> …`
    async Async1(f, state, input) -> Returns
    where Call1<'a, V::Input<'a, P>, Out = T>, of the shape Shape1<V::Input<'a, P>, Out = T> => f.call(input)
}
form! {
    /// A closure around an async function of the payload.
    async AnnotatedAsync1(f, state, input) -> Answers
    where Call1<'a, HandlerInput<'a, V, P>, Out = T> => f.call(HandlerInput::new(input))
}
form! {
    /// `async fn(&Payload, &HookContext) -> …`
    async Async2(f, state, input, cx) -> Returns
    where Call2<'a, V::Input<'a, P>, &'a HookContext, Out = T>, of the shape Shape2<V::Input<'a, P>, &'a HookContext, Out = T> => f.call(input, cx)
}
form! {
    /// A closure around an async function of payload and context.
    async AnnotatedAsync2(f, state, input, cx) -> Answers
    where Call2<'a, HandlerInput<'a, V, P>, &'a HookContext, Out = T> => f.call(HandlerInput::new(input), cx)
}
form! {
    /// `fn(&State, &Payload) -> …`
    sync StateSync1(f, state, input) -> Returns
    where Fn(&'a S, V::Input<'a, P>) -> T, of the shape FnOnce(&'a S, V::Input<'a, P>) -> T, itself Send, itself Sync => f(state, input)
}
form! {
    /// A closure around a method of the payload.
    sync StateAnnotatedSync1(f, state, input) -> Answers
    where Fn(&'a S, HandlerInput<'a, V, P>) -> T => f(state, HandlerInput::new(input))
}
form! {
    /// `fn(&State, &Payload, &HookContext) -> …`
    sync StateSync2(f, state, input, cx) -> Returns
    where Fn(&'a S, V::Input<'a, P>, &'a HookContext) -> T, of the shape FnOnce(&'a S, V::Input<'a, P>, &'a HookContext) -> T, itself Send, itself Sync => f(state, input, cx)
}
form! {
    /// A closure around a method of payload and context.
    sync StateAnnotatedSync2(f, state, input, cx) -> Answers
    where Fn(&'a S, HandlerInput<'a, V, P>, &'a HookContext) -> T => f(state, HandlerInput::new(input), cx)
}
form! {
    /// `async fn(&State, &Payload) -> …`
    async StateAsync1(f, state, input) -> Returns
    where Call2<'a, &'a S, V::Input<'a, P>, Out = T>, of the shape Shape2<&'a S, V::Input<'a, P>, Out = T> => f.call(state, input)
}
form! {
    /// A closure around an async method of the payload.
    async StateAnnotatedAsync1(f, state, input) -> Answers
    where Call2<'a, &'a S, HandlerInput<'a, V, P>, Out = T> => f.call(state, HandlerInput::new(input))
}
form! {
    /// `async fn(&State, &Payload, &HookContext) -> …`
    async StateAsync2(f, state, input, cx) -> Returns
    where Call3<'a, &'a S, V::Input<'a, P>, &'a HookContext, Out = T>, of the shape Shape3<&'a S, V::Input<'a, P>, &'a HookContext, Out = T> => f.call(state, input, cx)
}
form! {
    /// A closure around an async method of payload and context.
    async StateAnnotatedAsync2(f, state, input, cx) -> Answers
    where Call3<'a, &'a S, HandlerInput<'a, V, P>, &'a HookContext, Out = T>
        => f.call(state, HandlerInput::new(input), cx)
}

/// A function or closure that can handle `P` as a `Verb`. `Form` is found by
/// the compiler; `Payload` is the point's, for its messages.
///
/// The example of [`On`](crate::handler::On) has several forms.
#[diagnostic::on_unimplemented(
    message = "this is not a `{Verb}` handler of `{P}`, whose payload is `{Payload}`",
    label = "not a handler of `{P}`",
    note = "a handler is a function or closure, sync or async, of `&{Payload}`, at a stage of \
            `&mut`, and, if it likes, `&HookContext`; with a state, of a reference to what was \
            given as the state first",
    note = "a closure names its types, `|p: &{Payload}| …`, and one that only panics also what it \
            would return: `|p: &{Payload}| -> T {{ panic!() }}`, where `T` is one of the following",
    note = "it returns `()` at a `Void` point or a stage, `R` or `Option<R>` at a `Modifying` one, \
            `Option<R>` at a `Claiming` one, `Verdict<Payload>` at a `Gating` one, `Judgement` as a \
            `Guard`, which cannot replace the payload, or a `Result` of that; where the point \
            declares the type of its reasons, `Verdict<Payload, Reason>` and `Judgement<Reason>`",
    note = "it is `Send` and `Sync`, and an async one's future `Send`; an async closure that \
            captures is wrapped, `capturing(async move |p: &{Payload}| …)`, or lent a state: \
            `handler_with(state, async |state: &State, p: &{Payload}| …)`, as a guard `guard_with`"
)]
pub trait IntoHandler<Verb, P: HookPoint, S, Form, Payload> {}

#[diagnostic::do_not_recommend]
impl<V, P, S, F, Form> IntoHandler<V, P, S, Form, P::Payload> for F
where
    P: HookPoint,
    Form: Keeps,
    Function<F, S, Form, V>: Shaped<P>,
{
}

/// A function whose arguments and answer are those of a form.
///
/// The future of an async one need not be `Send`: that is asked for by [`Sent`], once
/// the form is known, so that the compiler says which value in it is not.
pub trait Shaped<P> {}

/// A form, of a function that can be called on any thread and again while it runs.
/// Where the function has no form, nothing is said of this.
pub trait Sent<F, S, Verb, P: HookPoint>: Keeps {
    #[doc(hidden)]
    fn handler(function: F, state: impl Into<Arc<S>>) -> Handler<P>;
}

impl<F, S, V, P, Form> Sent<F, S, V, P> for Form
where
    V: 'static,
    P: HookPoint,
    S: 'static,
    Form: Keeps + 'static,
    Function<F, S, Form, V>: Invoke<P>,
{
    fn handler(function: F, state: impl Into<Arc<S>>) -> Handler<P> {
        let function = Function::<F, S, Form, V> {
            call: Contained::new(function),
            state: Contained::new(Form::keep(state)),
            form: PhantomData,
        };
        Handler(ErasedHandler::new(function), PhantomData)
    }
}

/// A handler of `P`, with its form erased.
#[doc(hidden)]
#[derive(Debug)]
pub struct Handler<P>(pub(crate) ErasedHandler, PhantomData<fn() -> P>);
