//! Claiming points: the first command that has the agent go on claims, once all of them
//! were asked, unless one has everything stop.

use std::sync::Arc;

use hooks_runtime::handler::On;
use hooks_runtime::model::Claiming;
use hooks_runtime::{BoxError, HookContext, HookPoint, Registration};

use super::notes::{Notes, beginnings};
use super::{StopPoint, condition, named, part};
use crate::bridge::Bridge;
use crate::command::{Command, GOES_ON};
use crate::verdict::{Effect, Mode};

/// How often in a row the agent is made to go on; then it stops all the same.
const MOST_LOOPS: u32 = 8;

/// What a command said to a stop.
#[derive(Clone, Debug)]
enum Said {
    /// The agent is to go on, for this reason.
    GoOn(String),
    /// Everything is to stop, whatever others say.
    Halt,
}

/// A command at a stop.
struct Stop {
    command: Arc<Command>,
    index: usize,
    said: Arc<Notes<Said>>,
}

impl Bridge {
    /// The commands for a claiming point, as its handlers.
    ///
    /// All of them are asked, in the configured order. Then the first that has the agent
    /// go on claims, by a handler that is named like the first with ` (go on)` behind it
    /// and is a part of it; unless one has everything stop (`"continue": false`): then
    /// none does.
    ///
    /// The example of [`Stopping`](crate::points::Stopping) registers them.
    pub fn claim<P>(&self) -> Vec<Registration>
    where
        P: StopPoint + HookPoint<Model = Claiming>,
    {
        let said = Arc::default();
        let commands = self.commands_at::<P>();
        let begin = |on: On<P>| on.handler_with(Arc::clone(&said), begin_fire::<P>);
        let mut registrations = beginnings::<P, _>(&commands, begin);
        let stop = |(index, command): (usize, &Arc<Command>)| {
            let (command, said) = (Arc::clone(command), Arc::clone(&said));
            Arc::new(Stop { command, index, said })
        };
        let stops: Vec<_> = commands.iter().enumerate().map(stop).collect();
        registrations.extend(stops.iter().map(|stop| {
            let on = named::<P>(&stop.command).when(condition::<P>(&stop.command));
            on.handler_with(Arc::clone(stop), ask::<P>)
        }));
        registrations.extend(stops.iter().map(|stop| {
            let on = part::<P>(&stop.command, GOES_ON).when(condition::<P>(&stop.command));
            on.handler_with(Arc::clone(stop), claim::<P>)
        }));
        registrations
    }
}

/// The first of a dialect's handlers: what a dropped fire left is forgotten.
#[allow(clippy::unused_async)] // one form for all handlers here
async fn begin_fire<P>(
    said: &Arc<Notes<Said>>,
    _: &P::Payload,
    cx: &HookContext,
) -> Option<P::Result>
where
    P: StopPoint + HookPoint<Model = Claiming>,
{
    said.forget(cx.fire_key());
    None
}

/// Asks a command, and keeps what it says.
async fn ask<P>(
    stop: &Arc<Stop>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Option<P::Result>, BoxError>
where
    P: StopPoint + HookPoint<Model = Claiming>,
{
    let Stop { command, index, said } = &**stop;
    said.begin_turn(cx.fire_key(), *index);
    let facts = P::facts(payload);
    match command.ask(&facts, cx, false).await.effect? {
        Effect::Reject(reason) => {
            if stop.is_too_often(facts.loop_count) {
                tracing::warn!(
                    target: "hooks_bridge",
                    handler = %command.name,
                    loops = facts.loop_count,
                    "the agent was made to go on too often in a row, and stops"
                );
            } else {
                said.keep(cx.fire_key(), *index, Said::GoOn(reason));
            }
        }
        Effect::Halt(reason) => {
            tracing::info!(
                target: "hooks_bridge",
                handler = %command.name,
                shadow = cx.is_in_shadow(),
                reason = %hooks_runtime::report::escaped(&reason),
                "a hook has everything stop, so no hook has the agent go on"
            );
            // In shadow it has no effect on others.
            if !cx.is_in_shadow() {
                said.keep(cx.fire_key(), *index, Said::Halt);
            }
        }
        Effect::Pass(_) => {}
    }
    Ok(None)
}

/// Claims for a command that said so, unless one has everything stop.
#[allow(clippy::unused_async)] // one form for all handlers here
async fn claim<P>(
    stop: &Arc<Stop>,
    _: &P::Payload,
    cx: &HookContext,
) -> Result<Option<P::Result>, BoxError>
where
    P: StopPoint + HookPoint<Model = Claiming>,
{
    let Stop { index, said, .. } = &**stop;
    match said.of(cx.fire_key(), *index) {
        Some(Said::GoOn(reason))
            if said.find(cx.fire_key(), |said| matches!(said, Said::Halt)).is_none() =>
        {
            // In shadow it does not claim, and others have their notes to find.
            if !cx.is_in_shadow() {
                said.forget(cx.fire_key());
            }
            P::go_on(reason).map(Some)
        }
        _ => Ok(None),
    }
}

impl Stop {
    /// Whether the agent was made to go on too often in a row. In `Strict` it is never
    /// without a limit.
    fn is_too_often(&self, loops: u32) -> bool {
        match self.command.handler.loop_limit {
            None => loops >= MOST_LOOPS,
            Some(u32::MAX) => self.command.shared.mode == Mode::Strict && loops >= MOST_LOOPS,
            Some(limit) => loops >= limit,
        }
    }
}
