//! A point with its type erased, for callers that know only its name.

#[cfg(feature = "record")]
use std::any::{Any, TypeId};
use std::fmt;
use std::future::{Future, ready};
use std::marker::PhantomData;
use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::decode;
use super::error::JsonError;
use super::handler::JsonHandler;
use super::models::JsonModel;
use super::outcome::Outcome;
#[cfg(feature = "replay")]
use crate::engine::raw::ErasedHandler;
use crate::error::BoxError;
use crate::flow::{FlowPoint, FlowReport, StageKind};
use crate::handler::options::Options;
use crate::handler::registration::Registration;
use crate::handler::target::Target;
use crate::model::compose::Compose;
use crate::operator::trace::Payload;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
#[cfg(feature = "replay")]
use crate::point::SourceLocation;
use crate::report::FireReport;

/// A point with JSON on all sides.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct JsonPoint(pub(super) ByName);

/// How a point is used by name.
#[derive(Clone, Copy)]
pub(super) enum ByName {
    /// It is fired.
    Fired(&'static dyn FiredByName),
    /// It is a flow, which is run.
    Run(&'static dyn RunByName),
}

impl fmt::Debug for ByName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fired(_) => "Fired",
            Self::Run(_) => "Run",
        })
    }
}

impl JsonPoint {
    /// A point that is fired.
    pub(crate) fn fired<P>() -> Self
    where
        P: HookPoint<Model: JsonModel<P>>,
        P::Payload: Serialize + DeserializeOwned,
    {
        Self(ByName::Fired(const { &ErasedPoint::<P>(PhantomData) }))
    }

    /// A flow.
    pub(crate) fn run<F>() -> Self
    where
        F: FlowPoint,
        F::Payload: Serialize + DeserializeOwned,
        F::Result: Serialize + DeserializeOwned,
    {
        Self(ByName::Run(const { &ErasedPoint::<F>(PhantomData) }))
    }
}

impl JsonPoint {
    /// The payload of a fire that begins, where it is one of this point; or what is wrong
    /// with it.
    pub(crate) fn payload(self, payload: &mut Payload<'_>) -> Option<Result<Value, String>> {
        match self.0 {
            ByName::Fired(point) => point.payload(payload),
            ByName::Run(flow) => flow.payload(payload),
        }
    }
}

#[cfg(feature = "replay")]
impl JsonPoint {
    /// A handler that speaks JSON, to stand in for one of this point, or of that stage of
    /// this flow: there it answers with what was recorded of the other.
    pub(crate) fn stand_in(
        self,
        stage: Option<StageKind>,
        location: SourceLocation,
        handler: JsonHandler,
    ) -> Option<ErasedHandler> {
        let options = Options::new(location);
        let registration = match (self.0, stage) {
            (ByName::Fired(point), None) => point.register(options, handler),
            (ByName::Run(flow), Some(stage)) => flow.stand_in(stage, options, handler),
            _ => return None,
        };
        Some(registration.handler)
    }
}

#[cfg(feature = "record")]
impl JsonPoint {
    /// What a handler of the point of that type answered, where it is this point; of a stage
    /// how it has left the run, in place of its answer. Or what is wrong with it.
    pub(crate) fn answer(self, point: TypeId, answer: &dyn Any) -> Option<Result<Value, String>> {
        match self.0 {
            ByName::Fired(erased) => erased.answer(point, answer),
            ByName::Run(flow) => flow.left(answer),
        }
    }

    /// How a run is when that stage of it begins, or after a handler that failed.
    pub(crate) fn begun(
        self,
        stage: StageKind,
        payload: &mut Payload<'_>,
    ) -> Option<Result<Value, String>> {
        match self.0 {
            ByName::Fired(_) => None,
            ByName::Run(flow) => flow.begun(stage, payload),
        }
    }

    /// What the operation of the flow returned, where it is this flow.
    pub(crate) fn output(self, output: &dyn Any) -> Option<Result<Value, String>> {
        match self.0 {
            ByName::Fired(_) => None,
            ByName::Run(flow) => flow.output(output),
        }
    }
}

