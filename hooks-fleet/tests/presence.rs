//! Who is there: processes that come and go, required and optional handlers, strangers.

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_fleet::{Fleet, FleetError, LocalNetwork, MayHaveRun, RemoteFailure, Sharing};
use hooks_runtime::observe::{ObservedHandler, Observer};
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, capturing, on};
use support::*;
use tokio::sync::{mpsc, oneshot};

fn rules() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Running>().name("rules").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    hooks.register(on::<Printed>().name("count").handler(|_: &PrintedPayload| ())).unwrap();
    hooks
}

/// L37: a required handler that is not there is a failure, at once: no time passes.
#[tokio::test(start_paused = true)]
async fn l37_a_required_handler_that_is_absent_fails_the_fire_at_once() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let sharing = share.start().await.unwrap();
    assert_eq!(names(&hooks.handlers_at::<Running>()), ["policy/rules"]);
    let began = tokio::time::Instant::now();
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!(failure, RemoteFailure::Absent { service: "policy".into() });
    assert_eq!(failure.may_have_run(), MayHaveRun::No);
    assert_eq!(began.elapsed(), Duration::ZERO);

    // It comes, and takes its place.
    let serving = serve_running(&network, "policy", &rules()).await;
    sharing.wait_for("policy").await;
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    assert!(hooks.handlers_at::<Running>()[0].guard);
    // It goes, and the gate is closed again.
    assert!(serving.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("policy").await;
    assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "absent");
    assert!(hooks.handlers_at::<Running>()[0].guard);
}

/// A misspelt name is not told as a service that is away.
#[tokio::test(start_paused = true)]
async fn a_required_handler_of_another_name_is_absent_while_its_service_is_there() {
    let network = LocalNetwork::new();
    let _policy = serve_running(&network, "policy", &rules()).await;
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "ruels");
    let sharing = share.start().await.unwrap();
    assert!(sharing.is_present("policy"));
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!(failure.to_string(), "no process of the service `policy` serves it: nothing ran");
    // What it serves instead is said, and it is there.
    let why: Vec<_> = fleet.strangers().into_iter().map(|stranger| stranger.why).collect();
    let expected = "it does not serve `ruels` at `running`, which is required; it serves `rules`";
    assert_eq!(why, [expected]);
}

/// L19, L37: what a process brings comes at one instant and goes at one.
#[tokio::test(start_paused = true)]
async fn l37_a_process_comes_and_goes_at_one_instant() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).and::<Printed>().from("policy");
    let sharing = share.start().await.unwrap();
    assert_eq!(hooks.handlers().len(), 0);
    let serve = async || {
        let fleet = Fleet::local(&network, options("policy")).unwrap();
        fleet.serve::<Running>(&rules()).and::<Printed>().start().await.unwrap()
    };
    let first = serve().await;
    sharing.wait_for("policy").await;
    assert_eq!(names(&hooks.handlers()), ["policy/count", "policy/rules"]);
    // A second process of the service changes nothing of the order.
    let second = serve().await;
    sharing.wait_for_processes("policy", 2).await;
    assert_eq!(names(&hooks.handlers()), ["policy/count", "policy/rules"]);
    assert!(first.leave(Duration::from_secs(9)).await);
    sharing.wait_for_processes("policy", 1).await;
    assert_eq!(hooks.handlers().len(), 2);
    assert!(second.leave(Duration::from_secs(9)).await);
    sharing.wait_for_absence_of("policy").await;
    assert_eq!(hooks.handlers().len(), 0);
}

/// A process that was killed says nothing: it is asked, and forgotten when it is certainly gone.
#[tokio::test(start_paused = true)]
async fn l37_a_killed_process_is_forgotten_and_one_that_cannot_be_reached_is_not() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let serving = serve_running(&network, "policy", &rules()).await;
    let sharing = share_running(&network, "policy", &hooks).await;
    // Cut off, for far longer than anybody is remembered: the handler stays, and the gate is
    // closed.
    network.cut(true);
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
    assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "unreachable");
    network.cut(false);
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    // Dropped without a word, as a process that is killed.
    drop(serving);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(remote(hooks.fire_gating::<Running>(command("ls")).await).as_str(), "absent");
    sharing.wait_for_absence_of("policy").await;
    assert_eq!(hooks.handlers().len(), 0);
}

