//! Flows: stages around an operation of the host.
//!
//! A run goes through `BeforeValidation`, the flow's own validation,
//! `AfterValidation`, `BeforeExecute`, the operation, `AfterExecute`, and
//! `Finally`. When it fails or is aborted, `OnError` runs before `Finally`.
//! `Finally` runs exactly once however the run ends, short of being dropped.
//!
//! A handler steers through the [`FlowContext`]: `respond` answers in place of
//! the operation (which then does not run, while the later stages do), `skip`
//! ends the stage, `abort` ends the flow. The first answer of a stage is kept,
//! unless its handler fails: a failed handler contributes nothing. Failures in
//! `OnError` and `Finally` are reported and never hide the first error.
//!
//! In `OnError`, [`recover`](FlowContext::recover) turns a failure of the operation
//! into an output. An abort, input that is not valid and a stage that failed end the
//! flow whatever a handler asks for.
//!
//! A handler with `target = T` takes part only in runs for `T`:
//! `hooks.flow::<F>().target::<T>().run(input, operation)`. The same builder takes
//! the flow's own validation, in line ([`validate`](FlowRun::validate)) or awaited
//! ([`validate_async`](FlowRun::validate_async)), and `run_reported` returns what every
//! stage, the validation and the operation did, and who recovered. A run can be
//! spawned; [`run`](FlowRun::run) says what that needs.
//!
//! A cache answers before the operation and learns after it:
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::Mutex;
//! use hooks_runtime::{
//!     AfterExecute, BeforeExecute, FlowContext, HookRegistry, hook_handler, hook_handlers,
//!     hook_points,
//! };
//!
//! hook_points! {
//!     /// One look-up, stage by stage.
//!     pub flow Lookup(String) -> String;
//! }
//!
//! /// Under which key this run is remembered.
//! struct Key(String);
//!
//! #[derive(Default)]
//! struct Cache(Mutex<HashMap<String, String>>);
//!
//! #[hook_handlers(plugin = "cache")]
//! impl Cache {
//!     #[hook_handler(BeforeExecute<Lookup>)]
//!     fn answer(&self, flow: &mut FlowContext<Lookup>) {
//!         let Some(key) = flow.input().cloned() else { return };
//!         if let Some(known) = self.0.lock().unwrap().get(&key) {
//!             flow.respond(known.clone());
//!         }
//!         flow.state_mut().insert(Key(key));
//!     }
//!
//!     #[hook_handler(AfterExecute<Lookup>)]
//!     fn learn(&self, flow: &mut FlowContext<Lookup>) {
//!         let key = flow.state_mut().remove::<Key>();
//!         if let (Some(Key(key)), Some(output)) = (key, flow.output()) {
//!             self.0.lock().unwrap().insert(key, output.clone());
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hooks = HookRegistry::new();
//! hooks.install(Cache::default())?;
//! let mut operations = 0;
//! for _ in 0..2 {
//!     let found = hooks
//!         .flow::<Lookup>()
//!         .run("lamp".to_owned(), async |key| {
//!             operations += 1;
//!             Ok::<_, std::io::Error>(format!("{key}: on the shelf"))
//!         })
//!         .await?;
//!     assert_eq!(found, "lamp: on the shelf");
//! }
//! assert_eq!(operations, 1);
//! # Ok(()) }
//! ```
//!
//! A timer keeps what it needs in the state of the run:
//!
//! ```
//! use std::time::Instant;
//! use hooks_runtime::{BeforeValidation, Finally, FlowContext, HookRegistry, handlers,
//!     hook_handler, hook_points};
//!
//! # hook_points! {
//! #     /// One look-up, stage by stage.
//! #     pub flow Lookup(String) -> String;
//! # }
//! #[hook_handler(BeforeValidation<Lookup>, priority = -1000)]
//! fn start(flow: &mut FlowContext<Lookup>) {
//!     flow.state_mut().insert(Instant::now());
//! }
//!
//! #[hook_handler(Finally<Lookup>, priority = 1000)]
//! fn stop(flow: &mut FlowContext<Lookup>) {
//!     if let Some(started) = flow.state().get::<Instant>() {
//!         println!("{} took {:?}", flow.flow(), started.elapsed());
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hooks = HookRegistry::new();
//! hooks.register(handlers![start, stop])?;
//! # let run = hooks.flow::<Lookup>().run("lamp".to_owned(), async |key| Ok::<_, std::io::Error>(key));
//! # assert_eq!(run.await?, "lamp");
//! # Ok(()) }
//! ```

mod answer;
mod context;
mod error;
mod host;
mod operation;
mod participants;
#[cfg(feature = "record")]
mod recorded;
mod report;
mod run;
mod stage_run;
mod stages;
mod state;
mod step;
mod validation;

#[cfg(feature = "record")]
pub(crate) use answer::Given;
pub use context::FlowContext;
#[cfg(feature = "json")]
pub(crate) use context::RunElsewhere;
pub use error::FlowError;
pub use operation::Operation;
pub(crate) use participants::{Participants, Standing};
pub use report::{FlowReport, Recovery};
pub use run::FlowRun;
#[cfg(feature = "json")]
pub(crate) use stage_run::StageEnd;
pub use stages::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowPoint, OnError,
    RunOf, RunsAs, Stage, StageDescriptors, StageKind,
};
pub use state::State;
pub use step::{FlowStep, NotRun, StepReport, StepStatus};
pub use validation::{AsyncValidation, SyncValidation, Validation};
