//! Void points: commands observe, and what they decide has no effect. Where one has
//! everything stop, the host finds that in `Runs`.

use std::sync::Arc;

use hooks_runtime::model::Void;
use hooks_runtime::{HookContext, HookPoint, Registration};

use super::{CommandPoint, condition, named};
use crate::bridge::Bridge;
use crate::command::Command;
use crate::runner::Failure;
use crate::verdict::Effect;

impl Bridge {
    /// The commands for a void point, as its handlers.
    ///
    /// They cannot stop what has happened. That one has everything stop all the same, as
    /// `"continue": false` says in some dialects, is in [`Runs::halt`](crate::Runs::halt).
    ///
    /// The example of [`CommandPoint`] registers them.
    pub fn observe<P>(&self) -> Vec<Registration>
    where
        P: CommandPoint + HookPoint<Model = Void>,
    {
        let commands = self.commands_at::<P>().into_iter().map(|command| {
            let on = named::<P>(&command).when(condition::<P>(&command));
            on.handler_with(command, observe::<P>)
        });
        commands.collect()
    }
}

async fn observe<P>(
    command: &Arc<Command>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<(), Failure>
where
    P: CommandPoint + HookPoint<Model = Void>,
{
    let asked = command.ask(&P::facts(payload), cx, false).await;
    match asked.effect? {
        Effect::Reject(reason) => command.says_no_in_vain(&reason),
        Effect::Halt(reason) => tracing::warn!(
            target: "hooks_bridge",
            handler = %command.name,
            reason = %hooks_runtime::report::escaped(&reason),
            "a hook has everything stop; the host finds that in `Runs::halt`"
        ),
        Effect::Pass(_) => {}
    }
    Ok(())
}
