//! The state of a fire, and its polls.
//!
//! Most fires are one walk over handlers that are all ready: they need no state,
//! and [`poll_first`] runs them on the stack. A fire that is more gets a
//! [`FireState`].

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::engine::call::CallRecord;
use crate::engine::containment::drop_contained;
use crate::engine::fire::{Fire, FireInfo, RunScope};
use crate::engine::nesting;
use crate::engine::pending::Progress;
use crate::engine::raw::{ActiveStep, Arena, CallStep, FireParts, Invocation};
use crate::engine::walk::Walk;
use crate::error::FireError;
use crate::observe::recorder::Recorder;
use crate::point::interest::Interest;
use crate::registry::list::{Cursor, HandlerList};

/// The state of a fire that is more than one walk over handlers that are ready.
pub(crate) struct FireState<'f> {
    recording: Recording<'f>,
    run: Option<&'f RunScope<'f>>,
    /// The handlers, kept once a call is pending.
    list: Option<Arc<HandlerList>>,
    progress: Progress,
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

    fn with(recording: Recording<'f>, run: Option<&'f RunScope<'f>>) -> Self {
        Self { recording, run, list: None, progress: Progress::default() }
    }
}

/// The first poll of a fire, unless it has a state from the start.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn poll_first<'f>(
    info: &FireInfo<'f>,
    state: &mut Option<FireState<'f>>,
    arena: &mut Arena,
    parts: FireParts,
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let (inner, index) = (&*info.hooks.inner, info.point.index_so_far());
    let point = inner.table.get(index);
    if point.interest() != Some(Interest::Handlers) {
        return poll_with_state(info, state, arena, parts, task);
    }
    let mut step = ActiveStep::push(info.nested());
    let protected = inner.published.read(&mut step);
    let (snapshot, step) = protected.parts();
    let Some(list) = snapshot.list(index) else { return Poll::Ready(Ok(())) };
    if step.depth() > 0 {
        nesting::check(info)?;
    }
    let waker = task.waker();
    let mut invocation = Invocation::new(parts, info, list, point.removals(), step, arena, waker);
    let mut called = CallStep::Deferred;
    if list.is_plain() && info.admits_all(list) {
        called = invocation.run(Cursor::default());
        if called == CallStep::Continue && !invocation.has_pending() && !invocation.sees_removals()
        {
            invocation.finish();
            return Poll::Ready(Ok(()));
        }
    }
    let fire = Fire { info, recorder: None, run: None };
    walk_on(fire, list, &mut invocation, state, waker, called)
}

/// The rest of a first poll that did not simply call all handlers.
#[inline(never)]
fn walk_on<'w>(
    fire: Fire<'w>,
    list: &'w Arc<HandlerList>,
    invocation: &mut Invocation<'w>,
    state: &mut Option<FireState<'_>>,
    waker: &'w Waker,
    called: CallStep,
) -> Poll<Result<(), FireError>> {
    let at = invocation.at();
    let state = state.insert(FireState::with(Recording::Off, None));
    let polled =
        Walk::new(fire, list, invocation, &mut state.progress, waker).poll_from(at, called);
    if polled.is_pending() {
        state.list = Some(Arc::clone(list));
    }
    polled
}

/// The first poll of a fire of a point that was never fired, or that is
/// observed.
#[cold]
#[inline(never)]
fn poll_with_state<'f>(
    info: &FireInfo<'f>,
    state: &mut Option<FireState<'f>>,
    arena: &mut Arena,
    parts: FireParts,
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let recording = match info.hooks.interest(info.point)? {
        Interest::Quiet => return Poll::Ready(Ok(())),
        Interest::Handlers => Recording::Off,
        Interest::Observed => Recording::Own(Box::new(Recorder::observing(*info))),
    };
    *state = Some(FireState::with(recording, None));
    poll_state(info, state, arena, parts, task)
}

/// A poll of a fire that has a state.
#[inline]
pub(crate) fn poll_state<'f>(
    info: &FireInfo<'f>,
    state: &mut Option<FireState<'f>>,
    arena: &mut Arena,
    parts: FireParts,
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let Some(state) = state else { return Poll::Ready(Ok(())) };
    let polled = advance(info, state, arena, parts, task);
    if let (Poll::Ready(result), Some(recorder)) = (&polled, state.recording.recorder()) {
        recorder.fire_ended_with(result, || parts.label());
    }
    polled
}

fn advance<'f>(
    info: &FireInfo<'f>,
    state: &mut FireState<'f>,
    arena: &mut Arena,
    parts: FireParts,
    task: &mut Context<'_>,
) -> Poll<Result<(), FireError>> {
    let FireState { recording, run, list, progress } = state;
    let fire = Fire { info, recorder: recording.recorder(), run: *run };
    let (inner, index) = (&*info.hooks.inner, info.point.index_so_far());
    let removals = inner.table.get(index).removals();
    let mut step = ActiveStep::push(fire.nested());
    let protected;
    let (handlers, step) = match (&*list, &*run) {
        (Some(list), _) => (Some(list), &step),
        (None, Some(run)) => (run.handlers.list(index), &step),
        (None, None) => {
            protected = inner.published.read(&mut step);
            let (snapshot, step) = protected.parts();
            (snapshot.list(index), step)
        }
    };
    let Some(handlers) = handlers else { return Poll::Ready(Ok(())) };
    let waker = task.waker();
    let mut invocation = Invocation::new(parts, info, handlers, removals, step, arena, waker);
    if list.is_some() {
        return Walk::new(fire, handlers, &mut invocation, progress, waker).resume(false);
    }
    // The stages of a run that was let in run.
    if step.depth() > 0 && run.is_none() {
        nesting::check(info)?;
    }
    let mut walk = Walk::new(fire, handlers, &mut invocation, progress, waker);
    let polled = walk.poll_from(Cursor::default(), CallStep::Deferred);
    if polled.is_pending() {
        let kept = Arc::clone(handlers);
        *list = Some(kept);
    }
    polled
}

/// Drops the futures of the calls that are pending, and reports that.
pub(crate) fn cancel<'f>(
    info: &FireInfo<'f>,
    state: &mut Option<FireState<'f>>,
    arena: &mut Arena,
) {
    let Some(FireState { recording, run, list, progress }) = state else { return };
    let fire = Fire { info, recorder: recording.recorder(), run: *run };
    if let Some(list) = list.as_ref().filter(|_| arena.live() > 0) {
        // What is dropped is handlers' code, which a fire runs.
        let step = ActiveStep::push(fire.nested());
        let mut next = arena.first();
        while let Some(node) = next {
            next = arena.next(node);
            let Some(call) = arena.call(node) else { continue };
            let entry = &*list.get(call.at).entry;
            let mut record = call.record.take().map_or_else(CallRecord::default, |record| *record);
            step.publish_running(entry);
            record.poll(&fire, entry, || arena.end(node));
            record.cancelled(&fire, entry);
            entry.call_resumed();
            step.clear_running();
            entry.release_if_closed();
        }
    }
    if let Some(failure) = progress.failure.take() {
        drop_contained("a handler's error", failure);
    }
}
