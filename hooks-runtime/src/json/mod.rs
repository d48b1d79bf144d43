//! Firing and handling points by wire name, with JSON (L27).
//!
//! For hosts whose plugins live elsewhere: in a script, in another process,
//! behind a socket. The points are those of a [`Catalogue`]; a block of points
//! whose head says `json` and `catalogue` has one. Typed handlers and those that
//! speak JSON work at the same points, under the same laws.
//!
//! ```
//! use hooks_runtime::json::{Outcome, Value, json};
//! use hooks_runtime::{HookRegistry, Verdict, hook_points};
//!
//! hook_points! {
//!     #![hook(json = "camelCase", catalogue = pub fn points)]
//!
//!     /// Before a message leaves.
//!     pub gating Sending { chat_id: u32, text: String }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (hooks, catalogue) = (HookRegistry::new(), points());
//! hooks.register(catalogue.on("sending")?.plugin("polite").handler(|mut message: Value| {
//!     message["text"] = format!("{}, please", message["text"].as_str().unwrap_or("")).into();
//!     Verdict::Replace(message)
//! }))?;
//!
//! let json = hooks.json(&catalogue);
//! let sent = json.fire("sending", r#"{"chatId": 7, "text": "close the door"}"#).await?;
//! let expected = json!({"verdict": "passed", "payload": {"chatId": 7, "text": "close the door, please"}});
//! assert_eq!(sent.to_json(), expected);
//!
//! let error = json.fire("sending", r#"{"chatId": 7, "txt": "?"}"#).await.unwrap_err();
//! assert!(error.to_string().starts_with("the payload of `sending` does not fit at `txt`: unknown field `txt`"));
//! let error = json.fire("sendign", "{}").await.unwrap_err();
//! assert_eq!(error.to_string(), "there is no hook point `sendign`: did you mean `sending`?");
//! # Ok(()) }
//! ```
//!
//! # What a handler receives, and what it answers
//!
//! | model | receives | answers |
//! |---|---|---|
//! | void | the payload | nothing: `null` |
//! | modifying | the payload | the result, with the fields it wants to set, or `null` |
//! | claiming | the payload | `{"handled": true, …}` with the claim's fields beside it, or `{"handled": false}`; a claim that is no object stands in `claim` |
//! | gating | the payload | `{"verdict": "pass"}`, `{"verdict": "replace", "payload": …}` or `{"verdict": "reject", "reason": …}`; a guard cannot replace |
//! | a flow's stage | `flow`, `stage`, `input`, `output`, `error`, with `null` for what there is not, and `recovered` | `null`, or an object with any of `input` (to rewrite it), `output` (to answer in place of the operation, if no handler of the stage has), `recover` (in `onError`: the output in place of the operation's failure, if no handler has), `skip` and `abort` (with the reason) |
//!
//! [`Value`] and [`json!`] are those of `serde_json`, so that a crate needs no dependency on
//! it. A closure that passes or rejects says which verdict it returns:
//! `|message: Value| -> Verdict { if message["text"] == "" { Verdict::reject("empty") } else { Verdict::Pass } }`;
//! one that may also replace returns a `Verdict<Value>`.
//!
//! A handler may also take the [`HookContext`](crate::HookContext), which says for
//! whom it is called and fires other points in the same scope. With a third parameter
//! it gets what the handlers before it have merged at a modifying point, as JSON, and
//! `null` at others:
//!
//! ```
//! # use hooks_runtime::{HookContext, HookRegistry, hook_points};
//! # use hooks_runtime::json::{Value, json};
//! # hook_points! {
//! #     #![hook(json = "camelCase", catalogue = pub fn points)]
//! #     pub modifying Labelling { book: u32 } -> { title: String, footer: String }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (hooks, catalogue) = (HookRegistry::new(), points());
//! # hooks.register(hooks_runtime::on::<Labelling>().handler(|_: &LabellingPayload| LabellingResult {
//! #     title: Some("Lamps".into()),
//! #     ..Default::default()
//! # }))?;
//! hooks.register(catalogue.on("labelling")?.name("sign").handler(
//!     async |_: Value, cx: &HookContext, merged: Value| {
//!         json!({"footer": format!("{} by {}", merged["title"], cx.handler())})
//!     },
//! ))?;
//! # let labelled = hooks.json(&catalogue).fire("labelling", r#"{"book": 7}"#).await?;
//! # assert_eq!(labelled.to_json(), json!({"title": "Lamps", "footer": "\"Lamps\" by sign"}));
//! # Ok(()) }
//! ```
//!
//! In Rust a handler may return [`Verdict`](crate::Verdict) and
//! [`Claim`](crate::Claim) of a JSON value for these objects, and a `Result` of
//! anything that it may return. An answer that does not fit is a failure of the
//! handler, and its policy applies.
//!
//! The reason of a rejection is text, or has the serde form of the type that the
//! point declares: [`Outcome`] carries it as a [`JsonReason`]. A handler whose reason
//! is more than text answers with the whole object as a `Value`.
//!
//! # What is refused
//!
//! JSON is read once, straight into the type of the payload. Refused, with the
//! point, the path and what was expected, and before any handler is called, is
//! text that is too long, too deep or not UTF-8, a number that its type cannot
//! hold, a lone surrogate, something after the end, a key that is unknown or
//! given twice, and an array where an object belongs.
//!
//! One limit: a type for which serde first keeps the document aside (`untagged`,
//! `flatten`, or `tag` without `content`) judges what it kept by its own rules;
//! arrays may then pass for objects, and the path ends there.

mod answers;
mod decode;
mod error;
mod fire;
mod flow;
mod handler;
mod hooks;
mod models;
mod on;
mod outcome;
mod point;
mod strict;

pub use error::{JsonError, Mismatch};
pub use flow::JsonFlow;
#[cfg(feature = "replay")]
pub(crate) use handler::JsonHandler;
pub use handler::{IntoAnswer, IntoJsonHandler};
pub use hooks::JsonHooks;
#[doc(hidden)]
pub use models::JsonModel;
pub use on::JsonOn;
pub use outcome::{JsonReason, Outcome};
#[doc(hidden)]
pub use point::JsonPoint;
pub use serde_json::{Value, json};

#[allow(unused_imports, reason = "for the documentation")]
use crate::catalogue::Catalogue;
