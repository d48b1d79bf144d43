//! A schedule leaves nothing behind, so that there can be any number of them.
#![cfg(schedules)]
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use hooks_runtime::{HookRegistry, hook_points, on};
use hooks_schedules::{Log, explore, schedules};
use shuttle::future::block_on;
use shuttle::thread;

hook_points! {
    void Noted(Log);
}

/// The system's allocator, counting what is in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[test]
fn l25_schedules_leave_no_memory_behind() {
    let starts = Arc::new(Mutex::new(Vec::with_capacity(2 * schedules())));
    let noted = Arc::clone(&starts);
    explore("memory in use while threads fire for the first time", move || {
        noted.lock().unwrap().push(IN_USE.load(Relaxed));
        let (hooks, log) = (HookRegistry::new(), Log::default());
        hooks.register(on::<Noted>().handler(|log: &Log| log.note("fired"))).unwrap();
        let (firing, noting) = (hooks.clone(), log.clone());
        let other = thread::spawn(move || block_on(firing.fire_void::<Noted>(&noting)).unwrap());
        block_on(hooks.fire_void::<Noted>(&log)).unwrap();
        other.join().unwrap();
        assert_eq!(log.seen(), ["fired", "fired"]);
    });
    let starts = starts.lock().unwrap();
    let (half, last) = (starts[starts.len() / 2], starts[starts.len() - 1]);
    // The block of one thread alone is more than that.
    assert!(last < half + 8 * 1024, "{half} bytes in use grew to {last}");
}
