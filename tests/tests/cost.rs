//! What a fire costs (L29, L30) and what setting up costs, in allocations: a
//! count that is the same on every machine, unlike a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hooks_runtime::{Gate, HookRegistry, Plugins, Registration, Verdict, hook_points, on};

/// The system's allocator, counting what the current thread asks for: tests
/// run side by side.
struct Counting;

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally { calls: 0, bytes: 0 }) };
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Tally {
    calls: usize,
    bytes: usize,
}

fn tally(bytes: usize) {
    // A thread that is ending has no tally any more, and none is asked for.
    let _ = TALLY.try_with(|tally| {
        let Tally { calls, bytes: before } = tally.get();
        tally.set(Tally { calls: calls + 1, bytes: before + bytes });
    });
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tally(layout.size());
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        tally(size);
        // SAFETY: passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` allocates on this thread.
fn cost_of<T>(work: impl FnOnce() -> T) -> Tally {
    let before = TALLY.get();
    let result = work();
    let after = TALLY.get();
    drop(result);
    Tally { calls: after.calls - before.calls, bytes: after.bytes - before.bytes }
}

const NOTHING: Tally = Tally { calls: 0, bytes: 0 };

/// Polls a future that has no reason to wait.
fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a fire of ready handlers had to wait"),
    }
}

hook_points! {
    /// A drop falls.
    pub void Drip { n: u32 }
    /// What it washes away.
    pub modifying Wash { n: u32 } -> { stain: String }
    /// Where it goes.
    pub claiming Drain { n: u32 } -> u32;
    /// Whether it may pass.
    pub gating Sluice(u32);
    /// Elsewhere.
    pub void Far { n: u32 }
}

const DRIP: DripPayload = DripPayload { n: 1 };
const WASH: WashPayload = WashPayload { n: 1 };
const DRAIN: DrainPayload = DrainPayload { n: 1 };

/// Fires each of the four points once, on `hooks`.
fn fire_all(hooks: &HookRegistry) {
    ready(hooks.fire_void::<Drip>(&DRIP)).unwrap();
    assert!(ready(hooks.fire_modifying::<Wash>(&WASH)).unwrap().stain.is_none());
    assert!(!ready(hooks.fire_claiming::<Drain>(&DRAIN)).unwrap().is_claimed());
    assert_eq!(ready(hooks.fire_gating::<Sluice>(7)).unwrap(), Gate::Passed(7));
}

/// The second time counts: the first makes what is made once a thread.
#[track_caller]
fn costs_nothing(mut fire: impl FnMut()) {
    fire();
    assert_eq!(cost_of(fire), NOTHING);
}

/// Eight handlers at each of the four points: half sync, half async, every
/// other one of a plugin.
fn eight_each() -> HookRegistry {
    let hooks = HookRegistry::new();
    for index in 0..4 {
        let plugin = format!("p{index}");
        hooks
            .register([
                on::<Drip>().handler(|_: &DripPayload| ()),
                on::<Drip>().plugin(&*plugin).handler(async |_: &DripPayload| ()),
                on::<Wash>().handler(|_: &WashPayload| -> Option<WashResult> { None }),
                on::<Wash>()
                    .plugin(&*plugin)
                    .handler(async |_: &WashPayload| WashResult::default()),
                on::<Drain>().handler(|_: &DrainPayload| -> Option<u32> { None }),
                on::<Drain>()
                    .plugin(&*plugin)
                    .handler(async |_: &DrainPayload| -> Option<u32> { None }),
                on::<Sluice>().handler(|_: &u32| Verdict::<u32>::Pass),
                on::<Sluice>().plugin(&*plugin).guard(async |_: &u32| Verdict::Pass),
            ])
            .unwrap();
    }
    hooks
}

#[test]
fn the_counter_counts() {
    assert_eq!(cost_of(|| Box::new([0_u8; 40])), Tally { calls: 1, bytes: 40 });
    assert_eq!(cost_of(|| 7), NOTHING);
}

#[test]
fn l29_a_fire_with_no_handlers_allocates_nothing() {
    let hooks = HookRegistry::new();
    costs_nothing(|| fire_all(&hooks));
    // Nor where there were some, and all have left.
    let hooks = HookRegistry::new();
    let handles = hooks
        .register([
            on::<Drip>().handler(|_: &DripPayload| ()),
            on::<Wash>().handler(|_: &WashPayload| WashResult::default()),
            on::<Drain>().handler(|_: &DrainPayload| Some(1)),
            on::<Sluice>().handler(|_: &u32| Verdict::<u32>::reject("dry")),
        ])
        .unwrap();
    assert_eq!(handles.unregister().removed(), 4);
    assert!(hooks.handlers().is_empty());
    costs_nothing(|| fire_all(&hooks));
}

#[test]
fn l29_eight_ready_handlers_allocate_nothing() {
    let hooks = eight_each();
    costs_nothing(|| ready(hooks.fire_void::<Drip>(&DRIP)).unwrap());
    costs_nothing(|| drop(ready(hooks.fire_modifying::<Wash>(&WASH)).unwrap()));
    costs_nothing(|| assert!(!ready(hooks.fire_claiming::<Drain>(&DRAIN)).unwrap().is_claimed()));
    costs_nothing(|| assert_eq!(ready(hooks.fire_gating::<Sluice>(7)).unwrap(), Gate::Passed(7)));
}

