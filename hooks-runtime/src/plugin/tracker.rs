//! Handlers that are waited for together: a plugin's, or those of a block.
//!
//! A removal closes handlers, then releases those that no thread runs and no
//! fire has a pending call of. The others are released by the last code that uses
//! them: a walk that sees that handlers were removed, or a pending call that ends.
//! So what a handler captured is dropped as soon as nothing uses it, also where
//! the removal is not awaited, and whichever fires still hold its list.
//!
//! A run of a flow in which a handler has begun is noted here until it has
//! dropped its state. As long as there is one, the handlers of `OnError` and
//! `Finally` that left with it are kept: the run still comes to them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::task::Waker;

use crate::engine::containment::{contained, drop_contained};
use crate::engine::raw::{HandlerCell, Published};
use crate::observe::log;
use crate::point::PointDescriptor;
use crate::registry::entry::Entry;
use crate::sync::statics::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, thread_local};

/// Handlers that are waited for together.
pub(crate) struct CallTracker {
    /// Never zero, never reused.
    id: u64,
    /// Whether its handlers leave as a whole: those of a plugin or of a block.
    is_whole: bool,
    tracked: Mutex<Tracked>,
}

/// What a wait waits for, and who waits.
#[derive(Default)]
struct Tracked {
    /// The handlers that are not dropped yet, with their generations: those that
    /// are registered, and those below.
    alive: BTreeMap<u64, Option<u64>>,
    /// The handlers that were removed from the registry and are not dropped yet,
    /// by their ids.
    removed: BTreeMap<u64, RemovedHandler>,
    /// The stops of plugins that have neither ended nor been dropped, with their
    /// generations: each has the plugin's value.
    stops: BTreeMap<u64, u64>,
    /// The runs of flows in which one of the handlers has begun, by their ids.
    runs: HashMap<usize, BegunRun>,
    /// The wakers of the waits, by the number of the wait.
    waiters: BTreeMap<u64, Waker>,
}

/// A handler that was removed and is not dropped yet.
#[derive(Clone)]
pub(crate) struct RemovedHandler {
    pub(crate) name: Arc<str>,
    /// The generation of the handler, where a plugin has it.
    pub(crate) generation: Option<u64>,
    pub(crate) point: &'static PointDescriptor,
    pub(crate) entry: Weak<Entry>,
}

/// A run of a flow in which a handler has begun.
struct BegunRun {
    flow: &'static str,
    /// The generation of the handler, where a plugin has it.
    generation: Option<u64>,
}

/// Trackers and waits are numbered together.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

pub(crate) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

thread_local! {
    /// What this thread is dropping, by the tracker, innermost last: a handler, or
    /// the value of a plugin.
    static DROPPING: RefCell<Vec<(u64, Option<u64>)>> = const { RefCell::new(Vec::new()) };
}

/// For handlers that are removed and waited for one by one.
impl Default for CallTracker {
    fn default() -> Self {
        Self { is_whole: false, ..Self::new() }
    }
}

impl CallTracker {
    /// For the handlers of a plugin or of a block.
    pub(crate) fn new() -> Self {
        Self { id: next_id(), is_whole: true, tracked: Mutex::default() }
    }

    /// Whether its handlers leave as a whole. Runs of flows are noted for such
    /// handlers only.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    fn tracked(&self) -> MutexGuard<'_, Tracked> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a handler that was made.
    pub(crate) fn made(&self, id: u64, generation: Option<u64>) {
        self.tracked().alive.insert(id, generation);
    }

    /// Notes the stop of a generation, which is run when that is removed.
    pub(crate) fn stop_owed(&self, stop: u64, generation: u64) {
        self.tracked().stops.insert(stop, generation);
    }

    /// Notes that a stop has ended, or was dropped, with what it had of the plugin.
    pub(crate) fn stop_gone(&self, stop: u64) {
        let waiters = {
            let mut tracked = self.tracked();
            tracked.stops.remove(&stop);
            std::mem::take(&mut tracked.waiters)
        };
        wake_all(waiters);
    }

    /// Whether stops up to that generation are left.
    pub(crate) fn has_stops(&self, newest: u64) -> bool {
        self.tracked().stops.values().any(|generation| *generation <= newest)
    }

