// Expansions are clean under the strictest lints.
#![forbid(unsafe_code)]
#![deny(
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations,
    unused,
    unused_qualifications,
    unused_results,
    unreachable_pub,
    non_camel_case_types,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    variant_size_differences,
    unused_lifetimes,
    unused_import_braces,
    let_underscore_drop,
    redundant_lifetimes,
    rust_2018_idioms,
    rust_2021_compatibility,
    future_incompatible,
    nonstandard_style,
    warnings
)]
//! A crate with documentation.

use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookRegistry, Merge, Verdict, handlers, hook_handler,
    hook_handlers, hook_points,
};

hook_points! {
    #![hook(timeout = "5s")]

    /// Tells.
    pub void Told { n: u32 }
    /// Amends.
    pub modifying Amended { n: u32 } -> { text: String }
    /// Amends with a named result.
    pub modifying Named(u32) -> Amendment;
    /// Claims.
    pub claiming Claimed { n: u32 } -> u32;
    /// Gates.
    #[hook(on_failure = "open")]
    pub gating Gated { n: u32 }
    /// Calls.
    pub flow Call { n: u32 } -> { n: u32 }
}

/// An amendment.
#[derive(Debug, Default, Merge)]
pub struct Amendment {
    /// The text.
    pub text: Option<String>,
}

#[hook_handler(Told, plugin = "calendar", priority = 3)]
async fn told(_: &ToldPayload) {}

#[hook_handler(Amended)]
fn amended(_: &AmendedPayload, _: &HookContext) -> AmendedResult {
    AmendedResult::default()
}

#[derive(Debug)]
struct Audit {
    limit: u32,
}

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Gated, guard)]
    fn gated(&self, gated: &GatedPayload) -> Verdict {
        if gated.n > self.limit { Verdict::reject("too many") } else { Verdict::Pass }
    }

    #[hook_handler(BeforeExecute<Call>)]
    async fn called(&self, _: &mut FlowContext<Call>) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    drop(hooks.register(handlers![told, amended])?);
    drop(hooks.install(Audit { limit: 3 })?);
    Ok(())
}
