//! How an expansion begins and ends.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::annotated::given::{Answer, Answers, Given};
use crate::context::HookContext;
use crate::invoke::{Call1, Call2, Call3, IntoHandler, form};
use crate::models::{Composes, Model};
use crate::plugin::Plugin;
use crate::point::{HookPoint, SourceLocation};
use crate::registration::{On, Registration};

/// The types of an expansion's steps.
pub trait Hands {
    /// What the closure is given.
    type Given<'a, P: HookPoint>;
    /// What it returns.
    type Answer<P: HookPoint>;
    /// The step after an async one.
    type Unsent<P: HookPoint, S, F, Form>;
}

impl<M: Model> Hands for M {
    type Given<'a, P: HookPoint> = Given<'a, M, P>;
    type Answer<P: HookPoint> = Answer<P>;
    type Unsent<P: HookPoint, S, F, Form> = Unsent<P, S, F, Form>;
}

type GivenTo<'a, P> = <<P as HookPoint>::Model as Hands>::Given<'a, P>;
type AnswerOf<P> = <<P as HookPoint>::Model as Hands>::Answer<P>;
type UnsentOf<P, S, F, Form> = <<P as HookPoint>::Model as Hands>::Unsent<P, S, F, Form>;

/// An async closure of which it is not known yet whether its future is `Send`.
/// That is asked in a step of its own, which stands at the function's name.
pub struct Unsent<P, S, F, Form> {
    on: On<P>,
    state: Arc<S>,
    handler: F,
    form: PhantomData<Form>,
}

form! {
    /// A closure around a function of the payload.
    sync GivenSync1(f, state, input) -> Answers
    where Fn(Given<'a, V, P>) -> T => f(Given::new(input))
}
form! {
    /// A closure around a function of payload and context.
    sync GivenSync2(f, state, input, cx) -> Answers
    where Fn(Given<'a, V, P>, &'a HookContext) -> T => f(Given::new(input), cx)
}
form! {
    /// A closure around a method of the payload.
    sync StateGivenSync1(f, state, input) -> Answers
    where Fn(&'a S, Given<'a, V, P>) -> T => f(state, Given::new(input))
}
form! {
    /// A closure around a method of payload and context.
    sync StateGivenSync2(f, state, input, cx) -> Answers
    where Fn(&'a S, Given<'a, V, P>, &'a HookContext) -> T => f(state, Given::new(input), cx)
}
form! {
    /// A closure around an async function of the payload.
    async GivenAsync1(f, state, input) -> Answers
    where Call1<'a, Given<'a, V, P>, Out = T> => f.call(Given::new(input))
}
form! {
    /// A closure around an async function of payload and context.
    async GivenAsync2(f, state, input, cx) -> Answers
    where Call2<'a, Given<'a, V, P>, &'a HookContext, Out = T> => f.call(Given::new(input), cx)
}
form! {
    /// A closure around an async method of the payload.
    async StateGivenAsync1(f, state, input) -> Answers
    where Call2<'a, &'a S, Given<'a, V, P>, Out = T> => f.call(state, Given::new(input))
}
form! {
    /// A closure around an async method of payload and context.
    async StateGivenAsync2(f, state, input, cx) -> Answers
    where Call3<'a, &'a S, Given<'a, V, P>, &'a HookContext, Out = T>
        => f.call(state, Given::new(input), cx)
}

impl<P> On<P> {
    /// The start of an expansion. What is no point is reported at its end.
    #[doc(hidden)]
    pub fn __annotated(name: &'static str, location: SourceLocation) -> Self {
        Self::at(location).name(name)
    }
}

/// The end of an expansion around a synchronous function or method.
macro_rules! sync_end {
    ($end:ident($form:ident) where $bound:path) => {
        impl<P> On<P> {
            #[doc(hidden)]
            pub fn $end<F>(self, handler: F) -> Registration
            where
                P: HookPoint<Model: Composes<P>>,
                F: for<'a> $bound + Send + Sync + 'static,
            {
                self.finish(IntoHandler::<P::Model, P, (), $form>::into_handler(
                    handler,
                    Arc::new(()),
                ))
            }
        }
    };
    ($end:ident($form:ident, $state:ident) where $bound:path) => {
        impl<P> On<P> {
            #[doc(hidden)]
            pub fn $end<$state, F>(self, state: Arc<$state>, handler: F) -> Registration
            where
                P: HookPoint<Model: Composes<P>>,
                $state: Plugin,
                F: for<'a> $bound + Send + Sync + 'static,
            {
                self.finish(IntoHandler::<P::Model, P, $state, $form>::into_handler(handler, state))
            }
        }
    };
}

sync_end!(__sync1(GivenSync1) where Fn(GivenTo<'a, P>) -> AnswerOf<P>);
sync_end!(__sync2(GivenSync2) where Fn(GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P>);
sync_end!(__sync1_with(StateGivenSync1, S) where Fn(&'a S, GivenTo<'a, P>) -> AnswerOf<P>);
sync_end!(
    __sync2_with(StateGivenSync2, S)
    where Fn(&'a S, GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P>
);

/// The same for an async one, in two steps: the first lets the compiler infer
/// the types of the closure, the second asks for a future that is `Send`.
macro_rules! async_end {
    ($end:ident($form:ident) where $bound:path, $sent:path) => {
        impl<P> On<P> {
            #[doc(hidden)]
            pub fn $end<F>(self, handler: F) -> UnsentOf<P, (), F, $form>
            where
                P: HookPoint<Model: Composes<P>>,
                F: for<'a> $bound,
            {
                Unsent { on: self, state: Arc::new(()), handler, form: PhantomData }
            }
        }

        async_end!(@sent $form, (), $sent);
    };
    ($end:ident($form:ident, $state:ident) where $bound:path, $sent:path) => {
        impl<P> On<P> {
            #[doc(hidden)]
            pub fn $end<$state, F>(self, state: Arc<S>, handler: F) -> UnsentOf<P, S, F, $form>
            where
                P: HookPoint<Model: Composes<P>>,
                F: for<'a> $bound,
            {
                Unsent { on: self, state, handler, form: PhantomData }
            }
        }

        async_end!(@sent $form, S, $sent, S);
    };
    (@sent $form:ident, $state:ty, $sent:path $(, $parameter:ident)?) => {
        impl<P: HookPoint<Model: Composes<P>>, $($parameter: Plugin,)? F> Unsent<P, $state, F, $form> {
            /// Asks for a future that is `Send`.
            pub fn sent(self) -> Registration
            where
                F: for<'a> $sent,
            {
                let Self { on, state, handler, .. } = self;
                on.finish(IntoHandler::<P::Model, P, $state, $form>::into_handler(handler, state))
            }
        }
    };
}

async_end!(
    __async1(GivenAsync1)
    where AsyncFn(GivenTo<'a, P>) -> AnswerOf<P>,
    Call1<'a, GivenTo<'a, P>, Out = AnswerOf<P>>
);
async_end!(
    __async2(GivenAsync2)
    where AsyncFn(GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P>,
    Call2<'a, GivenTo<'a, P>, &'a HookContext, Out = AnswerOf<P>>
);
async_end!(
    __async1_with(StateGivenAsync1, S)
    where AsyncFn(&'a S, GivenTo<'a, P>) -> AnswerOf<P>,
    Call2<'a, &'a S, GivenTo<'a, P>, Out = AnswerOf<P>>
);
async_end!(
    __async2_with(StateGivenAsync2, S)
    where AsyncFn(&'a S, GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P>,
    Call3<'a, &'a S, GivenTo<'a, P>, &'a HookContext, Out = AnswerOf<P>>
);
