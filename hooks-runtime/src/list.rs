//! The handlers of one point, in the order in which a fire walks them.
//!
//! A list is immutable. A change makes a new one that shares all chunks but
//! the one it touches, so registering one by one stays cheap however many
//! handlers a point has.
//!
//! # Why [`Slot`] is sound
//!
//! A slot points at the handler that its own `entry` owns in a box. The entry
//! is immutable but for its atomics and lives as long as the slot's `Arc` of
//! it, so the pointer is valid for as long as the slot is, and going straight
//! to the handler saves the way through entry and box on every call.
//!
//! # Why [`typed`] is sound
//!
//! An [`AnyList`] is made in one place, from a list of some point and that
//! point's type id, and owns the list that it points to. `typed` compares the
//! ids before it looks at the list as one of its own point.
//!
//! # Why [`AnyList::outliving`] is sound
//!
//! Every clone of an `AnyList` keeps the same list at the same address. A fire
//! comes by one through a guard; what it starts is done before the guard goes,
//! or keeps a clone for as long as it waits. The references that it took stay
//! valid either way.
#![allow(unsafe_code)]

use std::any::{Any, TypeId};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::{iter, mem, slice};

use crate::invoke::Invoke;
use crate::point::HookPoint;
use crate::registry::entry::Entry;
use crate::sync::OnceLock;
use crate::walks::Walks;

/// A chunk is split when it grows past this.
const CHUNK: usize = 64;

/// The handlers of `P`, in order.
pub(crate) struct HandlerList<P: HookPoint> {
    chunks: Vec<Arc<Chunk<P>>>,
    len: usize,
    /// How many handlers are bound to one target.
    targeted: usize,
}

/// A run of handlers with the counts of the fires that walked it.
pub(crate) struct Chunk<P: HookPoint> {
    pub(crate) slots: Box<[Slot<P>]>,
    walks: Walks,
    /// How many calls of each handler went to its own count when this left the
    /// list.
    credited: OnceLock<Box<[u64]>>,
}

/// One handler, as a fire needs it.
pub(crate) struct Slot<P: HookPoint> {
    invoke: NonNull<dyn Invoke<P>>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) owner_bit: u32,
}

// SAFETY: the pointer stands for a shared reference to a handler, which is
// `Sync`, and which the entry next to it keeps alive.
unsafe impl<P: HookPoint> Send for Slot<P> {}
// SAFETY: as above.
unsafe impl<P: HookPoint> Sync for Slot<P> {}

impl<P: HookPoint> Slot<P> {
    fn of(entry: &Arc<Entry>) -> Self {
        let invoke = entry
            .handler
            .downcast_ref::<Box<dyn Invoke<P>>>()
            .expect("an entry is only ever listed at the point it was registered for");
        Self {
            invoke: NonNull::from(&**invoke),
            entry: Arc::clone(entry),
            owner_bit: entry.owner_bit(),
        }
    }

    #[inline]
    pub(crate) fn invoke(&self) -> &dyn Invoke<P> {
        // SAFETY: see the module's text.
        unsafe { self.invoke.as_ref() }
    }
}

impl<P: HookPoint> Chunk<P> {
    fn new(entries: &[Arc<Entry>]) -> Arc<Self> {
        let slots: Box<[Slot<P>]> = entries.iter().map(Slot::of).collect();
        let walks = Walks::new(slots.len());
        Arc::new(Self { slots, walks, credited: OnceLock::new() })
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.slots.iter().map(|slot| Arc::clone(&slot.entry)).collect()
    }

    /// Counts a walk that ended at the handler of that place, or waits there.
    #[inline]
    pub(crate) fn count_walk(&self, place: usize) {
        self.walks.count(place);
    }

    /// Counts a walk along all of it.
    #[inline]
    pub(crate) fn count_whole_walk(&self) {
        if let Some(last) = self.slots.len().checked_sub(1) {
            self.walks.count(last);
        }
    }

