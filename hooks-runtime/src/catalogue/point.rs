//! One declared point as data.

use std::fmt;
use std::time::Duration;

use crate::flow::{FlowPoint, StageDescriptors};
use crate::point::{FailurePolicy, HookPoint, ModelKind, PointDescriptor, SourceLocation};

/// One declared point.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{FailurePolicy, hook_points};
/// # use hooks_runtime::point::ModelKind;
/// hook_points! {
///     #![hook(catalogue = pub fn points)]
///     /// Before a page is printed.
///     #[hook(timeout = "2s")]
///     #[deprecated(note = "print it yourself")]
///     pub gating Printing { page: u32 }
/// }
///
/// let catalogue = points();
/// let printing = catalogue.get("printing").unwrap();
/// assert_eq!((printing.model(), printing.policy()), (ModelKind::Gating, FailurePolicy::Closed));
/// assert_eq!(printing.timeout(), Some(Duration::from_secs(2)));
/// assert_eq!(printing.deprecated(), Some("print it yourself"));
/// assert_eq!(printing.payload().name(), "PrintingPayload");
/// assert!(printing.location().file().ends_with(".rs"));
/// ```
#[derive(Clone)]
pub struct PointInfo {
    descriptor: &'static PointDescriptor,
    stages: Option<&'static StageDescriptors>,
    pub(super) payload: TypeInfo,
    pub(super) result: Option<TypeInfo>,
    deprecated: Option<&'static str>,
    #[cfg(feature = "json")]
    pub(crate) json: Option<crate::json::JsonPoint>,
}

/// A payload or a result.
///
/// ```
/// # use hooks_runtime::hook_points;
/// hook_points! {
///     #![hook(catalogue = pub fn points)]
///     /// A key was pressed.
///     pub void Pressed {
///         /// Its code.
///         key: u8,
///     }
/// }
///
/// let catalogue = points();
/// let payload = catalogue.points()[0].payload();
/// assert_eq!(payload.name(), "PressedPayload");
/// let field = payload.fields()[0];
/// assert_eq!((field.name, field.ty, field.doc), ("key", "u8", "Its code."));
/// ```
#[derive(Clone, Debug)]
pub struct TypeInfo {
    name: &'static str,
    fields: Vec<FieldInfo>,
    #[cfg(feature = "schema")]
    pub(super) schema: Option<fn() -> serde_json::Value>,
}

/// A field of a type that is declared with its point.
///
/// The example of [`TypeInfo`] has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FieldInfo {
    /// Its name in Rust.
    pub name: &'static str,
    /// Its type, as written. What a modifying point's result declares becomes
    /// an `Option` of it.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub ty: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
}

/// How the macro describes a type: its name, and name, type and doc of each
/// field.
type Described = (&'static str, &'static [(&'static str, &'static str, &'static str)]);

impl PointInfo {
    #[doc(hidden)]
    pub fn __new<P: HookPoint>(
        payload: Described,
        result: Option<Described>,
        deprecated: Option<&'static str>,
    ) -> Self {
        Self {
            descriptor: P::descriptor(),
            stages: None,
            payload: TypeInfo::new(payload),
            result: result.map(TypeInfo::new),
            deprecated,
            #[cfg(feature = "json")]
            json: None,
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn __stages<F: FlowPoint>(mut self) -> Self {
        self.stages = Some(F::stages());
        self
    }

    pub(crate) fn index(&self) -> usize {
        self.descriptor.index()
    }

    /// Everything that has a wire name: the point and, of a flow, its stages.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = &'static PointDescriptor> {
        std::iter::once(self.descriptor).chain(self.stages())
    }

    pub(crate) fn stages(&self) -> impl Iterator<Item = &'static PointDescriptor> {
        self.stages.into_iter().flat_map(StageDescriptors::all)
    }

    /// The wire name.
    pub fn name(&self) -> &'static str {
        self.descriptor.name()
    }

    /// The model.
    pub fn model(&self) -> ModelKind {
        self.descriptor.model()
    }

    /// The doc comment.
    pub fn doc(&self) -> &'static str {
        self.descriptor.doc()
    }

    /// What a handler's failure means here. Of a flow's stages `onError` and
    /// `finally` are fail-open all the same.
    pub fn policy(&self) -> FailurePolicy {
        self.descriptor.policy()
    }

    /// The time limit of handlers that set none of their own.
    pub fn timeout(&self) -> Option<Duration> {
        self.descriptor.time_limit()
    }

    /// Where the point is declared.
    pub fn location(&self) -> SourceLocation {
        self.descriptor.location()
    }

    /// What `#[deprecated]` says of it, an empty text if that says nothing;
    /// `None` if it is not deprecated.
    pub fn deprecated(&self) -> Option<&'static str> {
        self.deprecated
    }

    /// The payload; the input of a flow.
    pub fn payload(&self) -> &TypeInfo {
        &self.payload
    }

    /// What the handlers' answers compose to, the output of a flow, the type of
    /// reason that a gating point declares; `None` where there is none beside the
    /// payload.
    pub fn result(&self) -> Option<&TypeInfo> {
        self.result.as_ref()
    }

    /// The wire names of a flow's stages, in their order.
    ///
    /// ```
    /// # use hooks_runtime::hook_points;
    /// # hook_points! {
    /// #     #![hook(catalogue = pub fn points)]
    /// #     /// One call, stage by stage.
    /// #     pub flow Call(u32) -> u32;
    /// # }
    /// let catalogue = points();
    /// let stages = catalogue.get("call").unwrap().stage_names();
    /// assert_eq!((stages.len(), stages[0]), (6, "call/beforeValidation"));
    /// ```
    pub fn stage_names(&self) -> Vec<&'static str> {
        self.stages().map(PointDescriptor::name).collect()
    }
}

impl TypeInfo {
    fn new((name, fields): Described) -> Self {
        let field = |&(name, ty, doc): &_| FieldInfo { name, ty, doc };
        Self {
            name,
            fields: fields.iter().map(field).collect(),
            #[cfg(feature = "schema")]
            schema: None,
        }
    }

    /// The type, as the declaration names it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The fields, if the type is declared with its point.
    pub fn fields(&self) -> &[FieldInfo] {
        &self.fields
    }

    /// The JSON Schema, if the block asks for it.
    ///
    /// Needs the feature `schema`.
    ///
    /// ```
    /// # use hooks_runtime::hook_points;
    /// hook_points! {
    ///     #![hook(json = "camelCase", schema, catalogue = pub fn points)]
    ///     /// A key was pressed.
    ///     pub void Pressed { key_code: u8 }
    /// }
    ///
    /// let schema = points().points()[0].payload().schema().unwrap();
    /// assert_eq!(schema["required"][0], "keyCode");
    /// ```
    #[cfg(feature = "schema")]
    pub fn schema(&self) -> Option<serde_json::Value> {
        self.schema.map(|schema| schema())
    }
}

impl fmt::Debug for PointInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PointInfo")
            .field("descriptor", &self.descriptor)
            .field("payload", &self.payload)
            .field("result", &self.result)
            .field("deprecated", &self.deprecated)
            .finish_non_exhaustive()
    }
}
