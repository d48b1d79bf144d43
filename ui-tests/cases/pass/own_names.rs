// Types of one's own with the names that expansions could mean.
#![allow(dead_code)]
use hooks_runtime::{
    HookRegistry, Merge, Verdict, handlers, hook_handler, hook_handlers, hook_points,
};

struct Option;
struct Some;
struct None;
struct Result;
struct Ok;
struct Err;
struct String;
struct Box;
struct Vec;
struct Arc;
struct Send;
struct Sync;
struct Default;
struct Clone;
struct Debug;
struct Into;
struct From;
struct Duration;
struct HookPoint;
struct Registration;
struct Plugin;
mod core {}
mod std {}
mod hooks {}

hook_points! {
    #[hook(timeout = "5s", on_failure = "closed")]
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: u32 }
    pub gating Gated { n: u32 }
    pub flow Call { n: u32 } -> u32;
}

#[derive(::core::default::Default, Merge)]
struct Amendment {
    text: ::core::option::Option<u32>,
}

#[hook_handler(Told, plugin = "audit", timeout = "5s", on_failure = "closed")]
async fn told(_: &ToldPayload) {}

#[hook_handler(Amended)]
fn amended(_: &AmendedPayload) -> ::core::option::Option<AmendedResult> {
    ::core::option::Option::None
}

struct Audit;

#[hook_handlers(plugin = "other")]
impl Audit {
    #[hook_handler(Gated, guard)]
    fn gated(&self, _: &GatedPayload) -> Verdict {
        Verdict::Pass
    }
}

fn main() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![told, amended]).unwrap();
    let _audit = hooks.install(Audit).unwrap();
}
