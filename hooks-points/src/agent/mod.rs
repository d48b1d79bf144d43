//! The points of an agent: sessions, prompts, model calls, tools, subagents,
//! tickets, goals and background work, as Ethos has them.
//!
//! # A turn, point by point
//!
//! 1. [`SessionStart`], on the first turn of a session only.
//! 2. [`BeforePromptBuild`]. `override_system` replaces the whole system
//!    prompt; without it, `prepend_system` and `append_system` go around it.
//! 3. For each round: [`BeforeLlmCall`], the model, [`AfterLlmCall`].
//! 4. [`BeforeToolCall`] for each call the model asked for, in their order and
//!    before any of them runs. A result with `error` puts its call on the
//!    rejected list: it is not executed, and its place in the history is taken
//!    by an error result all the same, because every use of a tool needs its
//!    answer. The other calls run, side by side.
//! 5. After each call that ran, [`AfterToolCall`], and [`ToolEndWithPath`] if
//!    its arguments named a path. Then the next round.
//! 6. [`AgentDone`].
//!
//! The plugins that the personality admits are the same for all fires of a
//! turn, so a host makes one scope at its start and fires through it.
//!
//! ```
//! use hooks_points::{
//!     BeforeToolCall, BeforeToolCallPayload, BeforeToolCallResult, EmptyReason, RejectionReason,
//! };
//! use hooks_runtime::{HookRegistry, Plugins, handlers, hook_handler};
//! use serde_json::json;
//!
//! #[hook_handler(BeforeToolCall, plugin = "guard", priority = -10)]
//! fn no_rm(call: &BeforeToolCallPayload) -> Result<Option<BeforeToolCallResult>, EmptyReason> {
//!     if call.args["command"].as_str().is_none_or(|command| !command.starts_with("rm ")) {
//!         return Ok(None); // no opinion
//!     }
//!     let error = Some(RejectionReason::new("`rm` is not allowed here")?);
//!     Ok(Some(BeforeToolCallResult { error, ..Default::default() }))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hooks = HookRegistry::new();
//! hooks.register(handlers![no_rm])?;
//!
//! let turn = hooks.scope(Plugins::only(["guard"]));
//! let call = BeforeToolCallPayload {
//!     session_id: "s-1".into(),
//!     tool_call_id: "c-1".into(),
//!     tool_name: "terminal".into(),
//!     args: json!({ "command": "rm -rf /" }),
//! };
//! let amended = turn.fire_modifying::<BeforeToolCall>(&call).await?;
//! # assert!(amended.error.is_some());
//! match amended.error {
//!     Some(reason) => println!("not run, and recorded as an error: {reason}"),
//!     None => println!("run with {}", amended.args.as_ref().unwrap_or(&call.args)),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # A ticket, a goal
//!
//! [`BeforeTicketComplete`] is fired when an assignee calls a ticket complete.
//! Unclaimed, the ticket is done; claimed, it needs revision and
//! [`AfterTicketRevision`] follows. [`BeforeGoalComplete`] is the same for a
//! goal, whose end is reported by one of [`GoalCompleted`], [`GoalFailed`],
//! [`GoalExhausted`] and [`GoalNeedsClarification`].

mod background;
mod goals;
mod llm;
mod prompt;
mod session;
mod subagents;
mod tickets;
mod tools;

use hooks_runtime::catalogue::Catalogue;

use crate::catalogue::merged;

pub use background::*;
pub use goals::*;
pub use llm::*;
pub use prompt::*;
pub use session::*;
pub use subagents::*;
pub use tickets::*;
pub use tools::*;

/// The points of this module as data.
pub(crate) fn points() -> Catalogue {
    merged([
        session::points(),
        prompt::points(),
        llm::points(),
        tools::points(),
        subagents::points(),
        tickets::points(),
        goals::points(),
        background::points(),
    ])
}
