//! What can be a handler: the traits behind `register_*` and
//! [`On::handler`](crate::On::handler).

pub(crate) mod annotated;
#[cfg(feature = "collect")]
pub(crate) mod collect;
pub(crate) mod on;
pub(crate) mod options;
pub(crate) mod registration;
pub(crate) mod target;

pub use crate::invoke::{
    Async1, Async2, AsyncHandler, AsyncHandlerWith, Call1, Call2, Call3, Function, Handler,
    IntoHandler, Promise, StateAsync1, StateAsync2, StateSync1, StateSync2, Sync1, Sync2,
};
