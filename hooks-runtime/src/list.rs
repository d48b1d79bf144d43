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
use std::{iter, mem};

use crate::entry::Entry;
use crate::invoke::Invoke;
use crate::point::HookPoint;
use crate::sync::OnceLock;
use crate::walks::Walks;

/// A chunk is split when it grows past this.
const CHUNK: usize = 64;

/// The handlers of `P`, in order.
pub(crate) struct HandlerList<P: HookPoint> {
    chunks: Vec<Arc<Chunk<P>>>,
    len: usize,
    /// Whether any handler is bound to one target.
    targeted: bool,
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

/// Counts calls where the handler itself keeps them.
fn credit(entry: &Entry, calls: u64) -> u64 {
    entry.counters.add_calls(calls);
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
        Self::from_chunks(entries.chunks(CHUNK).map(Chunk::new).collect())
    }

    fn from_chunks(chunks: Vec<Arc<Chunk<P>>>) -> Self {
        let len = chunks.iter().map(|chunk| chunk.slots.len()).sum();
        let targeted =
            chunks.iter().any(|chunk| chunk.slots.iter().any(|slot| slot.entry.target.is_some()));
        Self { chunks, len, targeted }
    }

    /// This list with `entry` at position `at`.
    fn with(&self, at: usize, entry: &Arc<Entry>) -> Self {
        let mut start = 0;
        let mut chunks = self.chunks.clone();
        for (index, chunk) in self.chunks.iter().enumerate() {
            let end = start + chunk.slots.len();
            if at <= end {
                let mut entries: Vec<_> =
                    chunk.slots.iter().map(|slot| Arc::clone(&slot.entry)).collect();
                entries.insert(at - start, Arc::clone(entry));
                chunk.retire();
                if entries.len() <= CHUNK {
                    chunks[index] = Chunk::new(&entries);
                } else {
                    // Appending one by one must not leave half-empty chunks.
                    let cut = if at == end { CHUNK } else { CHUNK / 2 };
                    let (left, right) = entries.split_at(cut);
                    chunks.splice(index..=index, [Chunk::new(left), Chunk::new(right)]);
                }
                return Self {
                    chunks,
                    len: self.len + 1,
                    targeted: self.targeted || entry.target.is_some(),
                };
            }
            start = end;
        }
        Self::of(std::slice::from_ref(entry))
    }

    /// This list without the entry of that id.
    fn without(&self, id: u64) -> Self {
        let holds = |chunk: &Arc<Chunk<P>>| chunk.slots.iter().any(|slot| slot.entry.id == id);
        let mut chunks = self.chunks.clone();
        if let Some(index) = chunks.iter().position(holds) {
            let left: Vec<_> = chunks[index]
                .slots
                .iter()
                .filter(|slot| slot.entry.id != id)
                .map(|slot| Arc::clone(&slot.entry))
                .collect();
            chunks[index].retire();
            if left.is_empty() {
                chunks.remove(index);
            } else {
                chunks[index] = Chunk::new(&left);
            }
        }
        Self::from_chunks(chunks)
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
        self.targeted
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
    pub(crate) without: fn(&AnyList, u64) -> AnyList,
    pub(crate) calls: fn(&AnyList, u64) -> u64,
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
            without: |list, id| AnyList::new(typed::<P>(list).without(id)),
            calls: |list, id| walks_of(typed::<P>(list), id),
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

fn walks_of<P: HookPoint>(list: &HandlerList<P>, id: u64) -> u64 {
    list.chunks
        .iter()
        .flat_map(|chunk| chunk.walks())
        .find(|(entry, _)| entry.id == id)
        .map_or(0, |(_, walks)| walks)
}
