//! The points of a chat gateway, as Ethos has them.
//!
//! Inbound: [`MessageReceived`], then [`InboundClaim`], then, where no adapter
//! took the message, [`GatewayMessage`] before a turn of the agent is begun.
//!
//! Outbound: [`MessageSending`], which may rewrite the message, then
//! [`BeforeDispatch`], whose claim suppresses the send, the send itself, and
//! [`MessageSent`].

mod inbound;
mod outbound;

use hooks_runtime::catalogue::Catalogue;

use crate::catalogue::merged;

pub use inbound::*;
pub use outbound::*;

/// The points of this module as data.
pub(crate) fn points() -> Catalogue {
    merged([inbound::points(), outbound::points()])
}
