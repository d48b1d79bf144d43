//! Goals: worked towards in one turn after another.

use std::time::Instant;

use hooks_points::{
    AcceptanceSpec, BeforeGoalComplete, BeforeGoalCompletePayload, GoalCompleted,
    GoalCompletedPayload, GoalExhausted, GoalExhaustedPayload, GoalFailed, GoalFailedPayload,
    GoalNeedsClarification, GoalNeedsClarificationPayload,
};
use hooks_runtime::Claim;
use serde_json::Value;

use super::calls::CallEnd;
use super::rounds::milliseconds;
use super::trace::{Event, Record, Speaker};
use super::{Agent, AgentError, Session, Turn};

/// What the agent is to reach.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The instruction for the agent.
    pub prompt: String,
    /// Where it came from, such as `cli`.
    pub origin: String,
    /// Who works on it.
    pub personality_id: String,
    /// The bar.
    pub acceptance: Option<AcceptanceSpec>,
    /// How often it may be tried.
    pub attempts: u32,
}

/// How the work on a goal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalEnd {
    /// It is reached.
    Completed,
    /// The work broke off.
    Failed(String),
    /// Every attempt was turned down.
    Exhausted,
    /// A person has to answer this first.
    NeedsClarification(String),
}

impl Agent {
    /// Works on a goal until it ends one way or another.
    pub async fn pursue(&self, goal: &Goal) -> Result<(GoalEnd, Record), AgentError> {
        let personality = self.personalities.get(&goal.personality_id)?.clone();
        let mut session = self.new_session("goal", &format!("goal:{}", goal.id), personality);
        let turn = self.turn_in(&session);
        let end = self.attempts(&turn, &mut session, goal).await?;
        Ok((end, turn.finish(format!("goal {} · {}", goal.id, goal.title))))
    }

    async fn attempts(
        &self,
        turn: &Turn,
        session: &mut Session,
        goal: &Goal,
    ) -> Result<GoalEnd, AgentError> {
        let began = Instant::now();
        let mut prompt = goal.prompt.clone();
        let mut last = None;
        for _ in 0..goal.attempts {
            turn.said(Speaker::User, &prompt);
            let end = match self.converse(turn, session, &prompt).await {
                Ok(end) => end,
                Err(error) => return failed(turn, goal, &error, last).await,
            };
            if let Some(question) = end.calls.iter().find_map(question) {
                return unclear(turn, goal, question).await;
            }
            turn.said(Speaker::Agent, &end.text);
            let complete = BeforeGoalCompletePayload {
                goal_id: goal.id.clone(),
                summary: goal.title.clone(),
                output_md: end.text.clone(),
                acceptance_criteria: goal.acceptance.clone(),
            };
            match turn.ask::<BeforeGoalComplete>(&goal.id, &complete).await? {
                Claim::Unclaimed => return completed(turn, goal, end.text, began).await,
                Claim::Claimed(rejected) => {
                    let reason = rejected.reason.as_str();
                    turn.refused(format!("goal {}", goal.id), reason);
                    prompt = format!("{} The last attempt was turned down: {reason}", goal.prompt);
                    last = Some(end.text);
                }
            }
        }
        exhausted(turn, goal, last).await
    }
}

async fn completed(
    turn: &Turn,
    goal: &Goal,
    output_md: String,
    began: Instant,
) -> Result<GoalEnd, AgentError> {
    let payload = GoalCompletedPayload {
        goal_id: goal.id.clone(),
        title: goal.title.clone(),
        summary: goal.title.clone(),
        output_md,
        origin: goal.origin.clone(),
        personality_id: goal.personality_id.clone(),
        cost_usd: None,
        duration_ms: milliseconds(began),
    };
    turn.notify::<GoalCompleted>(&goal.id, &payload).await?;
    Ok(GoalEnd::Completed)
}

async fn failed(
    turn: &Turn,
    goal: &Goal,
    error: &AgentError,
    output_partial: Option<String>,
) -> Result<GoalEnd, AgentError> {
    let error = error.to_string();
    let payload = GoalFailedPayload {
        goal_id: goal.id.clone(),
        title: goal.title.clone(),
        error_text: Some(error.clone()),
        output_partial,
        origin: goal.origin.clone(),
        personality_id: goal.personality_id.clone(),
    };
    turn.happened(Event::Failed(error.clone()));
    turn.notify::<GoalFailed>(&goal.id, &payload).await?;
    Ok(GoalEnd::Failed(error))
}

async fn exhausted(
    turn: &Turn,
    goal: &Goal,
    best_attempt_output: Option<String>,
) -> Result<GoalEnd, AgentError> {
    let payload = GoalExhaustedPayload {
        goal_id: goal.id.clone(),
        title: goal.title.clone(),
        best_attempt_output,
        verdict: None,
        origin: goal.origin.clone(),
        personality_id: goal.personality_id.clone(),
    };
    turn.happened(Event::Failed(format!("no attempt left of {}", goal.attempts)));
    turn.notify::<GoalExhausted>(&goal.id, &payload).await?;
    Ok(GoalEnd::Exhausted)
}

async fn unclear(turn: &Turn, goal: &Goal, question: String) -> Result<GoalEnd, AgentError> {
    let payload =
        GoalNeedsClarificationPayload { goal_id: goal.id.clone(), reason: question.clone() };
    turn.notify::<GoalNeedsClarification>(&goal.id, &payload).await?;
    Ok(GoalEnd::NeedsClarification(question))
}

/// What the agent asked of a person, if it did.
fn question(call: &CallEnd) -> Option<String> {
    let asked = (call.tool == "ask_person").then(|| call.args.get("question"))??;
    asked.as_str().map(str::to_owned).or_else(|| Some(Value::to_string(asked)))
}
