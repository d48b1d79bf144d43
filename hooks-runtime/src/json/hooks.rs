//! Firing points by wire name.

use std::future::Future;

use serde_json::Value;

use super::error::JsonError;
use super::flow::JsonFlow;
use super::outcome::Outcome;
use super::point::{ByName, JsonPoint};
use crate::catalogue::{Catalogue, PointInfo};
use crate::error::BoxError;
use crate::escape::excerpt;
use crate::plugin::scope::ScopedHooks;
use crate::point::{ModelKind, PointDescriptor};
use crate::report::FireReport;

/// The longest text that is read unless the host says otherwise: 1 MiB.
const MAX_BYTES: usize = 1 << 20;

/// Hooks seen through a catalogue: points are known by their names, payloads
/// and outcomes are JSON. See [`json`](crate::json).
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::json::Outcome;
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// A door was opened.
/// #     pub void Opened { door: u32 }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register_void::<Opened>(async |opened: &OpenedPayload| assert_eq!(opened.door, 7))?;
/// let catalogue = points();
/// let json = hooks.json(&catalogue).max_bytes(4_096);
/// let (outcome, report) = json.fire_reported("opened", r#"{"door": 7}"#).await;
/// assert_eq!(outcome?, Outcome::Notified);
/// assert_eq!(report.unwrap().handlers().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct JsonHooks<'c> {
    pub(super) hooks: ScopedHooks,
    catalogue: &'c Catalogue,
    max_bytes: usize,
}

impl ScopedHooks {
    /// These hooks by wire name, with JSON. Fires reach the handlers that the
    /// scope admits.
    ///
    /// The example of [`JsonHooks`] uses it.
    pub fn json<'c>(&self, catalogue: &'c Catalogue) -> JsonHooks<'c> {
        JsonHooks { hooks: self.clone(), catalogue, max_bytes: MAX_BYTES }
    }
}

