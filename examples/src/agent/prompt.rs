//! The system prompt.

use hooks_points::Personality;
use hooks_points::{BeforePromptBuild, BeforePromptBuildPayload, BeforePromptBuildResult};

use super::{Agent, AgentError, Session, Turn};

impl Agent {
    /// The system prompt of this turn, as the plugins amend it.
    pub(crate) async fn system_prompt(
        &self,
        turn: &Turn,
        session: &Session,
    ) -> Result<String, AgentError> {
        let payload = BeforePromptBuildPayload {
            session_id: session.id.clone(),
            personality_id: Some(session.personality.id.clone()),
            history: session.history.iter().map(|line| line.stored(&session.id)).collect(),
        };
        let amended = turn.amend::<BeforePromptBuild>(&session.personality.id, &payload).await?;
        Ok(assemble(&session.personality, amended))
    }
}

/// An override replaces everything; without one the additions go around.
fn assemble(personality: &Personality, amended: BeforePromptBuildResult) -> String {
    if let Some(instead) = amended.override_system {
        return instead;
    }
    let mut own = format!("You are {}.", personality.name);
    if let Some(description) = &personality.description {
        own = format!("{own} {description}");
    }
    let parts = [amended.prepend_system, Some(own), amended.append_system];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder() -> Personality {
        let description = Some("You keep the workshop.".to_owned());
        Personality {
            id: "builder".into(),
            name: "Builder".into(),
            description,
            ..Default::default()
        }
    }

    #[test]
    fn additions_go_around_the_prompt() {
        let amended = BeforePromptBuildResult {
            prepend_system: Some("first".into()),
            append_system: Some("last".into()),
            override_system: None,
        };
        let prompt = assemble(&builder(), amended);
        assert_eq!(prompt, "first\n\nYou are Builder. You keep the workshop.\n\nlast");
    }

    #[test]
    fn an_override_replaces_the_additions_too() {
        let amended = BeforePromptBuildResult {
            prepend_system: Some("first".into()),
            append_system: Some("last".into()),
            override_system: Some("only this".into()),
        };
        assert_eq!(assemble(&builder(), amended), "only this");
    }
}
