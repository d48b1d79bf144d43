//! Gates: commands are rewriters in the configured order. In `Strict` those that ran
//! before a later rewrite are asked once more, as guards, about what is left.

use std::sync::Arc;

use hooks_runtime::handler::On;
use hooks_runtime::model::Gating;
use hooks_runtime::{
    BoxError, FailurePolicy, HookContext, HookPoint, Judgement, Registration, Verdict,
};

use super::again::{Again, Asking, Turn, input_of};
use super::notes::{Notes, beginnings};
use super::{GatePoint, applies, condition, named};
use crate::bridge::Bridge;
use crate::command::Asked;
use crate::verdict::Mode;

impl Bridge {
    /// The commands for a gating point, as its handlers.
    ///
    /// In [`Mode::Strict`] they fail closed, whatever the point declares; in
    /// [`Mode::Faithful`] its policy decides. Where the point has a time limit, a command
    /// has no longer than that, its grace included.
    ///
    /// A command that is asked again is a handler of its own, named like the first with
    /// ` (again)` behind it, and a part of it: what an operator sets for
    /// `point:plugin/guard.sh` holds for both.
    ///
    /// The example of [`Bridge`] registers them.
    pub fn gate<P>(&self) -> Vec<Registration>
    where
        P: GatePoint + HookPoint<Model = Gating>,
    {
        let strict = self.shared.mode == Mode::Strict;
        let questions = Arc::default();
        let (mut turns, mut guards, mut asked_again) = (Vec::new(), Vec::new(), Vec::new());
        for (index, command) in self.commands_at::<P>().iter().enumerate() {
            let turn = Turn::new(command, index, &questions);
            turns.push(rewriter_of::<P>(&turn, strict));
            if self.asks_again(command) {
                asked_again.push(Arc::clone(command));
                guards.push(guard_of::<P>(&turn));
            }
        }
        let begin = |on: On<P>| on.handler_with(Arc::clone(&questions), begin_fire::<P>);
        let mut registrations = beginnings::<P, _>(&asked_again, begin);
        registrations.extend(turns);
        registrations.extend(guards);
        registrations
    }
}

fn rewriter_of<P>(turn: &Arc<Turn>, strict: bool) -> Registration
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    let command = &turn.command;
    let mut on = named::<P>(command).when(condition::<P>(command));
    if strict || command.fails_closed() {
        on = on.on_failure(FailurePolicy::Closed);
    }
    on.handler_with(Arc::clone(turn), rewrite::<P>)
}

fn guard_of<P>(turn: &Arc<Turn>) -> Registration
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    let again = Turn::again(turn);
    again.on::<P>().when(applies::<P>(&turn.command)).guard_with(again, guard::<P>)
}

/// The first of a dialect's handlers: what a dropped fire left is forgotten.
#[allow(clippy::unused_async)] // one form for all handlers here
async fn begin_fire<P>(
    questions: &Arc<Notes<Asking>>,
    _: &P::Payload,
    cx: &HookContext,
) -> Verdict<P::Payload, P::Result>
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    questions.forget(cx.fire_key());
    Verdict::Pass
}

async fn rewrite<P>(
    turn: &Arc<Turn>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Verdict<P::Payload, P::Result>, BoxError>
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    turn.begin(cx);
    if !turn.command.takes_turn(cx) {
        return Ok(Verdict::Pass);
    }
    let facts = P::facts(payload);
    let input = input_of(&facts);
    let Asked { effect, context } = turn.command.ask(&facts, cx, false).await;
    turn.asked(cx, &input);
    let rewrite = match effect?.refused() {
        Err(reason) => return Ok(Verdict::Reject(P::reason(reason))),
        Ok(rewrite) => rewrite,
    };
    let wanted = rewrite.map(|rewrite| rewrite.apply(&input)).filter(|wanted| *wanted != input);
    let rewritten = wanted.map(|wanted| P::rewritten(payload, wanted)).transpose()?;
    let with_context = context
        .and_then(|context| P::with_context(rewritten.as_ref().unwrap_or(payload), &context));
    let Some(replaced) = with_context.or(rewritten) else { return Ok(Verdict::Pass) };
    // What the point made of its answer is its own: a point need not keep all of an input.
    turn.asked(cx, &input_of(&P::facts(&replaced)));
    Ok(Verdict::Replace(replaced))
}

async fn guard<P>(
    again: &Arc<Again>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Judgement<P::Result>, BoxError>
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    let refused = again.refuses(&P::facts(payload), cx).await?;
    Ok(refused.map_or(Judgement::Pass, |reason| Judgement::Reject(P::reason(reason))))
}
