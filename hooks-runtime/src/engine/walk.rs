//! The walk over the handlers of a point: one cursor, one loop for handlers that
//! are simply called (`raw/invoke.rs`), one function for all that is more.

use std::mem;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::engine::call::CallRecord;
use crate::engine::containment::{log_spared, message_of};
use crate::engine::fire::Fire;
use crate::engine::pending::{Polled, Progress};
use crate::engine::raw::{Asked, CallStep, HandlerRef, Invocation};
use crate::error::{FailureKind, FireError};
use crate::flow::Standing;
use crate::registry::list::{Cursor, HandlerList};
use crate::report::SkipReason;

/// A walk over the handlers of one fire, during one poll of it.
pub(crate) struct Walk<'w, 'i> {
    pub(super) fire: Fire<'w>,
    pub(super) list: &'w Arc<HandlerList>,
    pub(super) invocation: &'i mut Invocation<'w>,
    pub(super) progress: &'i mut Progress,
    /// The waker of the fire's own task.
    pub(super) waker: &'w Waker,
    /// Whether handlers are simply called, without a look at each.
    pub(super) is_plain: bool,
}

/// What came of a call.
pub(super) enum Settled {
    /// The next handler's turn.
    Next,
    /// The fire waits for it.
    Waits,
    /// The fire ends here: what is said of the handlers after, and what the fire
    /// returns.
    End(SkipReason, Result<(), FireError>),
}

impl<'w, 'i> Walk<'w, 'i> {
    pub(crate) fn new(
        fire: Fire<'w>,
        list: &'w Arc<HandlerList>,
        invocation: &'i mut Invocation<'w>,
        progress: &'i mut Progress,
        waker: &'w Waker,
    ) -> Self {
        let is_plain = fire.recorder.is_none()
            && fire.info.hooks.admits_all(list)
            && progress.ready.is_none()
            && invocation.is_open();
        Self { fire, list, invocation, progress, waker, is_plain }
    }

    /// The rest of a first poll, in which the handler at `at` is next or was just
    /// called.
    #[inline(never)]
    pub(crate) fn poll_from(&mut self, at: Cursor, step: CallStep) -> Poll<Result<(), FireError>> {
        if let Some(recorder) = self.fire.recorder {
            recorder.walks(self.list);
            #[cfg(feature = "record")]
            if let Some(json) = recorder.captures_answers() {
                self.invocation.capture_answers(json);
            }
        }
        match self.walk_from(at, step) {
            Some(result) => Poll::Ready(result),
            // All were polled just now; their limits were not.
            None if self.progress.has_records || self.progress.ready.is_some() => {
                self.resume(Polled::JustNow)
            }
            None => Poll::Pending,
        }
    }

    /// Walks on to the end, or until the fire has to wait: what it returns, if it
    /// has ended.
    pub(super) fn walk(&mut self) -> Option<Result<(), FireError>> {
        let at = self.progress.at;
        self.walk_from(at, CallStep::Deferred)
    }

    /// The same, where a handler was just called.
    fn walk_from(&mut self, at: Cursor, mut step: CallStep) -> Option<Result<(), FireError>> {
        self.progress.at = at;
        let own_limit = || self.list.get(at).entry.timeout;
        let mut record = CallRecord::begun(self.invocation.take_since(), own_limit);
        if !record.is_plain() {
            record.ended(self.invocation.take_answered());
        }
        loop {
            let at = self.progress.at;
            let settled = match step {
                CallStep::Deferred if self.list.is_past_end(at) => break,
                CallStep::Deferred => {
                    self.after_removals();
                    if self.is_plain {
                        step = self.invocation.run(at);
                        self.progress.at = self.invocation.at();
                        continue;
                    }
                    self.call_one(at)
                }
                CallStep::Special => {
                    self.invocation.leave();
                    self.call_one(at)
                }
                CallStep::Continue if record.is_plain() => break,
                CallStep::Pending if record.is_plain() && self.is_plain => self.suspend_plain(),
                step => {
                    let settled = self.settle_call(at, mem::take(&mut record), step);
                    self.after_call();
                    settled
                }
            };
            step = CallStep::Deferred;
            match settled {
                Settled::Next => self.next(),
                Settled::Waits => {
                    self.list.count_walk(at, self.invocation.shard());
                    return None;
                }
                Settled::End(reason, result) => {
                    self.list.count_walk(at, self.invocation.shard());
                    self.skip_rest(at, reason);
                    return Some(result);
                }
            }
        }
        self.after_call();
        if self.invocation.arena().live() > 0 { None } else { Some(self.progress.result()) }
    }

    /// Moves on to the next handler.
    pub(super) fn next(&mut self) {
        self.progress.at = self.list.next(self.progress.at, self.invocation.shard());
    }

