//! Hostile handlers, clocks and observers under an operator's settings (L12, L19, L34 to
//! L36): what was once wrong, and stays right.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hooks_runtime::observe::{ObservedFire, ObservedHandler, Observer};
use hooks_runtime::operator::*;
use hooks_runtime::report::{Contribution, ContributionKind, HandlerStatus};
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{
    AfterExecute, BeforeExecute, Finally, FlowContext, Gate, HookRegistry, Judgement, OnError,
    hook_points, on,
};

/// Panics when it is dropped, but not while another panic unwinds.
#[derive(Debug, Default, Clone)]
pub struct Bomb(bool);
impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 && !std::thread::panicking() {
            panic!("bomb")
        }
    }
}
impl std::fmt::Display for Bomb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no")
    }
}
hook_points! {
    pub void Noted(u32);
    #[hook(timeout = "50ms")]
    pub void Quick(u32);
    pub claiming Route(u32) -> Bomb;
    pub gating Send(u32);
    pub gating Typed(u32) -> Bomb;
    pub flow Call(u32) -> u32;
}
const HOUR: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

fn noted(hooks: &HookRegistry) {
    hooks.register(on::<Noted>().name("h").handler(|_: &u32| ())).unwrap();
}
fn no(hooks: &HookRegistry) {
    hooks.register(on::<Send>().name("g").guard(|_: &u32| Judgement::reject("no"))).unwrap();
}

