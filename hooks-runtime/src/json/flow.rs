//! Running flows by wire name.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::Value;

use super::error::JsonError;
use super::hooks::JsonHooks;
use super::point::{Run, RunByName, RunOutcome};
use crate::error::BoxError;
use crate::flow::FlowReport;
use crate::handler::target::Target;

/// A run of a flow known by its name: its targets.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::json::{Value, json};
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// One search, stage by stage.
/// #     pub flow Search(String) -> u32;
/// # }
/// # struct Books;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let catalogue = points();
/// let json_hooks = hooks.json(&catalogue);
/// let count = |_: Value| async { Ok::<_, std::io::Error>(json!(3)) };
/// let search = json_hooks.flow("search")?.target::<Books>().target_named("books");
/// let (found, report) = search.run_reported(r#""lamps""#, count).await;
/// assert_eq!(found?, json!(3));
/// assert_eq!(report.unwrap().operation().status().as_str(), "ran");
/// assert_eq!(json_hooks.flow("search")?.run(r#""lamps""#, count).await?, json!(3));
/// # Ok(()) }
/// ```
#[must_use = "call `run`"]
pub struct JsonFlow<'h> {
    json: &'h JsonHooks<'h>,
    name: &'static str,
    flow: &'static dyn RunByName,
    targets: Vec<Target>,
}

impl<'h> JsonFlow<'h> {
    pub(super) fn new(
        json: &'h JsonHooks<'h>,
        name: &'static str,
        flow: &'static dyn RunByName,
    ) -> Self {
        Self { json, name, flow, targets: Vec::new() }
    }

    /// This run is for the type `T`: handlers bound to it take part.
    pub fn target<T: 'static>(mut self) -> Self {
        self.targets.push(Target::of::<T>());
        self
    }

    /// This run is for what has that name: handlers bound to it take part.
    pub fn target_named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.targets.push(Target::named(name));
        self
    }

    /// This run is for these.
    #[cfg(feature = "replay")]
    pub(crate) fn for_targets(mut self, targets: Vec<Target>) -> Self {
        self.targets = targets;
        self
    }

    /// Runs the flow, with an input that is JSON text.
    pub async fn run<'a, Fut, E>(
        self,
        input: impl AsRef<[u8]> + Send,
        operation: impl FnOnce(Value) -> Fut + Send + 'a,
    ) -> Result<Value, JsonError>
    where
        Fut: Future<Output = Result<Value, E>> + Send + 'a,
        E: Into<BoxError>,
    {
        self.drive(input.as_ref(), operation, false).await.0
    }

    /// Runs the flow and reports every stage, if it was run.
    pub async fn run_reported<'a, Fut, E>(
        self,
        input: impl AsRef<[u8]> + Send,
        operation: impl FnOnce(Value) -> Fut + Send + 'a,
    ) -> (Result<Value, JsonError>, Option<FlowReport>)
    where
        Fut: Future<Output = Result<Value, E>> + Send + 'a,
        E: Into<BoxError>,
    {
        self.drive(input.as_ref(), operation, true).await
    }

    async fn drive<Fut, E>(
        self,
        input: &[u8],
        operation: impl FnOnce(Value) -> Fut + Send,
        reported: bool,
    ) -> RunOutcome
    where
        Fut: Future<Output = Result<Value, E>> + Send,
        E: Into<BoxError>,
    {
        if let Err(error) = self.json.check_size(self.name, input) {
            return (Err(error), None);
        }
        let run = Run {
            targets: self.targets,
            operation: Box::new(|input| {
                let output = operation(input);
                Box::pin(async { output.await.map_err(Into::into) })
            }),
            reported,
        };
        self.flow.run(&self.json.hooks, input, run).await
    }
}

impl fmt::Debug for JsonFlow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonFlow")
            .field("flow", &self.name)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}
