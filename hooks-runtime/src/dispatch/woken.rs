//! Waiting for many children without polling them all each time.

use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::observe::log;
use crate::panics::{contained, drop_contained};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Which children were woken since they were last polled.
struct Woken {
    bits: Box<[AtomicU64]>,
    /// Whether the task is told already that there is something to poll.
    told: AtomicBool,
    task: Mutex<Option<Arc<Waker>>>,
}

/// The waker of one child: marks it and wakes the task.
struct Child {
    woken: Arc<Woken>,
    index: usize,
}

impl Wake for Child {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let (word, bit) = (self.index / 64, self.index % 64);
        self.woken.bits[word].fetch_or(1 << bit, Ordering::Release);
        if !self.woken.told.swap(true, Ordering::AcqRel) {
            let task = self.woken.task().clone();
            // A waker is the executor's code: its panic is not the business of
            // who woke this one.
            if let Some(task) = task {
                if let Err(message) = contained(|| task.wake_by_ref()) {
                    log::waker_panicked(&message);
                }
                // It may be the last one that knows this waker.
                drop_contained("a waker", task);
            }
        }
    }
}

impl Woken {
    fn task(&self) -> MutexGuard<'_, Option<Arc<Waker>>> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on `waker` is the one to wake.
    fn show(&self, waker: Arc<Waker>) {
        let old = self.task().replace(waker);
        // A waker is the executor's code, and runs outside the lock: the old
        // one may wake a child when it is dropped.
        drop_contained("a waker", old);
    }
}

impl Drop for Woken {
    fn drop(&mut self) {
        drop_contained("a waker", self.task().take());
    }
}

fn waker(woken: &Arc<Woken>, index: usize) -> Waker {
    Waker::from(Arc::new(Child { woken: Arc::clone(woken), index }))
}

/// The wakers of a set of children.
pub(crate) struct WokenSet {
    woken: Arc<Woken>,
    /// The task's waker, as `woken` has it: read here without a lock.
    shown: Option<Arc<Waker>>,
    /// One for each child.
    wakers: Vec<Waker>,
    /// The one of the next child, while nobody has it.
    spare: Option<Waker>,
    children: usize,
    /// How many of them have not ended.
    left: usize,
}

impl Drop for WokenSet {
    fn drop(&mut self) {
        drop_contained("a waker", self.shown.take());
    }
}

impl WokenSet {
    /// With so many children, all marked, so that each is polled once with its
    /// own waker; and room for `most` in all.
    pub(crate) fn new(children: usize, most: usize) -> Self {
        let bits = (0..most.div_ceil(64))
            .map(|word| {
                let marked = children.saturating_sub(word * 64);
                AtomicU64::new(if marked >= 64 { u64::MAX } else { (1 << marked) - 1 })
            })
            .collect();
        let woken = Arc::new(Woken { bits, told: AtomicBool::new(false), task: Mutex::new(None) });
        let mut wakers = Vec::with_capacity(most);
        wakers.extend((0..children).map(|index| waker(&woken, index)));
        Self { woken, shown: None, wakers, spare: None, children, left: children }
    }

    /// The waker of the next child, which there must be room for. It is given
    /// back when the child was shown it, before or after it is known whether it
    /// is kept.
    pub(crate) fn next(&mut self) -> Waker {
        self.spare.take().unwrap_or_else(|| waker(&self.woken, self.children))
    }

    /// Gives back what [`next`](Self::next) gave.
    pub(crate) fn give_back(&mut self, waker: Waker) {
        if self.wakers.len() < self.children {
            self.wakers.push(waker);
        } else {
            self.spare = Some(waker);
        }
    }

    /// One more child, which has seen its waker; `mark` it if it is to be
    /// polled all the same.
    pub(crate) fn keep_next(&mut self, mark: bool) {
        if mark {
            self.woken.bits[self.children / 64]
                .fetch_or(1 << (self.children % 64), Ordering::Relaxed);
        }
        self.children += 1;
        self.left += 1;
        self.wakers.extend(self.spare.take());
    }

    /// Polls the children that were woken. `poll` says whether the child of
    /// that index has ended.
    pub(crate) fn poll(
        &mut self,
        task: &mut Context<'_>,
        mut poll: impl FnMut(usize, &mut Context<'_>) -> bool,
    ) -> Poll<()> {
        if !self.shown.as_ref().is_some_and(|shown| shown.will_wake(task.waker())) {
            match contained(|| task.waker().clone()) {
                Ok(waker) => {
                    let shown = Arc::new(waker);
                    self.woken.show(Arc::clone(&shown));
                    drop_contained("a waker", self.shown.replace(shown));
                }
                Err(message) => {
                    log::waker_panicked(&message);
                    return self.poll_all(task, poll);
                }
            }
        }
        // Before the bits are read: a child woken from here on tells the task.
        self.woken.told.swap(false, Ordering::AcqRel);
        for (word, bits) in self.woken.bits.iter().enumerate() {
            // Most words are empty, and reading is cheaper than taking.
            if bits.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut marked = bits.swap(0, Ordering::AcqRel);
            while marked != 0 {
                let index = word * 64 + marked.trailing_zeros() as usize;
                marked &= marked - 1;
                // One that woke its waker and was ready in its first poll is no
                // child: the waker went back, and its mark is left.
                let Some(waker) = self.wakers.get(index) else { continue };
                if poll(index, &mut Context::from_waker(waker)) {
                    self.left -= 1;
                }
            }
        }
        if self.left == 0 { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Polls every child by the task's own waker, which could not be cloned.
    #[cold]
    fn poll_all(
        &mut self,
        task: &mut Context<'_>,
        mut poll: impl FnMut(usize, &mut Context<'_>) -> bool,
    ) -> Poll<()> {
        for index in 0..self.children {
            if poll(index, task) {
                self.left -= 1;
            }
        }
        if self.left == 0 { Poll::Ready(()) } else { Poll::Pending }
    }
}