    /// The handlers up to that generation that are not dropped yet, registered or
    /// not.
    pub(crate) fn alive_up_to(&self, newest: Option<u64>) -> Vec<u64> {
        let tracked = self.tracked();
        let known = tracked.alive.iter().filter(|(_, generation)| **generation <= newest);
        known.map(|(&id, _)| id).collect()
    }

    /// Whether a handler is not dropped yet.
    pub(crate) fn is_alive(&self, id: u64) -> bool {
        self.tracked().alive.contains_key(&id)
    }

    /// Notes that handlers were removed from the registry.
    pub(crate) fn removed(&self, entries: &[Arc<Entry>]) {
        let removed = entries.iter().map(|entry| {
            let (name, generation) = (Arc::clone(&entry.name), entry.generation());
            let (point, known) = (entry.point, Arc::downgrade(entry));
            (entry.id, RemovedHandler { name, generation, point, entry: known })
        });
        self.tracked().removed.extend(removed);
    }

    /// The handlers that were removed so far and are not dropped yet, in the
    /// order in which they were registered.
    pub(crate) fn removed_so_far(&self) -> Vec<(u64, RemovedHandler)> {
        self.tracked().removed.iter().map(|(&id, removed)| (id, removed.clone())).collect()
    }

    /// Those up to that generation: later ones are not touched by a removal, and
    /// not waited for. Without their names, whose counts are elsewhere in memory.
    pub(crate) fn removed_up_to(&self, newest: Option<u64>) -> Vec<(u64, Weak<Entry>)> {
        let tracked = self.tracked();
        let known = tracked.removed.iter().filter(|(_, handler)| handler.generation <= newest);
        known.map(|(&id, handler)| (id, Weak::clone(&handler.entry))).collect()
    }

    /// Notes that a handler was dropped: its destructor has returned. The
    /// waits are woken at once: what is dropped next may be another owner's.
    pub(crate) fn dropped(&self, id: u64) {
        let waiters = {
            let mut tracked = self.tracked();
            tracked.alive.remove(&id);
            tracked.removed.remove(&id);
            std::mem::take(&mut tracked.waiters)
        };
        wake_all(waiters);
    }

    /// Releases the closed handlers that nothing runs.
    pub(crate) fn release(&self) {
        let removed = self.removed_up_to(Some(u64::MAX));
        let removed = removed.iter().filter_map(|(_, entry)| entry.upgrade());
        release(&removed.collect::<Vec<_>>());
    }

    /// Notes that a handler of that generation is about to begin in a run.
    /// Before it is looked at whether the handler was closed: then a removal that
    /// closed it later sees the run.
    pub(crate) fn run_begun(&self, run: usize, flow: &'static str, generation: Option<u64>) {
        self.tracked().runs.insert(run, BegunRun { flow, generation });
    }

    /// Notes that a run has ended and dropped all that was put into it. What was
    /// kept for it is released.
    pub(crate) fn run_ended(&self, run: usize) {
        let is_awaited = {
            let mut tracked = self.tracked();
            tracked.runs.remove(&run);
            !tracked.removed.is_empty() || !tracked.waiters.is_empty()
        };
        if is_awaited {
            self.release();
            self.wake();
        }
    }

    /// Whether handlers of that generation have begun in a run that is under way.
    pub(crate) fn is_in_run(&self, generation: Option<u64>) -> bool {
        self.tracked().runs.values().any(|run| run.generation == generation)
    }