impl JsonHooks<'_> {
    /// The longest text that is read, in bytes: 1 MiB by default.
    #[must_use]
    pub fn max_bytes(mut self, limit: usize) -> Self {
        self.max_bytes = limit;
        self
    }

    /// Fires the point of that name, unless it is a flow, with a payload that
    /// is JSON text.
    pub async fn fire(
        &self,
        name: &str,
        payload: impl AsRef<[u8]> + Send,
    ) -> Result<Outcome, JsonError> {
        self.fire_point(name, payload.as_ref(), false).await.0
    }

    /// As [`fire`](Self::fire), with a report, if anything was fired.
    pub async fn fire_reported(
        &self,
        name: &str,
        payload: impl AsRef<[u8]> + Send,
    ) -> (Result<Outcome, JsonError>, Option<FireReport>) {
        self.fire_point(name, payload.as_ref(), true).await
    }

    /// Runs the flow of that name around an operation from JSON to JSON, with
    /// an input that is JSON text.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # use hooks_runtime::json::{Value, json};
    /// # hook_points! {
    /// #     #![hook(json = "camelCase", catalogue = pub fn points)]
    /// #     /// One sum, stage by stage.
    /// #     pub flow Sum(Vec<u32>) -> u32;
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let catalogue = points();
    /// let sum = |numbers: Value| async move {
    ///     Ok::<_, std::io::Error>(json!(numbers.as_array().map_or(0, Vec::len)))
    /// };
    /// assert_eq!(hooks.json(&catalogue).run_flow("sum", "[4, 5]", sum).await?, json!(2));
    /// # Ok(()) }
    /// ```
    pub async fn run_flow<'a, Fut, E>(
        &'a self,
        name: &str,
        input: impl AsRef<[u8]> + Send,
        operation: impl FnOnce(Value) -> Fut + Send + 'a,
    ) -> Result<Value, JsonError>
    where
        Fut: Future<Output = Result<Value, E>> + Send + 'a,
        E: Into<BoxError>,
    {
        self.flow(name)?.run(input, operation).await
    }

    /// A run of the flow of that name with a target or a report.
    ///
    /// The example of [`JsonFlow`] has both.
    pub fn flow(&self, name: &str) -> Result<JsonFlow<'_>, JsonError> {
        let point = self.find(name)?;
        match json_of(point)? {
            ByName::Run(flow) => Ok(JsonFlow::new(self, point.name(), flow)),
            ByName::Fired(_) => Err(JsonError::WrongModel {
                point: point.name(),
                model: point.model(),
                instead: "fire it with `fire`",
            }),
        }
    }

    /// Fires the stage of that name, such as `sum/afterExecute`, for a run that is elsewhere:
    /// JSON text says how far that is, in the form in which a handler that speaks JSON
    /// [receives](crate::json) it. What the handlers asked for is the answer, in the form in
    /// which such a handler answers, and there is a report, if anything was fired.
    ///
    /// The error of a run is here a text, and counts as one of the operation. Handlers that
    /// are bound to a target do not take part.
    ///
    /// ```
    /// # use hooks_runtime::{AfterExecute, FlowContext, HookRegistry, hook_points, on};
    /// # use hooks_runtime::json::json;
    /// # hook_points! {
    /// #     #![hook(json = "camelCase", catalogue = pub fn points)]
    /// #     /// One sum, stage by stage.
    /// #     pub flow Sum(Vec<u32>) -> u32;
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<AfterExecute<Sum>>().handler(|sum: &mut FlowContext<Sum>| {
    ///     *sum.output_mut().unwrap() += 1;
    /// }))?;
    /// let catalogue = points();
    /// let run = r#"{"flow": "sum", "stage": "afterExecute", "output": 9}"#;
    /// let (answer, report) = hooks.json(&catalogue).fire_stage("sum/afterExecute", run).await;
    /// assert_eq!(answer?, json!({"output": 10}));
    /// assert_eq!(report.unwrap().handlers().len(), 1);
    /// # Ok(()) }
    /// ```
    pub async fn fire_stage(
        &self,
        name: &str,
        run: impl AsRef<[u8]> + Send,
    ) -> (Result<Value, JsonError>, Option<FireReport>) {
        let run = run.as_ref();
        let named = self.catalogue.named(name).ok_or_else(|| unknown(self.catalogue, name, true));
        let firing = named.and_then(|(point, stage)| match (json_of(point)?, stage.stage()) {
            (ByName::Run(flow), Some(kind)) => {
                self.check_size(stage.name(), run)?;
                Ok(flow.fire_stage(&self.hooks, kind, run))
            }
            _ => Err(JsonError::WrongModel {
                point: point.name(),
                model: point.model(),
                instead: "it has no stages of that name, so fire or run it",
            }),
        });
        match firing {
            Ok(firing) => firing.await,
            Err(error) => (Err(error), None),
        }
    }

    async fn fire_point(
        &self,
        name: &str,
        payload: &[u8],
        reported: bool,
    ) -> (Result<Outcome, JsonError>, Option<FireReport>) {
        let firing = self.find(name).and_then(|point| match json_of(point)? {
            ByName::Fired(fired) => {
                self.check_size(point.name(), payload)?;
                Ok(fired.fire(&self.hooks, payload, reported))
            }
            ByName::Run(_) => Err(JsonError::WrongModel {
                point: point.name(),
                model: ModelKind::Flow,
                instead: "run it with `run_flow`",
            }),
        });
        match firing {
            Ok(firing) => firing.await,
            Err(error) => (Err(error), None),
        }
    }

    /// The hooks that are fired.
    #[cfg(feature = "replay")]
    pub(crate) fn hooks(&self) -> &ScopedHooks {
        &self.hooks
    }

    fn find(&self, name: &str) -> Result<&PointInfo, JsonError> {
        match self.catalogue.named(name) {
            None => Err(unknown(self.catalogue, name, false)),
            Some((_, stage)) if stage.stage().is_some() => Err(JsonError::WrongModel {
                point: stage.name(),
                model: ModelKind::Stage,
                instead: "it is fired by its flow, so call `run_flow` with the flow's name",
            }),
            Some((point, _)) => Ok(point),
        }
    }

    pub(super) fn check_size(&self, point: &'static str, text: &[u8]) -> Result<(), JsonError> {
        let (size, limit) = (text.len(), self.max_bytes);
        if size <= limit { Ok(()) } else { Err(JsonError::TooLarge { point, size, limit }) }
    }
}

pub(super) fn json_of(point: &PointInfo) -> Result<ByName, JsonError> {
    match point.json {
        Some(JsonPoint(by_name)) => Ok(by_name),
        None => Err(JsonError::NoJson { point: point.name() }),
    }
}

/// The error for an unknown name, with the nearest known one.
pub(super) fn unknown(catalogue: &Catalogue, name: &str, stages: bool) -> JsonError {
    let known = catalogue.points().iter().flat_map(PointInfo::descriptors);
    let names = known.filter(|point| stages || point.stage().is_none()).map(PointDescriptor::name);
    // Names of points are short: a much longer text is not a misspelling of one.
    let slip = |known: &&'static str| name.len() <= 2 * known.len();
    let nearest = names
        .filter(slip)
        .map(|known| (strsim::osa_distance(name, known), known))
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance);
    JsonError::UnknownPoint { name: excerpt(name), nearest: nearest.map(|(_, known)| known) }
}
