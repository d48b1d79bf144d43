//! What can be a handler: the traits behind `register_*` and
//! [`On::handler`](crate::handler::On::handler).

pub(crate) mod annotated;
pub(crate) mod calls;
pub(crate) mod capturing;
#[cfg(feature = "collect")]
pub(crate) mod collect;
pub(crate) mod forms;
pub(crate) mod on;
pub(crate) mod options;
pub(crate) mod registration;
pub(crate) mod target;
pub(crate) mod verbs;

pub use crate::engine::raw::{FireKey, HookContext};
pub use capturing::{Capturing, capturing};
#[cfg(feature = "collect")]
pub use collect::{CollectError, MissingHandler, collected};
pub use forms::IntoHandler;
pub use on::{On, on};
pub use registration::{IntoRegistrations, Registration};
pub use target::Target;
pub use verbs::{AsyncHandler, AsyncHandlerWith, InferredWith};