/// L37: a process leaves by draining: calls under way end, and their answers count.
#[tokio::test(start_paused = true)]
async fn l37_leaving_waits_for_the_calls_under_way() {
    let network = LocalNetwork::new();
    let remote_hooks = HookRegistry::new();
    let (began, mut has_begun) = mpsc::unbounded_channel::<oneshot::Sender<()>>();
    remote_hooks
        .register(on::<Running>().name("slow").handler(capturing(
            async move |_: &RunningPayload| {
                let (go_on, goes_on) = oneshot::channel();
                began.send(go_on).unwrap();
                goes_on.await.unwrap();
                Verdict::Replace(RunningPayload { line: "slow".into() })
            },
        )))
        .unwrap();
    let serving = serve_running(&network, "policy", &remote_hooks).await;
    let hooks = HookRegistry::new();
    let sharing = share_running(&network, "policy", &hooks).await;
    let firing = {
        let hooks = hooks.clone();
        tokio::spawn(async move { hooks.fire_gating::<Running>(command("ls")).await })
    };
    let go_on = has_begun.recv().await.unwrap();
    let leaving = tokio::spawn(serving.leave(Duration::from_mins(1)));
    sharing.wait_for_absence_of("policy").await;
    assert_eq!(hooks.handlers().len(), 0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!leaving.is_finished());
    go_on.send(()).unwrap();
    let Gate::Passed(passed) = firing.await.unwrap().unwrap() else { panic!("it was rejected") };
    assert_eq!(passed.line, "slow");
    assert!(leaving.await.unwrap());
}

/// L16: only services that the host names take part; others are noticed.
#[tokio::test]
async fn l37_services_that_are_not_named_take_no_part() {
    let network = LocalNetwork::new();
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let _serving = serve_running(&network, "rogue", &rules()).await;
    let _policy = serve_running(&network, "policy", &rules()).await;
    sharing.wait_for("policy").await;
    assert_eq!(names(&hooks.handlers()), ["policy/rules"]);
    let strangers = fleet.strangers();
    assert_eq!((strangers.len(), &*strangers[0].service), (1, "rogue"));
    let why = "at `running` its service is not named by `from` or `require`";
    assert_eq!(strangers[0].why, why);
}

/// A process that both fires and serves passes on no handlers of others.
#[tokio::test]
async fn l37_remote_handlers_are_not_served_again() {
    let network = LocalNetwork::new();
    let _policy = serve_running(&network, "policy", &rules()).await;
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Running>().name("own").guard(|_: &RunningPayload| Judgement::Pass))
        .unwrap();
    let fleet = Fleet::local(&network, options("middle")).unwrap();
    let _sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    let serving = fleet.serve::<Running>(&hooks).start().await.unwrap();
    let served: Vec<_> = serving.announcement().handlers.iter().map(|it| &*it.handler).collect();
    assert_eq!(served, ["own"]);
}

/// Bad input gets an error that says what to do.
#[tokio::test]
async fn mistakes_are_errors_that_say_what_to_do() {
    let network = LocalNetwork::new();
    let error = Fleet::local(&network, options("built-in")).unwrap_err();
    let text = "a service is named as a plugin is: `built-in` cannot be a plugin id";
    assert!(error.to_string().starts_with(text), "{error}");
    let fleet = Fleet::local(&network, options("policy")).unwrap();
    let hooks = HookRegistry::new();
    let error = fleet.serve::<Running>(&hooks).start().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the registry has no handlers at `running`: register them before `start`"
    );
    let error = fleet.share::<Sum>(&hooks).start().await.unwrap_err();
    assert_eq!(error.to_string(), "`sum` is a flow: name its stages, such as `BeforeExecute<…>`");
    let error = fleet.share::<Running>(&hooks).and::<Printed>().start().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no service is named at `running`, `printed`, so no handler of one takes part: name one by \
         `from` or `require`"
    );
    let serve = fleet.serve::<Running>(&rules()).and::<Printed>().idempotent("ruels");
    assert_eq!(
        serve.start().await.unwrap_err().to_string(),
        "`ruels` is declared idempotent, and is not served: what is served is `count`, `rules`"
    );
    let durable = Fleet::local(&network, options("policy").durable::<Running>()).unwrap();
    let error = durable.share::<Running>(&hooks).start().await.unwrap_err();
    assert!(matches!(error, FleetError::NotVoid { .. }), "{error}");
}

/// L37: where a process gives its fleet away, it hears of nobody any more: its remote handlers
/// fail at once and no gate is open, whoever comes or goes meanwhile.
#[tokio::test(start_paused = true)]
async fn l37_gates_are_closed_where_their_fleet_was_dropped() {
    let network = LocalNetwork::new();
    let _serving = serve_running(&network, "policy", &rules()).await;
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let sharing = fleet.share::<Running>(&hooks).from("policy").start().await.unwrap();
    drop(sharing);
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
    drop(fleet);
    let began = tokio::time::Instant::now();
    let failure = remote(hooks.fire_gating::<Running>(command("ls")).await);
    assert_eq!(failure, RemoteFailure::Unreachable { service: "policy".into() });
    assert_eq!((failure.may_have_run(), began.elapsed()), (MayHaveRun::No, Duration::ZERO));
    assert_eq!(names(&hooks.handlers_at::<Running>()), ["policy/rules"]);
}

