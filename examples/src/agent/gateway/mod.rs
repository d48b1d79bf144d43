//! The gateway: messages in, messages out.

mod channel;
mod inbound;
mod outbound;

pub use channel::{Channel, ChannelError, LocalChannel};
pub use inbound::{Inbox, Inlet, line};
