//! The points in the life of a conversation, as IronClaw has them.
//!
//! All are gating: a handler lets the payload pass, puts another in its place,
//! or rejects it. As in IronClaw a handler has five seconds, and one that fails
//! is passed over; a handler may set a shorter time and may fail closed.
//!
//! A host asks once and gets one of three answers. None of them can be taken
//! for another, and the payload is only to be had from the first:
//!
//! | answer | when |
//! |---|---|
//! | `Ok(Gate::Passed(payload))` | every handler passed it; the payload is as they left it |
//! | `Ok(Gate::Rejected(rejection))` | a handler rejected it: `rejection` says which and why |
//! | `Err(error)` | a handler that fails closed failed: `error` says which and how |
//!
//! # Porting from IronClaw's `Hook` trait
//!
//! The trait's methods become words in the attribute, and each event a hook
//! handles becomes a handler of its own:
//!
//! | there | here |
//! |---|---|
//! | `impl Hook for Filter` | `#[hook_handlers] impl Filter`, or a plain function |
//! | `fn name` | the function's name, or `name = "filter"` |
//! | `fn hook_points` | the point in `#[hook_handler(BeforeInbound)]`, one handler for each |
//! | `fn failure_mode`, `FailOpen` | nothing to write |
//! | `fn failure_mode`, `FailClosed` | `on_failure = "closed"` |
//! | `fn timeout` | `timeout = "200ms"`; nothing to write for five seconds |
//! | `async fn execute(&self, event, ctx)` | `async fn check(&self, message: &BeforeInboundPayload, cx: &HookContext)`; `async`, `&self` and `cx` only if needed |
//! | `match event { … }` | gone: the payload's type is the event |
//! | `Ok(HookOutcome::Continue { modified: None })` | `Verdict::Pass` |
//! | `Ok(HookOutcome::Continue { modified: Some(text) })` | `Verdict::Replace(BeforeInboundPayload { content: text, ..message.clone() })` |
//! | the same for a tool's parameters | `Verdict::Replace(call.with_parameters_text(&text)?)` |
//! | `Ok(HookOutcome::Reject { reason })` | `Verdict::Reject(reason)` |
//! | `Err(HookError::ExecutionFailed { … })` | `Err(error)`, of any type, from a handler that returns a `Result` |
//! | `Err(HookError::Rejected { reason })` | `Ok(Verdict::Reject(reason))` |
//!
//! | event there | point here |
//! |---|---|
//! | `HookEvent::Inbound` | [`BeforeInbound`] |
//! | `HookEvent::ToolCall` | [`BeforeToolCall`] |
//! | `HookEvent::Outbound` | [`BeforeOutbound`] |
//! | `HookEvent::SessionStart` | [`OnSessionStart`] |
//! | `HookEvent::SessionEnd` | [`OnSessionEnd`] |
//! | `HookEvent::ResponseTransform` | [`TransformResponse`] |
//!
//! | registry there | here |
//! |---|---|
//! | `registry.register(Arc::new(hook)).await` | `hooks.register(handlers![check])?`, or `hooks.install(filter)?` |
//! | `registry.register_with_priority(hook, 10).await` | `priority = 10` in the attribute; lower runs first in both |
//! | the default priority, 100 | the default priority is 0: write `priority = 100` where others count on coming first |
//! | `registry.unregister("filter").await` | `handle.unregister()`, which says as well whether it removed anything, and waits when awaited |
//! | `registry.list().await` | `hooks.handlers()`, or `hooks.handlers_at::<BeforeInbound>()` |
//! | `registry.run(&event).await` | `hooks.fire_gating::<BeforeInbound>(payload).await` |
//! | `Ok(Continue { modified })`, to be applied by the caller | `Ok(Gate::Passed(payload))`, applied already |
//! | `Err(HookError::Rejected { reason })` | `Ok(Gate::Rejected(rejection))` |
//! | `Err(HookError::Timeout { … })`, `Err(HookError::ExecutionFailed { … })` | `Err(error)`, which names the handler |
//!
//! A hook that only ever passes or rejects is better off as a `guard`. Guards
//! run after all the rewriters, whatever the priorities, so what they judged is
//! what the host gets.
//!
//! ```
//! use hooks_points::lifecycle::{
//!     BeforeInbound, BeforeInboundPayload, BeforeToolCall, BeforeToolCallPayload,
//!     InvalidParameters,
//! };
//! use hooks_runtime::{Gate, HookRegistry, Verdict, handlers, hook_handler};
//!
//! /// A rewriter. Fail-open, five seconds: as the point says.
//! #[hook_handler(BeforeInbound, priority = 10)]
//! fn trim(message: &BeforeInboundPayload) -> Verdict<BeforeInboundPayload> {
//!     let content = message.content.trim().to_owned();
//!     Verdict::Replace(BeforeInboundPayload { content, ..message.clone() })
//! }
//!
//! /// A guard, stricter than the point asks.
//! #[hook_handler(BeforeInbound, guard, on_failure = "closed", timeout = "200ms")]
//! async fn no_keys(message: &BeforeInboundPayload) -> Verdict {
//!     if message.content.starts_with("-----BEGIN") {
//!         Verdict::reject("that looks like a private key")
//!     } else {
//!         Verdict::Pass
//!     }
//! }
//!
//! /// A rewriter that may fail: text that is not JSON stops the call.
//! #[hook_handler(BeforeToolCall, on_failure = "closed")]
//! fn template(
//!     call: &BeforeToolCallPayload,
//! ) -> Result<Verdict<BeforeToolCallPayload>, InvalidParameters> {
//!     let text = call.parameters.to_string().replace("$USER", &call.user_id);
//!     Ok(Verdict::Replace(call.with_parameters_text(&text)?))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hooks = HookRegistry::new();
//! hooks.register(handlers![trim, no_keys, template])?;
//!
//! let message = |content: &str| BeforeInboundPayload {
//!     user_id: "user-1".into(),
//!     channel: "cli".into(),
//!     content: content.into(),
//!     thread_id: None,
//! };
//! match hooks.fire_gating::<BeforeInbound>(message("  hello ")).await? {
//!     Gate::Passed(message) => assert_eq!(message.content, "hello"),
//!     Gate::Rejected(rejection) => panic!("{rejection}"),
//! }
//! match hooks.fire_gating::<BeforeInbound>(message(" -----BEGIN KEY")).await? {
//!     Gate::Passed(message) => panic!("let through: {message:?}"),
//!     Gate::Rejected(rejection) => assert_eq!(rejection.handler(), "no_keys"),
//! }
//! # let call = |user_id: &str| BeforeToolCallPayload {
//! #     tool_name: "ls".into(),
//! #     parameters: serde_json::json!({ "path": "/home/$USER" }),
//! #     user_id: user_id.into(),
//! #     context: "chat".into(),
//! # };
//! # let Gate::Passed(passed) = hooks.fire_gating::<BeforeToolCall>(call("user-1")).await? else { panic!() };
//! # assert_eq!(passed.parameters["path"], "/home/user-1");
//! # assert!(hooks.fire_gating::<BeforeToolCall>(call("\"")).await.is_err());
//! # Ok(())
//! # }
//! ```
//!
//! What a port need not guard against any more: a panic in a hook stays in the
//! hook; a rejection is never mistaken for a failure, so no failure mode can
//! swallow it; replacement parameters that are not JSON are an error; and every
//! error names the hook it came from.

mod messages;
mod sessions;
mod tools;

use hooks_runtime::catalogue::Catalogue;

use crate::catalogue::merged;

pub use messages::*;
pub use sessions::*;
pub use tools::*;

/// The points of this module as data.
pub(crate) fn points() -> Catalogue {
    merged([messages::points(), tools::points(), sessions::points()])
}
