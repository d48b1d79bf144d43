//! The state of a fire, and its polls.
//!
//! Most fires are one walk over handlers that are all ready: they need no state,
//! and [`poll_quick`] runs them on the stack. A fire that is more gets a
//! [`FireState`].

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::engine::call::CallRecord;
use crate::engine::containment::drop_contained;
use crate::engine::fire::{Fire, FireInfo, RunScope};
use crate::engine::nesting;
use crate::engine::pending::{Polled, Progress};
use crate::engine::raw::{
    ActiveStep, CallStep, Frame, Invocation, Nested, Quickly, RawStep, Unguarded, call_all,
    resume_all,
};
use crate::engine::walk::Walk;
use crate::error::FireError;
use crate::observe::recorder::Recorder;
use crate::operator::rules::{Began, FireRules};
use crate::operator::trace::Payload;
use crate::point::interest::Interest;
use crate::registry::list::{Cursor, HandlerList};
use crate::registry::snapshot::Snapshot;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// The state of a fire that is more than one walk over handlers that are ready.
pub(crate) struct FireState<'f> {
    recording: Recording<'f>,
    run: Option<&'f RunScope<'f>>,
    /// The handlers, kept once a call is pending.
    list: Option<Arc<HandlerList>>,
    /// Whether the fire waits after a poll in the quickest way, and so may be
    /// polled again in that way.
    is_quick: bool,
    progress: Progress,
    /// When it began, as far as an operator's settings ask for that.
    began: Began,
}

/// Who records the fire.
enum Recording<'f> {
    Off,
    /// For observers alone.
    Own(Box<Recorder<'f>>),
    /// For a report.
    Reported(&'f Recorder<'f>),
}

impl<'f> Recording<'f> {
    fn recorder(&self) -> Option<&Recorder<'f>> {
        match self {
            Self::Off => None,
            Self::Own(recorder) => Some(recorder),
            Self::Reported(recorder) => Some(recorder),
        }
    }
}

impl<'f> FireState<'f> {
    pub(crate) fn new(recorder: Option<&'f Recorder<'f>>, run: Option<&'f RunScope<'f>>) -> Self {
        Self::with(recorder.map_or(Recording::Off, Recording::Reported), run)
    }

    /// The state of a fire that waits after a poll in the quickest way, for calls of
    /// handlers of that list.
    pub(crate) fn waiting(list: Arc<HandlerList>) -> Self {
        let mut state = Self::with(Recording::Off, None);
        (state.list, state.is_quick) = (Some(list), true);
        state
    }

    fn with(recording: Recording<'f>, run: Option<&'f RunScope<'f>>) -> Self {
        let (progress, began) = (Progress::default(), Began::default());
        Self { recording, run, list: None, is_quick: false, progress, began }
    }
}

/// What is left of a fire whose handlers were called in the quickest way.
pub(crate) enum Quick<'s> {
    /// Nothing: all were ready at once.
    Done,
    /// Memory for futures that were ready at once.
    Memory,
    /// Calls that are pending, of handlers of that list.
    Waits(Arc<HandlerList>),
    /// More than that way can do, with the handlers that are read, and how many
    /// removals there were then.
    Left(Unguarded<'s, Snapshot>, usize),
    /// Everything: that way could not be taken.
    All,
}

/// Calls the handlers of a fire in the quickest way, which is one walk over those
/// of a plain list, as long as each is ready at once. Nothing in it unwinds.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn poll_quick<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    task: &mut Context<'_>,
) -> Quick<'f> {
    // Its parts, once: they are read again from memory otherwise.
    let FireInfo { hooks, point: descriptor, point_type } = *info;
    let (inner, index) = (&*hooks.inner, descriptor.index_so_far());
    if !inner.table.get(index).calls_handlers() {
        return Quick::All;
    }
    let nested = Nested { point: descriptor, registry: hooks.registry(), fire: 0 };
    let Some((reading, depth)) = inner.published.read_quick(nested) else { return Quick::All };
    let (snapshot, step) = reading.parts();
    let removals = inner.table.removals(index);
    let seen = removals.load(Ordering::Acquire);
    if let Some(list) = snapshot.list(index)
        && (depth == 0 || nesting::check(info).is_ok())
        && hooks.admits_all(list)
    {
        match call_all(frame, point_type, list, (removals, seen), step, task.waker()) {
            Quickly::Done => {
                reading.leave();
                return Quick::Done;
            }
            Quickly::DoneInMemory => {
                reading.leave();
                return Quick::Memory;
            }
            Quickly::Waits => {
                let list = Arc::clone(list);
                reading.leave();
                return Quick::Waits(list);
            }
            _ => {}
        }
    }
    Quick::Left(reading, seen)
}

