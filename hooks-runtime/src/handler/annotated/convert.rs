//! Converts the input of a call to the parameters of the user's function, and what
//! the function returns to the output of the call. In the expansion each step has
//! the span at which the compiler is to report a mismatch.

use std::borrow::{Borrow, BorrowMut};
use std::marker::PhantomData;

use crate::engine::raw::HookContext;
use crate::error::BoxError;
use crate::model::compose::{Input, Output};
use crate::model::{Guard, Model, RegistersAs, Returns};
use crate::point::HookPoint;

/// The input of a call, as the closure takes it.
pub struct HandlerInput<'a, M: Model, P: HookPoint>(M::Input<'a, P>);

/// What the closure returns. `Role` is the role of its handler: the answer of a
/// guard is made from a guard's return type only.
pub struct Answer<P: HookPoint, Role>(Output<P>, PhantomData<fn() -> Role>);

impl<P: HookPoint, Role> Answer<P, Role> {
    #[inline]
    pub(crate) fn new(output: Output<P>) -> Self {
        Self(output, PhantomData)
    }
}

/// The role of a handler that is not a guard.
pub struct Plain(());

/// What a closure may return: converts to what the point composes.
pub trait Answers<M: Model, P: HookPoint> {
    /// The uniform form.
    fn into_output(self) -> Result<M::Output<P>, BoxError>;
}

impl<P: HookPoint, Role> Answers<P::Model, P> for Answer<P, Role> {
    #[inline]
    fn into_output(self) -> Output<P> {
        self.0
    }
}

impl<'a, M: Model, P: HookPoint> HandlerInput<'a, M, P> {
    #[inline]
    pub(crate) fn new(input: M::Input<'a, P>) -> Self {
        Self(input)
    }
}

impl<'a, P: HookPoint> HandlerInput<'a, P::Model, P> {
    /// The payload, and what converts the result.
    #[inline]
    pub fn open(self) -> (PayloadArgument<'a, P>, To<P>) {
        (PayloadArgument(self.0), To(PhantomData))
    }

    /// The same for a guard.
    #[inline]
    pub fn open_as_guard(self) -> (PayloadArgument<'a, P>, ToGuard<P>)
    where
        P::Model: RegistersAs<Guard, P>,
    {
        (PayloadArgument(self.0), ToGuard(<P::Model as RegistersAs<Guard, P>>::returned))
    }
}

/// The payload, to be converted to the user's parameter.
pub struct PayloadArgument<'a, P: HookPoint>(Input<'a, P>);

impl<'a, P: HookPoint> PayloadArgument<'a, P> {
    /// For a parameter of a type that is left open, as in `&impl Debug`.
    #[inline]
    pub fn payload(self) -> &'a P::Payload
    where
        Input<'a, P>: SharedReference<'a, P::Payload>,
    {
        self.0.shared()
    }

    /// For a parameter `&T`.
    #[inline]
    pub fn shared<T>(self) -> &'a T
    where
        Input<'a, P>: SharedReference<'a, P::Payload>,
        T: Taken<P, P::Payload, Input<'a, P>> + ?Sized,
    {
        T::shared(self.0.shared())
    }

    /// For a parameter `&mut T`.
    #[inline]
    pub fn exclusive<T>(self) -> &'a mut T
    where
        Input<'a, P>: ExclusiveReference<'a, P::Payload>,
        T: TakenExclusively<P, P::Payload> + ?Sized,
    {
        T::exclusive(self.0.exclusive())
    }
}

/// A reference that can be shared.
pub trait SharedReference<'a, T> {
    /// Returns it as a shared one.
    fn shared(self) -> &'a T;
}

impl<'a, T> SharedReference<'a, T> for &'a T {
    #[inline]
    fn shared(self) -> &'a T {
        self
    }
}

impl<'a, T> SharedReference<'a, T> for &'a mut T {
    #[inline]
    fn shared(self) -> &'a T {
        self
    }
}

