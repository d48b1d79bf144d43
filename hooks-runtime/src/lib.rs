//! A compile-time typed hook registry: a host declares the places where plugins may
//! come in, plugins annotate functions, and the compiler checks that the two fit.
//!
//! ```
//! use hooks_runtime::{Gate, HookRegistry, Verdict, handlers, hook_handler, hook_points};
//!
//! hook_points! {
//!     /// Before a command is run. Handlers may rewrite it or reject it.
//!     pub gating BeforeCommand { line: String }
//! }
//!
//! #[hook_handler(BeforeCommand, plugin = "safety")]
//! fn no_rm(command: &BeforeCommandPayload) -> Verdict<BeforeCommandPayload> {
//!     if command.line.starts_with("rm ") {
//!         return Verdict::reject("nothing is deleted here");
//!     }
//!     Verdict::Pass
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hooks = HookRegistry::new();
//! hooks.register(handlers![no_rm])?;
//!
//! let command = BeforeCommandPayload { line: "rm -r notes".into() };
//! match hooks.fire_gating::<BeforeCommand>(command).await? {
//!     Gate::Passed(command) => println!("running {}", command.line),
//!     Gate::Rejected(rejection) => assert_eq!(
//!         rejection.to_string(),
//!         "rejected at `before_command` by `no_rm` (plugin `safety`): nothing is deleted here",
//!     ),
//! }
//! # Ok(()) }
//! ```
//!
//! # The map
//!
//! | I want to … | call | guide |
//! |---|---|---|
//! | **declare** points | [`hook_points!`] | [Which model?](guides::which_model) |
//! | hook into a point | [`#[hook_handler(Point)]`](macro@hook_handler), [`handlers!`] | [Add a hook](guides::add_a_hook) |
//! | hook in with a closure | [`on::<Point>().handler(…)`](on()), [`capturing`](capturing()) | [Add a hook, with a closure](guides::add_a_hook#with-a-closure) |
//! | ship handlers with state | [`#[hook_handlers(plugin = "…")]`](macro@hook_handlers), [`install`](HookRegistry::install) | [Write a plugin](guides::write_a_plugin) |
//! | register what is linked | [`register_collected`](HookRegistry::register_collected) | [Collect handlers](guides::collect_handlers) |
//! | take plugins from a file | [`AnyPlugin`] | [Plugins from configuration](guides::plugins_from_configuration) |
//! | **fire** | [`fire_void`](ScopedHooks::fire_void), [`fire_modifying`](ScopedHooks::fire_modifying), [`fire_claiming`](ScopedHooks::fire_claiming), [`fire_gating`](ScopedHooks::fire_gating) | [Which model?](guides::which_model) |
//! | run an operation in stages | [`flow::<F>().run(…)`](ScopedHooks::flow) | [`flow`] |
//! | do something that no model does | a flow, and points that you compose | [Behaviour that no model has](guides::behaviour_no_model_has) |
//! | build the payload only if there is a handler | [`fire_void_with`](ScopedHooks::fire_void_with) and its like | [`performance`] |
//! | fire from sync code | `block_on`, `now_or_never`, [`Timer`](timer::Timer) | [Fire from sync code](guides::fire_from_sync_code) |
//! | fire and go on | [`spawn_void`](ScopedHooks::spawn_void), [`settled`](ScopedHooks::settled) | [Serve requests](guides::serve_requests) |
//! | choose who takes part | [`scope(Plugins::only(…))`](ScopedHooks::scope) | [Serve requests](guides::serve_requests) |
//! | hand values to handlers | [`with(value)`](ScopedHooks::with), [`cx.get()`](HookContext::get) | [Serve requests](guides::serve_requests) |
//! | order handlers | `priority`, `before`, `after`; [`explain_order`](HookRegistry::explain_order) | [Add a hook](guides::add_a_hook) |
//! | limit time and failures | `timeout`, `on_failure`, [`HookRegistry::builder`] | [Choose limits and policies](guides::choose_limits_and_policies) |
//! | limit what a plugin may do | [`Quota`](plugin::Quota), [`Registrar`](plugin::Registrar) | [Write a plugin](guides::write_a_plugin) |
//! | **remove** a plugin, and know that it is gone | [`uninstall().await`](plugin::Installed::uninstall) | [Unload safely](guides::unload_safely) |
//! | **see** what a fire did | [`fire_void_reported`](ScopedHooks::fire_void_reported) and its like, [`report`] | [Test a handler](guides::test_a_handler) |
//! | see who is registered, and what does not add up | [`handlers`](HookRegistry::handlers), [`audit`](HookRegistry::audit), [`registry`] | [Test a handler](guides::test_a_handler) |
//! | **change** what runs, without a restart | [`operator()`](HookRegistry::operator), [`operator`] | [Operate a running host](guides::operate_a_running_host) |
//! | keep those changes in a file | `operator().load(…)`, `follow(…)` | [Settings in a file](guides::settings_in_a_file) |
//! | **trace** some fires, up to a limit | [`operator().trace(…)`](operator::Operator::trace) | [Operate a running host](guides::operate_a_running_host#see-what-happens-without-changing-it) |
//! | **record** fires and calls in a file | `record::Recorder` | [Record what happens](guides::record_what_happens) |
//! | know what a change would have done to them | `replay::replay` | [Replay recorded fires](guides::replay_recorded_fires) |
//! | watch every fire | [`observe`] | [`observe`] |
//! | count and time each handler | [`Statistics`](observe::Statistics), `Metrics` | [`observe`] |
//! | have the points as data | `#![hook(catalogue = pub fn points)]` | [`catalogue`] |
//! | fire and handle by name, with JSON | [`json`] | [`json`] |
//! | hand the registry on from a framework | [`facade!`] | [`facade!`] |
//! | move to the next version | – | [Upgrade](guides::upgrade) |
//!
//! What is promised is in [`laws`], each with the tests that keep it; what it costs in
//! [`performance`]; what the compiler says to a mistake in [`mistakes`].
//!
//! # The models
//!
//! The declaration of a point picks how its handlers run and compose. A handler or a fire
//! of another model does not compile.
//!
//! | model | handlers | a fire returns |
//! |---|---|---|
//! | [`void`](model::Void) | run concurrently, all are awaited | nothing |
//! | [`modifying`](model::Modifying) | run in order | per field the first value that was set |
//! | [`claiming`](model::Claiming) | run in order, up to the first claim | a [`Claim`] |
//! | [`gating`](model::Gating) | rewriters in order, then guards, which cannot change the payload | a [`Gate`]: the payload as rewritten, or a [`Rejection`] |
//! | [`flow`](model::Flow) | run in stages around an operation of the host, and may answer for it | the output, or a [`FlowError`] |
//!
//! An error, a panic or a timeout stays with the handler that had it; the
//! [`FailurePolicy`] of the point says whether the fire goes on without it or ends.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `tokio` (default) | time limits on tokio's clock ([`timer`]), fires in the [`background`] |
//! | `collect` | [`register_collected`](HookRegistry::register_collected): annotated handlers of all linked crates |
//! | `serde` | reports, introspection, audits and the catalogue serialise |
//! | `json` | points by name, with JSON: [`json`] |
//! | `schema` | JSON Schemas in the [`catalogue`], by way of schemars |
//! | `config` | [`operator::SettingsFile`]: an operator's settings from a file |
//! | `record` | [`record`]: every fire and call in a file, as lines of JSON |
//! | `replay` | [`replay`](mod@replay): what is recorded against today's handlers or rules |
//! | `tracing` | [`observe::Spans`]: spans for fires and handlers |
//! | `metrics` | [`observe::Metrics`]: counts and times, by way of the `metrics` facade |
//!
//! Fires run on any executor. Without the feature `tokio` a host that sets time limits
//! brings its own [`Timer`](timer::Timer).

