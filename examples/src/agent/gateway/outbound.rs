//! Messages that go out.

use hooks_points::{
    BeforeDispatch, BeforeDispatchPayload, MessageSending, MessageSendingPayload, MessageSent,
    MessageSentPayload, OutboundMessage,
};
use hooks_runtime::Claim;

use super::ChannelError;
use crate::agent::trace::Speaker;
use crate::agent::{Agent, AgentError, Turn};

impl Agent {
    /// Sends a message: as the handlers rewrite it, unless one of them suppresses
    /// it.
    pub(crate) async fn send(
        &self,
        turn: &Turn,
        platform: &str,
        chat_id: &str,
        message: OutboundMessage,
    ) -> Result<(), AgentError> {
        let sending = MessageSendingPayload { chat_id: chat_id.to_owned(), message };
        let amended = turn.amend::<MessageSending>(platform, &sending).await?;
        let message = amended.message.unwrap_or(sending.message);

        let dispatch = BeforeDispatchPayload {
            chat_id: chat_id.to_owned(),
            platform: platform.to_owned(),
            text: message.text.clone(),
        };
        match turn.ask::<BeforeDispatch>(platform, &dispatch).await? {
            Claim::Unclaimed => {}
            Claim::Claimed(_) => {
                turn.refused("the answer", "it is not sent");
                return Ok(());
            }
        }

        let channel = self.channels.iter().find(|channel| channel.platform() == platform);
        let channel = channel.ok_or_else(|| ChannelError {
            platform: platform.to_owned(),
            problem: "there is no channel of that name".to_owned(),
        })?;
        let message_id = channel.send(chat_id, &message).await?;
        turn.said(Speaker::Agent, &message.text);
        let sent = MessageSentPayload { chat_id: chat_id.to_owned(), message_id };
        turn.notify::<MessageSent>(platform, &sent).await?;
        Ok(())
    }
}
