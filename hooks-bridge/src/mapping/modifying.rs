//! Modifying points: what commands add is merged field by field, the first value wins.

use std::sync::Arc;

use hooks_runtime::model::Modifying;
use hooks_runtime::{BoxError, HookContext, HookPoint, Registration};

use super::{AmendPoint, Amendment, condition, named};
use crate::bridge::Bridge;
use crate::command::{Asked, Command};
use crate::runner::{Cause, Failure};
use crate::verdict::Effect;

impl Bridge {
    /// The commands for a modifying point, as its handlers.
    ///
    /// The example of [`Runs`](crate::Runs) registers them.
    pub fn amend<P>(&self) -> Vec<Registration>
    where
        P: AmendPoint + HookPoint<Model = Modifying>,
    {
        let commands = self.commands_at::<P>().into_iter().map(|command| {
            let on = named::<P>(&command).when(condition::<P>(&command));
            on.handler_with(command, amend::<P>)
        });
        commands.collect()
    }
}

async fn amend<P>(
    command: &Arc<Command>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Option<P::Result>, BoxError>
where
    P: AmendPoint + HookPoint<Model = Modifying>,
{
    let before = P::facts(payload);
    let facts = match cx.merged::<P>() {
        Some(merged) => P::facts_after(payload, merged),
        None => Some(before.clone()),
    };
    let Some(facts) = facts else { return Ok(None) };
    let Asked { effect, context } = command.ask(&facts, cx, false).await;
    let mut said = Amendment { context, ..Amendment::default() };
    match effect? {
        Effect::Reject(reason) => said.rejected = Some(reason),
        Effect::Pass(Some(rewrite)) => {
            let input = facts.tool.as_ref().map(|tool| tool.input.clone()).unwrap_or_default();
            let wanted = rewrite.apply(&input);
            if before.tool != facts.tool && wanted != input {
                let what =
                    "would rewrite what an earlier command rewrote; here the first rewrite stays";
                return Err(Failure::new(Cause::Conflict(what.into())).into());
            }
            said.input = Some(wanted).filter(|wanted| *wanted != input);
        }
        Effect::Pass(None) => {}
    }
    if said == Amendment::default() { Ok(None) } else { P::amended(payload, said) }
}
