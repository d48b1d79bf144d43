//! Agents that agents start.

use hooks_points::{
    SubagentEnded, SubagentEndedPayload, SubagentSpawned, SubagentSpawnedPayload, SubagentSpawning,
    SubagentSpawningPayload,
};

use super::trace::Speaker;
use super::{Agent, AgentError, Turn};

impl Agent {
    /// Runs a subagent in a session of its own, and returns its last words.
    ///
    /// The subagent's turn admits the plugins of its own personality; the fires
    /// about it reach those of the parent.
    pub(crate) async fn spawn(
        &self,
        turn: &Turn,
        parent_session_id: &str,
        prompt: &str,
        personality_id: Option<&str>,
    ) -> Result<String, AgentError> {
        let wanted = personality_id.unwrap_or(&turn.personality().id);
        let spawning = SubagentSpawningPayload {
            parent_session_id: parent_session_id.to_owned(),
            prompt: prompt.to_owned(),
            personality_id: Some(wanted.to_owned()),
        };
        let amended = turn.amend::<SubagentSpawning>(wanted, &spawning).await?;
        let prompt = amended.prompt.as_deref().unwrap_or(prompt);
        let wanted = amended.personality_id.as_deref().unwrap_or(wanted);
        let personality = self.personalities.get(wanted)?.clone();

        let key = format!("subagent:{parent_session_id}");
        let mut session = self.new_session("subagent", &key, personality);
        let spawned = SubagentSpawnedPayload {
            parent_session_id: parent_session_id.to_owned(),
            child_session_id: session.id.clone(),
            personality_id: Some(session.personality.id.clone()),
        };
        turn.notify::<SubagentSpawned>(&session.id, &spawned).await?;

        let child = self.turn_in(&session).within(turn);
        child.said(Speaker::User, prompt);
        let end = self.converse(&child, &mut session, prompt).await;
        let result = end.map_or_else(|error| error.to_string(), |end| end.text);
        child.said(Speaker::Agent, &result);

        let ended = SubagentEndedPayload {
            parent_session_id: parent_session_id.to_owned(),
            child_session_id: session.id.clone(),
            result: result.clone(),
        };
        turn.notify::<SubagentEnded>(&session.id, &ended).await?;
        Ok(result)
    }
}
