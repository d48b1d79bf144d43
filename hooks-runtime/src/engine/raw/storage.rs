//! Memory for the futures of one fire's handlers.
//!
//! A future is made in the next free place, behind room for a [`Node`]. When it
//! is ready at once, the place is free again; when it is pending, the node is
//! filled in and linked to those before, and the next place is behind it. So a
//! pending call stays where it was made, a fire whose handlers wait one after
//! another uses one place again and again, and one whose handlers wait at the
//! same time puts them side by side. The first places are in the fire itself.
//!
//! # Why this is sound
//!
//! * [`Arena::place`] returns memory that no kept future has and that fits the
//!   layout: the part of the current chunk behind what is kept, or a new chunk.
//! * A chunk never moves: the inline one is part of the fire, which is pinned
//!   from its first poll on, and the others are allocations of their own. Moving
//!   the `Arena` before is harmless, because nothing points into it.
//! * The nodes own the kept futures. [`Arena::end`] drops one and forgets it
//!   before it can be polled again; what is left is dropped with the arena,
//!   before its memory.
//! * A reference to an `Arena` is no claim on the bytes of the inline chunk. An
//!   exclusive one does not assert that it is the only one, because `Arena` is
//!   not `Unpin`; a shared one does not assert that nothing is written, because
//!   the bytes are in an `UnsafeCell`.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use super::call::FutureVTable;
use super::handler::HandlerRef;
use crate::engine::call::CallRecord;
use crate::engine::containment::{PanicPayload, catch, log_in_drop};
use crate::registry::list::HandlerList;

/// The bytes for futures in the fire itself.
pub(crate) const INLINE: usize = 768;
/// The alignment of nodes, and of chunks unless a future needs more.
const ALIGN: usize = 16;
/// The size of the first chunk on the heap; each one after has twice as much.
const FIRST_CHUNK: usize = 1024;
/// Where the future is, from the start of its place, unless it needs more
/// alignment than the node.
const AT: usize = size_of::<Node>().next_multiple_of(ALIGN);

/// As a place in the inline chunk, room for no future.
const PAST_END: usize = INLINE + 1;

#[repr(C, align(16))]
struct Inline(UnsafeCell<MaybeUninit<[u8; INLINE]>>);

/// A future in its place, with what is done to it.
#[derive(Clone, Copy)]
pub(super) struct Built {
    pub(super) place: NonNull<u8>,
    pub(super) vtable: &'static FutureVTable,
}

/// A pending call, in front of its future.
struct Node {
    /// `None` once the future is dropped.
    future: Option<&'static FutureVTable>,
    next: *mut Node,
    /// The handler that is called, in the list that the fire keeps.
    handler: NonNull<HandlerRef>,
    /// Of a call with a limit, or one that is recorded.
    record: Option<Box<CallRecord>>,
}

impl Node {
    /// Where the future behind a node is: at the first place that is aligned for
    /// it.
    fn place_behind(node: NonNull<Self>, align: usize) -> NonNull<u8> {
        let at = node.addr().get() + AT;
        // As `next_multiple_of`, which divides where it does not know the number.
        let aligned = (at + align - 1) & !(align - 1);
        // SAFETY: `Arena::place` leaves room for this.
        unsafe { node.cast::<u8>().add(aligned - node.addr().get()) }
    }
}

/// A pending call, wherever it is. Good for as long as its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(NonNull<Node>);

// SAFETY: a number, but for the arena that it came from.
unsafe impl Send for NodeId {}
// SAFETY: as above.
unsafe impl Sync for NodeId {}

/// A chunk on the heap; its bytes are behind this.
#[repr(C, align(16))]
struct Chunk {
    /// How many bytes there are.
    size: usize,
    /// The chunk before.
    before: *mut Chunk,
}

impl Chunk {
    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size_of::<Self>() + size, ALIGN)
            .expect("the layout of a type, made larger, is valid")
    }

    fn new(size: usize, before: *mut Self) -> NonNull<Self> {
        let layout = Self::layout(size);
        // SAFETY: the size is not zero.
        let Some(chunk) = NonNull::new(unsafe { alloc(layout) }) else {
            handle_alloc_error(layout)
        };
        let chunk = chunk.cast::<Self>();
        // SAFETY: it was just allocated, with room for this.
        unsafe { chunk.write(Self { size, before }) };
        chunk
    }

    /// Frees a chunk; the one before it.
    ///
    /// # Safety
    /// It came from `new`, nothing is in it, and it is not used afterwards.
    unsafe fn free(chunk: NonNull<Self>) -> *mut Self {
        // SAFETY: passed on to the caller.
        unsafe {
            let Self { size, before } = chunk.read();
            dealloc(chunk.as_ptr().cast(), Self::layout(size));
            before
        }
    }
}

/// The futures of one fire.
pub(crate) struct Arena {
    inline: Inline,
    /// Where the next future is, from the start of the inline chunk: the first
    /// place as long as nothing is kept and there is no other chunk, and past the
    /// end once there is.
    next: usize,
    /// There where that is not the first place.
    kept: MaybeUninit<Kept>,
    _pinned: PhantomPinned,
}

