// Names of one's own for the functions and macros that expansions use.
#![allow(dead_code, unused_macros)]
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_handlers, hook_points};

fn on() {}
fn merged() {}
fn __call() {}

macro_rules! file {
    () => {
        compile_error!("not this one")
    };
}

hook_points! {
    pub void Told { file: u32, set: u32, later: u32 }
    pub modifying Amended { n: u32 } -> { set: u32, later: u32, merge: u32 }
}

#[hook_handler(Told)]
fn registration(_: &ToldPayload) {}

#[hook_handler(Amended)]
fn name(_: &AmendedPayload) -> AmendedResult {
    AmendedResult { set: Some(1), ..Default::default() }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Told)]
    fn registrations(&self, _: &ToldPayload) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![registration, name])?;
    let _audit = hooks.install(Audit)?;
    Ok(())
}
