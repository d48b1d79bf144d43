//! A plugin that uninstalls itself gets a `tracing` event for the refused wait,
//! also where the outcome is not read (L19, L20).
//!
//! A program of its own, like every test that listens to `tracing`.
// The bare statement below is how users write it.
#![deny(unused_must_use)]

mod support;

use std::sync::{Arc, Mutex};

use hooks_runtime::plugin::Installed;
use hooks_runtime::{HookRegistry, hook_handlers, hook_points};
use support::Log;
use support::events::Lines;

hook_points! {
    /// The bell rings.
    pub void Knock { n: u32 }
}

/// Uninstalls itself at the first knock.
#[derive(Default)]
struct Hermit(Arc<Mutex<Option<Installed>>>);

#[hook_handlers(plugin = "hermit")]
impl Hermit {
    #[hook_handler(Knock)]
    async fn leaves(&self, _: &KnockPayload) {
        let installed = self.0.lock().unwrap().take();
        if let Some(installed) = installed {
            installed.uninstall().await;
        }
    }
}

#[tokio::test]
async fn l19_a_refused_wait_that_is_not_read_is_in_the_log() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let own: Arc<Mutex<Option<Installed>>> = Arc::default();
    let hermit = hooks.install(Hermit(Arc::clone(&own))).unwrap();
    *own.lock().unwrap() = Some(hermit);
    // The test's runtime has this one thread, so all events come here.
    let _events = tracing::subscriber::set_default(Lines(log.clone()));

    hooks.fire_void::<Knock>(&KnockPayload { n: 1 }).await.unwrap();
    assert_eq!(
        log.take(),
        [
            "message: removed without a wait",
            "error: plugin `hermit` cannot wait for itself: this is one of its own handlers; \
             await the removal outside of them, or drop it",
        ]
    );
    assert!(hooks.handlers().is_empty(), "it is removed all the same");

    // From outside there is nothing to say.
    let hermit = hooks.install(Hermit::default()).unwrap();
    assert!(hermit.uninstall().await.is_drained());
    assert_eq!(log.take(), [""; 0]);
}

/// Has something to close.
struct Shop;

#[hook_handlers(plugin = "shop")]
impl Shop {
    #[hook_handler(Knock)]
    fn opens(&self, _: &KnockPayload) {}

    #[stop]
    fn closes(&self) -> Result<(), String> {
        Err("the till\nis stuck".into())
    }
}

#[tokio::test]
async fn l20_a_stop_that_is_skipped_or_fails_is_in_the_log() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let _events = tracing::subscriber::set_default(Lines(log.clone()));
    hooks.install(Shop).unwrap();
    hooks.unregister_plugin("shop");
    assert_eq!(
        log.take(),
        [
            "message: the `#[stop]` of a plugin failed: it was skipped, because only an awaited \
             removal runs it, and none did: await the `uninstall` of the plugin",
            "plugin: \"shop\"",
            "kind: \"skipped\"",
        ]
    );
    hooks.install(Shop).unwrap();
    hooks.unregister_plugin("shop").await;
    assert_eq!(
        log.take(),
        [
            "message: the `#[stop]` of a plugin failed: the till\\nis stuck",
            "plugin: \"shop\"",
            "kind: \"error\"",
        ],
        "once, though the outcome tells it too"
    );
}
