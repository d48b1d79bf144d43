//! Registering handlers by wire name.

use std::fmt;
use std::panic::Location;

use super::error::JsonError;
use super::handler::IntoJsonHandler;
use super::hooks::{json_of, unknown};
use super::point::{ByName, FiredByName, RunByName};
use crate::catalogue::Catalogue;
use crate::flow::StageKind;
use crate::handler::options::{Options, option_methods};
use crate::handler::registration::Registration;
use crate::point::{ModelKind, PointDescriptor, SourceLocation};
use crate::registry::entry::Phase;

impl Catalogue {
    /// Starts a registration at the point of that wire name, or at a stage of a
    /// flow such as `orders:place/beforeExecute`: options first, then a handler
    /// that speaks JSON.
    ///
    /// The by-name twin of [`on`](crate::on): see [`json`](crate::json).
    ///
    /// The example of [`JsonOn`] registers a handler by name.
    #[track_caller]
    pub fn on(&self, name: &str) -> Result<JsonOn, JsonError> {
        let location = SourceLocation::caller();
        let named = self.named(name);
        let (info, descriptor) = named.ok_or_else(|| unknown(self, name, true))?;
        let place = match (json_of(info)?, descriptor.stage()) {
            (ByName::Run(flow), Some(stage)) => Place::Stage(flow, stage),
            (ByName::Fired(point), None) => Place::Point(point),
            _ => {
                return Err(JsonError::WrongModel {
                    point: info.name(),
                    model: ModelKind::Flow,
                    instead: "handlers belong to its stages, such as `…/beforeExecute`",
                });
            }
        };
        Ok(JsonOn { options: Options::new(location), descriptor, place })
    }
}

/// The options of a handler at a point known by its name; [`JsonOn::handler`]
/// completes it.
///
/// ```
/// # use hooks_runtime::{HookRegistry, Verdict, hook_points};
/// # use hooks_runtime::json::{Value, json};
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// Before a comment is shown.
/// #     pub gating Commenting { text: String }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let catalogue = points();
/// hooks.register([
///     catalogue.on("commenting")?.name("trim").handler(|mut comment: Value| {
///         comment["text"] = json!(comment["text"].as_str().unwrap_or("").trim());
///         Verdict::Replace(comment)
///     }),
///     catalogue.on("commenting")?.name("empty").guard(|comment: Value| -> Verdict {
///         if comment["text"] == "" { Verdict::reject("it is empty") } else { Verdict::Pass }
///     })?,
/// ])?;
/// let shown = hooks.json(&catalogue).fire("commenting", r#"{"text": " "}"#).await?;
/// assert_eq!(shown.to_json()["reason"], "it is empty");
/// # Ok(()) }
/// ```
#[must_use = "add the handler, then give it to `register`"]
pub struct JsonOn {
    options: Box<Options>,
    descriptor: &'static PointDescriptor,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Point(&'static dyn FiredByName),
    Stage(&'static dyn RunByName, StageKind),
}

impl JsonOn {
    option_methods!();

    /// Where it counts as written, in place of where [`Catalogue::on`] was called: for code that
    /// registers in the name of another. Introspection and errors show it.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # use hooks_runtime::catalogue::Catalogue;
    /// # use hooks_runtime::json::Value;
    /// # hook_points! {
    /// #     #![hook(json = "camelCase", catalogue = pub fn points)]
    /// #     /// A bell rang.
    /// #     pub void Rang { bell: u32 }
    /// # }
    /// use std::panic::Location;
    ///
    /// #[track_caller]
    /// fn count(hooks: &HookRegistry, points: &Catalogue) -> Result<(), Box<dyn std::error::Error>> {
    ///     let count = points.on("rang")?.name("count").written_at(Location::caller());
    ///     hooks.register(count.handler(|_: Value| ()))?;
    ///     Ok(())
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hooks = HookRegistry::new();
    /// let written = line!() + 1;
    /// count(&hooks, &points())?;
    /// assert_eq!(hooks.handlers()[0].location.line(), written);
    /// # Ok(()) }
    /// ```
    pub fn written_at(mut self, location: &'static Location<'static>) -> Self {
        self.options.location =
            SourceLocation::new(location.file(), location.line(), location.column());
        self
    }

    /// The handler: a function or closure, sync or async, from a JSON value to
    /// an answer. If it likes, it takes the [`HookContext`](crate::HookContext) second,
    /// and third, as JSON, what a modifying fire has merged so far.
    pub fn handler<Form>(self, handler: impl IntoJsonHandler<Form>) -> Registration {
        let handler = handler.into_json_handler();
        match self.place {
            Place::Point(point) => point.register(self.options, handler),
            Place::Stage(flow, stage) => flow.register(stage, self.options, handler),
        }
    }

    /// A guard of a gating point: sees the payload that will be used, and
    /// cannot replace it.
    pub fn guard<Form>(
        mut self,
        handler: impl IntoJsonHandler<Form>,
    ) -> Result<Registration, JsonError> {
        if self.descriptor.model() != ModelKind::Gating {
            return Err(JsonError::WrongModel {
                point: self.descriptor.name(),
                model: self.descriptor.model(),
                instead: "guards belong to gating points, so register it with `handler`",
            });
        }
        self.options.phase = Phase::Guard;
        Ok(self.handler(handler))
    }
}

impl fmt::Debug for JsonOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonOn")
            .field("point", &self.descriptor.name())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
