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
//! `snapshot` and `running`. Under a model checker, which runs many schedules in
//! one process, the blocks of a schedule are freed at its end.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ops::Deref;
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
    /// The run of a flow that this is; zero for a fire. Only a step of a run
    /// stores it, and takes it back, so that it costs fires nothing.
    run: AtomicUsize,
    /// The shard of counters that only the thread of this step writes to.
    shard: usize,
    reader: ReaderFence,
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
    further: OnceLock<&'static Block>,
}

/// All blocks, and those that no thread has.
#[derive(Debug)]
struct Blocks {
    all: Vec<&'static Block>,
    free: Vec<&'static Block>,
    /// The owners of all blocks: a schedule drops its statics last.
    #[cfg(schedules)]
    owned: Vec<std::sync::Arc<Block>>,
}

impl Blocks {
    const fn new() -> Self {
        Self {
            all: Vec::new(),
            free: Vec::new(),
            #[cfg(schedules)]
            owned: Vec::new(),
        }
    }

    #[cfg(not(schedules))]
    #[allow(clippy::unused_self)]
    fn keep(&mut self, block: Block) -> &'static Block {
        Box::leak(Box::new(block))
    }

    #[cfg(schedules)]
    fn keep(&mut self, block: Block) -> &'static Block {
        let owned = std::sync::Arc::new(block);
        // SAFETY: it is dropped with `BLOCKS`, when no thread of the schedule is
        // left and each has dropped its own.
        let kept = unsafe { &*std::sync::Arc::as_ptr(&owned) };
        self.owned.push(owned);
        kept
    }
}

global! {
    static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks::new());
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
    fn new(shard: usize) -> Self {
        Self {
            snapshot: AtomicPtr::new(ptr::null_mut()),
            running: AtomicPtr::new(ptr::null_mut()),
            point: AtomicPtr::new(ptr::null_mut()),
            registry: AtomicUsize::new(0),
            fire: AtomicU64::new(0),
            run: AtomicUsize::new(0),
            shard,
            reader: barrier::reader_fence(),
        }
    }

    /// Where this fire publishes which handler it runs.
    #[inline]
    pub(super) fn running(&self) -> &AtomicPtr<Entry> {
        &self.running
    }

    /// The shard of counters that this thread writes to.
    #[inline]
    pub(crate) fn shard(&self) -> usize {
        self.shard
    }

    /// How this thread does the reader's side of the fence.
    #[inline]
    pub(super) fn reader(&self) -> ReaderFence {
        self.reader
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
            steps: std::array::from_fn(|_| Step::new(shard)),
            depth: AtomicUsize::new(0),
            observing: AtomicUsize::new(0),
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
    let shard = blocks.all.len();
    let block = blocks.keep(Block::new(shard));
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
    step: RawStep,
    /// Whether the block is given back with this.
    borrowed: bool,
}

/// A step in use, the innermost of its thread wherever it is asked. Two words, so
/// that it is passed in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawStep {
    block: &'static Block,
    step: &'static Step,
}

impl ActiveStep {
    /// Puts a fire on the chain of this thread.
    #[inline]
    pub(crate) fn push(fire: Nested) -> Self {
        let (block, borrowed) = block();
        Self { step: RawStep::push(block, fire).0, borrowed }
    }
}

impl Deref for ActiveStep {
    type Target = RawStep;

    #[inline]
    fn deref(&self) -> &RawStep {
        &self.step
    }
}

impl RawStep {
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn push(block: &'static Block, fire: Nested) -> (Self, usize) {
        let depth = block.depth.load(Ordering::Relaxed);
        let step = block.step(depth);
        step.point.store(ptr::from_ref(fire.point).cast_mut(), Ordering::Relaxed);
        step.registry.store(fire.registry, Ordering::Relaxed);
        step.fire.store(fire.fire, Ordering::Relaxed);
        block.depth.store(depth + 1, Ordering::Relaxed);
        (Self { block, step }, depth)
    }

    /// Puts a fire on the chain of this thread, and says how many are below it;
    /// `None` where the thread has not fired before, or has not the quick kind of
    /// fence.
    #[inline]
    pub(crate) fn push_quick(fire: Nested) -> Option<(Self, usize)> {
        let (step, depth) = Self::push(own_block()?, fire);
        // Of all steps of the process the same, so it is looked at where it is near.
        if step.reader() != barrier::QUICK {
            step.leave();
            return None;
        }
        Some((step, depth))
    }

