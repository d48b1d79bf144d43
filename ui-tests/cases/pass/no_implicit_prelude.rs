// A module without the prelude.
mod bare {
    #![no_implicit_prelude]

    use ::hooks_runtime::{hook_handler, hook_handlers, hook_points};

    hook_points! {
        #[hook(timeout = "5s")]
        pub void Told { n: u32, text: ::std::string::String }
        pub modifying Amended { n: u32 } -> { text: ::std::string::String }
        pub claiming Claimed(u32) -> u32;
        pub gating Gated { n: u32 }
        pub flow Call { n: u32 } -> { n: u32 }
    }

    #[derive(::std::default::Default, ::hooks_runtime::Merge)]
    pub struct Amendment {
        pub text: ::std::option::Option<u32>,
    }

    #[hook_handler(Told, plugin = "audit", timeout = "1s", after = "x", on_failure = "closed")]
    pub async fn told(_: &ToldPayload) {}

    #[hook_handler(Gated, guard)]
    pub fn gated(_: &GatedPayload) -> ::hooks_runtime::Verdict {
        ::hooks_runtime::Verdict::Pass
    }

    pub struct Audit;

    #[hook_handlers(plugin = "other")]
    impl Audit {
        #[hook_handler(Claimed)]
        fn claimed(&self, n: &u32) -> ::std::option::Option<u32> {
            ::std::option::Option::Some(*n)
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = hooks_runtime::HookRegistry::new();
    hooks.register(hooks_runtime::handlers![bare::told, bare::gated])?;
    let _audit = hooks.install(bare::Audit)?;
    Ok(())
}