// Says of each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "tokio")]
pub mod background;
pub mod catalogue;
mod docs;
mod engine;
pub mod error;
mod escape;
pub mod flow;
pub mod handler;
#[cfg(feature = "json")]
pub mod json;
pub mod model;
pub mod observe;
pub mod operator;
pub mod plugin;
pub mod point;
mod readable;
#[cfg(feature = "record")]
pub mod record;
pub mod registry;
#[cfg(feature = "replay")]
pub mod replay;
pub mod report;
mod suggest;
mod sync;
pub mod timer;
#[cfg(feature = "serde")]
mod wire;

pub use docs::{guides, laws, mistakes, performance};
pub use hooks_macros::{Merge, hook_handler, hook_handlers};

// Every item is in the module of its concept. The root repeats those that most
// programs name.
#[doc(inline)]
pub use error::{BoxError, FireError, RegisterError};
#[doc(inline)]
pub use flow::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    FlowError, OnError,
};
#[doc(inline)]
pub use handler::{HookContext, Registration, capturing, on};
#[doc(inline)]
pub use model::{Claim, Gate, Judgement, Merge, Rejection, Verdict};
#[doc(inline)]
pub use plugin::{AnyPlugin, Plugin, PluginId, Plugins, ScopedHooks};
#[doc(inline)]
pub use point::{FailurePolicy, HookPoint};
#[doc(inline)]
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
///
/// ```
/// # use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points};
/// # hook_points! { pub void Printed { page: u32 } }
/// #[hook_handler(Printed)]
/// fn count(_: &PrintedPayload) {}
///
/// mod archive {
/// #     use super::*;
///     #[hook_handler(Printed)]
///     pub fn keep(_: &PrintedPayload) {}
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::new();
/// let handles = hooks.register(handlers![count, archive::keep])?;
/// assert_eq!(handles.len(), 2);
/// # Ok(()) }
/// ```
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
/// # #![allow(pub_use_of_private_extern_crate)] // of the test's own `extern crate`
/// # mod framework {
/// pub use hooks_runtime as hooks;
///
/// hooks_runtime::facade!();
/// # }
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
    pub use crate::model::{FieldSet, Merge, Merging, displayed, drop_field, is_filled, merging};
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