/// Polls a fire again that waits after a poll in the quickest way. Nothing in it
/// unwinds.
#[inline]
fn resume_quick<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut FireState<'f>,
    waker: &Waker,
) -> Poll<Result<(), FireError>> {
    let Some(list) = &state.list else { return Poll::Ready(Ok(())) };
    let removals = info.hooks.inner.table.removals(info.point.index_so_far());
    let removals = (removals, removals.load(Ordering::Acquire));
    let Some((step, _)) = RawStep::push_quick(info.nested()) else {
        // A thread that never fired.
        let step = ActiveStep::push(info.nested());
        return resume_rest(info, frame, state, removals, (step, Quickly::Not), waker);
    };
    match resume_all(frame, info.point_type, list, removals, step, waker) {
        Quickly::Done | Quickly::DoneInMemory => {
            step.pop();
            Poll::Ready(Ok(()))
        }
        Quickly::Waits => {
            step.pop();
            Poll::Pending
        }
        came_to => resume_rest(info, frame, state, removals, (step.guard(), came_to), waker),
    }
}

/// The rest of such a poll, where that way came to its end. Not inlined, so that the
/// quick part keeps what it needs in registers.
#[inline(never)]
fn resume_rest<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut FireState<'f>,
    removals: (&AtomicUsize, usize),
    (step, came_to): (ActiveStep, Quickly),
    waker: &Waker,
) -> Poll<Result<(), FireError>> {
    let FireState { list: Some(list), is_quick, progress, .. } = state else {
        return Poll::Ready(Ok(()));
    };
    *is_quick = false;
    let mut invocation = Invocation::new(frame, info, list, removals, *step, waker);
    let (at, called) = (invocation.at(), invocation.called());
    progress.at = at;
    // A list with rules is never walked in the quickest way.
    let fire = Fire { info, recorder: None, run: None, rules: None };
    let mut walk = Walk::new(fire, list, &mut invocation, progress, waker);
    match came_to {
        Quickly::Ended(node) => walk.resume(Polled::Ended(node, called)),
        Quickly::Left => walk.poll_from(at, called),
        _ => walk.resume(Polled::Before),
    }
}

/// The rest of a first poll that did not simply call all handlers.
pub(crate) fn poll_rest<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut Option<FireState<'f>>,
    (reading, seen): (Unguarded<'_, Snapshot>, usize),
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let protected = reading.guard();
    let (snapshot, step) = protected.parts();
    let index = info.point.index_so_far();
    let Some(list) = snapshot.list(index) else { return Poll::Ready(Ok(())) };
    if step.depth() > 0 {
        nesting::check(info)?;
    }
    let removals = (info.hooks.inner.table.removals(index), seen);
    let waker = task.waker();
    let mut invocation = Invocation::new(frame, info, list, removals, step, waker);
    let (at, called) = (invocation.at(), invocation.called());
    let state = state.insert(FireState::with(Recording::Off, None));
    let fire = Fire { info, recorder: None, run: None, rules: None };
    let fire = fire.begin(list, &mut state.began);
    let polled =
        Walk::new(fire, list, &mut invocation, &mut state.progress, waker).poll_from(at, called);
    if polled.is_pending() {
        state.list = Some(Arc::clone(list));
    }
    polled
}

