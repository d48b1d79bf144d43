//! Async functions of one, two and three arguments, as the forms ask for them.

use std::future::Future;

use crate::handler::capturing::Capturing;

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

/// What can be called any number of times, also at once.
#[diagnostic::on_unimplemented(
    message = "this is not an async function, or an async closure that captures nothing",
    label = "cannot be called while a call of it is under way",
    note = "an async closure that captures is wrapped, `capturing(async move |payload: &Payload| \
            …)`: each call gets a clone of what it captured",
    note = "or it is lent a state: `on::<Point>().handler_with(state, async |state: &State, payload: \
            &Payload| …)`, as a guard `guard_with`, with a verb `register_*_with`",
    note = "a sync closure captures as it likes: `on::<Point>().handler(move |payload: &Payload| …)`"
)]
pub trait Callable<Arguments> {
    /// What it returns.
    type Returned;
    /// Calls it.
    fn call_with(&self, arguments: Arguments) -> Self::Returned;
}

/// An async function of so many arguments whose future is `Send`.
macro_rules! call {
    ($(#[$doc:meta])* $call:ident, $shape:ident($($argument:ident: $Argument:ident),+)) => {
        #[diagnostic::do_not_recommend]
        impl<F, R, $($Argument),+> Callable<($($Argument,)+)> for F
        where
            F: Fn($($Argument),+) -> R,
        {
            type Returned = R;

            #[inline]
            fn call_with(&self, ($($argument,)+): ($($Argument,)+)) -> R {
                self($($argument),+)
            }
        }

        $(#[$doc])*
        pub trait $call<'a, $($Argument),+>: Send + Sync + 'static {
            /// The future of one call.
            type Future: Future<Output = Self::Out> + Send + 'a;
            /// What it returns.
            type Out;
            /// Calls it.
            fn call(&self, $($argument: $Argument),+) -> Self::Future;
        }

        impl<'a, $($Argument,)+ F, Fut> $call<'a, $($Argument),+> for F
        where
            F: Callable<($($Argument,)+), Returned = Fut> + Send + Sync + 'static,
            Fut: Promise + Send + 'a,
        {
            type Future = Fut;
            type Out = Fut::Output;

            #[inline]
            fn call(&self, $($argument: $Argument),+) -> Fut {
                self.call_with(($($argument,)+))
            }
        }

        /// The same, whether or not it and its future are `Send`, and whether or not it can
        /// be called more than once.
        pub trait $shape<$($Argument),+> {
            /// What it returns.
            type Out;
        }

        impl<$($Argument,)+ F, Fut> $shape<$($Argument),+> for F
        where
            F: FnOnce($($Argument),+) -> Fut,
            Fut: Future,
        {
            type Out = Fut::Output;
        }

        impl<$($Argument,)+ F, Fut> $shape<$($Argument),+> for Capturing<F>
        where
            F: FnOnce($($Argument),+) -> Fut,
            Fut: Future,
        {
            type Out = Fut::Output;
        }
    };
}

call! {
    /// An async function of one argument whose future is `Send`.
    Call1, Shape1(a: A)
}
call! {
    /// An async function of two arguments whose future is `Send`.
    Call2, Shape2(a: A, b: B)
}
call! {
    /// An async function of three arguments whose future is `Send`.
    Call3, Shape3(a: A, b: B, c: C)
}
