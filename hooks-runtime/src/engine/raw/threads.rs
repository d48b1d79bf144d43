//! What each thread publishes about the fires that it polls.
//!
//! A thread that fires owns a [`Block`] of steps, one for each fire that it is
//! polling, innermost last. A step serves three purposes with one look at a
//! thread-local: it is a link in the chain of nested fires, it names the
//! snapshot that the fire reads (so that a writer does not free it) and the
//! handler that the fire runs (so that a removal does not release it).
//!
//! Blocks are never freed. A thread that ends gives its block back for the next
//! one, so there are as many as there ever were threads that fired at once. A
//! block is used by one thread at a time, which alone stores to it; others load
//! `snapshot` and `running`.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr;
use std::sync::PoisonError;

use super::barrier::{self, ReaderFence};
use crate::point::PointDescriptor;
use crate::registry::entry::Entry;
use crate::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Mutex, OnceLock, global, thread_local};

/// Steps in one block; deeper nesting takes further blocks.
const STEPS: usize = 16;

/// One fire that a thread is polling.
#[derive(Debug)]
pub(crate) struct Step {
    /// The snapshot that the fire reads; null for none.
    snapshot: AtomicPtr<()>,
    /// The handler that it runs; null for none.
    running: AtomicPtr<Entry>,
    point: AtomicPtr<PointDescriptor>,
    registry: AtomicUsize,
    fire: AtomicU64,
}

/// A fire that can be on the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nested {
    pub(crate) point: &'static PointDescriptor,
    /// The address of its registry, which exists as long as the fire does.
    pub(crate) registry: usize,
    /// Its number, where it is observed; zero otherwise.
    pub(crate) fire: u64,
}

impl Nested {
    fn is(&self, other: &Self) -> bool {
        ptr::eq(self.point, other.point)
            && (self.registry, self.fire) == (other.registry, other.fire)
    }
}

/// The steps of one thread.
#[derive(Debug)]
pub(crate) struct Block {
    steps: [Step; STEPS],
    /// How many steps are in use, those of further blocks included.
    depth: AtomicUsize,
    /// How many calls of observers are under way.
    observing: AtomicUsize,
    /// The shard of the counters that only this block's thread writes to.
    pub(crate) shard: usize,
    reader: ReaderFence,
    further: OnceLock<&'static Block>,
}

/// All blocks, and those that no thread has.
#[derive(Debug, Default)]
struct Blocks {
    all: Vec<&'static Block>,
    free: Vec<&'static Block>,
}

global! {
    static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks { all: Vec::new(), free: Vec::new() });
}

thread_local! {
    /// The block of this thread, while it has one.
    static BLOCK: Cell<Option<&'static Block>> = const { Cell::new(None) };
}

thread_local! {
    /// Gives the block back when the thread ends.
    static OWNED: Owned = const { Owned };
}

struct Owned;

impl Drop for Owned {
    fn drop(&mut self) {
        if let Ok(Some(block)) = BLOCK.try_with(Cell::take) {
            give_back(block);
        }
    }
}

impl Step {
    fn new() -> Self {
        Self {
            snapshot: AtomicPtr::new(ptr::null_mut()),
            running: AtomicPtr::new(ptr::null_mut()),
            point: AtomicPtr::new(ptr::null_mut()),
            registry: AtomicUsize::new(0),
            fire: AtomicU64::new(0),
        }
    }

    #[inline]
    fn nested(&self) -> Nested {
        let point = self.point.load(Ordering::Relaxed);
        // SAFETY: a step in use has the descriptor that `push` stored, which is
        // a static.
        let point = unsafe { &*point };
        let registry = self.registry.load(Ordering::Relaxed);
        Nested { point, registry, fire: self.fire.load(Ordering::Relaxed) }
    }
}

impl Block {
    fn new(shard: usize) -> Self {
        Self {
            steps: std::array::from_fn(|_| Step::new()),
            depth: AtomicUsize::new(0),
            observing: AtomicUsize::new(0),
            shard,
            reader: barrier::reader_fence(),
            further: OnceLock::new(),
        }
    }

