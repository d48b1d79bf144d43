//! How an expansion begins and ends.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::context::HookContext;
use crate::handler::annotated::convert::{Answer, Answers, Given, Plain};
use crate::handler::on::On;
use crate::handler::registration::Registration;
use crate::invoke::{Call1, Call2, Call3, IntoHandler, form};
use crate::models::{Composes, Guard, Model};
use crate::plugin::installation::Plugin;
use crate::point::{HookPoint, SourceLocation};

/// The types of an expansion's steps.
pub trait Hands {
    /// What the closure is given.
    type Given<'a, P: HookPoint>;
    /// What it returns.
    type Answer<P: HookPoint, Role>;
    /// The step after an async one.
    type Unsent<P: HookPoint, Role, S, F, Form>;
}

impl<M: Model> Hands for M {
    type Given<'a, P: HookPoint> = Given<'a, M, P>;
    type Answer<P: HookPoint, Role> = Answer<P, Role>;
    type Unsent<P: HookPoint, Role, S, F, Form> = Unsent<P, Role, S, F, Form>;
}

type GivenTo<'a, P> = <<P as HookPoint>::Model as Hands>::Given<'a, P>;
type AnswerOf<P, R> = <<P as HookPoint>::Model as Hands>::Answer<P, R>;
type UnsentOf<P, R, S, F, Form> = <<P as HookPoint>::Model as Hands>::Unsent<P, R, S, F, Form>;

/// The options of a guard. All that completes them is a closure that answers as
/// a guard does, so what comes of it cannot replace the payload.
pub struct Guarded<P>(On<P>);

/// An async closure of which it is not known yet whether its future is `Send`.
/// That is asked in a step of its own, which stands at the function's name.
pub struct Unsent<P, Role, S, F, Form> {
    on: On<P>,
    state: Arc<S>,
    handler: F,
    form: PhantomData<(Role, Form)>,
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

    #[doc(hidden)]
    pub fn __guard(self) -> Guarded<P> {
        Guarded(self.guarding())
    }

    fn built(self) -> Self {
        self
    }
}

impl<P> Guarded<P> {
    fn built(self) -> On<P> {
        self.0
    }
}

/// The end of an expansion around a synchronous function or method.
macro_rules! sync_end {
    ($on:ident, $end:ident($form:ident) where $bound:path) => {
        impl<P> $on<P> {
            #[doc(hidden)]
            pub fn $end<F>(self, handler: F) -> Registration
            where
                P: HookPoint<Model: Composes<P>>,
                F: for<'a> $bound + Send + Sync + 'static,
            {
                self.built().finish(IntoHandler::<P::Model, P, (), $form>::into_handler(
                    handler,
                    Arc::new(()),
                ))
            }
        }
    };
    ($on:ident, $end:ident($form:ident, $state:ident) where $bound:path) => {
        impl<P> $on<P> {
            #[doc(hidden)]
            pub fn $end<$state, F>(self, state: Arc<$state>, handler: F) -> Registration
            where
                P: HookPoint<Model: Composes<P>>,
                $state: Plugin,
                F: for<'a> $bound + Send + Sync + 'static,
            {
                self.built()
                    .finish(IntoHandler::<P::Model, P, $state, $form>::into_handler(handler, state))
            }
        }
    };
}

/// The same for an async one, in two steps: the first lets the compiler infer
/// the types of the closure, the second asks for a future that is `Send`.
macro_rules! async_end {
    ($on:ident, $role:ident, $end:ident($form:ident) where $bound:path, $sent:path) => {
        impl<P> $on<P> {
            #[doc(hidden)]
            pub fn $end<F>(self, handler: F) -> UnsentOf<P, $role, (), F, $form>
            where
                P: HookPoint<Model: Composes<P>>,
                F: for<'a> $bound,
            {
                Unsent { on: self.built(), state: Arc::new(()), handler, form: PhantomData }
            }
        }

        async_end!(@sent $role, $form, (), $sent);
    };
    ($on:ident, $role:ident, $end:ident($form:ident, $state:ident) where $bound:path, $sent:path) => {
        impl<P> $on<P> {
            #[doc(hidden)]
            pub fn $end<$state, F>(
                self,
                state: Arc<S>,
                handler: F,
            ) -> UnsentOf<P, $role, S, F, $form>
            where
                P: HookPoint<Model: Composes<P>>,
                F: for<'a> $bound,
            {
                Unsent { on: self.built(), state, handler, form: PhantomData }
            }
        }

        async_end!(@sent $role, $form, S, $sent, S);
    };
    (@sent $role:ident, $form:ident, $state:ty, $sent:path $(, $parameter:ident)?) => {
        impl<P, $($parameter: Plugin,)? F> Unsent<P, $role, $state, F, $form>
        where
            P: HookPoint<Model: Composes<P>>,
        {
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

/// All ends of the options of one role.
macro_rules! ends {
    ($on:ident, $role:ident) => {
        sync_end!($on, __sync1(GivenSync1) where Fn(GivenTo<'a, P>) -> AnswerOf<P, $role>);
        sync_end!(
            $on,
            __sync2(GivenSync2)
            where Fn(GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P, $role>
        );
        sync_end!(
            $on,
            __sync1_with(StateGivenSync1, S)
            where Fn(&'a S, GivenTo<'a, P>) -> AnswerOf<P, $role>
        );
        sync_end!(
            $on,
            __sync2_with(StateGivenSync2, S)
            where Fn(&'a S, GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P, $role>
        );
        async_end!(
            $on, $role,
            __async1(GivenAsync1)
            where AsyncFn(GivenTo<'a, P>) -> AnswerOf<P, $role>,
            Call1<'a, GivenTo<'a, P>, Out = AnswerOf<P, $role>>
        );
        async_end!(
            $on, $role,
            __async2(GivenAsync2)
            where AsyncFn(GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P, $role>,
            Call2<'a, GivenTo<'a, P>, &'a HookContext, Out = AnswerOf<P, $role>>
        );
        async_end!(
            $on, $role,
            __async1_with(StateGivenAsync1, S)
            where AsyncFn(&'a S, GivenTo<'a, P>) -> AnswerOf<P, $role>,
            Call2<'a, &'a S, GivenTo<'a, P>, Out = AnswerOf<P, $role>>
        );
        async_end!(
            $on, $role,
            __async2_with(StateGivenAsync2, S)
            where AsyncFn(&'a S, GivenTo<'a, P>, &'a HookContext) -> AnswerOf<P, $role>,
            Call3<'a, &'a S, GivenTo<'a, P>, &'a HookContext, Out = AnswerOf<P, $role>>
        );
    };
}

ends!(On, Plain);
ends!(Guarded, Guard);