/// The outcome of a fire, and its report, if something was fired and a report was
/// asked for.
pub(super) type FireOutcome = (Result<Outcome, JsonError>, Option<FireReport>);

/// The outcome of a run, and its report.
pub(super) type RunOutcome = (Result<Value, JsonError>, Option<FlowReport>);

/// What the handlers of a stage asked for, and its report.
pub(super) type StageOutcome = (Result<Value, JsonError>, Option<FireReport>);

pub(super) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A point that is fired by name.
pub(super) trait FiredByName: Send + Sync {
    fn fire<'a>(
        &self,
        hooks: &'a ScopedHooks,
        text: &'a [u8],
        reported: bool,
    ) -> Boxed<'a, FireOutcome>;
    fn register(&self, options: Box<Options>, handler: JsonHandler) -> Registration;
    fn payload(&self, payload: &mut Payload<'_>) -> Option<Result<Value, String>>;
    #[cfg(feature = "record")]
    fn answer(&self, point: TypeId, answer: &dyn Any) -> Option<Result<Value, String>>;
}

/// A flow that is run by name.
pub(super) trait RunByName: Send + Sync {
    fn run<'a>(
        &self,
        hooks: &'a ScopedHooks,
        text: &'a [u8],
        run: Run<'a>,
    ) -> Boxed<'a, RunOutcome>;
    fn register(
        &self,
        stage: StageKind,
        options: Box<Options>,
        handler: JsonHandler,
    ) -> Registration;
    /// Fires a stage by itself.
    fn fire_stage<'a>(
        &self,
        hooks: &'a ScopedHooks,
        stage: StageKind,
        text: &'a [u8],
    ) -> Boxed<'a, StageOutcome>;
    fn payload(&self, payload: &mut Payload<'_>) -> Option<Result<Value, String>>;
    #[cfg(feature = "record")]
    fn left(&self, context: &dyn Any) -> Option<Result<Value, String>>;
    #[cfg(feature = "record")]
    fn begun(&self, stage: StageKind, payload: &mut Payload<'_>) -> Option<Result<Value, String>>;
    #[cfg(feature = "replay")]
    fn stand_in(
        &self,
        stage: StageKind,
        options: Box<Options>,
        handler: JsonHandler,
    ) -> Registration;
    #[cfg(feature = "record")]
    fn output(&self, output: &dyn Any) -> Option<Result<Value, String>>;
}

/// The host's side of a run.
pub(super) struct Run<'a> {
    pub(super) targets: Vec<Target>,
    pub(super) operation: Operation<'a>,
    pub(super) reported: bool,
}

/// The operation of a flow, from JSON to JSON.
pub(super) type Operation<'a> =
    Box<dyn FnOnce(Value) -> Boxed<'a, Result<Value, BoxError>> + Send + 'a>;

/// The point `P`, with its type forgotten by those that use it.
pub(super) struct ErasedPoint<P>(PhantomData<fn() -> P>);

/// The payload of a fire of `P` that begins.
pub(super) fn payload_of<P>(payload: &mut Payload<'_>) -> Option<Result<Value, String>>
where
    P: HookPoint<Model: Compose<P>, Payload: Serialize>,
{
    payload.read::<P, _>(|it| serde_json::to_value(it).map_err(|error| error.to_string()))
}

/// Reads the payload, or returns the error, before anything is fired.
pub(super) fn with_payload<'a, P, T, R>(
    text: &[u8],
    go_on: impl FnOnce(P::Payload) -> Boxed<'a, (Result<T, JsonError>, Option<R>)>,
) -> Boxed<'a, (Result<T, JsonError>, Option<R>)>
where
    P: HookPoint,
    P::Payload: DeserializeOwned,
    T: Send + 'a,
    R: Send + 'a,
{
    match decode::payload::<P>(text) {
        Ok(payload) => go_on(payload),
        Err(error) => Box::pin(ready((Err(error), None))),
    }
}
