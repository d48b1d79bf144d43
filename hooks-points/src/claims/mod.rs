//! What a handler says when it claims something.
//!
//! A handler of a claiming point returns `Some(claim)` or `None`. The wire has
//! one object for both, distinguished by `handled`: [`ClaimWire`] reads and writes
//! it for every claim here.

mod completion_rejected;
mod gateway_reply;
mod handled;
mod wire;

pub use completion_rejected::CompletionRejected;
pub use gateway_reply::GatewayReply;
pub use handled::Handled;
pub use wire::ClaimWire;