    /// A walk that waited at the handler of that place goes on.
    pub(crate) fn uncount_walk(&self, place: usize) {
        self.walks.uncount(place);
    }

    /// The walks that reached each handler, last handler first.
    fn walks(&self) -> impl Iterator<Item = (&Entry, u64)> {
        let mut reached = 0;
        self.slots.iter().enumerate().rev().map(move |(place, slot)| {
            reached += self.walks.ended_at(place);
            (&*slot.entry, reached)
        })
    }

    /// This leaves the list: the counts go to the handlers now, as a fire that
    /// waits may keep it for long. What such fires still count comes at its
    /// end.
    fn retire(&self) {
        let credited = self.walks().map(|(entry, walks)| credit(entry, walks)).collect();
        self.credited.get_or_init(|| credited);
    }
}

/// One for a handler that is bound to a target, for a sum of them.
fn is_targeted(entry: &Arc<Entry>) -> usize {
    usize::from(entry.target.is_some())
}

/// Counts calls where the handler itself keeps them.
fn credit(entry: &Entry, calls: u64) -> u64 {
    // Not looked at without need: there may be many, far apart in memory.
    if calls > 0 {
        entry.counters.add_calls(calls);
    }
    calls
}

impl<P: HookPoint> Drop for Chunk<P> {
    /// Nobody walks this chunk any more: its counts go to the handlers.
    fn drop(&mut self) {
        let credited = mem::take(&mut self.credited).into_inner().unwrap_or_default();
        let credited = credited.into_iter().chain(iter::repeat(0));
        for ((entry, walks), credited) in self.walks().zip(credited) {
            if walks != credited {
                credit(entry, walks.wrapping_sub(credited));
            }
        }
    }
}

impl<P: HookPoint> HandlerList<P> {
    fn of(entries: &[Arc<Entry>]) -> Self {
        Self {
            chunks: entries.chunks(CHUNK).map(Chunk::new).collect(),
            len: entries.len(),
            targeted: entries.iter().map(is_targeted).sum(),
        }
    }

    /// The chunk with the entry at position `at`, and where in it. A position
    /// past the last is in the last chunk.
    fn locate(&self, at: usize) -> (usize, usize) {
        let mut within = at;
        let mut index = 0;
        while index + 1 < self.chunks.len() && within > self.chunks[index].slots.len() {
            within -= self.chunks[index].slots.len();
            index += 1;
        }
        (index, within)
    }

    /// As [`locate`](Self::locate), for an entry that is there.
    fn locate_entry(&self, at: usize) -> (usize, usize) {
        match self.locate(at) {
            (index, within) if within == self.chunks[index].slots.len() => (index + 1, 0),
            place => place,
        }
    }

