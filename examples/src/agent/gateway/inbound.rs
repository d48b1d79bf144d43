//! Messages that come in.

use hooks_points::lifecycle::{BeforeInbound, BeforeInboundPayload};
use hooks_points::{
    GatewayMessage, GatewayMessagePayload, InboundClaim, InboundClaimPayload, InboundMessage,
    MessageReceived, MessageReceivedPayload, OutboundMessage, PersonalitySwitched,
    PersonalitySwitchedPayload,
};
use hooks_runtime::{Claim, Gate};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::agent::trace::{Event, Record, Speaker};
use crate::agent::{Agent, AgentError, Session, Turn};

/// The answer to a person when a turn ends early. The reason is in the timeline.
const APOLOGY: &str = "Something went wrong here, and nothing more was done.";

/// Where platforms put messages. The loop ends when all inlets are gone.
#[derive(Clone, Debug)]
pub struct Inlet(mpsc::UnboundedSender<InboundMessage>);

/// Where the loop takes messages from.
#[derive(Debug)]
pub struct Inbox(mpsc::UnboundedReceiver<InboundMessage>);

/// Both ends of the way in.
pub fn line() -> (Inlet, Inbox) {
    let (inlet, inbox) = mpsc::unbounded_channel();
    (Inlet(inlet), Inbox(inbox))
}

impl Inlet {
    /// Puts in what a person wrote in a chat of a platform.
    pub fn write(&self, platform: &str, chat_id: &str, text: &str) {
        let message = InboundMessage {
            platform: platform.to_owned(),
            chat_id: chat_id.to_owned(),
            user_id: None,
            username: None,
            text: text.to_owned(),
            attachments: None,
            reply_to_id: None,
            is_dm: true,
            is_group_mention: false,
            message_id: None,
            thread_id: None,
            raw: Value::Null,
        };
        // Without the loop there is no receiver left.
        let _ = self.0.send(message);
    }
}

impl Agent {
    /// The loop: takes messages until every inlet is gone, and hands on what
    /// came of each.
    pub async fn serve(&self, mut inbox: Inbox, mut each: impl FnMut(Record)) {
        while let Some(message) = inbox.0.recv().await {
            each(self.receive(message).await);
        }
    }

    /// Takes one message in and does what it takes.
    ///
    /// The plugins of the session's personality are worked out here, once, for
    /// the message, the turn and the answer.
    pub async fn receive(&self, message: InboundMessage) -> Record {
        let key = format!("{}:{}", message.platform, message.chat_id);
        let session = self.session(&message.platform, &key);
        let mut session = session.lock().await;
        let turn = self.turn_in(&session);
        if let Err(error) = self.handle(&turn, &mut session, message).await {
            turn.happened(Event::Failed(error.to_string()));
        }
        turn.finish(key)
    }

    async fn handle(
        &self,
        turn: &Turn,
        session: &mut Session,
        mut message: InboundMessage,
    ) -> Result<(), AgentError> {
        turn.said(Speaker::User, &message.text);
        match turn.gate::<BeforeInbound>(&message.platform, inbound(&message)).await? {
            Gate::Passed(inbound) => message.text = inbound.content,
            Gate::Rejected(rejection) => {
                let InboundMessage { platform, chat_id, .. } = &message;
                turn.refused("the message", rejection.reason());
                let answer = format!("I do not take that in: {}.", rejection.reason());
                return self.send(turn, platform, chat_id, OutboundMessage::text(answer)).await;
            }
        }
        let InboundMessage { platform, chat_id, text, .. } = &message;
        let received = MessageReceivedPayload {
            message: message.clone(),
            session_id: (session.turns > 0).then(|| session.id.clone()),
        };
        turn.notify::<MessageReceived>(platform, &received).await?;
        let claim = InboundClaimPayload { message: message.clone() };
        if turn.ask::<InboundClaim>(platform, &claim).await?.is_claimed() {
            turn.note("taken over by the adapter; no turn");
            return Ok(());
        }
        let gateway = GatewayMessagePayload {
            platform: platform.clone(),
            chat_id: chat_id.clone(),
            bot_key: None,
            user_id: message.user_id.clone(),
            text: text.clone(),
            is_dm: message.is_dm,
        };
        let answer = match turn.ask::<GatewayMessage>(platform, &gateway).await? {
            Claim::Claimed(claim) => claim.reply,
            Claim::Unclaimed => match self.answer(turn, session, text).await {
                Ok(answer) => Some(answer),
                Err(error) => {
                    turn.happened(Event::Failed(error.to_string()));
                    Some(APOLOGY.to_owned())
                }
            },
        };
        match answer {
            Some(answer) => self.send(turn, platform, chat_id, OutboundMessage::text(answer)).await,
            None => Ok(()),
        }
    }

    /// What to say to a message that the gateway left to the agent.
    async fn answer(
        &self,
        turn: &Turn,
        session: &mut Session,
        text: &str,
    ) -> Result<String, AgentError> {
        match text.strip_prefix("/personality ") {
            Some(wanted) => self.switch(turn, session, wanted.trim()).await,
            None => Ok(self.converse(turn, session, text).await?.text),
        }
    }

    /// Switches the session to another personality, from the next turn on.
    async fn switch(
        &self,
        turn: &Turn,
        session: &mut Session,
        wanted: &str,
    ) -> Result<String, AgentError> {
        let personality = self.personalities.get(wanted)?;
        let switched = PersonalitySwitchedPayload {
            session_id: session.id.clone(),
            from: Some(session.personality.id.clone()),
            to: personality.id.clone(),
        };
        let amended = turn.amend::<PersonalitySwitched>(wanted, &switched).await?;
        session.personality = amended.personality.unwrap_or_else(|| personality.clone());
        Ok(format!("From now on I am {}.", session.personality.name))
    }
}

/// A message as those see it who decide whether it comes in.
fn inbound(message: &InboundMessage) -> BeforeInboundPayload {
    BeforeInboundPayload {
        user_id: message.user_id.clone().unwrap_or_else(|| message.chat_id.clone()),
        channel: message.platform.clone(),
        content: message.text.clone(),
        thread_id: message.thread_id.clone(),
    }
}