    /// Calls one handler, with all that there may be to it: it may not take part,
    /// be gone, have a limit, be recorded or have a waker of its own.
    #[inline(never)]
    fn call_one(&mut self, at: Cursor) -> Settled {
        let handler = self.list.get(at);
        let entry = &*handler.entry;
        if let Some(reason) = self.fire.refusal(handler) {
            self.fire.skipped(entry, reason);
            return Settled::Next;
        }
        let standing = self.fire.standing(entry);
        let called = self.with_next_waker(|walk| {
            let (fire, invocation) = (&walk.fire, &mut walk.invocation);
            let also_leaving = standing == Standing::Begun && entry.point.ends_run();
            let called = invocation.enter(at, also_leaving, |mut entered| {
                let asked = entered.ask();
                if asked == Asked::Unmet {
                    return Err(SkipReason::Condition);
                }
                // A condition takes its time, and may remove what it is asked about.
                if asked == Asked::Met && entered.is_gone(also_leaving) {
                    return Err(SkipReason::Unregistered);
                }
                let permit = fire.admit(entry);
                if asked == Asked::Met {
                    // Observers, which are notified of a breaker, take their time as well.
                    if entered.is_gone(also_leaving) {
                        return Err(SkipReason::Unregistered);
                    }
                    if permit.is_ok() && !fire.takes_turn(entry) {
                        return Err(SkipReason::Once);
                    }
                }
                let mut record = CallRecord::begin(fire, entry);
                match permit {
                    Ok(permit) => record.permitted(permit),
                    // It has failed already.
                    Err(_) if asked == Asked::Panicked => {}
                    Err(kind) => return Ok((record, Err(kind))),
                }
                let watch = fire.watch(entry);
                if let Some(limit) = fire.rules(entry).and_then(|rules| rules.limit) {
                    entered.shorten(limit);
                }
                let step = record.poll(fire, entry, || match asked {
                    Asked::Panicked => CallStep::Panicked,
                    _ => entered.start(watch),
                });
                Ok((record, Ok(step)))
            });
            let (mut record, step) = called.unwrap_or(Err(SkipReason::Unregistered))?;
            let step = match step {
                Ok(step) => step,
                Err(kind) => {
                    walk.fire.stands_back(entry, standing);
                    entry.counters.not_called();
                    return Ok(walk.fail(handler, &mut record, kind));
                }
            };
            record.ended(walk.invocation.take_answered());
            Ok(walk.settle_call(at, record, step))
        });
        match called {
            Ok(settled) => {
                if entry.was_called_once() {
                    self.fire.info.hooks.inner.unregister_called(&handler.entry);
                }
                self.after_call();
                settled
            }
            Err(reason) => {
                self.fire.stands_back(entry, standing);
                self.fire.skipped(entry, reason);
                self.after_call();
                // Its removal may have found it published here, and left it to this.
                entry.release_if_closed();
                Settled::Next
            }
        }
    }

    /// Takes what came of the first poll of a call.
    fn settle_call(&mut self, at: Cursor, mut record: CallRecord, step: CallStep) -> Settled {
        if step == CallStep::Pending {
            return self.suspend(at, record);
        }
        self.settle(self.list.get(at), &mut record, step)
    }

    /// Takes what came of a call that has ended.
    pub(super) fn settle(
        &mut self,
        handler: &HandlerRef,
        call: &mut CallRecord,
        step: CallStep,
    ) -> Settled {
        let kind = match step {
            CallStep::Failed => FailureKind::Error(self.invocation.take_error()),
            CallStep::Panicked => {
                let message = message_of(self.invocation.take_panic());
                if !self.invocation.was_merging() {
                    return self.fail(handler, call, FailureKind::Panicked(message));
                }
                // Only values that came too late are dropped while an answer is
                // merged, and the others are merged by then.
                log_spared(&message);
                return self.ran(handler, call, CallStep::Continue);
            }
            step => return self.ran(handler, call, step),
        };
        self.fail(handler, call, kind)
    }

    /// A call has ended well.
    #[inline]
    fn ran(&mut self, handler: &HandlerRef, call: &mut CallRecord, step: CallStep) -> Settled {
        let contribution = self.invocation.take_contribution();
        #[cfg(feature = "record")]
        if let Some(answer) = self.invocation.take_answer()
            && let Some(recorder) = self.fire.recorder
        {
            recorder.answered(&handler.entry, answer);
        }
        self.fire.ran(&handler.entry, call, contribution);
        match step {
            CallStep::Break => Settled::End(self.invocation.skip_reason(), Ok(())),
            _ => Settled::Next,
        }
    }

    /// A call has failed: the end of the fire, where the handler fails closed and
    /// the fire does not run all.
    #[cold]
    pub(super) fn fail(
        &mut self,
        handler: &HandlerRef,
        call: &mut CallRecord,
        kind: FailureKind,
    ) -> Settled {
        // What it would have contributed must not be taken for the next one's.
        drop(self.invocation.take_contribution());
        #[cfg(feature = "record")]
        {
            drop(self.invocation.take_answer());
            if let Some(recorder) = self.fire.recorder {
                recorder.failed_in_stage(&handler.entry, &mut self.invocation.payload());
            }
        }
        let Some(failure) = self.fire.failed(&handler.entry, call, kind) else {
            return Settled::Next;
        };
        if self.invocation.is_concurrent() {
            self.progress.keep_failure(self.list.cursor_of(handler), failure);
            return Settled::Next;
        }
        Settled::End(SkipReason::AfterFailure, Err(FireError::Failed(failure)))
    }

    /// Reports the handlers after `at`, which the fire does not come to.
    pub(super) fn skip_rest(&self, at: Cursor, reason: SkipReason) {
        if self.fire.recorder.is_some() {
            for handler in self.list.after(at) {
                self.fire.report_skipped(&handler.entry, reason);
            }
        }
    }

    /// No call is under way.
    #[inline]
    pub(super) fn after_call(&mut self) {
        self.invocation.leave();
        self.after_removals();
    }

    /// Releases the handlers of this walk that were removed and that nothing
    /// runs any more. Their removal may have found them running here.
    #[inline]
    fn after_removals(&mut self) {
        if self.invocation.sees_removals() {
            self.release_removed();
        }
    }

    #[cold]
    #[inline(never)]
    fn release_removed(&mut self) {
        // The handler that is published here may be one of them.
        self.invocation.leave();
        self.invocation.note_removals();
        self.is_plain = false;
        for handler in self.list.handlers() {
            handler.entry.release_if_closed();
        }
    }
}
