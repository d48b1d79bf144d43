//! Modifying points: what commands add is merged field by field, the first value wins.

use std::sync::Arc;

use hooks_runtime::model::Modifying;
use hooks_runtime::{BoxError, FailurePolicy, HookContext, HookPoint, Registration};
use serde_json::Value;

use super::{AmendPoint, Amendment, condition, named};
use crate::bridge::Bridge;
use crate::command::{Asked, Command};
use crate::facts::Facts;
use crate::runner::{Cause, Failure};
use crate::verdict::Mode;

/// A command at a modifying point.
struct Amender {
    command: Arc<Command>,
    /// Those before it, which are asked again about its rewrite.
    earlier: Vec<Arc<Command>>,
}

impl Bridge {
    /// The commands for a modifying point, as its handlers.
    ///
    /// Where the point is a gate, such as before a tool, they fail closed in
    /// [`Mode::Strict`], as those do that say so in their file, in either mode. There too
    /// the commands before one that rewrites the input are asked again about its rewrite.
    ///
    /// The example of [`Runs`](crate::Runs) registers them.
    pub fn amend<P>(&self) -> Vec<Registration>
    where
        P: AmendPoint + HookPoint<Model = Modifying>,
    {
        let all = self.commands_at::<P>();
        let commands = all.iter().enumerate().map(|(index, command)| {
            let mut on = named::<P>(command).when(condition::<P>(command));
            let strict = self.shared.mode == Mode::Strict && command.event.kind.is_gate();
            if strict || command.handler.fails_closed {
                on = on.on_failure(FailurePolicy::Closed);
            }
            let earlier = if strict { all[..index].to_vec() } else { Vec::new() };
            let amender = Arc::new(Amender { command: Arc::clone(command), earlier });
            on.handler_with(amender, amend::<P>)
        });
        commands.collect()
    }
}

async fn amend<P>(
    amender: &Arc<Amender>,
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
    let Asked { effect, context } = amender.command.ask(&facts, cx, false).await;
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
            if wanted != input {
                said.rejected = amender.judged(&facts, &wanted, cx).await?;
                said.input = Some(wanted).filter(|_| said.rejected.is_none());
            }
        }
        Ok(None) => {}
    }
    if said == Amendment::default() { Ok(None) } else { P::amended(payload, said) }
}

impl Amender {
    /// Why an earlier command refuses what this one would use, if one does.
    async fn judged(
        &self,
        facts: &Facts,
        wanted: &Value,
        cx: &HookContext,
    ) -> Result<Option<String>, Failure> {
        let mut facts = facts.clone();
        if let Some(tool) = &mut facts.tool {
            tool.input = wanted.clone();
        }
        for command in self.earlier.iter().filter(|command| command.applies(&facts)) {
            match command.ask(&facts, cx, true).await.effect?.refused() {
                Err(reason) => return Ok(Some(reason)),
                Ok(Some(rewrite)) if rewrite.apply(wanted) != *wanted => {
                    let what =
                        "would rewrite it; have it run last, or make it accept its own result";
                    return Err(Failure::new(Cause::Conflict(what.into())));
                }
                Ok(_) => {}
            }
        }
        Ok(None)
    }
}