    #[inline]
    fn step(&'static self, index: usize) -> &'static Step {
        match self.steps.get(index) {
            Some(step) => step,
            None => self.further_step(index - STEPS),
        }
    }

    #[cold]
    fn further_step(&'static self, index: usize) -> &'static Step {
        self.further.get_or_init(take).step(index)
    }

    /// The steps in use, outermost first.
    fn in_use(&'static self) -> impl DoubleEndedIterator<Item = &'static Step> {
        (0..self.depth.load(Ordering::Relaxed)).map(|index| self.step(index))
    }
}

/// A block that no other thread has.
#[cold]
fn take() -> &'static Block {
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(block) = blocks.free.pop() {
        return block;
    }
    let block: &'static Block = Box::leak(Box::new(Block::new(blocks.all.len())));
    blocks.all.push(block);
    block
}

#[cold]
fn give_back(block: &'static Block) {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner).free.push(block);
}

/// The block of this thread, which had none. One that is ending has it until its
/// outermost fire is done.
#[cold]
fn first_block() -> (&'static Block, bool) {
    let block = take();
    // Has no destructor, so it is there until the very end of the thread.
    let _kept = BLOCK.try_with(|own| own.set(Some(block)));
    (block, OWNED.try_with(|_| ()).is_err())
}

/// The block of this thread, if it has fired.
#[inline]
fn own_block() -> Option<&'static Block> {
    // A closure of its own is compiled where it is used, and so inlined.
    #[allow(clippy::redundant_closure_for_method_calls)]
    BLOCK.try_with(|block| block.get()).ok().flatten()
}

#[inline]
fn block() -> (&'static Block, bool) {
    match own_block() {
        Some(block) => (block, false),
        None => first_block(),
    }
}

/// A step in use. Given up when dropped, also by unwinding.
#[derive(Debug)]
pub(crate) struct ActiveStep {
    pub(crate) block: &'static Block,
    step: &'static Step,
    /// How many steps were in use before.
    depth: usize,
    /// Whether the block is given back with this.
    borrowed: bool,
}

impl ActiveStep {
    /// Puts a fire on the chain of this thread.
    #[inline]
    pub(crate) fn push(fire: Nested) -> Self {
        let (block, borrowed) = block();
        let depth = block.depth.load(Ordering::Relaxed);
        let step = block.step(depth);
        step.point.store(ptr::from_ref(fire.point).cast_mut(), Ordering::Relaxed);
        step.registry.store(fire.registry, Ordering::Relaxed);
        step.fire.store(fire.fire, Ordering::Relaxed);
        block.depth.store(depth + 1, Ordering::Relaxed);
        Self { block, step, depth, borrowed }
    }

    /// How many steps are below this one.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Publishes that this fire reads `snapshot`.
    #[inline]
    pub(super) fn publish_snapshot(&self, snapshot: *mut ()) {
        self.step.snapshot.store(snapshot, Ordering::Relaxed);
        barrier::light(self.block.reader);
    }

    /// The snapshot is no longer read.
    #[inline]
    pub(super) fn clear_snapshot(&self) {
        // Release: a writer that sees this sees the reads before it as done.
        self.step.snapshot.store(ptr::null_mut(), Ordering::Release);
        barrier::light(self.block.reader);
    }

    /// How this thread does the reader's side of the fence.
    #[inline]
    pub(super) fn reader(&self) -> ReaderFence {
        self.block.reader
    }

    /// Where this fire publishes which handler it runs.
    #[inline]
    pub(super) fn running(&self) -> &'static AtomicPtr<Entry> {
        &self.step.running
    }

    /// Publishes that this fire runs that handler.
    #[inline]
    pub(crate) fn publish_running(&self, entry: *const Entry) {
        match self.block.reader {
            ReaderFence::Compiler => publish::<false>(self.running(), entry),
            ReaderFence::Processor => publish::<true>(self.running(), entry),
        }
    }

    /// No handler is run.
    #[inline]
    pub(crate) fn clear_running(&self) {
        self.publish_running(ptr::null());
    }
}

