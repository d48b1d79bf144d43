//! A compile-time typed hook registry.

mod context;
mod dispatch;
mod entry;
mod error;
pub mod flow;
mod handle;
mod invoke;
mod list;
mod models;
mod nesting;
mod order;
mod panics;
mod plugin;
mod plugin_id;
mod plugins;
mod point;
mod policy;
mod presence;
mod registration;
mod registry;
mod removal;
mod report;
mod scope;
mod slot;
mod snapshot;
mod store;
mod table;
mod target;
mod timer;

pub use context::HookContext;
pub use entry::Owner;
pub use error::{BoxError, FailureKind, FireError, HandlerFailure, NameClash, RegisterError};
pub use flow::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    FlowError, FlowPoint, OnError,
};
pub use handle::{Handle, Handles, ScopedHandle};
pub use hooks_macros::{Merge, hook_handler, hook_handlers};
pub use models::{
    Claim, Claiming, FieldSet, Flow, Gate, Gating, Guard, Merge, Modifying, NoReplacement,
    Rejection, Verdict, Void,
};
pub use plugin::{Installed, Plugin};
pub use plugin_id::{PluginId, PluginIdError};
pub use point::{HookPoint, ModelKind, PointDescriptor, SourceLocation};
pub use policy::FailurePolicy;
pub use registration::{On, Registration, on};
pub use registry::{Builder, HookRegistry};
pub use removal::{DrainError, PluginRemoval};
pub use report::{Contribution, Filter, FireReport, HandlerReport, HandlerStatus};
pub use scope::{Plugins, ScopedHooks};
pub use target::Target;
#[cfg(feature = "tokio")]
pub use timer::TokioTimer;
pub use timer::{Sleep, Timer};

/// Declares hook points.
#[macro_export]
macro_rules! hook_points {
    ($($block:tt)*) => {
        $crate::__private::__hook_points! { [$crate] $($block)* }
    };
}

/// Lists annotated handlers for [`HookRegistry::register`].
#[macro_export]
macro_rules! handlers {
    ($($handler:path),* $(,)?) => {
        [$(<$handler as $crate::__private::Annotated>::registration()),*]
    };
}

/// What the macros' expansions use. Not for people.
#[doc(hidden)]
pub mod __private {
    pub use crate::flow::StageDescriptors;
    pub use crate::invoke::{Input, Output};
    pub use crate::models::{Model, Returns};
    pub use crate::point::{ModelKind, PointDescriptor, SourceLocation};
    pub use crate::registration::Annotated;
    pub use hooks_macros::__hook_points;

    use crate::models::{Guard, RegistersAs};
    use crate::point::HookPoint;

    #[inline]
    pub fn returned<P: HookPoint, T: Returns<P::Model, P>>(returned: T) -> Output<P> {
        returned.into_output()
    }

    #[inline]
    pub fn returned_guard<P, T>(returned: T) -> Output<P>
    where
        P: HookPoint,
        P::Model: RegistersAs<Guard, P>,
        T: Returns<Guard, P>,
    {
        returned.into_output().map(<P::Model as RegistersAs<Guard, P>>::returned)
    }
}