/// The futures that are kept, and where.
struct Kept {
    first: *mut Node,
    /// There where `first` is.
    last: *mut Node,
    /// How many futures there are.
    live: u32,
    /// The current chunk on the heap; null while the inline one is.
    chunk: *mut Chunk,
    /// How much of that chunk is kept.
    used: usize,
}

// SAFETY: it owns futures that are `Send`, which is asked where one is made,
// calls that are, and plain memory.
unsafe impl Send for Arena {}
// SAFETY: `&Arena` gives no access to a future or a call.
unsafe impl Sync for Arena {}

impl Arena {
    /// Makes one where it is to stay, without a copy of its bytes.
    ///
    /// # Safety
    /// `place` is valid for writes.
    #[inline]
    pub(super) unsafe fn make(place: *mut Self) {
        // SAFETY: passed on to the caller; the rest needs no value.
        unsafe { (&raw mut (*place).next).write(AT) };
    }

    /// Whether it has anything to drop.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.next != AT
    }

    #[inline]
    fn kept(&self) -> Option<&Kept> {
        // SAFETY: it is there then.
        self.is_used().then(|| unsafe { self.kept.assume_init_ref() })
    }

    #[inline]
    fn kept_mut(&mut self) -> Option<&mut Kept> {
        // SAFETY: it is there then.
        self.is_used().then(|| unsafe { self.kept.assume_init_mut() })
    }

    /// What is kept, to which something is added: `next` is set afterwards.
    fn add_kept(&mut self) -> &mut Kept {
        if !self.is_used() {
            let null = ptr::null_mut();
            let chunk = ptr::null_mut();
            self.kept.write(Kept { first: null, last: null, live: 0, chunk, used: 0 });
        }
        // SAFETY: it is there, or was just written.
        unsafe { self.kept.assume_init_mut() }
    }

    /// Memory for a future of that layout, valid until the next call of this.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(super) fn place(&mut self, layout: Layout) -> NonNull<u8> {
        // So written that all but one comparison is known for each future.
        let fits = layout.align() <= ALIGN && layout.size() <= INLINE;
        if fits && self.next <= INLINE - layout.size() {
            let start = (&raw mut self.inline).cast::<u8>();
            // SAFETY: it is inside of the inline chunk, which is the current one.
            return unsafe { NonNull::new_unchecked(start.add(self.next)) };
        }
        self.place_on_heap(layout)
    }

    #[cold]
    #[inline(never)]
    fn place_on_heap(&mut self, layout: Layout) -> NonNull<u8> {
        let room = AT + layout.align().saturating_sub(ALIGN) + layout.size();
        let kept = self.add_kept();
        // SAFETY: a chunk of this arena, if there is one.
        let size = unsafe { kept.chunk.as_ref() }.map_or(0, |chunk| chunk.size);
        if kept.used + room > size {
            kept.add_chunk(room, size);
        }
        self.next = PAST_END;
        Node::place_behind(self.next_node(), layout.align())
    }

    /// Where the next node is made.
    fn next_node(&mut self) -> NonNull<Node> {
        if let Some(kept) = self.kept()
            && let Some(chunk) = NonNull::new(kept.chunk)
        {
            // SAFETY: `used` is at most the size of the chunk.
            return unsafe { chunk.add(1).cast::<u8>().add(kept.used).cast() };
        }
        let start = (&raw mut self.inline).cast::<u8>();
        // Not by way of a reference, which would claim all of the inline bytes.
        // SAFETY: it is in the inline chunk, or at its end.
        unsafe { NonNull::new_unchecked(start.add(self.next - AT)).cast() }
    }

    /// Keeps the future that was made in the place that [`place`](Self::place)
    /// returned last.
    #[inline]
    pub(super) fn keep(
        &mut self,
        future: Built,
        handler: &HandlerRef,
        record: Option<Box<CallRecord>>,
    ) -> NodeId {
        let node = self.next_node();
        let Built { place, vtable } = future;
        let handler = NonNull::from(handler);
        let call = Node { future: Some(vtable), next: ptr::null_mut(), handler, record };
        // SAFETY: the place has room for a node at its start, which is aligned.
        unsafe { node.write(call) };
        let taken = place.addr().get() - node.addr().get() + vtable.layout.size();
        let taken = taken.next_multiple_of(ALIGN);
        let kept = self.add_kept();
        if kept.first.is_null() {
            kept.first = node.as_ptr();
        } else {
            // SAFETY: nodes stay where they are until all are forgotten.
            unsafe { (*kept.last).next = node.as_ptr() };
        }
        kept.last = node.as_ptr();
        kept.live += 1;
        if kept.chunk.is_null() {
            self.next += taken;
        } else {
            kept.used += taken;
        }
        NodeId(node)
    }

    // With the arena, whose nodes it is asked for: a borrow of one borrows all.
    #[allow(clippy::unused_self)]
    fn node(&mut self, NodeId(node): NodeId) -> &mut Node {
        // SAFETY: ids are made by `keep`, and used with their own arena.
        unsafe { &mut *node.as_ptr() }
    }

    /// The first pending call.
    #[inline]
    pub(crate) fn first(&self) -> Option<NodeId> {
        NonNull::new(self.kept()?.first).map(NodeId)
    }

    /// The pending call behind that one.
    #[inline]
    pub(crate) fn next(&mut self, node: NodeId) -> Option<NodeId> {
        NonNull::new(self.node(node).next).map(NodeId)
    }

    /// The future of a call, unless it has ended.
    #[inline]
    pub(super) fn future(&mut self, node: NodeId) -> Option<Built> {
        let vtable = self.node(node).future?;
        Some(Built { place: Node::place_behind(node.0, vtable.layout.align()), vtable })
    }

    /// The handler that is called, which is one of that list.
    #[inline]
    pub(crate) fn handler<'l>(&mut self, node: NodeId, list: &'l HandlerList) -> &'l HandlerRef {
        let _ = list;
        // SAFETY: the fire keeps the list of its handlers while calls are pending.
        unsafe { self.node(node).handler.as_ref() }
    }

    /// Whether the call has ended.
    #[inline]
    pub(crate) fn has_ended(&mut self, node: NodeId) -> bool {
        self.node(node).future.is_none()
    }

    /// What is known of a call.
    #[inline]
    pub(crate) fn record(&mut self, node: NodeId) -> &mut Option<Box<CallRecord>> {
        &mut self.node(node).record
    }

    /// How many calls are pending.
    #[inline]
    pub(crate) fn live(&self) -> usize {
        self.kept().map_or(0, |kept| kept.live as usize)
    }

    /// The future of a call has ended, and was dropped.
    #[inline]
    pub(super) fn ended(&mut self, node: NodeId) {
        if self.node(node).future.take().is_some()
            && let Some(kept) = self.kept_mut()
        {
            kept.live -= 1;
        }
    }

    /// Drops the future of a call, if it has not ended.
    pub(crate) fn end(&mut self, node: NodeId) {
        let Some(future) = self.future(node) else { return };
        self.ended(node);
        // SAFETY: it was there, and is forgotten.
        if let Err(panic) = unsafe { future.drop() } {
            log_in_drop(panic);
        }
    }

    /// Forgets all calls, if they have ended: their places are free again.
    #[inline]
    pub(super) fn clear(&mut self) {
        let Some(kept) = self.kept_mut().filter(|kept| kept.live == 0) else { return };
        kept.forget_nodes();
        self.clear_plain();
    }

    /// The same for calls that have ended and of which nothing is known.
    #[inline]
    pub(super) fn clear_plain(&mut self) {
        let Some(kept) = self.kept_mut() else { return };
        kept.first = ptr::null_mut();
        kept.used = 0;
        if kept.chunk.is_null() {
            self.next = AT;
        }
    }

    #[cold]
    #[inline(never)]
    fn end_all(&mut self) {
        let mut node = self.first();
        while let Some(pending) = node {
            self.end(pending);
            node = self.next(pending);
        }
        if let Some(kept) = self.kept_mut() {
            kept.forget_nodes();
            while let Some(chunk) = NonNull::new(kept.chunk) {
                // SAFETY: it is this arena's, nothing is in it, and it is forgotten.
                kept.chunk = unsafe { Chunk::free(chunk) };
            }
        }
    }
}