/// Publishes that a fire runs that handler, with that kind of fence.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(super) fn publish<const PROCESSOR: bool>(running: &AtomicPtr<Entry>, entry: *const Entry) {
    // Release: who sees this sees that the one before was left.
    running.store(entry.cast_mut(), Ordering::Release);
    barrier::light(if PROCESSOR { ReaderFence::Processor } else { ReaderFence::Compiler });
}

impl Drop for ActiveStep {
    #[inline]
    fn drop(&mut self) {
        self.step.running.store(ptr::null_mut(), Ordering::Release);
        self.block.depth.store(self.depth, Ordering::Relaxed);
        if self.borrowed {
            let _left = BLOCK.try_with(|own| own.set(None));
            give_back(self.block);
        }
    }
}

/// The chain of fires that this thread is polling.
pub(crate) mod chain {
    use super::{ActiveStep, Entry, Nested, Ordering, Step, own_block};

    /// The fires, outermost first.
    pub(crate) fn fires() -> Vec<Nested> {
        own_block().map_or_else(Vec::new, |block| block.in_use().map(Step::nested).collect())
    }

    /// How many fires of that registry are on the chain.
    pub(crate) fn depth_of(registry: usize) -> usize {
        let own = |step: &&Step| step.registry.load(Ordering::Relaxed) == registry;
        own_block().map_or(0, |block| block.in_use().filter(own).count())
    }

    /// Whether this thread is running a handler, at any depth, for which `is`
    /// says so.
    pub(crate) fn is_running(is: impl Fn(&Entry) -> bool) -> bool {
        let Some(block) = own_block() else { return false };
        block.in_use().any(|step| {
            let entry = step.running.load(Ordering::Relaxed);
            // SAFETY: this thread published it, and is still inside the call:
            // its fire keeps the entry, by the list that it walks, until it has
            // stored another value here.
            !entry.is_null() && is(unsafe { &*entry })
        })
    }

    /// Runs a call of an observer of that fire, which is on the chain meanwhile.
    pub(crate) fn observing<T>(fire: Nested, call: impl FnOnce() -> T) -> T {
        struct Observing(&'static super::Block);

        impl Drop for Observing {
            fn drop(&mut self) {
                self.0.observing.fetch_sub(1, Ordering::Relaxed);
            }
        }

        // In a poll of that very fire it is there already.
        let is_there = own_block()
            .and_then(|block| block.in_use().next_back())
            .is_some_and(|step| step.nested().is(&fire));
        let pushed = (!is_there).then(|| ActiveStep::push(fire));
        let block = pushed.as_ref().map(|step| step.block).or(own_block());
        let _observing = block.map(|block| {
            block.observing.fetch_add(1, Ordering::Relaxed);
            Observing(block)
        });
        call()
    }

    /// Whether an observer is called on this thread.
    pub(crate) fn is_observing() -> bool {
        own_block().is_some_and(|block| block.observing.load(Ordering::Relaxed) > 0)
    }
}

/// What all threads have published, for a writer that came past its barrier.
#[derive(Debug)]
pub(crate) struct Published {
    snapshots: Vec<*mut ()>,
    running: Vec<*mut Entry>,
}

impl Published {
    /// Looks at all threads. `None` where that would say nothing about them.
    pub(crate) fn now() -> Option<Self> {
        if !barrier::heavy() {
            return None;
        }
        let blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = || blocks.all.iter().flat_map(|block| &block.steps);
        // Acquire: pairs with the stores that replace what is seen here.
        let snapshots = steps().map(|step| step.snapshot.load(Ordering::Acquire));
        let snapshots = snapshots.filter(|snapshot| !snapshot.is_null()).collect();
        let running = steps().map(|step| step.running.load(Ordering::Acquire));
        let running = running.filter(|entry| !entry.is_null()).collect();
        Some(Self { snapshots, running })
    }

    pub(super) fn reads(&self, snapshot: *const ()) -> bool {
        self.snapshots.contains(&snapshot.cast_mut())
    }

    /// Whether some thread is in a call of that handler, or about to be.
    pub(crate) fn runs(&self, entry: &Entry) -> bool {
        self.running.contains(&ptr::from_ref(entry).cast_mut())
    }
}
