//! A compile-time typed hook registry: a program declares the places where
//! others may come in, others annotate a function, and the compiler checks that
//! the two fit.
//!
//! ```
//! use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points};
//!
//! hook_points! {
//!     /// A session begins, before anything else happens in it.
//!     pub void SessionStart { session_id: String, platform: String }
//!
//!     /// Before the prompt is put together.
//!     pub modifying BeforePrompt { session_id: String } -> { prepend: String, append: String }
//! }
//!
//! #[hook_handler(SessionStart)]
//! async fn log_session(start: &SessionStartPayload) {
//!     println!("session {} on {}", start.session_id, start.platform);
//! }
//!
//! #[hook_handler(BeforePrompt, plugin = "calendar", priority = -10)]
//! fn today(_: &BeforePromptPayload) -> BeforePromptResult {
//!     BeforePromptResult { prepend: Some("It is Monday.".into()), ..Default::default() }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hooks = HookRegistry::new();
//! hooks.register(handlers![log_session, today])?;
//!
//! let start = SessionStartPayload { session_id: "s-1".into(), platform: "cli".into() };
//! hooks.fire_void::<SessionStart>(&start).await?;
//! let before = BeforePromptPayload { session_id: "s-1".into() };
//! let amended = hooks.fire_modifying::<BeforePrompt>(&before).await?;
//! assert_eq!(amended.prepend.as_deref(), Some("It is Monday."));
//! # Ok(()) }
//! ```
//!
//! The declaration of a point picks its model, which is how its handlers run and
//! compose: [`Void`], [`Modifying`], [`Claiming`], [`Gating`] or [`Flow`].
//!
//! # Where to go from here
//!
//! | to | see |
//! |---|---|
//! | declare points | [`hook_points!`], [`guides::add_a_hook`], [`guides::which_model`] |
//! | write handlers and plugins | [`macro@hook_handler`], [`macro@hook_handlers`], [`on`], [`capturing`], [`guides::write_a_plugin`] |
//! | fire, within a scope | [`HookRegistry`], [`ScopedHooks`], [`Plugins`] |
//! | serve requests, with values for handlers and fires in the background | [`guides::serve_requests`] |
//! | run an operation in stages | [`flow`] |
//! | install plugins that a configuration names | [`AnyPlugin`], [`guides::plugins_from_configuration`] |
//! | collect annotated handlers | [`guides::collect_handlers`] |
//! | take plugins out again | [`guides::unload_safely`] |
//! | test a handler | [`guides::test_a_handler`] |
//! | see what happened | [`FireReport`], [`observe`], [`HookRegistry::audit`], [`HookRegistry::handlers`] |
//! | have the points as data | [`catalogue`]; by name, with JSON: the module `json` |
//! | know what is promised, and what it costs | [`laws`], [`performance`] |
//! | read a message of the compiler | [`mistakes`] |
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `tokio` (default) | time limits on tokio's clock, and void fires in the background |
//! | `collect` | `register_collected`: annotated handlers of all linked crates |
//! | `serde` | reports, introspection, audits and the catalogue serialise |
//! | `json` | points by name, with JSON |
//! | `schema` | JSON Schemas in the catalogue, by way of schemars |
//! | `tracing` | an observer that opens spans for fires and handlers |
//! | `metrics` | an observer that counts and times, by way of the `metrics` facade |

// Says of each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "tokio")]
mod background;
pub mod catalogue;
mod docs;
mod engine;
mod error;
mod escape;
pub mod flow;
pub mod handler;
#[cfg(feature = "json")]
pub mod json;
pub mod model;
pub mod observe;
mod plugin;
mod point;
mod registry;
mod suggest;
mod sync;
#[cfg(feature = "serde")]
mod wire;

