//! Plugins come and go and leave no memory behind (L19).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use futures::executor::block_on;
use hooks_runtime::plugin::Quota;
use hooks_runtime::{
    AfterExecute, FlowContext, HookRegistry, Plugins, Registration, ScopedHooks, Verdict,
    hook_handlers, hook_points, on,
};

/// The system's allocator, counting the bytes that the current thread has in
/// use: tests run side by side, and these hand nothing to other threads.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn add(layout: Layout, sign: isize) {
    let bytes = sign * isize::try_from(layout.size()).unwrap();
    // A thread that is ending has no count any more, and none is asked for.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout, 1);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        add(layout, -1);
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

hook_points! {
    /// A wave.
    pub void Wave { n: u32 }
    /// Who rides it.
    pub claiming Ride { n: u32 } -> u32;
    /// What it may carry.
    pub gating Carry(u32);
    /// A day at sea.
    pub flow Sail(u32) -> u32;
}

const WAVE: WavePayload = WavePayload { n: 1 };
const RIDE: RidePayload = RidePayload { n: 1 };

/// Something to leak.
struct Surfer(Vec<u8>);

#[hook_handlers(plugin = "surfer")]
impl Surfer {
    #[hook_handler(Wave)]
    async fn paddle(&self, _: &WavePayload) {}

    #[hook_handler(Ride, after = "nobody")]
    fn stand(&self, _: &RidePayload) -> Option<u32> {
        u32::try_from(self.0.len()).ok()
    }

    #[hook_handler(Carry, guard)]
    fn board(&self, _: &u32) -> Verdict {
        Verdict::Pass
    }

    #[hook_handler(AfterExecute<Sail>)]
    fn home(&self, _: &mut FlowContext<Sail>) {}
}

fn fire_all(hooks: &ScopedHooks) {
    block_on(async {
        hooks.fire_void::<Wave>(&WAVE).await.unwrap();
        let _ = hooks.fire_claiming::<Ride>(&RIDE).await.unwrap();
        let _ = hooks.fire_gating::<Carry>(1).await.unwrap();
        let operation = async |n: u32| Ok::<_, String>(n);
        hooks.run_flow::<Sail, _>(1, operation).await.unwrap();
    });
}

/// Two handlers, one of them anonymous, for the plugin of that number.
fn group(number: usize) -> [Registration; 2] {
    let ballast = Box::new([number; 8]);
    [
        on::<Wave>().handler(move |_: &WavePayload| assert_eq!(ballast.len(), 8)),
        on::<Ride>().name("rides").handler(|_: &RidePayload| -> Option<u32> { None }),
    ]
}

/// A thousand plugins of different names, one after another, then `together`
/// side by side; and a thousand times the one with state.
fn round(hooks: &HookRegistry, together: usize) {
    for number in 0..1000 {
        let registrar = hooks.registrar(&format!("p{number}")).unwrap();
        registrar.register(group(number)).unwrap();
        if number % 100 == 0 {
            fire_all(&hooks.scope(Plugins::only([format!("p{number}")])));
        }
        let removal = registrar.unregister();
        assert_eq!(removal.removed(), 2);
        block_on(removal.into_future()).into_result().unwrap();
    }
    let many = (0..together).map(|number| hooks.registrar(&format!("p{number}")).unwrap());
    let many: Vec<_> = many.collect();
    for (number, registrar) in many.iter().enumerate() {
        registrar.register(group(number)).unwrap();
    }
    fire_all(hooks);
    for registrar in &many {
        assert_eq!(registrar.unregister().removed(), 2);
    }
    for version in 0..1000 {
        let surfer = hooks.install(Surfer(vec![0; 64])).unwrap();
        if version % 100 == 0 {
            fire_all(hooks);
        }
        let next = hooks.install_or_replace(Surfer(vec![0; 64])).unwrap();
        block_on(surfer.uninstall().into_future()).into_result().unwrap();
        block_on(next.uninstall().into_future()).into_result().unwrap();
    }
}

/// What three rounds leave behind, in bytes.
fn left_behind(hooks: &HookRegistry) -> isize {
    // The first round makes what is made once: what a thread keeps for itself,
    // and tables of such a size that the rounds after fill less than half of
    // them. A hash table that is fuller may grow when entries come and go.
    round(hooks, 200);
    round(hooks, 100);
    let before = LIVE.get();
    for _ in 0..3 {
        round(hooks, 100);
    }
    LIVE.get() - before
}

#[test]
fn l19_a_thousand_plugins_leave_no_memory_behind() {
    assert_eq!(left_behind(&HookRegistry::new()), 0);
}

/// The same where a point is never empty.
#[test]
fn l19_nor_do_they_where_the_host_has_handlers_that_stay() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Wave>().name("host").handler(|_: &WavePayload| ()),
            on::<Ride>().name("host").handler(|_: &RidePayload| -> Option<u32> { None }),
        ])
        .unwrap();
    assert_eq!(left_behind(&hooks), 0);
}

#[test]
fn l16_limits_that_are_taken_away_leave_no_memory_behind() {
    let hooks = HookRegistry::new();
    // Other ids each time.
    let round = |which: u32| {
        for number in 0..1000 {
            let id = format!("p{which}-{number}");
            hooks.set_quota(&id, Quota::new().max_handlers(1)).unwrap();
            hooks.set_quota(&id, Quota::new()).unwrap();
            // Nor do those that take away what was never there.
            hooks.set_quota(&format!("q{which}-{number}"), Quota::new()).unwrap();
        }
    };
    round(1);
    let before = LIVE.get();
    round(2);
    assert_eq!(LIVE.get() - before, 0);
}