#[test]
fn l29_nor_in_a_scope() {
    let hooks = eight_each();
    let turn = hooks.scope(Plugins::only(["p1", "p3"]));
    costs_nothing(|| ready(turn.fire_void::<Drip>(&DRIP)).unwrap());
    costs_nothing(|| drop(ready(turn.fire_modifying::<Wash>(&WASH)).unwrap()));
}

#[test]
fn l29_a_lazy_payload_is_not_built_where_there_are_no_handlers() {
    let hooks = HookRegistry::new();
    ready(hooks.fire_void_with::<Drip>(|| unreachable!("no handlers"))).unwrap();
    let washed = ready(hooks.fire_modifying_with::<Wash>(|| unreachable!("no handlers")));
    assert!(washed.unwrap().stain.is_none());
    let drained = ready(hooks.fire_claiming_with::<Drain>(|| unreachable!("no handlers")));
    assert!(!drained.unwrap().is_claimed());

    let hooks = eight_each();
    let mut built = 0;
    ready(hooks.fire_void_with::<Drip>(|| {
        built += 1;
        DRIP
    }))
    .unwrap();
    assert_eq!(built, 1, "for eight handlers it is built once");
}

#[test]
fn l30_a_fire_costs_the_same_whatever_is_registered_elsewhere() {
    let hooks = eight_each();
    hooks
        .register((0..1_000).map(|index| {
            on::<Far>()
                .name(format!("far{index}"))
                .plugin(format!("q{index}"))
                .handler(|_: &FarPayload| ())
        }))
        .unwrap();
    costs_nothing(|| fire_all(&hooks));
    let turn = hooks.scope(Plugins::only((0..1_000).map(|index| format!("q{index}"))));
    costs_nothing(|| ready(turn.fire_void::<Drip>(&DRIP)).unwrap());
}

/// Twice as many registrations may cost little more than twice as much; in
/// a quadratic set-up they cost four times as much.
#[track_caller]
fn grows_in_proportion(what: &str, few: usize, set_up: impl Fn(usize)) {
    let (few, many) = (cost_of(|| set_up(few)), cost_of(|| set_up(2 * few)));
    for (unit, few, many) in [("calls", few.calls, many.calls), ("bytes", few.bytes, many.bytes)] {
        let times = many as f64 / few as f64;
        assert!(times < 2.5, "{what}: {few} {unit} became {many}, {times:.2} times as many");
    }
}

fn named(index: usize) -> Registration {
    on::<Drip>().name(format!("h{index}")).handler(|_: &DripPayload| ())
}

fn anonymous(_: usize) -> Registration {
    on::<Drip>().handler(|_: &DripPayload| ())
}

#[test]
fn l30_registering_one_by_one_stays_cheap() {
    for (what, registration) in [("named", named as fn(usize) -> _), ("anonymous", anonymous)] {
        grows_in_proportion(what, 2_000, |count| {
            let hooks = HookRegistry::new();
            for index in 0..count {
                hooks.register(registration(index)).unwrap();
            }
        });
    }
}

#[test]
fn l30_ten_thousand_one_by_one() {
    let hooks = HookRegistry::new();
    let cost = cost_of(|| {
        for index in 0..10_000 {
            hooks.register(named(index)).unwrap();
        }
    });
    // About as many for each as for the first: the name, the entry, its list.
    assert!(cost.calls < 40 * 10_000, "{cost:?}");
    assert!(cost.bytes < 16 * 1024 * 10_000, "{cost:?}");
    ready(hooks.fire_void::<Drip>(&DRIP)).unwrap();
}

#[test]
fn l30_registering_in_front_stays_cheap() {
    grows_in_proportion("each before the others", 2_000, |count| {
        let hooks = HookRegistry::new();
        for index in 0..count {
            let first = on::<Drip>().name(format!("h{index}")).priority(-(index as i32));
            hooks.register(first.handler(|_: &DripPayload| ())).unwrap();
        }
    });
}

#[test]
fn l30_a_group_stays_cheap() {
    for (what, registration) in [("named", named as fn(usize) -> _), ("anonymous", anonymous)] {
        grows_in_proportion(what, 500, |count| {
            let hooks = HookRegistry::new();
            hooks.register((0..count).map(registration)).unwrap();
        });
    }
}

#[test]
fn l30_plugins_one_by_one_stay_cheap() {
    grows_in_proportion("a plugin each", 2_000, |count| {
        let hooks = HookRegistry::new();
        for index in 0..count {
            let owned = on::<Drip>().plugin(format!("q{index}")).handler(|_: &DripPayload| ());
            hooks.register(owned).unwrap();
        }
    });
}

#[test]
fn l30_one_constraint_does_not_make_all_others_dear() {
    grows_in_proportion("beside a constrained one", 500, |count| {
        let hooks = HookRegistry::new();
        let last = on::<Drip>().name("last").after("h0");
        hooks.register(last.handler(|_: &DripPayload| ())).unwrap();
        for index in 0..count {
            hooks.register(named(index)).unwrap();
        }
    });
}

#[test]
fn l30_unregistering_one_by_one_stays_cheap() {
    grows_in_proportion("taking all away again", 1_000, |count| {
        let hooks = HookRegistry::new();
        let group = (0..count).map(|index| {
            on::<Drip>().name(format!("h{index}")).plugin("tap").handler(|_: &DripPayload| ())
        });
        let handles = hooks.register(group).unwrap();
        assert_eq!(handles.unregister().removed(), count);
    });
}
