//! What the calls of one fire share.
//!
//! A frame is part of its fire, which is pinned, and is made with the first poll.
//! Its pointers are to other parts of that fire, or to what the fire borrows, but
//! for two that each poll sets anew: the waker, and the thread's step, which names
//! the handler that runs.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::task::Waker;
use std::time::{Duration, Instant};

use super::call::{Call, CallStep};
use super::shell::Composition;
use super::storage::{Arena, Built};
use super::threads::Step;
use crate::engine::containment::{PanicPayload, contained};
use crate::engine::fire::FireInfo;
use crate::error::BoxError;
#[cfg(feature = "record")]
use crate::json::JsonPoint;
use crate::model::FieldSet;
use crate::model::compose::Compose;
use crate::point::{FailurePolicy, HookPoint};
#[cfg(feature = "record")]
use crate::record::RawAnswer;
use crate::registry::entry::Entry;
use crate::registry::list::Cursor;
use crate::report::{Contribution, SkipReason};
use crate::sync::atomic::Ordering;

/// What the calls of one fire share, and what the last one left.
pub(crate) struct Frame {
    /// What the fire was given by reference; there in fires of the models that give
    /// one.
    pub(super) input: MaybeUninit<NonNull<()>>,
    pub(super) accumulator: NonNull<()>,
    pub(super) composition: &'static Composition,
    pub(super) fire: NonNull<FireInfo<'static>>,
    pub(super) arena: NonNull<Arena>,
    /// The waker that calls are polled with.
    pub(super) waker: MaybeUninit<NonNull<Waker>>,
    /// The step of this thread, which names the handler that is called.
    step: MaybeUninit<&'static Step>,
    /// The handler that was called last, or the end of the list.
    pub(super) at: Cursor,
    /// What came of it.
    pub(super) called: CallStep,
    pub(super) watch: Watch,
    /// Whether an answer is being merged.
    pub(super) merging: bool,
    /// Why handlers after the one that ended the fire are not called.
    pub(super) skip: SkipReason,
    /// When the last call began, where it has a limit and was called in the quickest
    /// way.
    pub(super) since: Option<Instant>,
    /// When the last call had its answer, where that is wanted.
    pub(super) answered: Option<Instant>,
    /// What was set before the answer that is being merged.
    pub(super) fields: MaybeUninit<FieldSet>,
    /// A future that was made and neither dropped nor kept.
    pub(super) built: Option<Built>,
    /// What few calls leave behind. One pointer, so that a fire of plain calls
    /// has nothing to drop.
    pub(super) aside: Option<Box<Aside>>,
}

// SAFETY: it points to parts of a fire, which is `Send`, and to what that fire
// borrows; the pointers to a thread's own are set by each poll before they are
// used. What it owns is `Send`.
unsafe impl Send for Frame {}

/// What few calls leave behind.
#[derive(Default)]
pub(super) struct Aside {
    pub(super) error: Option<BoxError>,
    pub(super) panic: Option<PanicPayload>,
    pub(super) contribution: Option<Contribution>,
    /// The time limit of the last call that was shortened.
    pub(super) limit: Option<Duration>,
    /// How a recording makes the answers of this point into JSON.
    #[cfg(feature = "record")]
    pub(super) json: Option<JsonPoint>,
    /// What the last call answered, for that recording.
    #[cfg(feature = "record")]
    pub(super) answer: Option<RawAnswer>,
}

/// What is wanted of a call beside its answer. One byte, so that nothing is one
/// comparison.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch(u8);

impl Watch {
    const TIME: u8 = 1;
    const CONTRIBUTION: u8 = 2;
    const SHADOW: u8 = 4;
    const OPEN: u8 = 8;
    const CLOSED: u8 = 16;
    const SHORTENED: u8 = 32;

    pub(crate) fn new(time: bool, contribution: bool) -> Self {
        let time = if time { Self::TIME } else { 0 };
        Self(if contribution { time | Self::CONTRIBUTION } else { time })
    }

    /// Its answer is not composed.
    pub(crate) fn in_shadow(self, in_shadow: bool) -> Self {
        if in_shadow { Self(self.0 | Self::SHADOW) } else { self }
    }

    /// Its failures are judged by another policy than its own.
    pub(crate) fn under(self, policy: Option<FailurePolicy>) -> Self {
        match policy {
            None => self,
            Some(FailurePolicy::Open) => Self(self.0 | Self::OPEN),
            Some(FailurePolicy::Closed) => Self(self.0 | Self::CLOSED),
        }
    }

    /// It has another time limit than its own.
    pub(crate) fn shortened(self, shortened: bool) -> Self {
        if shortened { Self(self.0 | Self::SHORTENED) } else { self }
    }