impl Kept {
    fn add_chunk(&mut self, room: usize, size: usize) {
        // Where nothing waits beside it, one that is large needs no more room;
        // where others do, each chunk has twice the size of the one before.
        let next = if self.live == 0 { room } else { (size * 2).max(room) };
        let next = next.max(FIRST_CHUNK).next_multiple_of(ALIGN);
        let mut before = self.chunk;
        // One that nothing is kept in is replaced.
        if let Some(empty) = NonNull::new(before).filter(|_| self.used == 0) {
            // SAFETY: it is this arena's, and is forgotten.
            before = unsafe { Chunk::free(empty) };
        }
        self.chunk = Chunk::new(next, before).as_ptr();
        self.used = 0;
    }

    fn forget_nodes(&mut self) {
        let mut node = std::mem::replace(&mut self.first, ptr::null_mut());
        while !node.is_null() {
            // SAFETY: each was written by `keep`, and is read once.
            node = unsafe { node.read() }.next;
        }
    }
}

impl Built {
    /// Drops the future, and says whether that panicked.
    ///
    /// # Safety
    /// It is there, and not used afterwards.
    #[cold]
    pub(super) unsafe fn drop(self) -> Result<(), PanicPayload> {
        // SAFETY: passed on to the caller.
        catch(|| unsafe { (self.vtable.drop)(self.place) })
    }
}

impl Drop for Arena {
    #[inline]
    fn drop(&mut self) {
        if self.is_used() {
            self.end_all();
        }
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena").field("live", &self.live()).finish_non_exhaustive()
    }
}
