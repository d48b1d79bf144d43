//! The flows of a server of the Model Context Protocol, as FrontMCP has them.
//!
//! A flow is an operation of the server with six stages around it. Requests
//! and responses have the shapes of the protocol, in its revision of
//! 2025-11-25. Unknown keys are refused; what client and server want to attach
//! beyond the protocol has its place in `_meta`.
//!
//! | flow | input | output |
//! |---|---|---|
//! | [`CallTool`] `tools:call-tool` | [`CallToolRequest`] | [`CallToolResponse`] |
//! | [`ReadResource`] `resources:read-resource` | [`ReadResourceRequest`] | [`ReadResourceResponse`] |
//! | [`ListResources`] `resources:list-resources` | [`ListResourcesRequest`] | [`ListResourcesResponse`] |
//! | [`GetPrompt`] `prompts:get-prompt` | [`GetPromptRequest`] | [`GetPromptResponse`] |
//!
//! # Porting from FrontMCP
//!
//! <div class="warning">
//!
//! **Priorities are the other way round.** FrontMCP's documents run the
//! highest number first; here the **lowest number runs first**, at these flows
//! as everywhere else. **Negate every priority you port:** `priority: 100`
//! becomes `priority = -100`.
//!
//! </div>
//!
//! A hook record becomes a function, and its fields words in the attribute:
//!
//! | there | here |
//! |---|---|
//! | `flow: 'tools:call-tool', stage: 'beforeExecute'` | `#[hook_handler(BeforeExecute<CallTool>)]` |
//! | `priority: 100` | `priority = -100`: **negated** |
//! | `handler: async (ctx) => { … }` | `async fn log(flow: &mut FlowContext<CallTool>)`, or without `async` |
//! | `ownerId: 'audit'` | `plugin = "audit"` |
//! | `embedded: false` | nothing to write |
//! | `embedded: true`, `@Hooks([…])` on a tool's class | `target = SearchTool`: for runs of that type only |
//! | `@Plugin({ name: 'audit', hooks: […] })` | `#[hook_handlers(plugin = "audit")]` on an `impl` block |
//!
//! | stage there | point here |
//! |---|---|
//! | `beforeValidation` | `BeforeValidation<CallTool>` |
//! | `afterValidation` | `AfterValidation<CallTool>` |
//! | `beforeExecute` | `BeforeExecute<CallTool>` |
//! | `afterExecute` | `AfterExecute<CallTool>` |
//! | `onError` | `OnError<CallTool>` |
//! | `finally` | `Finally<CallTool>` |
//!
//! | context there | here |
//! |---|---|
//! | `ctx.flow`, `ctx.stage` | `flow.flow()`, `flow.stage()` |
//! | `ctx.state.set('started', x)` | `flow.state_mut().insert(Started(x))`: a type instead of a key |
//! | `ctx.state.get('started')` | `flow.state().get::<Started>()` |
//! | `ctx.input` | `flow.input()`, and `flow.input_mut()` to rewrite it, until the operation takes it |
//! | `ctx.output` | `flow.output()`, `flow.output_mut()` |
//! | `ctx.error` | `flow.error()`, or `flow.operation_error::<E>()` for the operation's own |
//! | `ctx.scope` | `flow.hooks()` |
//! | `ctx.skip()` | `flow.skip()`: ends the stage, not the flow |
//! | `ctx.abort(error)` | `flow.abort(error)`, or return the error |
//! | – | `flow.respond(output)`: answers in place of the operation; the first answer of a stage stands |
//! | – | `flow.recover(output)`: in `onError`, an output in place of the operation's failure |
//!
//! | registry there | here |
//! |---|---|
//! | `registerHooks(false, …records)` | `hooks.register(handlers![log, time])?`, all or none |
//! | `registerHooks(true, …records)` | the same, with a `target` in the attributes |
//! | `getHooks()` | `hooks.handlers()` |
//! | `getFlowHooks('tools:call-tool')` | `hooks.handlers_of_flow::<CallTool>()`: the order they run in |
//! | `getFlowStageHooks('tools:call-tool', 'beforeExecute')` | `hooks.handlers_at::<BeforeExecute<CallTool>>()` |
//! | `getFlowHooksForOwner('tools:call-tool', 'audit')` | `hooks.handlers_of_flow::<CallTool>()`, filtered by `owner`; `hooks.handlers_of("audit")` for all flows |
//! | `getClsHooks(SearchTool)` | `hooks.handlers_for(&Target::of::<SearchTool>())` |
//! | running the flow | `hooks.flow::<CallTool>().run(request, operation).await` |
//! | running it for one class | `hooks.flow::<CallTool>().target::<SearchTool>().run(request, operation).await` |
//!
//! What FrontMCP promises and does not do happens here: a handler before the
//! operation can answer in its place, only the owners that the scope admits
//! take part, handlers with a target run for that target, and the order that
//! is listed is the order that is run.
//!
//! ```
//! use hooks_points::mcp::{CallTool, CallToolRequest, CallToolResponse};
//! use hooks_runtime::{
//!     AfterExecute, BeforeExecute, FlowContext, FlowError, HookRegistry, handlers,
//!     hook_handler,
//! };
//! use hooks_runtime::handler::Target;
//!
//! struct SearchTool;
//!
//! /// External: for every tool. There it had the priority 100.
//! #[hook_handler(BeforeExecute<CallTool>, priority = -100)]
//! fn no_shell(flow: &mut FlowContext<CallTool>) {
//!     if flow.input().is_some_and(|call| call.name == "shell") {
//!         flow.abort("no shell here");
//!     }
//! }
//!
//! /// Embedded: for one tool.
//! #[hook_handler(BeforeExecute<CallTool>, target = SearchTool)]
//! async fn cached(flow: &mut FlowContext<CallTool>) {
//!     flow.respond(CallToolResponse::text("from the cache"));
//! }
//!
//! #[hook_handler(AfterExecute<CallTool>)]
//! fn trace(flow: &mut FlowContext<CallTool>) {
//!     println!("{} answered {:?}", flow.flow(), flow.output());
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hooks = HookRegistry::new();
//! hooks.register(handlers![no_shell, cached, trace])?;
//! assert_eq!(hooks.handlers_of_flow::<CallTool>().len(), 3);
//! assert_eq!(hooks.handlers_at::<BeforeExecute<CallTool>>()[0].priority, -100);
//! assert_eq!(&*hooks.handlers_for(&Target::of::<SearchTool>())[0].name, "cached");
//!
//! async fn execute(call: CallToolRequest) -> Result<CallToolResponse, std::fmt::Error> {
//!     Ok(CallToolResponse::text(format!("{} ran", call.name)))
//! }
//! let call = |name: &str| CallToolRequest { name: name.into(), ..Default::default() };
//!
//! let ran = hooks.flow::<CallTool>().run(call("ls"), execute).await?;
//! assert_eq!(ran, CallToolResponse::text("ls ran"));
//!
//! let hit = hooks.flow::<CallTool>().target::<SearchTool>().run(call("search"), execute).await?;
//! assert_eq!(hit, CallToolResponse::text("from the cache"));
//!
//! let refused = hooks.flow::<CallTool>().run(call("shell"), execute).await;
//! assert!(matches!(refused, Err(FlowError::Aborted { .. })));
//! # Ok(())
//! # }
//! ```

mod annotations;
mod call_tool;
mod content;
mod content_wire;
mod get_prompt;
mod icon;
mod list_resources;
mod read_resource;
mod resource;
mod resource_contents;
mod role;

use hooks_runtime::catalogue::Catalogue;

use crate::catalogue::merged;

pub use annotations::Annotations;
pub use call_tool::*;
pub use content::{ContentBlock, EmbeddedResource, MediaContent, TextContent};
pub use get_prompt::*;
pub use icon::{Icon, IconTheme};
pub use list_resources::*;
pub use read_resource::*;
pub use resource::Resource;
pub use resource_contents::{ResourceBody, ResourceContents};
pub use role::Role;

/// What client and server attach to a message for each other.
pub type Meta = serde_json::Map<String, serde_json::Value>;

/// The points of this module as data.
pub(crate) fn points() -> Catalogue {
    merged([
        call_tool::points(),
        read_resource::points(),
        list_resources::points(),
        get_prompt::points(),
    ])
}
