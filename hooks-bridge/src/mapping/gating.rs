//! Gates: commands are rewriters in the configured order. In `Strict` those that ran
//! before a later rewrite are asked once more, as guards, about what is left.

use std::sync::Arc;

use hooks_runtime::model::Gating;
use hooks_runtime::{
    BoxError, FailurePolicy, HookContext, HookPoint, Judgement, Registration, Verdict, on,
};
use serde_json::Value;

use super::asked::Questions;
use super::{GatePoint, condition, named};
use crate::answer::Rewrite;
use crate::bridge::Bridge;
use crate::command::{AGAIN, Asked, Command, FIRST};
use crate::facts::{EventKind, Facts};
use crate::runner::{Cause, Failure};
use crate::verdict::Mode;

/// A command at a gate.
struct Rewriter {
    command: Arc<Command>,
    index: usize,
    questions: Arc<Questions>,
}

impl Bridge {
    /// The commands for a gating point, as its handlers.
    ///
    /// In [`Mode::Strict`] they fail closed, whatever the point declares; in
    /// [`Mode::Faithful`] its policy decides. Where the point has a time limit, a command
    /// has no longer than that, its grace included.
    ///
    /// A command that is asked again is a handler of its own, named like the first with
    /// ` (again)` behind it: a setting of an operator for `point:plugin/guard.sh*` is for
    /// both.
    ///
    /// The example of [`Bridge`] registers them.
    pub fn gate<P>(&self) -> Vec<Registration>
    where
        P: GatePoint + HookPoint<Model = Gating>,
    {
        let strict = self.shared.mode == Mode::Strict;
        let mut registrations: Vec<Registration> = Vec::new();
        let mut begun: Vec<(crate::Dialect, Arc<Questions>)> = Vec::new();
        for (index, command) in self.commands_at::<P>().into_iter().enumerate() {
            let dialect = command.entry.dialect;
            let asks_again = strict && command.event.kind == EventKind::BeforeTool;
            let known = begun.iter().find(|(other, _)| *other == dialect);
            let questions = known.map(|(_, questions)| Arc::clone(questions)).unwrap_or_default();
            if known.is_none() {
                begun.push((dialect, Arc::clone(&questions)));
                if asks_again {
                    let first = on::<P>().name(FIRST).plugin(dialect.as_str());
                    registrations.push(first.handler_with(Arc::clone(&questions), begin_fire::<P>));
                }
            }
            let rewriter = Arc::new(Rewriter { command, index, questions });
            registrations.push(rewriter_of::<P>(&rewriter, strict));
            if asks_again {
                registrations.push(guard_of::<P>(&rewriter));
            }
        }
        registrations
    }
}

fn rewriter_of<P>(rewriter: &Arc<Rewriter>, strict: bool) -> Registration
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    let command = &rewriter.command;
    let mut on = named::<P>(command).when(condition::<P>(command));
    if strict || command.handler.fails_closed {
        on = on.on_failure(FailurePolicy::Closed);
    }
    on.handler_with(Arc::clone(rewriter), rewrite::<P>)
}

fn guard_of<P>(rewriter: &Arc<Rewriter>) -> Registration
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    named::<P>(&rewriter.command)
        .when(condition::<P>(&rewriter.command))
        .name(format!("{}{AGAIN}", rewriter.command.name))
        .on_failure(FailurePolicy::Closed)
        .guard_with(Arc::clone(rewriter), guard::<P>)
}

/// The first of a dialect's handlers: what a dropped fire left is forgotten.
#[allow(clippy::unused_async)] // one form for all handlers here
async fn begin_fire<P>(
    questions: &Arc<Questions>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Verdict<P::Payload, P::Result>
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    questions.begin(cx.fire_key(), input(&P::facts(payload)));
    Verdict::Pass
}

async fn rewrite<P>(
    rewriter: &Arc<Rewriter>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Verdict<P::Payload, P::Result>, BoxError>
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    let facts = P::facts(payload);
    let Asked { effect, context } = rewriter.command.ask(&facts, cx, false).await;
    let rewrite = match effect?.refused() {
        Err(reason) => return Ok(Verdict::Reject(P::reason(reason))),
        Ok(rewrite) => rewrite,
    };
    let input = input(&facts);
    let wanted = rewrite.map(|rewrite| rewrite.apply(&input)).filter(|wanted| *wanted != input);
    rewriter.questions.passed(cx.fire_key(), rewriter.index, wanted.clone().unwrap_or(input));
    let rewritten = wanted.map(|wanted| P::rewritten(payload, wanted)).transpose()?;
    let with_context = context
        .and_then(|context| P::with_context(rewritten.as_ref().unwrap_or(payload), &context));
    Ok(with_context.or(rewritten).map_or(Verdict::Pass, Verdict::Replace))
}

/// Asks a command again, unless it has seen what is left.
async fn guard<P>(
    rewriter: &Arc<Rewriter>,
    payload: &P::Payload,
    cx: &HookContext,
) -> Result<Judgement<P::Result>, BoxError>
where
    P: GatePoint + HookPoint<Model = Gating>,
{
    let facts = P::facts(payload);
    let input = input(&facts);
    let (fire, index) = (cx.fire_key(), rewriter.index);
    if rewriter.questions.has_passed(fire, index, &input)
        || rewriter.questions.was_left_out(fire, index, &input)
    {
        return Ok(Judgement::Pass);
    }
    let asked = rewriter.command.ask(&facts, cx, true).await;
    match asked.effect?.refused() {
        Err(reason) => Ok(Judgement::Reject(P::reason(reason))),
        Ok(Some(rewrite)) if changes(&rewrite, &input) => {
            let what = "would rewrite it; have it run last, or make it accept its own result";
            Err(Failure::new(Cause::Conflict(what.into())).into())
        }
        Ok(_) => Ok(Judgement::Pass),
    }
}

fn changes(rewrite: &Rewrite, input: &Value) -> bool {
    rewrite.apply(input) != *input
}

/// What a rewrite is of: the tool's input, or the prompt.
fn input(facts: &Facts) -> Value {
    match (&facts.tool, &facts.prompt) {
        (Some(tool), _) => tool.input.clone(),
        (None, Some(prompt)) => Value::String(prompt.clone()),
        (None, None) => Value::Object(facts.more.clone()),
    }
}
