//! Claiming points: the first command that has the agent go on claims.

use std::sync::Arc;

use hooks_runtime::model::Claiming;
use hooks_runtime::{BoxError, HookContext, HookPoint, Registration};

use super::{StopPoint, condition, named};
use crate::bridge::Bridge;
use crate::command::Command;
use crate::verdict::Effect;

/// How often in a row the agent is made to go on; then it stops all the same.
const MOST_LOOPS: u32 = 8;

impl Bridge {
    /// The commands for a claiming point, as its handlers.
    ///
    /// The example of [`Stopping`](crate::points::Stopping) registers them.
    pub fn claim<P>(&self) -> Vec<Registration>
    where
        P: StopPoint + HookPoint<Model = Claiming>,
    {
        let commands = self.commands_at::<P>().into_iter().map(|command| {
            let on = named::<P>(&command).when(condition::<P>(&command));
            on.handler_with(command, claim::<P>)
        });
        commands.collect()
    }
}

async fn claim<P>(
    command: &Arc<Command>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Option<P::Result>, BoxError>
where
    P: StopPoint + HookPoint<Model = Claiming>,
{
    let facts = P::facts(payload);
    let asked = command.ask(&facts, cx, false).await;
    match asked.effect? {
        Effect::Reject(reason) => {
            let most = command.handler.loop_limit.unwrap_or(MOST_LOOPS);
            if facts.loop_count >= most {
                tracing::warn!(
                    target: "hooks_bridge",
                    handler = %command.name,
                    loops = facts.loop_count,
                    "the agent was made to go on too often in a row, and stops"
                );
                return Ok(None);
            }
            P::go_on(reason).map(Some)
        }
        Effect::Halt(reason) => {
            tracing::info!(
                target: "hooks_bridge",
                handler = %command.name,
                reason = %hooks_runtime::report::escaped(&reason),
                "a hook has everything stop, so it does not have the agent go on"
            );
            Ok(None)
        }
        Effect::Pass(_) => Ok(None),
    }
}
