//! A plugin that uninstalls itself gets a `tracing` event for the refused wait,
//! also where the outcome is not read (L19, L20).
//!
//! A program of its own, like every test that listens to `tracing`.
// The bare statement below is how users write it.
#![deny(unused_must_use)]

mod support;

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use hooks_runtime::{HookRegistry, Installed, hook_handlers, hook_points};
use support::Log;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

hook_points! {
    /// Somebody is at the door.
    pub void Knock { n: u32 }
}

/// Notes the fields of every event.
struct Lines(Log);

struct Line<'a>(&'a Log);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push(format!("{field}: {value:?}"));
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line(&self.0));
    }

    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Uninstalls itself at the first knock.
#[derive(Default)]
struct Hermit(Arc<Mutex<Option<Installed<Hermit>>>>);

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
async fn l19_a_refused_wait_that_nobody_reads_is_in_the_log() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let own: Arc<Mutex<Option<Installed<Hermit>>>> = Arc::default();
    let hermit = hooks.install(Hermit(Arc::clone(&own))).unwrap();
    *own.lock().unwrap() = Some(hermit);
    // The test's runtime has this one thread, so all events come here.
    let _events = tracing::subscriber::set_default(Lines(log.clone()));

    hooks.fire_void::<Knock>(&KnockPayload { n: 1 }).await.unwrap();
    assert_eq!(
        log.take(),
        [
            "message: uninstalled without a wait",
            "error: plugin `hermit` cannot wait for itself: this is one of its own handlers",
        ]
    );
    assert!(hooks.handlers().is_empty(), "it is removed all the same");

    // From outside there is nothing to say.
    let hermit = hooks.install(Hermit::default()).unwrap();
    assert!(hermit.uninstall().await.is_drained());
    assert_eq!(log.take(), [""; 0]);
}