    /// The flow of the first of the runs in which handlers up to that generation
    /// have begun.
    pub(crate) fn flow_of(&self, runs: &[usize], newest: Option<u64>) -> Option<&'static str> {
        let tracked = self.tracked();
        let begun = runs.iter().filter_map(|run| tracked.runs.get(run));
        begun.into_iter().find(|run| run.generation <= newest).map(|run| run.flow)
    }

    /// The runs in which handlers up to that generation have begun: how many there
    /// are of each flow.
    pub(crate) fn runs_of(&self, newest: Option<u64>) -> BTreeMap<&'static str, usize> {
        let mut flows = BTreeMap::new();
        for run in self.tracked().runs.values().filter(|run| run.generation <= newest) {
            *flows.entry(run.flow).or_default() += 1;
        }
        flows
    }

    /// The first of the handlers, from that place on, that is not dropped yet.
    pub(crate) fn first_left(&self, handlers: &[u64], from: usize) -> Option<usize> {
        let tracked = self.tracked();
        (from..handlers.len()).find(|&place| tracked.alive.contains_key(&handlers[place]))
    }

    /// Whether handlers up to that generation have begun in a run that is under
    /// way.
    pub(crate) fn has_runs(&self, newest: Option<u64>) -> bool {
        self.tracked().runs.values().any(|run| run.generation <= newest)
    }

    /// Runs `release`, which drops what that handler captured, or a plugin's value:
    /// code of its owner.
    pub(crate) fn while_dropping<T>(&self, handler: Option<u64>, release: impl FnOnce() -> T) -> T {
        // At the end of a thread there is no list any more, and none is needed.
        let noted = DROPPING.try_with(|dropping| dropping.borrow_mut().push((self.id, handler)));
        let released = release();
        if noted.is_ok() {
            let _noted = DROPPING.try_with(|dropping| dropping.borrow_mut().pop());
        }
        released
    }

    /// Whether this thread is dropping something of this tracker for which `is` says
    /// so.
    pub(crate) fn is_dropping(&self, is: impl Fn(Option<u64>) -> bool) -> bool {
        let is_it = |&(tracker, handler): &(u64, Option<u64>)| tracker == self.id && is(handler);
        DROPPING.try_with(|dropping| dropping.borrow().iter().any(is_it)).unwrap_or(false)
    }

    /// A wait for the last handler to be released.
    pub(crate) fn wait(&self) -> Wait<'_> {
        Wait { tracker: self, id: next_id() }
    }

    /// Wakes all waits, outside the lock. A waker is the executor's code: a waker
    /// that panics does not keep the others from being woken.
    #[cold]
    pub(crate) fn wake(&self) {
        let waiters = std::mem::take(&mut self.tracked().waiters);
        wake_all(waiters);
    }
}

/// Wakes waits, outside of any lock. A waker that panics does not keep the others from
/// being woken.
pub(crate) fn wake_all(waiters: BTreeMap<u64, Waker>) {
    for (_, waiter) in waiters {
        if let Err(message) = contained(|| waiter.wake()) {
            log::waker_panicked(&message);
        }
    }
}

/// Whether a closed handler is to be released, once nothing runs it. Asked before
/// the look at the threads, see `is_releasable` and `shut`.
fn is_due(entry: &Entry) -> bool {
    entry.handler.is_releasable() && !entry.handler.is_released() && entry.shut_if_unused()
}

/// Releases those of the closed handlers that nothing runs, and wakes the waits
/// for them.
pub(crate) fn release(closed: &[Arc<Entry>]) {
    let closed: Vec<_> = closed.iter().filter(|entry| is_due(entry)).collect();
    if closed.is_empty() {
        return;
    }
    let Some(published) = Published::now() else { return };
    for entry in closed {
        release_seen(entry, &published);
    }
}

/// Releases a closed handler, unless something runs it.
pub(crate) fn release_one(entry: &Entry) {
    if is_due(entry)
        && let Some(published) = Published::now()
    {
        release_seen(entry, &published);
    }
}

fn release_seen(entry: &Entry, published: &Published) {
    let tracker = &entry.tracker;
    if tracker.while_dropping(Some(entry.id), || HandlerCell::release(entry, published)) {
        tracker.dropped(entry.id);
    }
}

/// A wait for a tracker. Dropping it unregisters its waker.
pub(crate) struct Wait<'t> {
    tracker: &'t CallTracker,
    id: u64,
}

impl Wait<'_> {
    /// Registers `waker`, to be woken when a removed handler is released or a run
    /// has ended.
    pub(crate) fn register(&self, waker: &Waker) {
        // Cloned and dropped outside the lock: both are the executor's code.
        let new = waker.clone();
        let old = self.tracker.tracked().waiters.insert(self.id, new);
        drop_contained("a waker", old);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let waker = self.tracker.tracked().waiters.remove(&self.id);
        drop_contained("a waker", waker);
    }
}

impl fmt::Debug for CallTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTracker").field("id", &self.id).finish_non_exhaustive()
    }
}