    /// This list with `entry` at position `at`.
    fn with(&self, at: usize, entry: &Arc<Entry>) -> Self {
        if self.chunks.is_empty() {
            return Self::of(slice::from_ref(entry));
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
        self.edited(index, new.map(Chunk::new), self.targeted + is_targeted(entry), self.len + 1)
    }

    /// This list without the entry at position `at`.
    fn without(&self, at: usize) -> Self {
        let (index, within) = self.locate_entry(at);
        let mut left = self.chunks[index].entries();
        let targeted = self.targeted - is_targeted(&left.remove(within));
        let new = (!left.is_empty()).then(|| Chunk::new(&left));
        self.edited(index, new, targeted, self.len - 1)
    }

    /// This list with `entry` in place of the one at position `at`.
    fn swapped(&self, at: usize, entry: &Arc<Entry>) -> Self {
        let (index, within) = self.locate_entry(at);
        let mut entries = self.chunks[index].entries();
        let old = mem::replace(&mut entries[within], Arc::clone(entry));
        let targeted = self.targeted - is_targeted(&old) + is_targeted(entry);
        self.edited(index, [Chunk::new(&entries)], targeted, self.len)
    }

    /// This list with other chunks in place of one, which leaves it.
    fn edited(
        &self,
        index: usize,
        new: impl IntoIterator<Item = Arc<Chunk<P>>>,
        targeted: usize,
        len: usize,
    ) -> Self {
        self.chunks[index].retire();
        let mut chunks = self.chunks.clone();
        chunks.splice(index..=index, new);
        Self { chunks, len, targeted }
    }

    #[inline]
    pub(crate) fn chunks(&self) -> &[Arc<Chunk<P>>] {
        &self.chunks
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn targeted(&self) -> bool {
        self.targeted > 0
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot<P>> {
        self.chunks.iter().flat_map(|chunk| chunk.slots.iter())
    }
}

/// A list whose point is forgotten.
#[derive(Clone)]
pub(crate) struct AnyList {
    /// Kept beside the list, where comparing it costs no call.
    point: TypeId,
    /// The list itself, as `owner` keeps it.
    list: NonNull<()>,
    owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the pointer stands for a shared reference to the list, which is
// `Send + Sync`, and which `owner` keeps alive.
unsafe impl Send for AnyList {}
// SAFETY: as above.
unsafe impl Sync for AnyList {}

impl AnyList {
    /// The list, which must be one of `P`.
    ///
    /// # Safety
    /// This, or a clone of it, is there until `'l` ends.
    #[inline]
    pub(crate) unsafe fn outliving<'l, P: HookPoint>(&self) -> &'l HandlerList<P> {
        // SAFETY: every clone keeps the same list at the same address.
        unsafe { &*std::ptr::from_ref(typed::<P>(self)) }
    }

    fn new<P: HookPoint>(list: HandlerList<P>) -> Self {
        let owner = Arc::new(list);
        Self { point: TypeId::of::<P>(), list: NonNull::from(&*owner).cast(), owner }
    }
}

impl fmt::Debug for AnyList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyList").field("owner", &Arc::as_ptr(&self.owner)).finish_non_exhaustive()
    }
}

/// What the store does to lists without knowing their point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListKind {
    pub(crate) of: fn(&[Arc<Entry>]) -> AnyList,
    /// A list of those, in place of one that goes.
    pub(crate) instead: fn(&AnyList, &[Arc<Entry>]) -> AnyList,
    pub(crate) with: fn(&AnyList, usize, &Arc<Entry>) -> AnyList,
    pub(crate) without: fn(&AnyList, usize) -> AnyList,
    pub(crate) swapped: fn(&AnyList, usize, &Arc<Entry>) -> AnyList,
    /// The walks that reached each handler, in order.
    pub(crate) walks: fn(&AnyList) -> Vec<u64>,
}

impl ListKind {
    pub(crate) fn for_point<P: HookPoint>() -> Self {
        Self {
            of: |entries| AnyList::new(HandlerList::<P>::of(entries)),
            instead: |list, entries| {
                typed::<P>(list).chunks.iter().for_each(|chunk| chunk.retire());
                AnyList::new(HandlerList::<P>::of(entries))
            },
            with: |list, at, entry| AnyList::new(typed::<P>(list).with(at, entry)),
            without: |list, at| AnyList::new(typed::<P>(list).without(at)),
            swapped: |list, at, entry| AnyList::new(typed::<P>(list).swapped(at, entry)),
            walks: |list| walks_of(typed::<P>(list)),
        }
    }
}

/// The list of `P` behind an [`AnyList`].
#[inline]
fn typed<P: HookPoint>(list: &AnyList) -> &HandlerList<P> {
    assert!(list.point == TypeId::of::<P>(), "the store keeps one list kind for each point");
    // SAFETY: it was made from a `HandlerList` of this very point.
    unsafe { list.list.cast().as_ref() }
}

fn walks_of<P: HookPoint>(list: &HandlerList<P>) -> Vec<u64> {
    let mut walks = Vec::with_capacity(list.len);
    for chunk in &list.chunks {
        let start = walks.len();
        walks.extend(chunk.walks().map(|(_, walks)| walks));
        walks[start..].reverse();
    }
    walks
}
