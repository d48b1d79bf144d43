//! Modifying points: what commands add is merged field by field, the first value wins.
//! Where such a point is a gate for tools, commands that ran before a rewrite are asked
//! once more at the end, in `Strict`, about what is left.

use std::sync::Arc;

use hooks_runtime::handler::On;
use hooks_runtime::model::Modifying;
use hooks_runtime::{BoxError, FailurePolicy, HookContext, HookPoint, Registration};

use super::again::{Again, Asking, Turn, input_of};
use super::notes::{Notes, beginnings};
use super::{AmendPoint, Amendment, condition, named};
use crate::bridge::Bridge;
use crate::command::Asked;
use crate::facts::Facts;
use crate::runner::{Cause, Failure};
use crate::verdict::{Effect, Mode};

impl Bridge {
    /// The commands for a modifying point, as its handlers.
    ///
    /// Where the point is a gate, such as before a tool, they fail closed in
    /// [`Mode::Strict`], as those do that say so in their file, in either mode.
    ///
    /// There too a command is asked again at the end about a later rewrite, as at a gating
    /// point: by a handler that is named like the first with ` (again)` behind it, and is a
    /// part of it. It runs last, so that it judges what the host's own handlers left. What
    /// it refuses stays in the result beside the reason: the host looks at that first.
    ///
    /// The example of [`Runs`](crate::Runs) registers them.
    pub fn amend<P>(&self) -> Vec<Registration>
    where
        P: AmendPoint + HookPoint<Model = Modifying>,
    {
        let questions = Arc::default();
        let (mut turns, mut last, mut asked_again) = (Vec::new(), Vec::new(), Vec::new());
        for (index, command) in self.commands_at::<P>().iter().enumerate() {
            let turn = Turn::new(command, index, &questions);
            let mut on = named::<P>(command).when(condition::<P>(command));
            let strict = self.shared.mode == Mode::Strict && command.event.kind.is_gate();
            if strict || command.fails_closed() {
                on = on.on_failure(FailurePolicy::Closed);
            }
            if self.asks_again(command) {
                asked_again.push(Arc::clone(command));
                let again = Turn::again(&turn);
                last.push(again.on::<P>().priority(i32::MAX).handler_with(again, judge::<P>));
            }
            turns.push(on.handler_with(turn, amend::<P>));
        }
        let begin = |on: On<P>| on.handler_with(Arc::clone(&questions), begin_fire::<P>);
        let mut registrations = beginnings::<P, _>(&asked_again, begin);
        registrations.extend(turns);
        registrations.extend(last);
        registrations
    }
}

/// The first of a dialect's handlers: what a dropped fire left is forgotten.
#[allow(clippy::unused_async)] // one form for all handlers here
async fn begin_fire<P>(
    questions: &Arc<Notes<Asking>>,
    _: &P::Payload,
    cx: &HookContext,
) -> Option<P::Result>
where
    P: AmendPoint + HookPoint<Model = Modifying>,
{
    questions.forget(cx.fire_key());
    None
}

/// What happened, with what earlier handlers have set; `None` where that settles it.
fn facts_so_far<P>(payload: &P::Payload, cx: &HookContext) -> Option<Facts>
where
    P: AmendPoint + HookPoint<Model = Modifying>,
{
    match cx.merged::<P>() {
        Some(merged) => P::facts_after(payload, merged),
        None => Some(P::facts(payload)),
    }
}

async fn amend<P>(
    turn: &Arc<Turn>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Option<P::Result>, BoxError>
where
    P: AmendPoint + HookPoint<Model = Modifying>,
{
    turn.begin(cx);
    // Its condition was asked about the payload, which others may have changed since.
    let facts = facts_so_far::<P>(payload, cx).filter(|facts| turn.command.applies(facts));
    let Some(facts) = facts.filter(|_| turn.command.takes_turn(cx)) else { return Ok(None) };
    let input = input_of(&facts);
    let Asked { effect, context } = turn.command.ask(&facts, cx, false).await;
    turn.asked(cx, &input);
    let mut said = Amendment { context, ..Amendment::default() };
    match effect? {
        Effect::Reject(reason) if !turn.command.event.kind.is_gate() => {
            turn.command.says_no_in_vain(&reason);
        }
        Effect::Halt(reason) | Effect::Reject(reason) => said.rejected = Some(reason),
        Effect::Pass(Some(rewrite)) => {
            let wanted = rewrite.apply(&input);
            if P::facts(payload).tool != facts.tool && wanted != input {
                let what =
                    "would rewrite what an earlier command rewrote; here the first rewrite stays";
                return Err(Failure::new(Cause::Conflict(what.into())).into());
            }
            if wanted != input {
                said.input = Some(wanted);
            }
        }
        Effect::Pass(None) => {}
    }
    if said == Amendment::default() {
        return Ok(None);
    }
    let rewrites = said.input.is_some();
    let amended = P::amended(payload, said)?;
    // What the point made of its answer is its own: a point need not keep all of an input.
    if let Some(facts) =
        amended.as_ref().filter(|_| rewrites).and_then(|amended| P::facts_after(payload, amended))
    {
        turn.asked(cx, &input_of(&facts));
    }
    Ok(amended)
}

async fn judge<P>(
    again: &Arc<Again>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Option<P::Result>, BoxError>
where
    P: AmendPoint + HookPoint<Model = Modifying>,
{
    // Its condition is asked here: that of a handler sees the payload alone, without what
    // others have set.
    let facts = facts_so_far::<P>(payload, cx).filter(|facts| again.command.applies(facts));
    let Some(facts) = facts else { return Ok(None) };
    match again.refuses(&facts, cx).await? {
        Some(reason) => {
            P::amended(payload, Amendment { rejected: Some(reason), ..Amendment::default() })
        }
        None => Ok(None),
    }
}
