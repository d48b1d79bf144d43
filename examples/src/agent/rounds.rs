//! A turn: the prompt, then rounds of the model and its tools.

use std::time::Instant;

use hooks_points::{
    AfterLlmCall, AfterLlmCallPayload, AgentDone, AgentDonePayload, BeforeLlmCall,
    BeforeLlmCallPayload, FinishReason, SessionStart, SessionStartPayload, TokenUsage,
    ToolDefinition,
};

use super::calls::CallEnd;
use super::history::Message;
use super::model::{Reply, Request};
use super::trace::Speaker;
use super::{Agent, AgentError, Session, Turn};

/// How often the model may ask for tools in one turn.
const MAX_ROUNDS: usize = 16;

/// How a turn ended.
#[derive(Debug)]
pub(crate) struct TurnEnd {
    /// The agent's last words.
    pub(crate) text: String,
    /// What became of the calls that the model asked for.
    pub(crate) calls: Vec<CallEnd>,
}

impl Agent {
    /// One turn: from the person's words to the agent's last ones.
    pub(crate) async fn converse(
        &self,
        turn: &Turn,
        session: &mut Session,
        prompt: &str,
    ) -> Result<TurnEnd, AgentError> {
        if session.turns == 0 {
            let start = SessionStartPayload {
                session_id: session.id.clone(),
                session_key: session.key.clone(),
                platform: session.platform.clone(),
                personality_id: Some(session.personality.id.clone()),
            };
            turn.notify::<SessionStart>(&session.id, &start).await?;
        }
        session.turns += 1;
        self.record(session, Message::User(prompt.to_owned()));

        let mut calls = Vec::new();
        let text = self.rounds(turn, session, &mut calls).await;
        let done = AgentDonePayload {
            session_id: session.id.clone(),
            text: text.as_ref().map_or_else(ToString::to_string, Clone::clone),
            turn_count: session.turns,
            personality_id: Some(session.personality.id.clone()),
            successful_tool_calls: Some(calls.iter().filter(|call| call.ok).count() as u64),
            total_tool_calls: Some(calls.len() as u64),
            tool_names: Some(calls.iter().map(|call| call.tool.clone()).collect()),
            initial_prompt: Some(prompt.to_owned()),
        };
        turn.notify::<AgentDone>(&session.id, &done).await?;
        Ok(TurnEnd { text: text?, calls })
    }

    /// Asks the model until it asks for nothing more.
    async fn rounds(
        &self,
        turn: &Turn,
        session: &mut Session,
        ended: &mut Vec<CallEnd>,
    ) -> Result<String, AgentError> {
        let system = self.system_prompt(turn, session).await?;
        let tools = self.offered(&session.personality);
        for _ in 0..MAX_ROUNDS {
            let reply = self.round_trip(turn, session, &system, &tools).await?;
            let (text, calls) = (reply.text, reply.calls);
            let message = Message::Assistant { text: text.clone(), calls: calls.clone() };
            self.record(session, message);
            if calls.is_empty() {
                return Ok(text);
            }
            if !text.is_empty() {
                turn.said(Speaker::Agent, &text);
            }
            ended.extend(self.run_calls(turn, session, calls).await?);
        }
        Err(AgentError::TooManyRounds(MAX_ROUNDS))
    }

    /// One round trip to the model, with a fire before and one after it.
    async fn round_trip(
        &self,
        turn: &Turn,
        session: &Session,
        system: &str,
        tools: &[ToolDefinition],
    ) -> Result<Reply, AgentError> {
        let request = Request {
            system: system.to_owned(),
            tools: tools.to_vec(),
            messages: session.history.iter().map(|line| line.message.clone()).collect(),
        };
        let request_id = self.ids.request();
        let before = BeforeLlmCallPayload {
            session_id: session.id.clone(),
            model: self.model.name().to_owned(),
            turn_number: session.turns,
            system: Some(request.system.clone()),
            tools: Some(request.tools.clone()),
            messages: Some(request.messages.iter().map(Message::for_model).collect()),
            request_id: Some(request_id.clone()),
        };
        turn.notify::<BeforeLlmCall>(&request_id, &before).await?;

        let began = Instant::now();
        let reply = self.model.complete(&request).await;
        let (text, usage, finish) = match &reply {
            Ok(reply) => (reply.text.clone(), reply.usage, reply.finish),
            Err(error) => (error.to_string(), TokenUsage::default(), FinishReason::Error),
        };
        let after = AfterLlmCallPayload {
            session_id: session.id.clone(),
            text,
            usage,
            request_id: Some(request_id.clone()),
            finish_reason: Some(finish),
            duration_ms: Some(milliseconds(began)),
        };
        turn.notify::<AfterLlmCall>(&request_id, &after).await?;
        Ok(reply?)
    }
}

/// How long ago that was.
pub(crate) fn milliseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
