//! Fires that are under way while processes come, go and change.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use hooks_fleet::{Fleet, LocalNetwork, RemoteFailure, Serving, Sharing};
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, capturing, on};
use support::*;
use tokio::sync::{Semaphore, mpsc};

/// A host whose fires wait before all others, and whose last rewriter makes each command a
/// deletion.
struct Host {
    hooks: HookRegistry,
    sharing: Sharing,
    has_begun: mpsc::UnboundedReceiver<()>,
    go_on: Arc<Semaphore>,
}

async fn host(network: &LocalNetwork) -> Host {
    let (began, has_begun) = mpsc::unbounded_channel();
    let go_on = Arc::new(Semaphore::new(0));
    let hooks = HookRegistry::new();
    let goes_on = Arc::clone(&go_on);
    let waits = on::<Running>().name("waits").priority(-10).handler(capturing(
        async move |_: &RunningPayload| {
            began.send(()).unwrap();
            goes_on.acquire().await.unwrap().forget();
            Verdict::<RunningPayload>::Pass
        },
    ));
    let deletes = on::<Running>().name("deletes").priority(10);
    let deletes = deletes.handler(|_: &RunningPayload| Verdict::Replace(command("rm")));
    hooks.register([waits, deletes]).unwrap();
    let fleet = Fleet::local(network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let sharing = share.start().await.unwrap();
    Host { hooks, sharing, has_begun, go_on }
}

fn judge(command: &RunningPayload) -> Judgement {
    if command.line == "rm" { Judgement::reject("no") } else { Judgement::Pass }
}

/// L10, L37: a guard that comes while a fire is under way is not called by that in the place that
/// was kept for it, among the rewriters: it would judge what is changed after it.
#[tokio::test]
async fn l10_a_guard_that_comes_is_not_called_among_the_rewriters() {
    let network = LocalNetwork::new();
    let Host { hooks, sharing, mut has_begun, go_on } = host(&network).await;
    let fire = || {
        let hooks = hooks.clone();
        tokio::spawn(async move { hooks.fire_gating::<Running>(command("ls")).await })
    };
    let firing = fire();
    has_begun.recv().await.unwrap();
    let rules = HookRegistry::new();
    rules.register(on::<Running>().name("rules").guard(judge)).unwrap();
    let _serving = serve_running(&network, "policy", &rules).await;
    sharing.wait_for("policy").await;
    go_on.add_permits(2);
    let failure = remote(firing.await.unwrap());
    assert_eq!(failure, RemoteFailure::Absent { service: "policy".into() });
    // A fire that begins now has it behind them.
    assert!(matches!(fire().await.unwrap(), Ok(Gate::Rejected(_))));
}

/// L37: a version that has another place takes over from the one before also where a fire is under
/// way, which does not fail for it.
#[tokio::test]
async fn l37_a_fire_under_way_outlives_a_change_of_the_order() {
    let network = LocalNetwork::new();
    let serve = async |priority: i32| {
        let rules = HookRegistry::new();
        let pass = |_: &RunningPayload| Judgement::Pass;
        rules.register(on::<Running>().name("rules").priority(priority).guard(pass)).unwrap();
        serve_running(&network, "policy", &rules).await
    };
    let first = serve(0).await;
    let Host { hooks, sharing, mut has_begun, go_on } = host(&network).await;
    let firing = {
        let hooks = hooks.clone();
        tokio::spawn(async move { hooks.fire_gating::<Running>(command("ls")).await })
    };
    has_begun.recv().await.unwrap();
    assert!(first.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("policy").await;
    let _second = serve(7).await;
    sharing.wait_for("policy").await;
    go_on.add_permits(1);
    assert!(matches!(firing.await.unwrap(), Ok(Gate::Passed(_))));
}

/// L10, L24, L37: processes that come, leave, die and change their place, shares that begin and
/// end, and fires all the while, on several threads: no gate opens, and all come to their end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn l37_no_gate_opens_while_everything_changes() {
    let network = LocalNetwork::new();
    let Host { hooks, sharing, mut has_begun, go_on } = host(&network).await;
    go_on.add_permits(Semaphore::MAX_PERMITS / 2);
    tokio::spawn(async move { while has_begun.recv().await.is_some() {} });
    let (is_over, rejected) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let fires = (0..4).map(|_| {
        let (hooks, is_over) = (hooks.clone(), Arc::clone(&is_over));
        let rejected = Arc::clone(&rejected);
        tokio::spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                match hooks.fire_gating::<Running>(command("ls")).await {
                    Ok(Gate::Passed(command)) => panic!("{command:?} has passed"),
                    Ok(Gate::Rejected(_)) => drop(rejected.fetch_add(1, Ordering::Relaxed)),
                    Err(error) => assert!(RemoteFailure::of(&error).is_some(), "{error}"),
                }
                tokio::task::yield_now().await;
            }
        })
    });
    let fires: Vec<_> = fires.collect();
    let serve = async |round: i32| -> Serving {
        let rules = HookRegistry::new();
        let rules_of = on::<Running>().name("rules").priority(round % 3);
        // Each third is a version in which it is no guard yet: it sees no deletion, and passes
        // nothing by itself.
        if round % 3 == 2 {
            let judged = |it: &RunningPayload| match judge(it) {
                Judgement::Pass => Err("it is no guard yet"),
                Judgement::Reject(reason) => Ok(Verdict::<RunningPayload>::Reject(reason)),
            };
            rules.register(rules_of.handler(judged)).unwrap();
        } else {
            rules.register(rules_of.guard(judge)).unwrap();
        }
        let quick = options("policy").linger(Duration::from_millis(1));
        let fleet = Fleet::local(&network, quick).unwrap();
        fleet.serve::<Running>(&rules).start().await.unwrap()
    };
    let other = HookRegistry::new();
    let agent = Fleet::local(&network, options("agent")).unwrap();
    for round in 0..150 {
        let serving = serve(round).await;
        let share = agent.share::<Running>(&other).from("policy");
        let again = share.start().await.unwrap();
        sharing.wait_for("policy").await;
        tokio::time::sleep(Duration::from_millis(1)).await;
        if round % 2 == 0 {
            assert!(serving.leave(Duration::from_secs(9)).await);
        } else {
            network.kill("policy", &serving.announcement().instance);
            drop(serving);
        }
        again.stop();
        assert_eq!(names(&other.handlers()), [""; 0]);
    }
    is_over.store(true, Ordering::Relaxed);
    for firing in fires {
        firing.await.unwrap();
    }
    assert!(rejected.load(Ordering::Relaxed) > 0);
}