/// The first poll of a fire of a point that was never fired or that is observed,
/// or of a thread that never fired.
pub(crate) fn poll_with_state<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut Option<FireState<'f>>,
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let recording = match info.hooks.interest(info.point)? {
        Interest::Quiet => return Poll::Ready(Ok(())),
        Interest::Handlers => Recording::Off,
        Interest::Observed => Recording::Own(Box::new(Recorder::observing(*info))),
    };
    *state = Some(FireState::with(recording, None));
    poll_again(info, frame, state, task)
}

/// A poll of a fire that has a state.
#[inline]
pub(crate) fn poll_again<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut Option<FireState<'f>>,
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let Some(state) = state else { return Poll::Ready(Ok(())) };
    if state.is_quick {
        return resume_quick(info, frame, state, task.waker());
    }
    poll_slowly(info, frame, state, task)
}

#[inline(never)]
fn poll_slowly<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut FireState<'f>,
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let polled = advance(info, frame, state, task.waker());
    if let (Poll::Ready(result), Some(recorder)) = (&polled, state.recording.recorder()) {
        recorder.fire_ended_with(result, || frame.label());
    }
    polled
}

fn advance<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut FireState<'f>,
    waker: &Waker,
) -> Poll<Result<(), FireError>> {
    let FireState { recording, run, list: kept, progress, began, .. } = state;
    let (recorder, run) = (recording.recorder(), *run);
    let fire = Fire { info, recorder, run, rules: None };
    let (inner, index) = (&*info.hooks.inner, info.point.index_so_far());
    let removals = inner.table.removals(index);
    let removals = (removals, removals.load(Ordering::Acquire));
    let step = ActiveStep::push(fire.nested());
    // The first poll: no handler was called yet.
    if let (None, Some(recorder)) = (&*kept, recorder) {
        recorder.begin(&mut Payload::Fire(frame));
    }
    if let Some(list) = kept {
        let fire = Fire { rules: FireRules::of_list(list, *began), ..fire };
        let mut invocation = Invocation::new(frame, info, list, removals, *step, waker);
        return Walk::new(fire, list, &mut invocation, progress, waker).resume(Polled::Before);
    }
    let mut first = |list: Option<&Arc<HandlerList>>, step: RawStep| {
        let Some(list) = list else { return Poll::Ready(Ok(())) };
        // The stages of a run that was let in run.
        if step.depth() > 0 && run.is_none() {
            nesting::check(info)?;
        }
        let fire = fire.begin(list, began);
        let mut invocation = Invocation::new(frame, info, list, removals, step, waker);
        let polled = Walk::new(fire, list, &mut invocation, progress, waker)
            .poll_from(Cursor::default(), CallStep::Deferred);
        if polled.is_pending() {
            *kept = Some(Arc::clone(list));
        }
        polled
    };
    if let Some(run) = run {
        return first(run.handlers.list(index), *step);
    }
    let protected = inner.published.read(step);
    let (snapshot, step) = protected.parts();
    first(snapshot.list(index), step)
}

/// Drops the futures of the calls that are pending, and reports that.
pub(crate) fn cancel<'f>(
    info: &FireInfo<'f>,
    frame: &mut Frame,
    state: &mut Option<FireState<'f>>,
) {
    let Some(FireState { recording, run, list, progress, began, .. }) = state else { return };
    let arena = frame.arena();
    let rules = list.as_ref().and_then(|list| FireRules::of_list(list, *began));
    let fire = Fire { info, recorder: recording.recorder(), run: *run, rules };
    if let Some(list) = list.as_ref().filter(|_| arena.live() > 0) {
        // What is dropped is handlers' code, which a fire runs.
        let step = ActiveStep::push(fire.nested());
        let mut next = arena.first();
        while let Some(node) = next {
            next = arena.next(node);
            if arena.has_ended(node) {
                continue;
            }
            let entry = &*arena.handler(node, list).entry;
            let record = arena.record(node).take();
            let mut record = record.map_or_else(CallRecord::default, |record| *record);
            step.publish_running(entry);
            record.poll(&fire, entry, || arena.end(node));
            record.cancelled(&fire, entry);
            entry.call_resumed(step.step());
            step.clear_running();
            entry.release_if_closed();
        }
    }
    if let Some(failure) = progress.failure.take() {
        drop_contained("a handler's error", failure);
    }
}
