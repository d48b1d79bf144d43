//! A log whose subscriber panics: it ends nothing but its own line.

mod support;

use std::time::Duration;

use hooks_fleet::{Fleet, LocalNetwork};
use hooks_runtime::{Gate, HookRegistry, Judgement, on};
use support::*;
use tracing::{Event, Metadata, Subscriber, span};

struct Breaks;

impl Subscriber for Breaks {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hooks_fleet")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {
        panic!("the disk of the log is full");
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// L12, L37: whoever comes after the line that broke the log is heard of, and a rejection is not
/// lost for it.
#[tokio::test(start_paused = true)]
async fn l12_a_log_that_breaks_ends_nothing() {
    let _logged = tracing::subscriber::set_default(Breaks);
    let network = LocalNetwork::new();
    let rules = HookRegistry::new();
    let no = |_: &RunningPayload| Judgement::reject("no");
    rules.register(on::<Running>().name("rules").guard(no)).unwrap();
    let hooks = HookRegistry::new();
    let observed = options("agent").observe(|_| panic!("who observes breaks too"));
    let fleet = Fleet::local(&network, observed).unwrap();
    let sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let _stranger = serve_running(&network, "stranger", &rules).await;
    sharing.wait_for("stranger").await;
    assert_eq!(fleet.strangers().len(), 1);
    let serving = serve_running(&network, "policy", &rules).await;
    sharing.wait_for("policy").await;
    let fired = hooks.fire_gating::<Running>(command("ls")).await;
    assert!(matches!(fired, Ok(Gate::Rejected(_))), "{fired:?}");
    assert!(serving.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("policy").await;
}
