//! The handlers of one point, in the order in which a fire walks them.
//!
//! A list is immutable. A change makes a new one that shares all chunks but
//! the one it touches, so registering one by one stays cheap however many
//! handlers a point has.

use std::any::TypeId;
use std::sync::Arc;
use std::{iter, mem, ptr, slice};

use crate::engine::raw::HandlerRef;
use crate::operator::rules::PointRules;
use crate::plugin::scope::OwnerSet;
use crate::registry::counters::CallCounter;
use crate::registry::entry::Entry;
use crate::sync::OnceLock;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// A chunk is split when it grows past this.
const CHUNK: usize = 64;

/// A place in a list: its chunk and its place in that, in one word, which is
/// stored and loaded as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cursor(u64);

impl Cursor {
    #[inline]
    pub(crate) fn new(chunk: usize, place: usize) -> Self {
        Self((chunk as u64) << 32 | place as u64)
    }

    #[inline]
    pub(crate) fn chunk(self) -> usize {
        (self.0 >> 32) as usize
    }

    #[inline]
    pub(crate) fn place(self) -> usize {
        (self.0 & 0xffff_ffff) as usize
    }
}

/// The handlers of a point, in order.
#[derive(Debug)]
pub(crate) struct HandlerList {
    point: TypeId,
    chunks: Vec<Arc<Chunk>>,
    len: usize,
    /// The owners of the handlers.
    owners: OwnerSet,
    /// The only chunk, where there are so few handlers.
    only: Option<Arc<Chunk>>,
    /// How many removals there were at the point when no handler of this list
    /// was closed.
    open_at: AtomicUsize,
    /// What an operator has set for the handlers. Such a list counts as never open, so
    /// that each handler is looked at, and a list without rules is not asked for them.
    rules: Option<Arc<PointRules>>,
}

/// A run of handlers with the counts of the fires that walked it.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) handlers: Box<[HandlerRef]>,
    owners: OwnerSet,
    counter: CallCounter,
    /// How many calls of each handler were added to its own count when this was
    /// taken out of the list.
    flushed: OnceLock<Box<[u64]>>,
}

impl Chunk {
    fn new(entries: &[Arc<Entry>], point: TypeId) -> Arc<Self> {
        let handlers: Box<[_]> =
            entries.iter().map(|entry| HandlerRef::new(entry, point)).collect();
        let owners = handlers.iter().map(|handler| handler.owner_bit).collect();
        let counter = CallCounter::new(handlers.len());
        Arc::new(Self { handlers, owners, counter, flushed: OnceLock::new() })
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.handlers.iter().map(|handler| handler.entry.to_arc()).collect()
    }

    /// The place of one of its handlers.
    pub(crate) fn place_of(&self, handler: *const HandlerRef) -> usize {
        (handler.addr() - self.handlers.as_ptr().addr()) / size_of::<HandlerRef>()
    }

    /// Counts a walk along all of it.
    #[inline]
    pub(crate) fn count_whole_walk(&self, shard: usize) {
        self.counter.count_whole(self.handlers.len(), shard);
    }

    /// Counts a walk that ended at that place, or is pending there.
    #[inline]
    pub(crate) fn count_walk(&self, place: usize, shard: usize) {
        self.counter.count(place, shard);
    }

    /// Takes back the count of a walk that was pending at that place and goes on.
    #[inline]
    pub(crate) fn uncount_walk(&self, place: usize, shard: usize) {
        self.counter.uncount(place, shard);
    }

    /// The walks that reached each handler, last handler first.
    fn walks(&self) -> impl Iterator<Item = (&Entry, u64)> {
        let mut reached = 0;
        self.handlers.iter().enumerate().rev().map(move |(place, handler)| {
            reached += self.counter.ended_at(place, self.handlers.len());
            (&*handler.entry, reached)
        })
    }

    /// Called when this is taken out of the list: adds the counts to the handlers
    /// now, as a pending fire may hold it for long. What such fires still count is
    /// added when it is dropped.
    fn retire(&self) {
        let flushed = self.walks().map(|(entry, walks)| flush(entry, walks)).collect();
        self.flushed.get_or_init(|| flushed);
    }
}

