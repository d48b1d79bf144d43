//! Listening to who is there: from when on all are known, for how long, and what is kept of it.

mod support;

use std::sync::Arc;
use std::time::Duration;

use hooks_fleet::carrier::{Carrier, Presence};
use hooks_fleet::{Fleet, LocalNetwork};
use hooks_runtime::{Gate, HookRegistry, Judgement, on};
use support::tamper::Tamper;
use support::*;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    let pass = |_: &RunningPayload| Judgement::Pass;
    hooks.register(on::<Running>().name("rules").guard(pass)).unwrap();
    hooks
}

/// L37: one that goes while the others are still told does not make a share start without them.
#[tokio::test(start_paused = true)]
async fn l37_a_share_starts_when_all_are_known_that_are_there() {
    let network = LocalNetwork::new();
    let serving = serve_running(&network, "policy", &rules()).await;
    let mut other = serving.announcement().clone();
    other.instance = "gone".into();
    let gone = Presence::Gone(other.service.clone(), other.instance.clone());
    let permits = Arc::new(Semaphore::new(0));
    let mut carrier = Tamper::new(&network);
    carrier.heard_first = Some((vec![Presence::Here(other), gone], Arc::clone(&permits)));
    let hooks = HookRegistry::new();
    let fleet = Fleet::over(carrier, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).from("policy");
    let starting = tokio::spawn(share.start());
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert!(!starting.is_finished());
    permits.add_permits(1);
    let _sharing = starting.await.unwrap().unwrap();
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// L37: with its runtime a fleet hears of nobody any more; a share that starts in another one has
/// it listen again, for all that it shares.
#[test]
fn l37_a_fleet_listens_again_in_another_runtime() {
    let (network, hooks, other) = (LocalNetwork::new(), HookRegistry::new(), HookRegistry::new());
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let first = runtime();
    let _sharing = first.block_on(async {
        let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "rules");
        share.start().await.unwrap()
    });
    drop(first);
    runtime().block_on(async {
        let _policy = serve_running(&network, "policy", &rules()).await;
        let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
        assert_eq!(failure.as_str(), "absent");
        let again = fleet.share::<Running>(&other).from("policy").start().await.unwrap();
        assert!(again.is_present("policy"));
        for hooks in [&hooks, &other] {
            let fired = hooks.fire_gating::<Running>(command("ls")).await;
            assert!(matches!(fired, Ok(Gate::Passed(_))), "{fired:?}");
        }
        let _audit = serve_running(&network, "audit", &rules()).await;
        again.wait_for("audit").await;
    });
}

/// L37: what others say of themselves forges no line of a log, and fills no memory.
#[tokio::test]
async fn l37_what_is_kept_of_strangers_is_short_and_one_line() {
    let network = LocalNetwork::new();
    let serving = serve_running(&network, "policy", &rules()).await;
    let mut carrier = Tamper::new(&network);
    let why = format!("\u{202e}its `{}`\nINFO all is well", "x".repeat(1 << 20));
    let refused = Presence::Refused("a\nb".into(), "\u{202e}c".into(), why);
    let permits = Arc::new(Semaphore::new(1));
    carrier.heard_first = Some((vec![refused], permits));
    let fleet = Fleet::over(carrier, options("agent")).unwrap();
    let _sharing =
        fleet.share::<Running>(&HookRegistry::new()).from("policy").start().await.unwrap();
    let mut forged = serving.announcement().clone();
    forged.handlers[0].handler = format!("\u{1b}[2J{}", "é".repeat(1 << 20));
    network.announce(&forged).await.unwrap();
    while fleet.strangers().len() < 2 {
        tokio::task::yield_now().await;
    }
    let strangers = fleet.strangers();
    assert_eq!((&*strangers[0].service, &*strangers[0].instance), (r"a\nb", r"\u{202e}c"));
    assert_eq!(strangers[0].why, format!(r"\u{{202e}}its `{}", "x".repeat(487)));
    assert!(strangers[1].why.starts_with(r"`\u{1b}[2Jéé"), "{}", strangers[1].why);
    assert!(strangers[1].why.chars().count() <= 500);
}