#[tokio::test]
async fn l36_a_decision_in_shadow_stays_with_its_handler_although_its_drop_panics() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Route>().name("bomb").handler(|_: &u32| Some(Bomb(true)))).unwrap();
    hooks.register(on::<Route>().name("none").handler(|_: &u32| None::<Bomb>)).unwrap();
    hooks.operator().shadow("route:bomb").apply().unwrap();
    let (claim, report) = hooks.fire_claiming_reported::<Route>(&1).await;
    assert!(!claim.unwrap().is_claimed());
    assert_eq!(
        report.handler("none").unwrap().status(),
        &HandlerStatus::Ran(Contribution::Nothing)
    );
}
#[tokio::test]
async fn l36_and_is_counted_there() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Route>().name("bomb").handler(|_: &u32| Some(Bomb(true)))).unwrap();
    hooks.register(on::<Route>().name("none").handler(|_: &u32| None::<Bomb>)).unwrap();
    hooks.operator().shadow("route:*").apply().unwrap();
    let _ = hooks.fire_claiming::<Route>(&1).await;
    let claims: Vec<_> =
        hooks.handlers().iter().map(|h| h.shadow.of(ContributionKind::Claimed)).collect();
    assert_eq!(claims, [1, 0]);
}
#[tokio::test]
async fn l36_a_warning_whose_drop_panics_is_no_failure() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Typed>().name("g").guard(|_: &u32| Judgement::Reject(Bomb(true)))).unwrap();
    let op = hooks.operator();
    op.breaker("typed:g", BreakerSettings::consecutive(1)).apply().unwrap();
    op.warn("typed:g").break_glass("x").until(HOUR).apply().unwrap();
    let (_, report) = hooks.fire_gating_reported::<Typed>(1).await;
    assert_eq!(
        (report.warnings().count(), hooks.handlers()[0].breaker),
        (1, Some(BreakerState::Closed))
    );
}
#[test]
fn l35_a_break_glass_setting_ends() {
    let hooks = HookRegistry::new();
    no(&hooks);
    let new = hooks.operator().disable("send:g").break_glass("x").until(Duration::MAX).apply();
    assert!(new.is_err() || new.unwrap().ends_in().is_some());
}
#[derive(Debug, Clone, Default)]
struct Ahead(Arc<AtomicBool>, Arc<AtomicUsize>);
impl Timer for Ahead {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        None
    }
    fn now(&self) -> Instant {
        if self.0.load(SeqCst) {
            panic!("now")
        }
        Instant::now() + HOUR + self.1.load(SeqCst) as u32 * SECOND
    }
}
#[tokio::test]
async fn l35_a_clock_that_panics_opens_no_gate() {
    let timer = Ahead::default();
    let hooks = HookRegistry::builder().timer(timer.clone()).build();
    no(&hooks);
    hooks.operator().disable("send:g").break_glass("x").until(SECOND).apply().unwrap();
    timer.1.store(5, SeqCst); // its end has passed
    timer.0.store(true, SeqCst);
    assert!(matches!(hooks.fire_gating::<Send>(1).await.unwrap(), Gate::Rejected(_)));
}
#[tokio::test]
async fn l19_a_refused_call_makes_no_participant_of_a_run() {
    let hooks = HookRegistry::new();
    let ran = Arc::new(AtomicUsize::new(0));
    let (count, registry) = (ran.clone(), hooks.clone());
    hooks
        .register([
            on::<BeforeExecute<Call>>()
                .plugin("p")
                .name("open")
                .handler(|_: &mut FlowContext<Call>| ()),
            on::<OnError<Call>>().name("host").handler(move |_: &mut FlowContext<Call>| {
                registry.unregister_plugin("p");
            }),
            on::<Finally<Call>>().plugin("p").name("close").handler(
                move |_: &mut FlowContext<Call>| {
                    count.fetch_add(1, SeqCst);
                },
            ),
        ])
        .unwrap();
    hooks
        .operator()
        .force_breaker("call/beforeExecute:p/open", BreakerState::Open)
        .apply()
        .unwrap();
    assert!(hooks.flow::<Call>().run(1, async |n| Ok::<_, std::io::Error>(n)).await.is_err());
    assert_eq!(ran.load(SeqCst), 0);
}
#[tokio::test(start_paused = true)]
async fn l19_a_removal_waits_for_no_run_in_which_the_call_was_refused() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<OnError<Call>>().plugin("p").name("e").handler(|_: &mut FlowContext<Call>| ()),
            on::<OnError<Call>>()
                .name("slow")
                .priority(5)
                .handler(async |_: &mut FlowContext<Call>| tokio::time::sleep(HOUR).await),
        ])
        .unwrap();
    hooks.operator().force_breaker("call/onError:p/e", BreakerState::Open).apply().unwrap();
    let other = hooks.clone();
    tokio::spawn(async move {
        other.flow::<Call>().run(1, async |_| Err::<u32, _>(std::io::Error::other("x"))).await
    });
    tokio::time::sleep(SECOND).await;
    assert!(tokio::time::timeout(SECOND, hooks.unregister_plugin("p")).await.is_ok());
}
#[tokio::test(start_paused = true)]
async fn l36_failures_in_shadow_do_not_trip_a_breaker() {
    let (hooks, down) = (HookRegistry::new(), Arc::new(AtomicBool::new(true)));
    let is_down = down.clone();
    hooks
        .register(on::<Send>().name("g").guard(move |_: &u32| {
            if is_down.load(SeqCst) { Err("x") } else { Ok(Judgement::Pass) }
        }))
        .unwrap();
    let op = hooks.operator();
    op.breaker("send:g", BreakerSettings::consecutive(1).open_for(HOUR)).apply().unwrap();
    op.shadow("send:g").break_glass("new version").until(SECOND).apply().unwrap();
    let _ = hooks.fire_gating::<Send>(1).await.unwrap();
    tokio::time::advance(SECOND).await;
    down.store(false, SeqCst);
    let _ = hooks.fire_gating::<Send>(1).await.unwrap();
}
#[tokio::test]
async fn l36_a_call_in_shadow_leaves_once_to_the_handler() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Route>().name("h").once().handler(|_: &u32| Some(Bomb(false)))).unwrap();
    let setting = hooks.operator().shadow("route:h").apply().unwrap();
    assert!(!hooks.fire_claiming::<Route>(&1).await.unwrap().is_claimed());
    hooks.operator().clear(setting.id()).unwrap();
    assert!(hooks.fire_claiming::<Route>(&1).await.unwrap().is_claimed());
}
#[test]
fn l34_a_plugins_handler_that_is_named_after_its_place_has_an_address() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Noted>().plugin("p").handler(|_: &u32| ())).unwrap();
    let target = format!("noted:p/{}", hooks.handlers()[0].name);
    hooks.operator().disable(target).apply().unwrap();
}
struct Once(Mutex<Option<HookRegistry>>, fn(&HookRegistry));
impl std::fmt::Debug for Once {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
#[derive(Debug, Clone)]
struct AtStart(Arc<Once>);
impl Observer for AtStart {
    fn fire_started(&self, _: &ObservedFire) {
        let hooks = self.0.0.lock().unwrap().take();
        if let Some(hooks) = hooks {
            (self.0.1)(&hooks)
        }
    }
}
#[tokio::test]
async fn l35_the_report_has_the_break_glass_that_the_fire_ran_under() {
    let at = AtStart(Arc::new(Once(Mutex::default(), |hooks| {
        hooks.operator().disable("send:g").break_glass("x").until(HOUR).apply().unwrap();
    })));
    let hooks = HookRegistry::builder().observer(at.clone()).build();
    no(&hooks);
    *at.0.0.lock().unwrap() = Some(hooks.clone());
    let (gate, report) = hooks.fire_gating_reported::<Send>(1).await;
    assert!(matches!(gate.unwrap(), Gate::Rejected(_)) || report.break_glass().len() == 1);
}
#[tokio::test(start_paused = true)]
async fn l35_the_report_of_a_stage_has_it_too() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<AfterExecute<Call>>().name("b").handler(|_: &mut FlowContext<Call>| ()))
        .unwrap();
    hooks
        .operator()
        .disable("call/afterExecute:b")
        .break_glass("why")
        .until(SECOND)
        .apply()
        .unwrap();
    let operation = async |n| {
        tokio::time::advance(SECOND).await;
        Ok::<_, std::io::Error>(n)
    };
    let (_, report) = hooks.flow::<Call>().run_reported(1, operation).await;
    assert_eq!((report.break_glass().len(), report.stages()[0].break_glass().len()), (1, 1));
}
#[derive(Debug, Clone)]
struct AtHalf(Arc<Once>);
impl Observer for AtHalf {
    fn breaker_changed(&self, _: &ObservedHandler<'_>, change: Transition) {
        if change.to == BreakerState::HalfOpen {
            let hooks = self.0.0.lock().unwrap().take();
            if let Some(hooks) = hooks {
                (self.0.1)(&hooks)
            }
        }
    }
}
#[tokio::test(start_paused = true)]
async fn l19_no_call_after_a_removal_by_an_observer_of_its_breaker() {
    let at = AtHalf(Arc::new(Once(Mutex::default(), |hooks| {
        hooks.unregister_handler("h");
    })));
    let (hooks, calls) =
        (HookRegistry::builder().observer(at.clone()).build(), Arc::new(AtomicUsize::new(0)));
    let count = calls.clone();
    hooks
        .register(on::<Noted>().name("h").handler(move |_: &u32| {
            count.fetch_add(1, SeqCst);
            Err::<(), _>("x")
        }))
        .unwrap();
    *at.0.0.lock().unwrap() = Some(hooks.clone());
    hooks
        .operator()
        .breaker("noted:h", BreakerSettings::consecutive(1).open_for(SECOND))
        .apply()
        .unwrap();
    hooks.fire_void::<Noted>(&1).await.unwrap();
    tokio::time::advance(2 * SECOND).await;
    hooks.fire_void::<Noted>(&1).await.unwrap();
    assert_eq!(calls.load(SeqCst), 1);
}
#[derive(Debug, Default, Clone)]
struct Changes(Arc<Mutex<Vec<String>>>);
impl Observer for Changes {
    fn breaker_changed(&self, _: &ObservedHandler<'_>, change: Transition) {
        self.0.lock().unwrap().push(change.to_string());
    }
}
#[tokio::test(start_paused = true)]
async fn l35_a_transition_is_reported_although_the_rate_is_passed() {
    let (changes, down) = (Changes::default(), Arc::new(AtomicBool::new(true)));
    let (hooks, is_down) =
        (HookRegistry::builder().observer(changes.clone()).build(), down.clone());
    hooks
        .register(
            on::<Noted>()
                .name("h")
                .handler(move |_: &u32| if is_down.load(SeqCst) { Err("x") } else { Ok(()) }),
        )
        .unwrap();
    let op = hooks.operator();
    op.breaker("noted:h", BreakerSettings::consecutive(1).open_for(SECOND)).apply().unwrap();
    op.rate_limit("noted:h", RateLimit::new(1, 10 * SECOND)).apply().unwrap();
    for wait in [2, 10, 0] {
        hooks.fire_void::<Noted>(&1).await.unwrap(); // fails; is rate-limited; succeeds
        tokio::time::advance(wait * SECOND).await;
        down.store(false, SeqCst);
    }
    assert_eq!(
        *changes.0.lock().unwrap(),
        ["closed to open", "open to half-open", "half-open to closed"]
    );
}
#[tokio::test]
async fn l31_a_condition_that_panics_counts_at_the_breaker() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Noted>().name("h").when(|_: &u32| panic!("c")).handler(|_: &u32| ()))
        .unwrap();
    hooks.operator().breaker("noted:h", BreakerSettings::consecutive(1)).apply().unwrap();
    hooks.fire_void::<Noted>(&1).await.unwrap();
    assert_eq!(
        (hooks.handlers()[0].failures, hooks.handlers()[0].breaker),
        (1, Some(BreakerState::Open))
    );
}
#[test]
fn l34_explain_names_the_limit_that_holds() {
    let hooks = HookRegistry::new();
    noted(&hooks);
    hooks.register(on::<Quick>().name("h").handler(|_: &u32| ())).unwrap(); // 50 ms
    hooks.operator().time_limit("*:h", SECOND).apply().unwrap();
    assert_eq!(
        hooks.operator().explain("quick:h").unwrap().get("time_limit").unwrap().value,
        "50ms"
    );
}
#[test]
fn l35_a_reason_can_be_read_and_a_setting_does_not_contradict_itself() {
    let hooks = HookRegistry::new();
    no(&hooks);
    noted(&hooks);
    let op = hooks.operator();
    let invisible = op.disable("send:g").break_glass("\u{200b}").until(HOUR).apply();
    let both = op.fail_open("noted:h").fail_closed().apply();
    assert!(invisible.is_err() && both.is_err(), "{invisible:?} {both:?}");
}
#[derive(Debug, Default, Clone)]
struct Ends(Arc<AtomicUsize>);
impl Observer for Ends {
    fn setting_ended(&self, _: &Setting, _: SettingEnd) {
        self.0.fetch_add(1, SeqCst);
    }
}
#[tokio::test(start_paused = true)]
async fn l35_a_report_notices_the_end_of_a_break_glass_setting() {
    let ends = Ends::default();
    let hooks = HookRegistry::builder().observer(ends.clone()).build();
    no(&hooks);
    hooks.operator().disable("send:g").break_glass("x").until(SECOND).apply().unwrap();
    hooks.unregister_handler("g");
    tokio::time::advance(HOUR).await;
    let _ = hooks.fire_gating_reported::<Send>(1).await; // knows that it has ended: it is not in the report
    assert_eq!(ends.0.load(SeqCst), 1);
}