/// Adds calls to the handler's own count.
fn flush(entry: &Entry, calls: u64) -> u64 {
    // Not read without need: there may be many, far apart in memory.
    if calls > 0 {
        entry.counters.add_calls(calls);
    }
    calls
}

impl Drop for Chunk {
    /// No fire walks this chunk any more: adds its counts to the handlers.
    fn drop(&mut self) {
        let flushed = mem::take(&mut self.flushed).into_inner().unwrap_or_default();
        let flushed = flushed.into_iter().chain(iter::repeat(0));
        for ((entry, walks), flushed) in self.walks().zip(flushed) {
            if walks != flushed {
                flush(entry, walks.wrapping_sub(flushed));
            }
        }
    }
}

impl HandlerList {
    pub(crate) fn new(entries: &[Arc<Entry>], point: TypeId) -> Self {
        let chunks = entries.chunks(CHUNK).map(|entries| Chunk::new(entries, point)).collect();
        Self::of(chunks, point)
    }

    fn of(chunks: Vec<Arc<Chunk>>, point: TypeId) -> Self {
        let (mut owners, mut len) = (OwnerSet::default(), 0);
        for chunk in &chunks {
            owners.extend(&chunk.owners);
            len += chunk.handlers.len();
        }
        let open_at = AtomicUsize::new(usize::MAX);
        let only = chunks.first().filter(|_| chunks.len() == 1).cloned();
        Self { point, chunks, len, owners, only, open_at, rules: None }
    }

    /// This list, under what an operator has set.
    pub(crate) fn ruled(&self, rules: Arc<PointRules>) -> Self {
        Self { rules: Some(rules), ..Self::of(self.chunks.clone(), self.point) }
    }

    pub(crate) fn rules(&self) -> Option<&Arc<PointRules>> {
        self.rules.as_ref()
    }

    /// This list with other handlers in place of all.
    pub(crate) fn replaced(&self, entries: &[Arc<Entry>]) -> Self {
        self.chunks.iter().for_each(|chunk| chunk.retire());
        Self::new(entries, self.point)
    }

    /// The chunk with the entry at position `at`, and where in it. A position
    /// past the last is in the last chunk.
    fn locate(&self, at: usize) -> (usize, usize) {
        let mut within = at;
        let mut index = 0;
        while index + 1 < self.chunks.len() && within > self.chunks[index].handlers.len() {
            within -= self.chunks[index].handlers.len();
            index += 1;
        }
        (index, within)
    }

    /// As [`locate`](Self::locate), for an entry that is there.
    fn locate_entry(&self, at: usize) -> (usize, usize) {
        match self.locate(at) {
            (index, within) if within == self.chunks[index].handlers.len() => (index + 1, 0),
            place => place,
        }
    }

    /// This list with `entry` at position `at`.
    pub(crate) fn with(&self, at: usize, entry: &Arc<Entry>) -> Self {
        if self.chunks.is_empty() {
            return Self::new(slice::from_ref(entry), self.point);
        }
        let (index, within) = self.locate(at);
        let mut entries = self.chunks[index].entries();
        let at_end = within == entries.len();
        entries.insert(within, Arc::clone(entry));
        // Appending one by one must not leave half-empty chunks.
        let cut = match entries.len() {
            ..=CHUNK => entries.len(),
            _ if at_end => CHUNK,
            _ => CHUNK / 2,
        };
        let (left, right) = entries.split_at(cut);
        let new = [left, right].into_iter().filter(|entries| !entries.is_empty());
        self.edited(index, new)
    }

    /// This list without the entry at position `at`.
    pub(crate) fn without(&self, at: usize) -> Self {
        let (index, within) = self.locate_entry(at);
        let mut left = self.chunks[index].entries();
        left.remove(within);
        self.edited(index, (!left.is_empty()).then_some(&left[..]))
    }

    /// This list with `entry` in place of the one at position `at`.
    pub(crate) fn swapped(&self, at: usize, entry: &Arc<Entry>) -> Self {
        let (index, within) = self.locate_entry(at);
        let mut entries = self.chunks[index].entries();
        entries[within] = Arc::clone(entry);
        self.edited(index, [&entries[..]])
    }