/// What is killed in the network in memory stays away, also where its task still announces it.
#[tokio::test(start_paused = true)]
async fn a_process_that_was_killed_does_not_come_back() {
    let network = LocalNetwork::new();
    let serving = serve_running(&network, "policy", &rules()).await;
    let hooks = HookRegistry::new();
    let sharing = share_running(&network, "policy", &hooks).await;
    network.kill("policy", &serving.announcement().instance);
    sharing.wait_for_absence_of("policy").await;
    // It says twice meanwhile that it is there.
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert!(!sharing.is_present("policy"));
    // Another one is another.
    let _other = serve_running(&network, "policy", &rules()).await;
    sharing.wait_for("policy").await;
    assert!(serving.leave(Duration::from_secs(9)).await);
    assert!(matches!(hooks.fire_gating::<Running>(command("ls")).await, Ok(Gate::Passed(_))));
}

/// Ends sharing when it hears of a handler.
#[derive(Clone, Debug, Default)]
struct Stops(Arc<Mutex<Option<Sharing>>>);

impl Observer for Stops {
    fn registered(&self, _: &ObservedHandler<'_>) {
        let sharing = self.0.lock().unwrap().take();
        sharing.into_iter().for_each(Sharing::stop);
    }
}

/// L24: no lock is held while what the host has to say of a change is called: it may end sharing
/// in the midst of it, and nothing stays.
#[tokio::test]
async fn l24_sharing_may_end_while_a_handler_comes() {
    let network = LocalNetwork::new();
    let stops = Stops::default();
    let hooks = HookRegistry::builder().observer(stops.clone()).build();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).and::<Printed>().from("policy");
    *stops.0.lock().unwrap() = Some(share.start().await.unwrap());
    let other = HookRegistry::new();
    let watching = fleet.share::<Running>(&other).from("policy").start().await.unwrap();
    let serving = {
        let policy = Fleet::local(&network, options("policy")).unwrap();
        policy.serve::<Running>(&rules()).and::<Printed>().start().await.unwrap()
    };
    watching.wait_for("policy").await;
    assert_eq!(names(&hooks.handlers()), [""; 0]);
    assert_eq!(names(&other.handlers()), ["policy/rules"]);
    assert!(serving.leave(Duration::from_secs(9)).await);
}

/// What `main` or `unwrap` prints of an error says what to do.
#[tokio::test]
async fn an_error_of_the_start_prints_as_it_reads() {
    let fleet = Fleet::local(&LocalNetwork::new(), options("agent")).unwrap();
    let error = fleet.share::<Running>(&HookRegistry::new()).start().await.unwrap_err();
    assert!(matches!(error, FleetError::NoService { .. }));
    assert_eq!(format!("{error:?}"), error.to_string());
}

/// L37: a host's test can have each failure that there is over a network: what is under way when
/// the connection is cut is lost, as it is over NATS, and not out of time.
#[tokio::test(start_paused = true)]
async fn l37_a_call_that_is_under_way_when_the_network_is_cut_is_lost() {
    let network = LocalNetwork::new();
    let (asked, mut is_asked) = mpsc::unbounded_channel();
    let slow = HookRegistry::new();
    let never = capturing(async move |_: &RunningPayload| -> Judgement {
        asked.send(()).unwrap();
        std::future::pending().await
    });
    slow.register(on::<Running>().name("slow").guard(never)).unwrap();
    let _serving = serve_running(&network, "policy", &slow).await;
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&network, options("agent")).unwrap();
    let share = fleet.share::<Running>(&hooks).require::<Running>("policy", "slow");
    let _sharing = share.start().await.unwrap();
    let began = tokio::time::Instant::now();
    let cut = async {
        is_asked.recv().await.unwrap();
        network.cut(true);
    };
    let (fired, ()) = tokio::join!(hooks.fire_gating::<Running>(command("ls")), cut);
    let failure = remote(fired);
    assert_eq!(failure, RemoteFailure::Lost { service: "policy".into() });
    assert_eq!(failure.may_have_run(), MayHaveRun::Perhaps);
    assert_eq!(began.elapsed(), Duration::ZERO);
}

/// L22: a remote handler is where the host shares its point, not somewhere in this crate.
#[tokio::test]
async fn l22_the_place_of_a_remote_handler_is_where_its_point_is_shared() {
    let hooks = HookRegistry::new();
    let fleet = Fleet::local(&LocalNetwork::new(), options("agent")).unwrap();
    let written = line!() + 1;
    let share = fleet.share::<Running>(&hooks);
    let _sharing = share.require::<Running>("policy", "rules").start().await.unwrap();
    let location = hooks.handlers()[0].location;
    assert_eq!((location.file(), location.line()), (file!(), written));
    let again = fleet.share::<Running>(&hooks).require::<Running>("policy", "rules");
    let error = again.start().await.unwrap_err().to_string();
    assert!(error.contains(&format!("the first is at {}:{written}:", file!())), "{error}");
}
