//! What can be a handler: the traits behind `register_*` and
//! [`On::handler`](crate::On::handler).

pub(crate) mod annotated;
pub(crate) mod capturing;
#[cfg(feature = "collect")]
pub(crate) mod collect;
pub(crate) mod forms;
pub(crate) mod on;
pub(crate) mod options;
pub(crate) mod registration;
pub(crate) mod target;
pub(crate) mod verbs;

pub use capturing::Capturing;
pub use forms::IntoHandler;
pub use verbs::{AsyncHandler, AsyncHandlerWith, InferredWith};