    /// This list with other chunks in place of one, which is taken out of it.
    fn edited<'e>(&self, index: usize, new: impl IntoIterator<Item = &'e [Arc<Entry>]>) -> Self {
        self.chunks[index].retire();
        let mut chunks = self.chunks.clone();
        let new = new.into_iter().map(|entries| Chunk::new(entries, self.point));
        chunks.splice(index..=index, new);
        Self::of(chunks, self.point)
    }

    #[inline]
    pub(crate) fn point(&self) -> &TypeId {
        &self.point
    }

    #[inline]
    pub(crate) fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn owners(&self) -> &OwnerSet {
        &self.owners
    }

    /// All handlers in one chunk, where they are so few.
    #[inline]
    pub(crate) fn only_chunk(&self) -> Option<&Chunk> {
        self.only.as_deref()
    }

    pub(crate) fn handlers(&self) -> impl Iterator<Item = &HandlerRef> {
        self.chunks.iter().flat_map(|chunk| chunk.handlers.iter())
    }

    /// Whether no handler of this list is closed after that many removals at the
    /// point.
    #[inline]
    pub(crate) fn is_open(&self, removals: usize) -> bool {
        self.open_at.load(Ordering::Relaxed) == removals || self.check_open(removals)
    }

    #[cold]
    #[inline(never)]
    fn check_open(&self, removals: usize) -> bool {
        // The number was read before this: closing a handler from here on
        // raises it.
        let is_open =
            self.rules.is_none() && self.handlers().all(|handler| !handler.entry.is_closed());
        if is_open {
            self.open_at.store(removals, Ordering::Relaxed);
        }
        is_open
    }

    #[inline]
    pub(crate) fn get(&self, at: Cursor) -> &HandlerRef {
        &self.chunks[at.chunk()].handlers[at.place()]
    }

    /// The place of one of its handlers.
    pub(crate) fn cursor_of(&self, handler: &HandlerRef) -> Cursor {
        let holds =
            |chunk: &Arc<Chunk>| chunk.handlers.as_ptr_range().contains(&ptr::from_ref(handler));
        let chunk = self.chunks.iter().position(holds).unwrap_or(self.chunks.len());
        Cursor::new(chunk, self.chunks.get(chunk).map_or(0, |chunk| chunk.place_of(handler)))
    }

    pub(crate) fn is_past_end(&self, at: Cursor) -> bool {
        at.chunk() == self.chunks.len()
    }

    /// The place behind `at`. A walk that reaches the end of a chunk is counted
    /// there.
    pub(crate) fn next(&self, at: Cursor, shard: usize) -> Cursor {
        let chunk = &self.chunks[at.chunk()];
        if at.place() + 1 < chunk.handlers.len() {
            return Cursor::new(at.chunk(), at.place() + 1);
        }
        chunk.count_whole_walk(shard);
        Cursor::new(at.chunk() + 1, 0)
    }

    /// The handlers behind `at`.
    pub(crate) fn after(&self, at: Cursor) -> impl Iterator<Item = &HandlerRef> {
        let chunks = self.chunks.iter().skip(at.chunk());
        chunks.flat_map(|chunk| chunk.handlers.iter()).skip(at.place() + 1)
    }

    /// Counts a walk that ended at `at`, or is pending there.
    pub(crate) fn count_walk(&self, at: Cursor, shard: usize) {
        self.chunks[at.chunk()].count_walk(at.place(), shard);
    }

    /// Takes back the count of a walk that was pending at `at` and goes on.
    pub(crate) fn uncount_walk(&self, at: Cursor, shard: usize) {
        self.chunks[at.chunk()].uncount_walk(at.place(), shard);
    }

    /// The walks that reached each handler, in order.
    pub(crate) fn walks(&self) -> Vec<u64> {
        let mut walks = Vec::with_capacity(self.len);
        for chunk in &self.chunks {
            let start = walks.len();
            walks.extend(chunk.walks().map(|(_, walks)| walks));
            walks[start..].reverse();
        }
        walks
    }
}
