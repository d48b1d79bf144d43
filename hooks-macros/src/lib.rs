//! The macros of `hooks-runtime`, which re-exports them all.
//!
//! Each macro is a pipeline of the same stages, one file a stage: `parse`
//! reads the tokens, `valid` judges them and collects every mistake, `expand`
//! writes the code, and `fallback` fills in for what was wrong, so that one
//! mistake never shows up as a second error somewhere else.

mod case;
mod doc_text;
mod duration;
mod errors;
mod features;
mod handlers;
mod hook_handler;
mod hook_handlers;
mod hook_points;
mod keys;
mod location;
mod merge;
mod plugin_id;
mod policy;
mod runtime;
mod stream;
mod suggest;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares hook points. Reached through `hooks_runtime::hook_points!`, which
/// passes the path to the runtime in brackets before the block.
#[doc(hidden)]
#[proc_macro]
pub fn __hook_points(input: TokenStream) -> TokenStream {
    hook_points::hook_points(input.into()).into()
}

/// Lists annotated handlers. Reached through `hooks_runtime::handlers!`, which
/// passes the path to the runtime in brackets before the list.
#[doc(hidden)]
#[proc_macro]
pub fn __handlers(input: TokenStream) -> TokenStream {
    handlers::handlers(input.into()).into()
}

/// Makes a free function a handler that `handlers![…]` can list.
///
/// ```ignore
/// #[hook_handler(OrderPlaced, plugin = "audit", priority = -10, timeout = "200ms")]
/// async fn log_order(order: &OrderPlacedPayload) { /* … */ }
/// ```
///
/// The point comes first. The function itself stays as it is written. The keys:
///
/// | key | means |
/// |---|---|
/// | `plugin = "audit"` | the plugin that owns it; without one it is built-in |
/// | `name = "log"` | its name, instead of the function's |
/// | `priority = -10` | its place: the lower number first, 0 by default |
/// | `before = "other"`, `after = ["one", "two"]` | its place relative to others |
/// | `timeout = "200ms"` | how long a fire waits for its answer |
/// | `on_failure = "closed"` | its failure ends the fire |
/// | `target = Type`, `target = "name"` | takes part only in runs for that |
/// | `when = \|payload\| payload.size > 100` | called only where the condition is met |
/// | `once` | removed with its first call |
/// | `pure` | declared to have no side effects: it may run in shadow and in a replay |
/// | `guard` | of a gating point: judges last, changes nothing |
/// | `replace` | takes the place of the owner's handler of that name |
/// | `crate = ::path` | the path of the runtime |
///
/// `crate = ::path` names the runtime where it is renamed or re-exported; see `facade!`
/// for a way to say it once.
#[proc_macro_attribute]
pub fn hook_handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    hook_handler::hook_handler(arguments.into(), &item.into()).into()
}

/// Makes the marked methods of an impl block the handlers of one plugin.
///
/// ```ignore
/// #[hook_handlers(plugin = "audit")]
/// impl Audit {
///     #[hook_handler(OrderPlaced, on_failure = "closed")]
///     async fn started(&self, order: &OrderPlacedPayload) -> Result<(), DbError> { /* … */ }
/// }
/// ```
///
/// The keys are `plugin`, `version`, `description` and `crate`; without `plugin`
/// the handlers are built-in. A version is a text or a constant, such as
/// `version = env!("CARGO_PKG_VERSION")`; without one the plugin has none. Without
/// a `description` the doc comment of the block is it.
///
/// A method `fn(&self)`, async or not, that returns nothing or a `Result<(), E>`
/// can be marked `#[start]` or `#[stop]`: the first runs before the plugin's
/// handlers are registered, the second after the last call of them has ended.
///
/// Methods without a mark stay ordinary methods.
#[proc_macro_attribute]
pub fn hook_handlers(arguments: TokenStream, item: TokenStream) -> TokenStream {
    hook_handlers::hook_handlers(arguments.into(), item.into()).into()
}

/// Implements the first-wins merge for a struct whose fields are all `Option`s.
///
/// ```ignore
/// #[derive(Default, Merge)]
/// struct Amendment { prepend: Option<String>, append: Option<String> }
/// ```
///
/// `#[merge(crate = ::path)]` names the runtime where it is renamed or
/// re-exported.
#[proc_macro_derive(Merge, attributes(merge))]
pub fn derive_merge(input: TokenStream) -> TokenStream {
    merge::merge(input.into()).into()
}
