//! Whose time it is: a limit measures its own handler (L14), and the reported
//! time is that handler's (L20).

mod support;

use std::time::{Duration, Instant};

use hooks_runtime::observe::{ObservedCall, Observer};
use hooks_runtime::{
    Claim, FailurePolicy, FireError, Gate, HookPoint, HookRegistry, Verdict, hook_points, on,
};
use support::keep_quiet;

use FailurePolicy::Closed;

hook_points! {
    /// Tells.
    pub void Tell { n: u32 }
    /// Routes.
    pub claiming Route { n: u32 } -> &'static str;
    /// Lifts.
    pub gating Lift(Heavy);
    /// Loads.
    pub modifying Load(u32) -> { thing: Heavy }
}

/// Keeps its thread busy until that much time has passed.
fn block(time: Duration) {
    let since = Instant::now();
    while since.elapsed() <= time {
        std::hint::spin_loop();
    }
}

#[tokio::test]
async fn l14_a_limit_is_for_the_time_of_its_own_handler() {
    let (brief, long) = (Duration::from_millis(25), Duration::from_secs(3600));
    let hooks = HookRegistry::new();
    let tells = |name| on::<Tell>().name(name).on_failure(Closed);
    let blocks = |_: &TellPayload| block(Duration::from_millis(30));
    let prompt = |_: &TellPayload| {};
    hooks
        .register([
            tells("blocks, within its limit").timeout(long).handler(blocks),
            tells("right behind").timeout(brief).handler(prompt),
            tells("blocks without a limit").handler(blocks),
            tells("behind that").timeout(brief).handler(prompt),
            tells("at the end").timeout(brief).handler(async |_: &TellPayload| {}),
        ])
        .unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    assert_eq!(overruns::<Tell>(&hooks), [0; 5]);
}

/// How often each handler was late.
fn overruns<P: HookPoint>(hooks: &HookRegistry) -> Vec<u64> {
    hooks.handlers_at::<P>().iter().map(|info| info.overruns).collect()
}

/// Takes longer than [`LIMIT`] to be dropped, once.
#[derive(Clone, Debug, PartialEq)]
pub struct Heavy {
    light: bool,
}

const LIMIT: Duration = Duration::from_millis(200);
const LIGHT: Heavy = Heavy { light: true };

impl Drop for Heavy {
    fn drop(&mut self) {
        if !std::mem::replace(&mut self.light, true) {
            block(LIMIT);
        }
    }
}

/// Takes longer than [`LIMIT`] to be printed.
#[derive(Debug)]
struct LongStory;

impl std::fmt::Display for LongStory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        block(LIMIT);
        f.write_str("a long story")
    }
}

impl std::error::Error for LongStory {}

#[tokio::test]
async fn l14_taking_an_answer_is_not_the_time_of_the_next_handler() {
    let hooks = HookRegistry::new();
    let limited = || on::<Lift>().timeout(LIMIT);
    hooks
        .register([
            limited().handler(|_: &Heavy| Verdict::Replace(LIGHT)),
            limited().handler(|_: &Heavy| Verdict::<Heavy>::Pass),
        ])
        .unwrap();
    let gate = hooks.fire_gating::<Lift>(Heavy { light: false }).await;
    assert_eq!(gate.unwrap(), Gate::Passed(LIGHT));
    assert_eq!(overruns::<Lift>(&hooks), [0; 2]);

    let limited = || on::<Load>().timeout(LIMIT).on_failure(Closed);
    let load = |light| move |_: &u32| LoadResult { thing: Some(Heavy { light }) };
    hooks
        .register([
            limited().handler(load(true)),
            limited().handler(load(false)),
            limited().handler(|_: &u32| None::<LoadResult>),
        ])
        .unwrap();
    assert_eq!(hooks.fire_modifying::<Load>(&1).await.unwrap().thing, Some(LIGHT));
    assert_eq!(overruns::<Load>(&hooks), [0; 3]);
}

#[tokio::test]
async fn l20_the_time_of_one_handler_is_not_reported_of_another() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Route>().timeout(LIMIT).handler(|_: &RoutePayload| None::<&'static str>),
            on::<Route>()
                .on_failure(Closed)
                .handler(|_: &RoutePayload| Err::<Option<&'static str>, _>("no way")),
        ])
        .unwrap();
    let error = hooks.fire_claiming::<Route>(&RoutePayload { n: 1 }).await.unwrap_err();
    let FireError::Failed(failure) = error else { panic!("{error}") };
    assert_eq!(failure.elapsed(), None, "{failure}");
}

type Fails = fn(&RoutePayload) -> Result<Option<&'static str>, &'static str>;

#[tokio::test]
async fn l20_the_time_of_a_handler_with_a_limit_is_reported_however_it_fails() {
    keep_quiet(&["it broke"]);
    let fails: [Fails; 2] = [|_| Err("it failed"), |_| panic!("it broke")];
    for fails in fails {
        let hooks = HookRegistry::new();
        let limited = on::<Route>().timeout(LIMIT).on_failure(Closed);
        hooks.register(limited.handler(move |route: &RoutePayload| fails(route))).unwrap();
        let error = hooks.fire_claiming::<Route>(&RoutePayload { n: 1 }).await.unwrap_err();
        let FireError::Failed(failure) = error else { panic!("{error}") };
        assert!(failure.elapsed().is_some(), "{failure}");
    }
}

#[tokio::test]
async fn l14_reporting_a_failure_is_not_the_time_of_the_next_handler() {
    let hooks = HookRegistry::new();
    let (tells, routes) = (|| on::<Tell>().timeout(LIMIT), || on::<Route>().timeout(LIMIT));
    hooks
        .register([
            tells().handler(|_: &TellPayload| Err::<(), _>(LongStory)),
            tells().handler(|_: &TellPayload| {}),
            routes().handler(|_: &RoutePayload| Err::<Option<&'static str>, _>(LongStory)),
            routes().handler(|_: &RoutePayload| Some("prompt")),
        ])
        .unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    let failures: Vec<_> = hooks.handlers_at::<Tell>().iter().map(|h| h.failures).collect();
    assert_eq!(failures, [1, 0]);
    let claim = hooks.fire_claiming::<Route>(&RoutePayload { n: 1 }).await.unwrap();
    assert_eq!(claim, Claim::Claimed("prompt"));
    assert_eq!((overruns::<Tell>(&hooks), overruns::<Route>(&hooks)), (vec![0; 2], vec![0; 2]));
}

/// Takes longer than [`LIMIT`] before and after every turn of a handler.
#[derive(Debug)]
struct Thorough;

impl Observer for Thorough {
    fn poll_started(&self, _: &ObservedCall<'_>) {
        block(LIMIT);
    }

    fn poll_ended(&self, _: &ObservedCall<'_>) {
        block(LIMIT);
    }
}

#[tokio::test]
async fn l14_the_time_of_an_observer_is_not_the_handlers() {
    let hooks = HookRegistry::builder().observer(Thorough).build();
    hooks.register(on::<Tell>().timeout(LIMIT).handler(|_: &TellPayload| {})).unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    assert_eq!(overruns::<Tell>(&hooks), [0]);
}
