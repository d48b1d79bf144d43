// The runtime under another name: points need no option, attributes take `crate`.
extern crate hooks_runtime as hooks;

mod facade {
    pub use hooks::{HookContext, HookRegistry, Merge, handlers, hook_handler, hook_handlers};
    pub use hooks::{Verdict, hook_points};

    pub mod inner {
        pub use ::hooks::*;
    }
}

use facade::{HookRegistry, handlers, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub gating Gated { n: u32 }
    pub modifying Amended { n: u32 } -> Amendment;
}

#[derive(Debug, Default, facade::Merge)]
#[merge(crate = crate::facade::inner)]
pub struct Amendment {
    pub text: Option<String>,
}

#[facade::hook_handler(Told, crate = crate::facade::inner)]
async fn told(_: &ToldPayload, _: &facade::HookContext) {}

struct Audit;

#[facade::hook_handlers(plugin = "audit", crate = ::hooks)]
impl Audit {
    #[facade::hook_handler(Gated, guard)]
    fn gated(&self, _: &GatedPayload) -> facade::Verdict {
        facade::Verdict::Pass
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![told])?;
    let _audit = hooks.install(Audit)?;
    Ok(())
}
