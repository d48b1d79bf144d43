//! Waiting for many pending calls without polling them all each time.

use std::sync::{Arc, PoisonError};
use std::task::{Context, Wake, Waker};

use crate::engine::containment::{contained, drop_contained};
use crate::engine::raw::NodeId;
use crate::observe::log;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// What the wakers of the calls share with the set: which calls were woken since
/// they were last polled, and the waker of the task.
struct Shared {
    bits: Box<[AtomicU64]>,
    /// Whether the task has been notified since the bits were last read.
    notified: AtomicBool,
    task: Mutex<Option<Arc<Waker>>>,
}

/// The waker of one pending call: marks the call and wakes the task.
struct PendingWaker {
    shared: Arc<Shared>,
    index: usize,
}

impl Wake for PendingWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let (word, bit) = (self.index / 64, self.index % 64);
        self.shared.bits[word].fetch_or(1 << bit, Ordering::Release);
        if !self.shared.notified.swap(true, Ordering::AcqRel) {
            let task = self.shared.task().clone();
            // A waker is the executor's code: its panic must not unwind into the
            // code that woke this one.
            if let Some(task) = task {
                if let Err(message) = contained(|| task.wake_by_ref()) {
                    // The task was not woken, so the next one has to.
                    self.shared.notified.store(false, Ordering::Release);
                    log::waker_panicked(&message);
                }
                // This may be the last reference to the waker.
                drop_contained("a waker", task);
            }
        }
    }
}

impl Shared {
    fn task(&self) -> MutexGuard<'_, Option<Arc<Waker>>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers `waker` as the one to wake from now on.
    fn register(&self, waker: Arc<Waker>) {
        let old = self.task().replace(waker);
        // Dropping a waker runs the executor's code, so it is dropped outside
        // the lock: the old one may wake a call in its drop.
        drop_contained("a waker", old);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        drop_contained("a waker", self.task().take());
    }
}

fn waker(shared: &Arc<Shared>, index: usize) -> Waker {
    Waker::from(Arc::new(PendingWaker { shared: Arc::clone(shared), index }))
}

/// The wakers of a set of pending calls.
pub(crate) struct ReadySet {
    shared: Arc<Shared>,
    /// The task's waker that is registered in `shared`: read here without a lock. Never
    /// dropped last, which may panic: `shared` has it too, and lives for `wakers`.
    registered: Option<Arc<Waker>>,
    nodes: Vec<NodeId>,
    /// One for each call.
    wakers: Vec<Waker>,
    /// The waker of the next call, while it is not in use.
    spare: Option<Waker>,
    calls: usize,
}

impl ReadySet {
    /// A set of these calls, all marked, so that each is polled once with its own
    /// waker; with room for `most` in all.
    pub(crate) fn new(nodes: Vec<NodeId>, most: usize) -> Self {
        let calls = nodes.len();
        let bits = (0..most.div_ceil(64))
            .map(|word| {
                let marked = calls.saturating_sub(word * 64);
                AtomicU64::new(if marked >= 64 { u64::MAX } else { (1 << marked) - 1 })
            })
            .collect();
        let notified = AtomicBool::new(false);
        let shared = Arc::new(Shared { bits, notified, task: Mutex::new(None) });
        let mut wakers = Vec::with_capacity(most);
        wakers.extend((0..calls).map(|index| waker(&shared, index)));
        Self { shared, registered: None, nodes, wakers, spare: None, calls }
    }

    /// The waker of the next call, for which there must be room. It is given back
    /// once the call has been polled with it, before or after the call is kept by
    /// [`keep_next`](Self::keep_next).
    pub(crate) fn next(&mut self) -> Waker {
        self.spare.take().unwrap_or_else(|| waker(&self.shared, self.calls))
    }

    /// Gives back the waker that [`next`](Self::next) returned.
    pub(crate) fn give_back(&mut self, waker: Waker) {
        if self.wakers.len() < self.calls {
            self.wakers.push(waker);
        } else {
            self.spare = Some(waker);
        }
    }

    /// Adds a call that has been polled with its waker; with `mark` it is polled
    /// again all the same.
    pub(crate) fn keep_next(&mut self, node: NodeId, mark: bool) {
        self.nodes.push(node);
        if mark {
            self.shared.bits[self.calls / 64].fetch_or(1 << (self.calls % 64), Ordering::Relaxed);
        }
        self.calls += 1;
        self.wakers.extend(self.spare.take());
    }

    /// Polls the calls that were woken.
    pub(crate) fn poll(
        &mut self,
        task: &mut Context<'_>,
        mut poll: impl FnMut(NodeId, &mut Context<'_>),
    ) {
        if !self.registered.as_ref().is_some_and(|waker| waker.will_wake(task.waker())) {
            match contained(|| task.waker().clone()) {
                Ok(waker) => {
                    let waker = Arc::new(waker);
                    self.shared.register(Arc::clone(&waker));
                    drop_contained("a waker", self.registered.replace(waker));
                }
                Err(message) => {
                    log::waker_panicked(&message);
                    return self.poll_all(task, poll);
                }
            }
        }
        // Before the bits are read: a call woken from here on notifies the task.
        self.shared.notified.swap(false, Ordering::AcqRel);
        for (word, bits) in self.shared.bits.iter().enumerate() {
            // Most words are empty, and reading is cheaper than taking.
            if bits.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut marked = bits.swap(0, Ordering::AcqRel);
            while marked != 0 {
                let index = word * 64 + marked.trailing_zeros() as usize;
                marked &= marked - 1;
                // A call that woke its waker and was ready in its first poll is
                // not in the set: its waker was given back, its mark is left.
                let Some(waker) = self.wakers.get(index) else { continue };
                poll(self.nodes[index], &mut Context::from_waker(waker));
            }
        }
    }

    /// Polls every call with the task's own waker, which could not be cloned.
    #[cold]
    fn poll_all(&mut self, task: &mut Context<'_>, mut poll: impl FnMut(NodeId, &mut Context<'_>)) {
        for node in &self.nodes {
            poll(*node, task);
        }
    }
}
