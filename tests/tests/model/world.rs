//! What a case and its handlers share: the log, and the clock.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use hooks_runtime::operator::{Trace, TraceFilter, TraceLimit};
use hooks_runtime::plugin::Installed;
use hooks_runtime::registry::Handle;
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{HookRegistry, ScopedHooks};

use crate::body::Wait;
use crate::event::Event;
use crate::observer::Spy;
use crate::plan::{DEPTH, Op};
use crate::points::ROUND;
use crate::real;
use crate::recorded::Recorded;

/// How many steps handlers may take between two steps of the case: two that
/// call each other would go on for long.
pub const PATIENCE: u32 = 60;

/// Everything that a case has made, and what has happened so far.
pub struct World {
    pub hooks: Mutex<Option<HookRegistry>>,
    pub scopes: Mutex<Vec<ScopedHooks>>,
    pub handles: Mutex<Vec<Handle>>,
    pub installed: Mutex<Vec<Option<Installed>>>,
    /// The names that anonymous handlers were given.
    pub names: Mutex<BTreeMap<u32, String>>,
    /// The observer, if the registry has one.
    pub spy: Spy,
    /// An operator's trace of all fires, which must change nothing.
    trace: Mutex<Option<Trace>>,
    /// A recording of all fires, which must change nothing either.
    pub recorded: Mutex<Option<Recorded>>,
    events: Mutex<Vec<Event>>,
    drives: Mutex<Vec<Arc<Drive>>>,
    next_tag: AtomicU32,
    patience: AtomicU32,
}

impl World {
    pub fn new(timer: bool, observed: bool, traced: bool, recorded: bool) -> Arc<Self> {
        let world = Arc::new(Self {
            hooks: Mutex::default(),
            scopes: Mutex::default(),
            handles: Mutex::default(),
            installed: Mutex::default(),
            names: Mutex::default(),
            spy: Spy::default(),
            trace: Mutex::default(),
            recorded: Mutex::default(),
            events: Mutex::default(),
            drives: Mutex::default(),
            next_tag: AtomicU32::new(0),
            patience: AtomicU32::new(PATIENCE),
        });
        let clock = Clock { world: Arc::downgrade(&world), timer };
        let mut builder = HookRegistry::builder().max_depth(DEPTH).timer(clock);
        if observed {
            builder = builder.observer(world.spy.clone());
        }
        let hooks = builder.build();
        if traced {
            let trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(u64::MAX));
            *world.trace.lock().unwrap() = Some(trace.unwrap());
        }
        if recorded {
            *world.recorded.lock().unwrap() = Some(Recorded::start(&hooks));
        }
        *world.hooks.lock().unwrap() = Some(hooks);
        world
    }

    pub fn hooks(&self) -> HookRegistry {
        self.hooks.lock().unwrap().clone().expect("the case is not over")
    }

    pub fn tag(&self) -> u32 {
        self.next_tag.fetch_add(1, Ordering::Relaxed)
    }

    pub fn note(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }

    /// A step of the case: what happened in it.
    pub fn step(self: &Arc<Self>, op: &Op) -> Vec<Event> {
        self.patience.store(PATIENCE, Ordering::Relaxed);
        real::perform(self, op, None);
        std::mem::take(&mut self.events.lock().unwrap())
    }

    /// What a handler does.
    pub fn act(self: &Arc<Self>, op: &Op, given: Option<&ScopedHooks>) {
        let left = self.patience.load(Ordering::Relaxed);
        if left > 0 {
            self.patience.store(left - 1, Ordering::Relaxed);
            real::perform(self, op, given);
        }
    }

    /// The innermost future that is being driven.
    pub fn drive(&self) -> Arc<Drive> {
        Arc::clone(self.drives.lock().unwrap().last().expect("something is being driven"))
    }

    /// Polls a future until it is ready, or drops it after `stop` rounds.
    pub fn drive_to<T>(&self, stop: Option<u32>, future: impl Future<Output = T>) -> Option<T> {
        let drive = Arc::new(Drive::default());
        self.drives.lock().unwrap().push(Arc::clone(&drive));
        let mut future = Box::pin(future);
        let waker = Waker::from(Arc::clone(&drive));
        let output = loop {
            drive.round.fetch_add(1, Ordering::Relaxed);
            drive.woken.store(false, Ordering::Relaxed);
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => break Some(output),
                Poll::Pending if Some(drive.round()) == stop => break None,
                Poll::Pending => {
                    assert!(
                        drive.woken.load(Ordering::Relaxed),
                        "a pending call has woken its task"
                    );
                }
            }
        };
        drop(future);
        self.drives.lock().unwrap().pop();
        let mut settled = std::mem::take(&mut *drive.settled.lock().unwrap());
        if !settled.is_empty() {
            settled.sort();
            self.note(Event::Settled(settled));
        }
        output
    }
}

/// A future that is being driven, and its clock: one round a poll.
#[derive(Default)]
pub struct Drive {
    round: AtomicU32,
    woken: AtomicBool,
    settled: Mutex<Vec<String>>,
}

impl Drive {
    pub fn round(&self) -> u32 {
        self.round.load(Ordering::Relaxed)
    }

    pub fn settled(&self, what: String) {
        self.settled.lock().unwrap().push(what);
    }
}

impl Wake for Drive {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Relaxed);
    }
}

/// A timer on the clock of the case, or none at all.
struct Clock {
    world: std::sync::Weak<World>,
    timer: bool,
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Option<Sleep> {
        if !self.timer {
            return None;
        }
        let drive = self.world.upgrade()?.drive();
        // A little of the limit is spent already.
        let rounds = duration.as_secs_f64() / ROUND.as_secs_f64();
        let until = drive.round() + rounds.ceil() as u32;
        Some(Box::pin(Wait { drive, until }))
    }
}