#[cfg(feature = "tokio")]
pub use background::{BackgroundFire, SettleError, Settled, TrySpawnError};
pub use docs::{guides, laws, mistakes, performance};
pub use engine::raw::HookContext;
#[cfg(feature = "tokio")]
pub use engine::timer::TokioTimer;
pub use engine::timer::{Sleep, Timer};
pub use error::{
    BoxError, CycleStep, DefaultPanicked, Duplicate, FailureKind, FireError, HandlerFailure,
    NameClash, NestingError, RegisterError,
};
pub use escape::{Escaped, escaped};
pub use flow::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    FlowError, FlowPoint, OnError,
};
pub use handler::capturing::capturing;
#[cfg(feature = "collect")]
pub use handler::collect::{CollectError, MissingHandler, collected};
pub use handler::on::{On, on};
pub use handler::registration::{IntoRegistrations, Registration};
pub use handler::target::Target;
pub use hooks_macros::{Merge, hook_handler, hook_handlers};
pub use model::{
    Claim, Claiming, FieldSet, Flow, Gate, Gating, Guard, Judgement, Merge, Modifying,
    NoReplacement, Rejection, Verdict, Void,
};
pub use observe::report::{
    AnswerRefusal, Contribution, FireReport, HandlerReport, HandlerStatus, RecoveryRefusal,
    SkipReason,
};
pub use plugin::any::AnyPlugin;
pub use plugin::id::{PluginId, PluginIdError};
pub use plugin::info::PluginInfo;
pub use plugin::installation::{Installed, Plugin};
pub use plugin::lifecycle::{StartError, StopFailure};
pub use plugin::quota::{Quota, Refusal};
pub use plugin::registrar::Registrar;
pub use plugin::removal::{DrainError, DrainOutcome, Draining, Removal};
pub use plugin::scope::{Plugins, ScopedHooks};
pub use plugin::values::DuplicateValue;
pub use point::{FailurePolicy, HookPoint, ModelKind, PointDescriptor, SourceLocation};
pub use registry::audit::{
    Audit, DropReason, DroppedConstraint, NeverCalled, NeverCalledReason, UnknownConstraint,
    UnknownPlugin,
};
pub use registry::entry::Owner;
pub use registry::handle::{Handle, Handles, ScopedHandle};
pub use registry::handler_counters::SkipCounts;
pub use registry::introspect::{HandlerInfo, OrderReason};
pub use registry::{HookRegistry, HookRegistryBuilder};

/// Declares hook points: one block, any number of points.
///
/// A point is a model word, a name, a payload and, where its model has one, a
/// result. Braces declare a type in place; parentheses, or a type after the
/// arrow, name one that exists. At a gating point the arrow names the type of a
/// rejection's reason, which is text where there is none.
///
/// ```
/// # #[derive(Debug, Clone)] pub struct Message;
/// # #[derive(Debug, Clone)] pub struct Order;
/// # #[derive(Debug, Clone)] pub struct Receipt;
/// # #[derive(Debug, Clone)] pub struct Denied;
/// # impl std::fmt::Display for Denied {
/// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("no") }
/// # }
/// hooks_runtime::hook_points! {
///     /// A drawer was opened.
///     pub void Opened { drawer: u32 }
///     /// Before a label is printed.
///     pub modifying Labelling { text: String } -> { title: String, footer: String }
///     /// Who takes this message?
///     pub claiming Route(Message) -> u32;
///     /// Before a message leaves.
///     #[hook(timeout = "5s", on_failure = "open")]
///     pub gating Sending(Message);
///     /// May this order be placed? The reason of a rejection is a `Denied`.
///     pub gating Placing(Order) -> Denied;
///     /// One order, stage by stage.
///     #[hook(name = "orders:place")]
///     pub flow PlaceOrder(Order) -> Receipt;
/// }
/// ```
///
/// - `Opened` becomes a zero-sized type that is a [`HookPoint`]; its wire name
///   is `opened` unless `#[hook(name = "…")]` gives another.
/// - Fields in braces become `OpenedPayload`, with `Debug` and `Clone`; the
///   fields of a modifying result become options in `LabellingResult`, with
///   `Default` and [`Merge`](trait@Merge).
/// - The reason of a rejection, here `Denied`, is a type with a `Display`, which
///   people read in reports: see [`Rejection`].
/// - `#[payload(…)]` and `#[result(…)]` put further attributes on those types.
/// - `#![hook(json = "camelCase")]` at the top of the block derives serde for
///   them, spelled that way, with the feature `json`; `timeout` and `on_failure` can
///   stand there too.
/// - `catalogue = pub fn points` there declares a function that returns the
///   [`catalogue`] of the block; `schema`, with the feature of that name, derives
///   `schemars::JsonSchema`, also as `#![cfg_attr(feature = "…", hook(schema))]`.
/// - Your crate needs neither serde nor schemars for that. A type that is named in
///   parentheses or after the arrow brings its own derives.
#[macro_export]
macro_rules! hook_points {
    ($($block:tt)*) => {
        $crate::__private::__hook_points! { [$crate] $($block)* }
    };
}

