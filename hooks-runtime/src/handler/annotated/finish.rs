//! How an expansion begins and ends.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::raw::HookContext;
use crate::handler::annotated::convert::{Answer, HandlerInput, Plain};
use crate::handler::calls::{Call1, Call2, Call3};
use crate::handler::forms::{
    AnnotatedAsync1, AnnotatedAsync2, AnnotatedSync1, AnnotatedSync2, Keeps, Sent,
    StateAnnotatedAsync1, StateAnnotatedAsync2, StateAnnotatedSync1, StateAnnotatedSync2,
};
use crate::handler::on::On;
use crate::handler::options::Options;
use crate::handler::registration::Registration;
use crate::model::compose::Compose;
use crate::model::{Guard, Model};
use crate::plugin::installation::Plugin;
use crate::point::{HookPoint, SourceLocation};

/// The types of an expansion's steps.
pub trait ExpansionTypes {
    /// What the closure takes.
    type Input<'a, P: HookPoint>;
    /// What it returns.
    type Answer<P: HookPoint, Role>;
    /// The step after an async one.
    type Unchecked<P: HookPoint, Role, S, F, Form: Keeps>;
}

impl<M: Model> ExpansionTypes for M {
    type Input<'a, P: HookPoint> = HandlerInput<'a, M, P>;
    type Answer<P: HookPoint, Role> = Answer<P, Role>;
    type Unchecked<P: HookPoint, Role, S, F, Form: Keeps> = UncheckedAsync<P, Role, S, F, Form>;
}

type InputOf<'a, P> = <<P as HookPoint>::Model as ExpansionTypes>::Input<'a, P>;
type AnswerOf<P, R> = <<P as HookPoint>::Model as ExpansionTypes>::Answer<P, R>;
type UncheckedOf<P, R, S, F, Form> =
    <<P as HookPoint>::Model as ExpansionTypes>::Unchecked<P, R, S, F, Form>;

/// The options of a guard. Only a closure that answers as a guard completes them,
/// so the handler cannot replace the payload.
pub struct Guarded<P>(On<P>);

/// An async closure whose future is not checked to be `Send` yet. The check is a
/// step of its own, which has the span of the function's name.
pub struct UncheckedAsync<P, Role, S, F, Form: Keeps> {
    on: On<P>,
    state: Form::State<S>,
    handler: F,
    form: PhantomData<(Role, Form)>,
}

impl<P> On<P> {
    /// The start of an expansion. A type that is not a point is reported at its end.
    #[doc(hidden)]
    pub fn __annotated(name: &'static str, location: SourceLocation) -> Self {
        Self::with_options(Options::named(name, location))
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
                P: HookPoint<Model: Compose<P>>,
                F: for<'a> $bound + Send + Sync + 'static,
            {
                self.built().finish(<$form as Sent<F, (), P::Model, P>>::handler(handler, ()))
            }
        }
    };
    ($on:ident, $end:ident($form:ident, $state:ident) where $bound:path) => {
        impl<P> $on<P> {
            #[doc(hidden)]
            pub fn $end<$state, F>(self, state: Arc<$state>, handler: F) -> Registration
            where
                P: HookPoint<Model: Compose<P>>,
                $state: Plugin,
                F: for<'a> $bound + Send + Sync + 'static,
            {
                self.built()
                    .finish(<$form as Sent<F, $state, P::Model, P>>::handler(handler, state))
            }
        }
    };
}

/// The same for an async one, in two steps: the first lets the compiler infer
/// the types of the closure, the second requires a future that is `Send`.
macro_rules! async_end {
    ($on:ident, $role:ident, $end:ident($form:ident) where $bound:path, $sent:path) => {
        impl<P> $on<P> {
            #[doc(hidden)]
            pub fn $end<F>(self, handler: F) -> UncheckedOf<P, $role, (), F, $form>
            where
                P: HookPoint<Model: Compose<P>>,
                F: for<'a> $bound,
            {
                UncheckedAsync { on: self.built(), state: (), handler, form: PhantomData }
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
            ) -> UncheckedOf<P, $role, S, F, $form>
            where
                P: HookPoint<Model: Compose<P>>,
                F: for<'a> $bound,
            {
                UncheckedAsync { on: self.built(), state, handler, form: PhantomData }
            }
        }

        async_end!(@sent $role, $form, S, $sent, S);
    };
    (@sent $role:ident, $form:ident, $state:ty, $sent:path $(, $parameter:ident)?) => {
        impl<P, $($parameter: Plugin,)? F> UncheckedAsync<P, $role, $state, F, $form>
        where
            P: HookPoint<Model: Compose<P>>,
        {
            /// Requires a future that is `Send`.
            pub fn assert_send(self) -> Registration
            where
                F: for<'a> $sent,
            {
                let Self { on, state, handler, .. } = self;
                on.finish(<$form as Sent<F, $state, P::Model, P>>::handler(handler, state))
            }
        }
    };
}

/// All ends of the options of one role.
macro_rules! ends {
    ($on:ident, $role:ident) => {
        sync_end!($on, __sync1(AnnotatedSync1) where Fn(InputOf<'a, P>) -> AnswerOf<P, $role>);
        sync_end!(
            $on,
            __sync2(AnnotatedSync2)
            where Fn(InputOf<'a, P>, &'a HookContext) -> AnswerOf<P, $role>
        );
        sync_end!(
            $on,
            __sync1_with(StateAnnotatedSync1, S)
            where Fn(&'a S, InputOf<'a, P>) -> AnswerOf<P, $role>
        );
        sync_end!(
            $on,
            __sync2_with(StateAnnotatedSync2, S)
            where Fn(&'a S, InputOf<'a, P>, &'a HookContext) -> AnswerOf<P, $role>
        );
        async_end!(
            $on, $role,
            __async1(AnnotatedAsync1)
            where AsyncFn(InputOf<'a, P>) -> AnswerOf<P, $role>,
            Call1<'a, InputOf<'a, P>, Out = AnswerOf<P, $role>>
        );
        async_end!(
            $on, $role,
            __async2(AnnotatedAsync2)
            where AsyncFn(InputOf<'a, P>, &'a HookContext) -> AnswerOf<P, $role>,
            Call2<'a, InputOf<'a, P>, &'a HookContext, Out = AnswerOf<P, $role>>
        );
        async_end!(
            $on, $role,
            __async1_with(StateAnnotatedAsync1, S)
            where AsyncFn(&'a S, InputOf<'a, P>) -> AnswerOf<P, $role>,
            Call2<'a, &'a S, InputOf<'a, P>, Out = AnswerOf<P, $role>>
        );
        async_end!(
            $on, $role,
            __async2_with(StateAnnotatedAsync2, S)
            where AsyncFn(&'a S, InputOf<'a, P>, &'a HookContext) -> AnswerOf<P, $role>,
            Call3<'a, &'a S, InputOf<'a, P>, &'a HookContext, Out = AnswerOf<P, $role>>
        );
    };
}

ends!(On, Plain);
ends!(Guarded, Guard);