    #[inline]
    pub(crate) fn guard(self) -> ActiveStep {
        ActiveStep { step: self, borrowed: false }
    }

    /// Gives up the step.
    #[inline]
    fn leave(self) {
        self.step.running.store(ptr::null_mut(), Ordering::Release);
        self.pop();
    }

    /// Gives up the step, where no handler is published as running.
    #[inline]
    pub(crate) fn pop(self) {
        self.block.depth.store(self.depth(), Ordering::Relaxed);
    }

    /// The step itself.
    #[inline]
    pub(crate) fn step(self) -> &'static Step {
        self.step
    }

    /// The shard of counters that this thread writes to.
    #[inline]
    pub(crate) fn shard(self) -> usize {
        self.step.shard()
    }

    /// How many steps are below this one.
    #[inline]
    pub(crate) fn depth(self) -> usize {
        self.block.depth.load(Ordering::Relaxed) - 1
    }

    /// Publishes that this fire reads `snapshot`.
    #[inline]
    pub(super) fn publish_snapshot(self, snapshot: *mut (), fence: ReaderFence) {
        self.step.snapshot.store(snapshot, Ordering::Relaxed);
        barrier::light(fence);
    }

    /// The snapshot that this fire reads.
    #[inline]
    pub(super) fn snapshot(self) -> *mut () {
        self.step.snapshot.load(Ordering::Relaxed)
    }

    /// The snapshot is no longer read.
    #[inline]
    pub(super) fn clear_snapshot(self, fence: ReaderFence) {
        // Release: a writer that sees this sees the reads before it as done.
        self.step.snapshot.store(ptr::null_mut(), Ordering::Release);
        barrier::light(fence);
    }

    /// How this thread does the reader's side of the fence.
    #[inline]
    pub(super) fn reader(self) -> ReaderFence {
        self.step.reader()
    }

    /// Where this fire publishes which handler it runs.
    #[inline]
    pub(super) fn running(self) -> &'static AtomicPtr<Entry> {
        self.step.running()
    }

    /// Publishes that this fire runs that handler.
    #[inline]
    pub(crate) fn publish_running(self, entry: *const Entry) {
        publish(self.running(), entry, self.reader());
    }

    /// No handler is run.
    #[inline]
    pub(crate) fn clear_running(self) {
        self.publish_running(ptr::null());
    }
}

/// Publishes that a fire runs that handler, with that kind of fence.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(super) fn publish(running: &AtomicPtr<Entry>, entry: *const Entry, fence: ReaderFence) {
    // Release: who sees this sees that the one before was left.
    running.store(entry.cast_mut(), Ordering::Release);
    barrier::light(fence);
}

impl Drop for ActiveStep {
    #[inline]
    fn drop(&mut self) {
        self.step.leave();
        if self.borrowed {
            let _left = BLOCK.try_with(|own| own.set(None));
            give_back(self.step.block);
        }
    }
}

/// A step in use by a run of a flow.
#[derive(Debug)]
pub(crate) struct RunStep(ActiveStep);

impl RunStep {
    /// Puts a run on the chain of this thread, with its id.
    pub(crate) fn push(nested: Nested, run: usize) -> Self {
        let step = ActiveStep::push(nested);
        step.step.step.run.store(run, Ordering::Relaxed);
        Self(step)
    }
}

impl Drop for RunStep {
    fn drop(&mut self) {
        self.0.step.step.run.store(0, Ordering::Relaxed);
    }
}

/// The chain of fires that this thread is polling.
pub(crate) mod chain {
    use super::{ActiveStep, Entry, Nested, Ordering, Step, own_block};

    /// The fires, outermost first.
    pub(crate) fn fires() -> Vec<Nested> {
        own_block().map_or_else(Vec::new, |block| block.in_use().map(Step::nested).collect())
    }

    /// The innermost of the fires.
    pub(crate) fn innermost() -> Option<Nested> {
        own_block()?.in_use().next_back().map(Step::nested)
    }

    /// How many fires of that registry are on the chain.
    pub(crate) fn depth_of(registry: usize) -> usize {
        let own = |step: &&Step| step.registry.load(Ordering::Relaxed) == registry;
        own_block().map_or(0, |block| block.in_use().filter(own).count())
    }

    /// The runs of flows on the chain, outermost first.
    pub(crate) fn runs() -> Vec<usize> {
        let Some(block) = own_block() else { return Vec::new() };
        let runs = block.in_use().map(|step| step.run.load(Ordering::Relaxed));
        runs.filter(|run| *run != 0).collect()
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