/// Lists annotated handlers for [`HookRegistry::register`], which registers
/// them whole or not at all: `hooks.register(handlers![log, audit::record])?`.
#[macro_export]
macro_rules! handlers {
    ($($list:tt)*) => {
        $crate::__private::__handlers! { [$crate] $($list)* }
    };
}

/// Makes a crate that hands the registry on stand for `hooks_runtime` in the crates
/// of its users.
///
/// The attributes and the derive name the crate `hooks_runtime`, which a user of a
/// framework may not have among its dependencies. The framework says once, at its
/// root:
///
/// ```
/// pub use hooks_runtime as hooks;
///
/// hooks_runtime::facade!();
/// # fn main() {}
/// ```
///
/// and each crate that uses it says once, at its root, which crate is meant:
/// `extern crate framework as hooks_runtime;`. No handler needs `crate = …` then. The
/// same line serves a crate that knows `hooks_runtime` by another name.
///
/// Where one of the two lines is missing, the compiler says at every attribute:
///
/// | message | missing |
/// |---|---|
/// | ``cannot find `hooks_runtime` in the crate root`` | `extern crate framework as hooks_runtime;` at the root of the crate with the handler |
/// | ``cannot find `__private` in `hooks_runtime` `` | `hooks_runtime::facade!();` at the root of the framework |
///
/// # One attribute alone
///
/// The key `crate` names the runtime for one attribute. Its value is a path as in
/// `use`: from a crate, `crate = ::framework::hooks`, or of a name that is in scope,
/// `crate = hooks`. The path leads to the runtime itself, or to a crate with
/// `facade!()`.
///
/// | on | written |
/// |---|---|
/// | a function | `#[hook_handler(Saved, crate = ::framework::hooks)]` |
/// | an impl block, for all of its handlers | `#[hook_handlers(plugin = "audit", crate = ::framework::hooks)]` |
/// | a struct | `#[derive(Merge)] #[merge(crate = ::framework::hooks)]` |
///
/// `hook_points!`, `handlers!` and `facade!` find the runtime by themselves.
#[macro_export]
macro_rules! facade {
    () => {
        #[doc(hidden)]
        pub use $crate::__private;
    };
}

/// Hands an annotated function to the collection, where there is one.
#[cfg(feature = "collect")]
#[doc(hidden)]
#[macro_export]
macro_rules! __collect {
    ($handler:ident) => {
        $crate::__private::inventory::submit! {
            $crate::__private::Collected {
                path: ::core::concat!(::core::module_path!(), "::", ::core::stringify!($handler)),
                registration: <$handler as $crate::__private::Annotated>::registration,
            }
        }
    };
}

/// Hands an annotated function to the collection, where there is one.
#[cfg(not(feature = "collect"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __collect {
    ($handler:ident) => {};
}

/// What the macros' expansions use. Not for people.
#[doc(hidden)]
pub mod __private {
    pub use crate::__collect;
    pub use crate::catalogue::optional::*;
    pub use crate::flow::StageDescriptors;
    pub use crate::handler::annotated::*;
    #[cfg(feature = "collect")]
    pub use crate::handler::collect::Collected;
    pub use crate::handler::on::On;
    pub use crate::handler::registration::Registration;
    pub use crate::model::{FieldSet, Merge, displayed, drop_field, is_filled};
    pub use crate::plugin::installation::OneBlockOfHookHandlers;
    pub use crate::plugin::lifecycle::{LifecycleFuture, LifecycleStep, step_returned};
    pub use crate::point::{FailurePolicy, ModelKind, PointDescriptor, SourceLocation};
    pub use hooks_macros::{__handlers, __hook_points};
    #[cfg(feature = "collect")]
    pub use inventory;
    #[cfg(feature = "schema")]
    pub use schemars;
    #[cfg(feature = "serde")]
    pub use serde;

    use crate::catalogue::{Catalogue, PointInfo};

    /// The reason of a rejection where the point declares no type for it. An alias,
    /// and not named `String`, so that messages go on to call that by its name alone.
    pub type TextReason = String;

    pub fn catalogue<const N: usize>(points: [PointInfo; N]) -> Catalogue {
        Catalogue::new(points.into())
    }
}
