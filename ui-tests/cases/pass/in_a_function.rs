// Points, handlers and plugins declared inside a function.
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_handlers, hook_points};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    hook_points! {
        pub void Told { n: u32 }
    }

    #[hook_handler(Told)]
    fn told(_: &ToldPayload) {}

    struct Audit;

    #[hook_handlers(plugin = "audit")]
    impl Audit {
        #[hook_handler(Told)]
        async fn told(&self, _: &ToldPayload) {}
    }

    let hooks = HookRegistry::new();
    hooks.register(handlers![told])?;
    let _audit = hooks.install(Audit)?;
    Ok(())
}
