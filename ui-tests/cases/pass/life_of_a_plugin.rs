// Starts and stops, in every form, and plugins as data.
#![deny(unused_must_use, warnings)]

use std::io;

use hooks_runtime::{AnyPlugin, HookRegistry, hook_handlers, hook_points};

hook_points! {
    pub void Told { n: u32 }
}

struct Audit;

/// Notes what is told.
#[hook_handlers(plugin = "audit", version = env!("CARGO_PKG_VERSION"))]
impl Audit {
    #[start]
    async fn open(&self) -> Result<(), io::Error> {
        Ok(())
    }

    #[hook_handler(Told)]
    fn told(&self, _: &ToldPayload) {}

    #[stop]
    fn close(self: &Self) {}
}

struct Desk;

#[hook_handlers(plugin = "desk", description = "A desk.")]
impl Desk {
    #[hook_handler(Told)]
    fn told(&self, _: &ToldPayload) {}

    #[cfg(unix)]
    #[start]
    fn open(&self) -> Result<(), &'static str> {
        Ok(())
    }

    #[cfg(not(unix))]
    #[start]
    fn open_elsewhere(&self) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let plugins: Vec<Box<dyn AnyPlugin>> = vec![Box::new(Audit), Box::new(Desk)];
    let installed = hooks.start_all(plugins).await?;
    for plugin in installed {
        plugin.uninstall().await;
    }
    hooks.start(Desk).await?;
    hooks.unregister_plugin("desk").await;
    Ok(())
}