/// Panics whenever it is dropped, also while another panic unwinds.
#[derive(Debug, Default, Clone)]
pub struct Always(u8);

impl Drop for Always {
    fn drop(&mut self) {
        if self.0 > 0 {
            panic!("always")
        }
    }
}

hook_points! { pub modifying Label { n: u32 } -> { title: Always, footer: Always } }

/// Two values of one result panic in their drops: a second panic in one drop would end the
/// process.
async fn two_late_values(in_shadow: bool) {
    let hooks = HookRegistry::new();
    let both =
        |n| move |_: &LabelPayload| LabelResult { title: Some(Always(n)), footer: Some(Always(n)) };
    hooks.register(on::<Label>().name("first").handler(both(0))).unwrap();
    hooks.register(on::<Label>().name("late").handler(both(1))).unwrap();
    if in_shadow {
        hooks.operator().shadow("label:late").apply().unwrap();
    }
    let (label, _) = hooks.fire_modifying_reported::<Label>(&LabelPayload { n: 1 }).await;
    assert!(label.is_ok());
}

#[tokio::test]
async fn l12_two_values_that_panic_in_their_drops_are_contained() {
    two_late_values(false).await;
}

#[tokio::test]
async fn l36_and_in_shadow_too() {
    two_late_values(true).await;
}
