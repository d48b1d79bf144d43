//! What fires ask of the allocator where handlers wait: little, and nothing that
//! they keep (L25, L29).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use hooks_runtime::{HookRegistry, hook_points, on};

/// The system's allocator, counting what the current thread asks for and what it
/// has in use: tests run side by side.
struct Counting;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally {
    calls: usize,
    bytes: usize,
    live: isize,
}

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally { calls: 0, bytes: 0, live: 0 }) };
}

fn tally(count: impl FnOnce(&mut Tally)) {
    // A thread that is ending has no tally any more, and none is asked for.
    let _ = TALLY.try_with(|tally| {
        let mut counted = tally.get();
        count(&mut counted);
        tally.set(counted);
    });
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tally(|tally| {
            tally.calls += 1;
            tally.bytes += layout.size();
            tally.live += layout.size().cast_signed();
        });
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        tally(|tally| tally.live -= layout.size().cast_signed());
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` asks for on this thread, and what it leaves in use.
fn cost_of(work: impl FnOnce()) -> Tally {
    let before = TALLY.get();
    work();
    let after = TALLY.get();
    Tally {
        calls: after.calls - before.calls,
        bytes: after.bytes - before.bytes,
        live: after.live - before.live,
    }
}

hook_points! {
    /// A drop falls.
    pub void Drip(u32);
}

/// Waits once, with so many bytes beside it.
async fn waits<const BYTES: usize>(_: &u32) {
    let bytes = black_box([7_u8; BYTES]);
    let mut waited = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    assert_eq!(black_box(&bytes).len(), BYTES);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A fire whose handlers wait once: to its end, or dropped when it waits.
fn fire(hooks: &HookRegistry, drops: bool) {
    let mut fire = std::pin::pin!(hooks.fire_void::<Drip>(&1));
    assert!(poll(fire.as_mut()).is_pending());
    if !drops {
        assert!(matches!(poll(fire.as_mut()), Poll::Ready(Ok(()))));
    }
}

/// What a fire costs, which is not the first of its point and thread.
fn cost_of_fire(hooks: &HookRegistry, drops: bool) -> Tally {
    fire(hooks, false);
    cost_of(|| fire(hooks, drops))
}

#[test]
fn l29_a_few_handlers_that_wait_allocate_nothing() {
    let (one, two) = (HookRegistry::new(), HookRegistry::new());
    one.register(on::<Drip>().handler(waits::<512>)).unwrap();
    two.register([on::<Drip>().handler(waits::<200>), on::<Drip>().handler(waits::<200>)]).unwrap();
    for drops in [false, true] {
        assert_eq!(cost_of_fire(&one, drops), Tally::default(), "one, dropped: {drops}");
        assert_eq!(cost_of_fire(&two, drops), Tally::default(), "two, dropped: {drops}");
    }
}

/// Twice as much each time: a few times, and not more than twice what is needed.
#[test]
fn l29_many_handlers_that_wait_allocate_a_few_times() {
    let hooks = HookRegistry::new();
    for _ in 0..30 {
        hooks.register(on::<Drip>().handler(waits::<500>)).unwrap();
    }
    for drops in [false, true] {
        let Tally { calls, bytes, live } = cost_of_fire(&hooks, drops);
        assert!(calls <= 6, "{calls} calls, dropped: {drops}");
        assert!((30 * 500..4 * 30 * 500).contains(&bytes), "{bytes} bytes, dropped: {drops}");
        assert_eq!(live, 0, "dropped: {drops}");
    }
}

#[test]
fn l25_the_memory_of_a_large_future_is_freed_with_its_fire() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Drip>().handler(waits::<4000>)).unwrap();
    for drops in [false, true] {
        let Tally { calls, live, .. } = cost_of_fire(&hooks, drops);
        assert_eq!((calls, live), (1, 0), "dropped: {drops}");
    }
}

/// Ready in its second poll, and as small as that can be.
struct Small {
    waited: bool,
}

impl Future for Small {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.waited, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn l25_futures_of_a_byte_and_of_none_wait_behind_a_large_one() {
    for drops in [false, true] {
        let hooks = HookRegistry::new();
        hooks
            .register([
                on::<Drip>().handler(waits::<4000>),
                on::<Drip>().handler(|_: &u32| Small { waited: false }),
                on::<Drip>().handler(waits::<100>),
            ])
            .unwrap();
        assert_eq!(cost_of_fire(&hooks, drops).live, 0, "dropped: {drops}");
        hooks.register(on::<Drip>().handler(|_: &u32| std::future::pending::<()>())).unwrap();
        hooks.register(on::<Drip>().handler(waits::<100>)).unwrap();
        assert_eq!(cost_of(|| fire(&hooks, true)).live, 0, "dropped: {drops}");
        assert_eq!(hooks.handlers().iter().map(|info| info.failures).sum::<u64>(), 0);
    }
}

/// Each takes over what one before it needed. What is left is the thread's own list
/// of what is to be dropped at its end; other tests may take some of it meanwhile.
#[test]
fn l25_threads_that_fire_and_end_leave_no_memory_behind() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Drip>().handler(|_: &u32| ())).unwrap();
    let first_fire =
        || cost_of(|| assert!(poll(std::pin::pin!(hooks.fire_void::<Drip>(&1))).is_ready())).bytes;
    let bytes = (0..50).map(|_| thread::scope(|scope| scope.spawn(first_fire).join().unwrap()));
    let large = bytes.filter(|&bytes| bytes > 256).count();
    assert!(large < 25, "{large} of 50 threads needed memory of their own");
}