/// An exclusive reference.
#[diagnostic::on_unimplemented(
    message = "handlers get the payload by shared reference",
    label = "take `&{T}`"
)]
pub trait ExclusiveReference<'a, T> {
    /// Returns it.
    fn exclusive(self) -> &'a mut T;
}

impl<'a, T> ExclusiveReference<'a, T> for &'a mut T {
    #[inline]
    fn exclusive(self) -> &'a mut T {
        self
    }
}

/// What a handler of `P` may take where the payload is a `Payload`, which the host
/// passes as a `Reference`.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` takes `{Reference}`, not `&{Self}`",
    label = "write `{Reference}`"
)]
pub trait Taken<P, Payload, Reference> {
    /// The payload as this.
    fn shared(payload: &Payload) -> &Self;
}

#[diagnostic::do_not_recommend]
impl<P, Payload: Borrow<T>, Reference, T: ?Sized> Taken<P, Payload, Reference> for T {
    #[inline]
    fn shared(payload: &Payload) -> &T {
        payload.borrow()
    }
}

/// The same for a parameter `&mut T`.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` takes `&mut {Payload}`, not `&mut {Self}`",
    label = "write `&mut {Payload}`"
)]
pub trait TakenExclusively<P, Payload> {
    /// The payload as this.
    fn exclusive(payload: &mut Payload) -> &mut Self;
}

#[diagnostic::do_not_recommend]
impl<P, Payload: BorrowMut<T>, T: ?Sized> TakenExclusively<P, Payload> for T {
    #[inline]
    fn exclusive(payload: &mut Payload) -> &mut T {
        payload.borrow_mut()
    }
}

/// The context, to be converted to the user's second parameter.
pub struct Context<'a>(pub &'a HookContext);

impl<'a> Context<'a> {
    /// For a parameter `&T`.
    #[inline]
    pub fn taken<T: TakenAsContext>(self) -> &'a T {
        T::of(self.0)
    }
}

/// What a handler may take as its second parameter.
#[diagnostic::on_unimplemented(
    message = "the second parameter of a handler is `&HookContext`, not `&{Self}`",
    label = "write `&HookContext`",
    note = "a handler that needs state of its own is a method of a plugin: \
            `#[hook_handlers] impl {Self}`"
)]
pub trait TakenAsContext {
    /// The context as this.
    fn of(cx: &HookContext) -> &Self;
}

impl TakenAsContext for HookContext {
    #[inline]
    fn of(cx: &HookContext) -> &Self {
        cx
    }
}

/// Converts what the user's function returns.
pub struct To<P>(PhantomData<fn(P)>);

/// Converts a guard's verdict.
pub struct ToGuard<P: HookPoint>(fn(<Guard as Model>::Output<P>) -> <P::Model as Model>::Output<P>);

/// Converts what the user's function returned to what the point composes.
#[inline]
pub fn returned<P, T>(_: To<P>, returned: T) -> Answer<P, Plain>
where
    P: HookPoint,
    Returned<T>: Fits<P::Model, P>,
{
    Answer::new(Fits::into_output(Returned(returned)))
}

/// The same for a guard.
#[inline]
pub fn returned_by_guard<P, T>(ToGuard(pass): ToGuard<P>, returned: T) -> Answer<P, Guard>
where
    P: HookPoint,
    Returned<T>: Fits<Guard, P>,
{
    Answer::new(Fits::into_output(Returned(returned)).map(pass))
}

/// What the user's function returned. A wrapper, because the compiler prints the
/// last reason of an unmet bound only where that is about another type.
pub struct Returned<T>(T);

/// Whether what was returned fits a point.
pub trait Fits<M: Model, P: HookPoint> {
    /// The uniform form.
    fn into_output(self) -> Result<M::Output<P>, BoxError>;
}

impl<M: Model, P: HookPoint, T: Returns<M, P>> Fits<M, P> for Returned<T> {
    #[inline]
    fn into_output(self) -> Result<M::Output<P>, BoxError> {
        self.0.into_output()
    }
}