    /// Whether it has another time limit than its own.
    pub(super) fn is_shortened(self) -> bool {
        self.0 & Self::SHORTENED != 0
    }

    /// Whether its answer is not composed.
    pub(super) fn is_shadow(self) -> bool {
        self.0 & Self::SHADOW != 0
    }

    /// The policy in place of its own.
    pub(super) fn policy(self) -> Option<FailurePolicy> {
        match self.0 & (Self::OPEN | Self::CLOSED) {
            Self::OPEN => Some(FailurePolicy::Open),
            Self::CLOSED => Some(FailurePolicy::Closed),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn is_any(self) -> bool {
        self.0 != 0
    }

    /// When it had its answer.
    pub(super) fn time(self) -> bool {
        self.0 & Self::TIME != 0
    }

    /// What it contributed.
    pub(super) fn contribution(self) -> bool {
        self.0 & Self::CONTRIBUTION != 0
    }
}

impl Frame {
    /// Made in its place: it is too large to be moved for nothing.
    ///
    /// # Safety
    /// `place` is valid for writes, and the others are pointers to the parts of
    /// the fire that it is part of.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(super) unsafe fn make(
        place: *mut Self,
        input: MaybeUninit<NonNull<()>>,
        accumulator: NonNull<()>,
        composition: &'static Composition,
        fire: NonNull<FireInfo<'static>>,
        arena: NonNull<Arena>,
    ) {
        let frame = Self {
            input,
            accumulator,
            composition,
            fire,
            arena,
            waker: MaybeUninit::uninit(),
            step: MaybeUninit::uninit(),
            at: Cursor::default(),
            called: CallStep::Deferred,
            watch: Watch::default(),
            merging: false,
            skip: SkipReason::Scope,
            since: None,
            answered: None,
            fields: MaybeUninit::uninit(),
            built: None,
            aside: None,
        };
        // SAFETY: passed on to the caller.
        unsafe { place.write(frame) };
    }

    /// Begins a poll of the fire.
    #[inline]
    pub(super) fn begin_poll(&mut self, waker: &Waker, step: &'static Step) {
        self.waker = MaybeUninit::new(NonNull::from(waker));
        self.step = MaybeUninit::new(step);
    }

    /// The waker that calls are polled with.
    #[inline]
    pub(super) fn waker(&self) -> &Waker {
        // SAFETY: the one of this poll, or one that `with_waker` has.
        unsafe { self.waker.assume_init().as_ref() }
    }

    /// The step of this thread, which names the handler that is called.
    #[inline]
    pub(super) fn step(&self) -> &'static Step {
        // SAFETY: this poll of the fire set it.
        unsafe { self.step.assume_init() }
    }

    /// What the fire came to so far, in one word.
    pub(crate) fn label(&self) -> &'static str {
        // A hand-written result may panic.
        // SAFETY: no call borrows the accumulator; the fire itself has the frame,
        // between two calls.
        contained(|| unsafe { (self.composition.label)(self.accumulator) }).unwrap_or("unknown")
    }

    /// Reads the payload that the next handler would be given, where this is a fire of
    /// `P` and no call is pending.
    pub(crate) fn with_payload<P, T>(&mut self, read: impl FnOnce(&P::Payload) -> T) -> Option<T>
    where
        P: HookPoint<Model: Compose<P>>,
    {
        // SAFETY: a part of the same fire, which is only ever read.
        let point = unsafe { *self.fire.as_ref() }.point_type;
        if *point != TypeId::of::<P>() || self.arena().live() > 0 {
            return None;
        }
        // SAFETY: a fire of `P`, and no handler has a borrow of what it is given.
        let mut call = unsafe { Call::<P>::new(self) };
        Some(read(P::Model::payload(&mut call)))
    }

    /// The futures of the fire.
    #[inline]
    pub(crate) fn arena(&mut self) -> &mut Arena {
        // SAFETY: a part of the same fire, reached only by its frame.
        unsafe { self.arena.as_mut() }
    }

    /// The handler that is called.
    #[inline]
    pub(super) fn entry(&self) -> NonNull<Entry> {
        // SAFETY: this thread published the handler before it called it.
        unsafe { NonNull::new_unchecked(self.step().running().load(Ordering::Relaxed)) }
    }

    /// The time limit of the call in place of its handler's own.
    pub(super) fn limit(&self) -> Option<Duration> {
        self.aside.as_ref().filter(|_| self.watch.is_shortened())?.limit
    }

    #[cold]
    #[inline(never)]
    pub(super) fn aside(&mut self) -> &mut Aside {
        self.aside.get_or_insert_default()
    }
}
