//! Modifying points: what commands add is merged field by field, the first value wins.

use std::sync::Arc;

use hooks_runtime::model::Modifying;
use hooks_runtime::{BoxError, FailurePolicy, HookContext, HookPoint, Registration};

use super::{AmendPoint, Amendment, condition, named};
use crate::bridge::Bridge;
use crate::command::{Asked, Command};
use crate::runner::{Cause, Failure};
use crate::verdict::Mode;

impl Bridge {
    /// The commands for a modifying point, as its handlers.
    ///
    /// Where the point is a gate, such as before a tool, they fail closed in
    /// [`Mode::Strict`], as those do that say so in their file, in either mode.
    ///
    /// The example of [`Runs`](crate::Runs) registers them.
    pub fn amend<P>(&self) -> Vec<Registration>
    where
        P: AmendPoint + HookPoint<Model = Modifying>,
    {
        let commands = self.commands_at::<P>().into_iter().map(|command| {
            let mut on = named::<P>(&command).when(condition::<P>(&command));
            let strict = self.shared.mode == Mode::Strict && command.event.kind.is_gate();
            if strict || command.handler.fails_closed {
                on = on.on_failure(FailurePolicy::Closed);
            }
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
    match effect?.refused() {
        Err(reason) => said.rejected = Some(reason),
        Ok(Some(rewrite)) => {
            let input = facts.tool.as_ref().map(|tool| tool.input.clone()).unwrap_or_default();
            let wanted = rewrite.apply(&input);
            if before.tool != facts.tool && wanted != input {
                let what =
                    "would rewrite what an earlier command rewrote; here the first rewrite stays";
                return Err(Failure::new(Cause::Conflict(what.into())).into());
            }
            said.input = Some(wanted).filter(|wanted| *wanted != input);
        }
        Ok(None) => {}
    }
    if said == Amendment::default() { Ok(None) } else { P::amended(payload, said) }
}
